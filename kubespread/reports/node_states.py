"""What keeps new pods away from a node whatever they tolerate: it is cordoned, or not ready."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from kubespread.kube.api.core import Node
from kubespread.kube.well_known import READY

NOT_READY = "not ready"


def closing_states(node: Node) -> Iterator[str]:
    """``cordoned``, ``not ready``, or both."""
    if node.spec.unschedulable:
        yield "cordoned"
    if any(condition.type == READY and condition.status != "True" for condition in node.status.conditions):
        yield NOT_READY


def states_of(nodes: Iterable[Node]) -> Mapping[str, tuple[str, ...]]:
    """The states of all ``nodes`` that have any, by name."""
    return {node.metadata.name: states for node in nodes if (states := tuple(closing_states(node)))}
