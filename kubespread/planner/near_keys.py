"""Which label that nodes have was meant by a topology key that none of them has."""

from __future__ import annotations

from kubespread.kube.api.unknown_fields import near_miss
from kubespread.kube.well_known import BETA_REGION, BETA_ZONE, REGION, ZONE
from kubespread.scheduler.cluster.nodes import Nodes

_TWINS = {BETA_ZONE: ZONE, BETA_REGION: REGION, ZONE: BETA_ZONE, REGION: BETA_REGION}


def near_key(key: str, nodes: Nodes) -> str:
    """Spelled alike in full or behind its prefix, or the older name of the same; empty where there is none."""
    known = dict.fromkeys(label for node in nodes.objects for label in node.metadata.labels)
    if _TWINS.get(key) in known:
        return _TWINS[key]
    spelled = {known_key.rpartition("/")[2]: known_key for known_key in known}
    near = near_miss(key, known)
    return near or spelled.get(near_miss(key.rpartition("/")[2], spelled), "")
