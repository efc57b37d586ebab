"""Labels that say of a node's domain what another one says too: a copy of it elsewhere has other values of them.

Where volumes can be attached is told by a label of their driver's own (``topology.ebs.csi.aws.com/zone``), which has
the value of ``topology.kubernetes.io/zone`` on every node. Which labels go together is taken from the nodes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kubespread.kube.api.core import Node
from kubespread.kube.well_known import BETA_REGION, BETA_ZONE, HOSTNAME, REGION, ZONE
from kubespread.wording import short_key

_OF_A_ZONE = (REGION, BETA_REGION, "topology.k8s.aws/zone-id")
"""What else is the same wherever the zone is, under values of its own."""


def going_along(template: Node, labels: Mapping[str, str], nodes: Sequence[Node]) -> dict[str, str]:
    """What else a copy of ``template`` has where its ``labels`` are set to others, as far as ``nodes`` tell."""
    own, found = template.metadata.labels, dict[str, str]()
    for key, value in labels.items():
        before = own.get(key)
        if before in (None, "", value):
            continue
        others = (other for other in own if other not in {key, HOSTNAME, *labels})
        found |= {other: value for other in others if own[other] == before and _go_together(key, other, nodes)}
        if key in (ZONE, BETA_ZONE):
            found |= _of_the_zone(key, value, own, nodes)
    return {key: value for key, value in found.items() if key not in labels and own[key] != value}


def _go_together(key: str, other: str, nodes: Sequence[Node]) -> bool:
    """Whether both labels say the same on every node that has them; where that is one and the same, by their names."""
    pairs = {(node.metadata.labels[key], node.metadata.labels[other]) for node in _with(nodes, key, other)}
    if any(one != another for one, another in pairs):
        return False
    return len(pairs) > 1 or short_key(key) == short_key(other)


def _of_the_zone(key: str, zone: str, own: Mapping[str, str], nodes: Sequence[Node]) -> dict[str, str]:
    """What all nodes of the zone agree on."""
    found = {}
    for other in own.keys() & _OF_A_ZONE:
        there = {node.metadata.labels[other] for node in _with(nodes, key, other) if node.metadata.labels[key] == zone}
        if len(there) == 1:
            found[other] = there.pop()
    return found


def _with(nodes: Sequence[Node], *keys: str) -> list[Node]:
    return [node for node in nodes if all(key in node.metadata.labels for key in keys)]
