"""What the NodePools of a cluster add; where nobody asks for an autoscaler one note says that they could."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

import kubespread
from kubespread import Snapshot
from kubespread.reports.parts import ClusterReport
from tests.builders import Data, owned_by, pod
from tests.questions.autoscaling.clusters import machine, waiting
from tests.questions.test_report import autoscaled
from tests.world.clusters import deployment

POOL = "karpenter.sh/nodepool"


def node_pool(name: str = "any", **spec: Any) -> Data:
    """A NodePool of Karpenter."""
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": name},
        "spec": {"template": {"spec": {}}, **spec},
    }


def pooled(name: str = "n1", zone: str = "a", *, cpu: str = "2", pool: str = "any") -> Data:
    """A node that Karpenter made for a NodePool."""
    made = machine(name, zone, cpu=cpu)
    made["metadata"]["labels"][POOL] = pool
    return made


def of_daemons() -> Data:
    made = pod("agent-1", requests={"cpu": "1"})
    made["metadata"]["ownerReferences"] = owned_by("DaemonSet", "agent")
    return made


ADDS = "karpenter adds 1 node"
LIMITED = (
    "ReplicaSet/web: 1 pod still pending: spec.limits of NodePool any leave 0 of cpu 4, less than the pod requests"
)
FULL = [pooled(cpu="4"), node_pool(limits={"cpu": "8"})]


class Case(NamedTuple):
    objects: list[Data]
    verdict: str
    said: list[str]
    gaps: int = 0


CASES = {
    "nodes like those of the pool take all": Case(
        [pooled(), node_pool(), *waiting(4)], "yes", [f"{ADDS}: 4 of 4 pods placed"]
    ),
    "the limits of the pool leave one, and are named": Case(
        [pooled(), node_pool(limits={"cpu": "4"}), *waiting(5)],
        "no",
        [f"{ADDS}: 4 of 5 pods placed; still waiting: default/web-4", LIMITED],
    ),
    "nothing tells what the nodes would be like, which is a gap": Case(
        [node_pool(), *waiting(1)],
        "unknown",
        [
            "karpenter: whether new nodes of any would take 1 pending pod is not known, as their instance types are not "
            "in the cluster"
        ],
        gaps=1,
    ),
    "limits that leave less than a pod requests are named whatever the nodes are like": Case(
        [node_pool(limits={"cpu": "500m"}), *waiting(1)],
        "no",
        [
            "karpenter adds no node: 0 of 1 pod placed; still waiting: default/web-0",
            "ReplicaSet/web: 1 pod still pending: spec.limits of NodePool any leave 500m of cpu 500m, less than the "
            "pod requests",
        ],
    ),
    "a limit that keeps a pod off a pool is named, whether or not another would take it": Case(
        [node_pool(limits={"cpu": "500m"}), node_pool("other"), *waiting(1)],
        "unknown",
        [
            "karpenter: whether new nodes of other would take 1 pending pod is not known, as their instance types are "
            "not in the cluster",
            "ReplicaSet/web: spec.limits of NodePool any leave 500m of cpu 500m, less than the pod requests",
        ],
        gaps=1,
    ),
    "a pod of a DaemonSet is none that it adds a node for": Case(
        [pooled(cpu="500m"), node_pool(), of_daemons()],
        "no",
        ["karpenter adds no node: 0 of 1 pod placed; still waiting: default/agent-1"],
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_what_karpenter_adds_for_pods_that_wait(case: Case) -> None:
    report = kubespread.pending(Snapshot.from_objects(case.objects), autoscaler="karpenter")
    said = [text for text in report.answer if "karpenter" in text or "still pending" in text or "spec.limits" in text]
    assert (report.verdict, said) == (case.verdict, case.said)
    assert sum("arpenter" in gap for gap in report.gaps) == case.gaps


UNREADABLE = {"spec": {"requirements": [{"key": "a", "operator": "Is", "values": ["b"]}]}}
NOTES: dict[str, tuple[list[Data], list[str]]] = {
    "a NodePool": ([node_pool()], ["new nodes of NodePool any are not counted: add --autoscaler karpenter"]),
    "NodePools, whatever is in them": (
        [node_pool(), node_pool("b", template=UNREADABLE)],
        ["new nodes of NodePools any, b are not counted: add --autoscaler karpenter"],
    ),
    "a static NodePool gets none": ([node_pool(replicas=1)], []),
    "no group": ([], []),
}


@pytest.mark.parametrize("case", NOTES)
def test_one_note_says_that_new_nodes_are_not_counted(case: str) -> None:
    pools, notes = NOTES[case]
    report = kubespread.pending(Snapshot.from_objects([machine("n1", "a", cpu="1"), *pools, *waiting(4)]))
    assert (report.verdict, report.autoscaling) == ("no", None)
    assert [note for note in report.notes if "counted" in note] == notes


WEB = [*deployment("web", ("n1",), cpu="3"), *waiting(1, cpu="3")]
ASKED: dict[str, Callable[[Snapshot], ClusterReport]] = {
    "pending": kubespread.pending,
    "plan": lambda cluster: kubespread.plan(cluster.edited("scale deploy/web=4")),
    "report": kubespread.report,
    "simulate": lambda cluster: kubespread.simulate(cluster, "deploy/web", replicas=4),
    "survive": kubespread.survive,
    "upgrade": lambda cluster: kubespread.upgrade(cluster, "n1", to="1x8"),
}


@pytest.mark.parametrize("question", ASKED)
def test_every_answer_that_new_nodes_could_better_has_the_note_once(question: str) -> None:
    report = ASKED[question](Snapshot.from_objects([*FULL, *WEB]))
    assert report.verdict == "no"
    assert [note for note in report.notes if "counted" in note] == [
        "new nodes of NodePool any are not counted: add --autoscaler karpenter"
    ]


def test_an_answer_that_is_yes_has_no_note() -> None:
    report = kubespread.pending(Snapshot.from_objects([*FULL, *deployment("web", ("n1",))]))
    assert (report.verdict, report.notes) == ("yes", ())


def test_a_scenario_with_an_autoscaler_has_no_note() -> None:
    cluster = Snapshot.from_objects([*FULL, *WEB])
    report = kubespread.plan(cluster, scenario=["scale deploy/web=9"], autoscaler="karpenter")
    assert (report.verdict, [note for note in report.notes if "counted" in note]) == ("no", [])


def test_report_says_what_karpenter_adds_at_the_maximum_of_an_autoscaler() -> None:
    cluster = Snapshot.from_objects([*FULL, *deployment("web", ("n1",), cpu="1"), autoscaled("web", 10)])
    lines = kubespread.report(cluster, autoscaler="karpenter").lines
    (line,) = (line for line in lines if line.key == "scaling/default/Deployment/web")
    assert line.text.partition("leaves ")[2] == (
        "2 pods without a node, with 1 node added: 0/2 nodes are available: 2 Insufficient cpu (karpenter: spec.limits of "
        "NodePool any leave 0 of cpu 8, less than the pod requests)"
    )
