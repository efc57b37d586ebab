"""The zone that a node is in, as Kubernetes' own components see it."""

from __future__ import annotations

from collections.abc import Mapping

from kubespread.kube.well_known import BETA_REGION, BETA_ZONE, REGION, ZONE


def zone_key(labels: Mapping[str, str]) -> tuple[str, str]:
    """Region and zone of a node's labels, as GetZoneKey of k8s.io/component-helpers/node/topology reads them; empty
    where there is no label.
    """
    return _either(labels, BETA_REGION, REGION), _either(labels, BETA_ZONE, ZONE)


def _either(labels: Mapping[str, str], beta: str, general: str) -> str:
    """A beta label that is there decides, even an empty one."""
    return labels[beta] if beta in labels else labels.get(general, "")
