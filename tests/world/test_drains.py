"""Drains of several nodes of which kubectl refuses one."""

from __future__ import annotations

import pytest

from kubespread.snapshot.edits.registry import parse
from kubespread.world.events.editing import apply
from tests.builders import Data, node, pod
from tests.world.clusters import daemon_set, deployment, on_nodes, world

LOCAL = {"volumes": [{"name": "scratch", "emptyDir": {}}]}


REFUSED: dict[str, tuple[list[Data], str, str]] = {
    "daemons": (
        daemon_set("agent", ("n0",)),
        "drain n0 --no-ignore-daemonsets",
        "cannot delete DaemonSet-managed Pods (use --ignore-daemonsets to ignore): default/agent-n0",
    ),
    "bare pods": (
        [pod("bare", "n0")],
        "drain n0",
        "cannot delete Pods that declare no controller (use --force to override): default/bare",
    ),
    "local data, and bare pods": (
        [pod("bare", "n0"), *deployment("web", ("n0",), spec=LOCAL)],
        "drain n0 --no-delete-emptydir-data",
        "[cannot delete Pods that declare no controller (use --force to override): default/bare, "
        "cannot delete Pods with local storage (use --delete-emptydir-data to override): default/web-a]",
    ),
    "the second of two nodes": (
        [*deployment("web", ("n0",)), pod("bare", "n1")],
        "drain rack=r",
        "cannot delete Pods that declare no controller (use --force to override): default/bare",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_kubectl_refuses_a_drain_of_one_node_and_goes_on_with_the_others(case: str) -> None:
    """All of them are cordoned."""
    objects, edit, said = REFUSED[case]
    living = world([node("n0", rack="r"), node("n1", rack="r")], objects)
    before = on_nodes(living)
    name = "n1" if "n1" in [each["spec"].get("nodeName") for each in objects] else "n0"
    apply(living, parse(edit), "default")
    (refused,) = living.happenings.refused
    assert str(refused) == f'unable to drain node "{name}" due to error: {said}'
    assert [each.spec.unschedulable for each in living.living.nodes.objects] == [True, "rack=r" in edit]
    assert on_nodes(living)[name] == before[name]
    assert "rack=r" not in edit or "n0" not in on_nodes(living)
