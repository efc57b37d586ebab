"""What becomes of pods when nodes are drained: kubectl's refusals, budgets, deadlocks, and what goes through."""

from __future__ import annotations

import pytest

from kubespread.snapshot.edits.registry import parse
from kubespread.world.events.editing import apply
from tests.builders import Data, hard, node, pod, soft
from tests.world.clusters import budget, daemon_set, deployment, on_nodes, play, stateful_set, world

NODES = [node("n0"), node("n1"), node("n2")]
WEB = {"app": "web"}
APART = {
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"topologyKey": "host", "labelSelector": {"matchLabels": WEB}}
        ]
    }
}
TWO = [node("n0", host="n0"), node("n1", host="n1")]
NEEDS = "The disruption budget web needs {} healthy pods and has {} currently"
LOCAL = {"volumes": [{"name": "scratch", "emptyDir": {}}]}

CASES: dict[str, tuple[list[Data], list[str], list[str]]] = {
    "one pod after another, each placed before the next goes": (
        [*NODES[:2], *deployment("web", ("n0", "n0"), spec={"topologySpreadConstraints": [hard("host", match=WEB)]})],
        ["drain n0"],
        # Without the label host no node may be chosen: both wait.
        [
            "- web-a n0 evicted",
            "- web-b n0 evicted",
            "? web-5d6-1 0/2 nodes are available: 1 node(s) didn't match pod topology spread constraints "
            "(missing required label), 1 node(s) were unschedulable.",
            "? web-5d6-2 0/2 nodes are available: 1 node(s) didn't match pod topology spread constraints "
            "(missing required label), 1 node(s) were unschedulable.",
        ],
    ),
    "a budget lets one go at a time, which is enough where the next one is placed": (
        [*NODES, *deployment("web", ("n0", "n0", "n1")), budget("web", maxUnavailable=1)],
        ["drain n0"],
        ["- web-a n0 evicted", "- web-b n0 evicted", "+ web-5d6-1 n2", "+ web-5d6-2 n1"],
    ),
    "a budget holds what is left once a pod that went finds no node": (
        [
            node("n0", cpu="4"),
            node("n1", cpu="1"),
            *deployment("web", ("n0", "n0", "n1"), cpu="1"),
            budget("web", maxUnavailable=1),
        ],
        ["drain n0"],
        [
            "- web-a n0 evicted",
            "? web-5d6-1 0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable.",
            f"! web-b {NEEDS.format(2, 2)}",
        ],
    ),
    "one pod is evicted by its name": (
        [*NODES, *deployment("web", ("n0", "n1")), budget("web", maxUnavailable=1)],
        ["evict web-b"],
        # It keeps its room on n1 until its successor has a node.
        ["- web-b n1 evicted", "+ web-5d6-1 n2"],
    ),
    "a budget keeps a pod that is asked for by its name": (
        [*NODES, *deployment("web", ("n0", "n1")), budget("web", minAvailable=2)],
        ["evict default/web-b"],
        [f"! web-b {NEEDS.format(2, 2)}"],
    ),
    "a budget that allows nothing holds everything": (
        [*NODES, *deployment("web", ("n0", "n1")), budget("web", minAvailable=2)],
        ["drain n0"],
        [f"! web-a {NEEDS.format(2, 2)}"],
    ),
    "what a budget held goes once there are more pods": (
        [*NODES, *deployment("web", ("n0", "n1")), budget("web", minAvailable=2)],
        ["drain n0", "scale deploy/web=3", "drain n0"],
        [f"! web-a {NEEDS.format(2, 2)}", "+ web-5d6-1 n2", "- web-a n0 evicted", "+ web-5d6-2 n1"],
    ),
    "two budgets over one pod hold it for good": (
        [
            *NODES,
            *deployment("web", ("n0", "n1")),
            budget("web", maxUnavailable=1),
            {**budget("web", maxUnavailable=1), "metadata": {"name": "other", "namespace": "default", "generation": 1}},
        ],
        ["drain n0"],
        ["! web-a This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."],
    ),
    "a StatefulSet's pod is ready again under its old name, and its budget sees that": (
        [*NODES, *stateful_set("db", ("n0", "n0", "n1")), budget("db", maxUnavailable=1)],
        ["drain n0"],
        ["- db-0 n0 evicted", "- db-1 n0 evicted", "+ db-0 n2", "+ db-1 n1"],
    ),
    "a budget reads what a StatefulSet was scaled to": (
        [*NODES[:2], *stateful_set("db", ("n0", "n1")), budget("db", minAvailable="50%")],
        ["scale sts/db=1", "drain n0"],
        ["- db-1 n1 scaled down for good", "! db-0 The disruption budget db needs 1 healthy pods and has 1 currently"],
    ),
    "and one that had no pods before": (
        [*NODES[:2], *stateful_set("db", ()), budget("db", maxUnavailable=1)],
        ["scale sts/db=2", "drain n0"],
        ["+ db-0 n0", "+ db-1 n1", "- db-0 n0 evicted", "+ db-0 n1"],
    ),
    "daemons stay, and that is said in kubectl's words": (
        [*NODES[:2], *daemon_set("agent", ("n0", "n1")), *deployment("web", ("n0",))],
        ["drain n0 --ignore-daemonsets"],
        ["- web-a n0 evicted", "+ web-5d6-1 n1", "node n0: ignoring DaemonSet-managed Pods: default/agent-n0"],
    ),
    "nobody listed the DaemonSets: they count as there": (
        [*NODES[:2], *daemon_set("agent", ("n0", "n1"))[1:]],
        ["drain n0 --ignore-daemonsets"],
        ["node n0: ignoring DaemonSet-managed Pods: default/agent-n0"],
    ),
    "a pod without a controller goes for good with --force": (
        [*NODES[:2], pod("bare", "n0")],
        ["drain n0 --force"],
        ["- bare n0 evicted for good", "node n0: deleting Pods that declare no controller: default/bare"],
    ),
    "local data goes with --delete-emptydir-data": (
        [*NODES[:2], *deployment("web", ("n0",), spec=LOCAL)],
        ["drain n0 --delete-emptydir-data"],
        ["- web-a n0 evicted", "+ web-5d6-1 n1"],
    ),
    "two nodes are cordoned before either is drained": (
        [*[node(name, pool="old") for name in ("n0", "n1")], node("n2"), *deployment("web", ("n0", "n1"))],
        ["drain pool=old"],
        ["- web-a n0 evicted", "- web-b n1 evicted", "+ web-5d6-1 n2", "+ web-5d6-2 n2"],
    ),
    "anti-affinity deadlocks with a budget: the successor finds no node (KEP-895, story 2)": (
        [*TWO, *deployment("web", ("n0", "n1"), spec={"affinity": APART}), budget("web", minAvailable=1)],
        ["drain n0", "drain n1"],
        [
            "- web-a n0 evicted",
            "? web-5d6-1 0/2 nodes are available: 1 node(s) didn't match pod anti-affinity rules, 1 node(s) were unschedulable.",
            f"! web-b {NEEDS.format(1, 1)}",
        ],
    ),
    "a spread over hosts, as soft as can be, does not": (
        [
            *TWO,
            *deployment("web", ("n0", "n1"), spec={"topologySpreadConstraints": [soft("host", match=WEB)]}),
            budget("web", minAvailable=1),
        ],
        ["drain n0", "uncordon n0", "drain n1"],
        [
            "- web-a n0 evicted",
            "+ web-5d6-1 n1",
            "- web-5d6-1 n1 evicted",
            "- web-b n1 evicted",
            "+ web-5d6-2 n0",
            "+ web-5d6-3 n0",
        ],
    ),
    "a hard spread over hosts waits for the cordoned one with its taint disregarded": (
        [*TWO, *deployment("web", ("n0", "n1"), spec={"topologySpreadConstraints": [hard("host", match=WEB)]})],
        ["drain n0"],
        [
            "- web-a n0 evicted",
            "? web-5d6-1 0/2 nodes are available: 1 node(s) didn't match pod topology spread constraints, 1 node(s) were unschedulable.",
        ],
    ),
    "and does not with nodeTaintsPolicy Honor": (
        [
            *TWO,
            *deployment(
                "web",
                ("n0", "n1"),
                spec={"topologySpreadConstraints": [hard("host", match=WEB, nodeTaintsPolicy="Honor")]},
            ),
        ],
        ["drain n0"],
        ["- web-a n0 evicted", "+ web-5d6-1 n1"],
    ),
    "pods without a budget go together, and leave no room for a successor under a hard spread": (
        [
            *TWO,
            *deployment(
                "web", ("n0", "n0", "n1", "n1"), spec={"topologySpreadConstraints": [hard("host", 2, match=WEB)]}
            ),
        ],
        ["drain n0"],
        [
            "- web-a n0 evicted",
            "- web-b n0 evicted",
            "? web-5d6-1 0/2 nodes are available: 1 node(s) didn't match pod topology spread constraints, 1 node(s) were unschedulable.",
            "? web-5d6-2 0/2 nodes are available: 1 node(s) didn't match pod topology spread constraints, 1 node(s) were unschedulable.",
        ],
    ),
    "pods of one budget go one after another, however many it allows: the first one's successor has its place by then": (
        [
            *TWO,
            *deployment(
                "web", ("n0", "n0", "n1", "n1"), spec={"topologySpreadConstraints": [hard("host", 2, match=WEB)]}
            ),
            budget("web", maxUnavailable=2),
        ],
        ["drain n0"],
        [
            "- web-a n0 evicted",
            "- web-b n0 evicted",
            "+ web-5d6-1 n1",
            "? web-5d6-2 0/2 nodes are available: 1 node(s) didn't match pod topology spread constraints, 1 node(s) were unschedulable.",
        ],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_becomes_of_pods_when_nodes_are_drained(case: str) -> None:
    objects, edits, expected = CASES[case]
    assert play(world(objects), *edits) == expected


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
