"""What a report says is missing where an autoscaler adds nodes: asked for it counts, else it is only told."""

from __future__ import annotations

from typing import NamedTuple

import pytest

import kubespread
from kubespread import Snapshot
from kubespread.node_groups import NodeGroup
from tests.builders import Data
from tests.questions.autoscaling.clusters import group, machine, waiting
from tests.questions.test_node_pools import node_pool, pooled
from tests.questions.test_report import autoscaled
from tests.world.clusters import deployment

ONE = [machine("n1", "a", pool="pool")]
TWO = [*ONE, machine("n2", "b", pool="pool")]
WEB = deployment("web", ("n1", "n2"), cpu="3")
SIX = "6 pods of ReplicaSet/web pending: 4 of 6 fit; needs 1 cpu on one node; most free on one: 0; cluster-autoscaler adds"
FOUR = "4 pods of ReplicaSet/web pending: 2 of 4 fit; needs 1 cpu on one node; most free on one: 0; karpenter"
STILL = "ReplicaSet/web: 2 pods still pending:"
PENDING, ZONES, HPA = "running/pending/filtered/", "losses/zone", "scaling/default/Deployment/web"


class Case(NamedTuple):
    objects: list[Data]
    groups: list[NodeGroup] | None
    key: str
    line: tuple[str, str] | None


CASES = {
    "pods that new nodes take are a notice": Case(
        [*ONE, *waiting(6)], [group()], PENDING, ("notice", f"{SIX} 1 node: 6 of 6 pods placed")
    ),
    "pods that still wait are missing, with the maximum that is why": Case(
        [*ONE, *waiting(6)],
        [group(maximum=1)],
        PENDING,
        (
            "critical",
            f"{SIX} no node: 4 of 6 pods placed; still waiting: default/web-4, default/web-5; {STILL} it may have 1 node and has it",
        ),
    ),
    "static NodePools are not grown": Case(
        [pooled(), node_pool(replicas=1), *waiting(4)],
        [],
        PENDING,
        (
            "critical",
            f"{FOUR} adds no node: 2 of 4 pods placed; still waiting: default/web-2, default/web-3; {STILL} it is static: "
            "its number of nodes does not follow the pods that wait",
        ),
    ),
    "a zone that nodes elsewhere make up for is no line": Case([*TWO, *WEB], [group("pool", "a", "b")], ZONES, None),
    "a zone that they do not make up for is a warning": Case(
        [*TWO, *WEB],
        [group("pool", "a")],
        ZONES,
        (
            "warning",
            "once cluster-autoscaler has added nodes, 1 of 2 zones can be lost. zone a: 1 pod pending (Deployment/web), "
            "1 workload degraded (Deployment/web 1 of 2 ready)",
        ),
    ),
    "an autoscaler of pods whose pods all find a new node is no line": Case(
        [*ONE, *deployment("web", ("n1",), cpu="3"), autoscaled("web", 4)], [group()], HPA, None
    ),
    "one that has pods left says how many": Case(
        [*ONE, *deployment("web", ("n1",), cpu="3"), autoscaled("web", 4)],
        [group(maximum=2)],
        HPA,
        (
            "warning",
            "Deployment/web: HorizontalPodAutoscaler of-web may ask for 4 replicas, which leaves 2 pods without a node, "
            "with 1 node added: 0/2 nodes are available: 2 Insufficient cpu (cluster-autoscaler: it may have 2 nodes and "
            "has them)",
        ),
    ),
    "one of a million asks for those that may have room, and what has none for them has none for the others": Case(
        [*ONE, *deployment("web", ("n1",), cpu="10m"), autoscaled("web", 1_000_000)],
        [group(maximum=2)],
        HPA,
        (
            "warning",
            "Deployment/web: HorizontalPodAutoscaler of-web may ask for 1,000,000 replicas, which leaves 999,780 pods "
            "without a node, with 1 node added: 0/2 nodes are available: 2 Too many pods (cluster-autoscaler: it may have "
            "2 nodes and has them)",
        ),
    ),
    "where it has room for all of them, the others are not looked at": Case(
        [*ONE, *deployment("web", ("n1",), cpu="10m"), autoscaled("web", 1_000_000)],
        [group()],
        HPA,
        (
            "notice",
            "Deployment/web: HorizontalPodAutoscaler of-web may ask for 1,000,000 replicas, which leaves 998,888 pods not "
            "looked at, with 10 nodes added",
        ),
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_what_is_missing(case: Case) -> None:
    report = kubespread.report(
        Snapshot.from_objects(case.objects),
        autoscaler=None if case.groups is None else "ca" if case.groups else "karpenter",
        node_groups=case.groups or None,
    )
    lines = [(line.level, line.text) for line in report.lines if line.key.startswith(case.key)]
    assert lines == ([] if case.line is None else [case.line])


def test_commands_ask_for_the_autoscaler_too() -> None:
    cluster = Snapshot.from_objects([pooled(), pooled("n2", "b"), node_pool(limits={"cpu": "4"}), *waiting(9)])
    lines = kubespread.report(cluster, autoscaler="karpenter").lines
    asked = {line.command for line in lines if line.question in ("pending", "survive")}
    assert asked == {
        "kubespread pending --autoscaler karpenter -n default",
        "kubespread survive --key zone --autoscaler karpenter -A",
        "kubespread survive --key hostname --autoscaler karpenter -A",
    }
