"""What the NodePools of a cluster would add where nobody asks for an autoscaler: told, and not counted."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

import kubespread
from kubespread import Snapshot
from kubespread.reports.parts import QuestionReport
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


ASSUMED = "karpenter (assumed from NodePool any, new nodes like node n1) adds 1 node"
LIMITED = (
    "ReplicaSet/web: 1 pod still pending: spec.limits of NodePool any leave 0 of cpu 4, less than the pod requests"
)
FULL = [pooled(cpu="4"), node_pool(limits={"cpu": "8"})]


class Case(NamedTuple):
    objects: list[Data]
    said: list[str]
    gaps: int = 0


CASES = {
    "nodes like those of the pool take all": Case(
        [pooled(), node_pool(), *waiting(4)], [f"{ASSUMED}: 4 of 4 pods placed"]
    ),
    "the limits of the pool leave one, and are named": Case(
        [pooled(), node_pool(limits={"cpu": "4"}), *waiting(5)],
        [f"{ASSUMED}: 4 of 5 pods placed; still waiting: default/web-4", LIMITED],
    ),
    "nothing tells what the nodes would be like, which is a gap": Case([node_pool(), *waiting(1)], [], gaps=1),
    "limits that leave less than a pod requests are named whatever the nodes are like": Case(
        [node_pool(limits={"cpu": "500m"}), *waiting(1)],
        [
            "karpenter (assumed from NodePool any) adds no node: 0 of 1 pod placed; still waiting: default/web-0",
            "ReplicaSet/web: 1 pod still pending: spec.limits of NodePool any leave 500m of cpu 500m, less than the "
            "pod requests",
        ],
    ),
    "a limit that keeps a pod off a pool is named, whether or not another would take it": Case(
        [node_pool(limits={"cpu": "500m"}), node_pool("other"), *waiting(1)],
        [
            "karpenter (assumed from NodePools any, other): whether new nodes of other would take 1 pending pod is not "
            "known, as their instance types are not in the cluster",
            "ReplicaSet/web: spec.limits of NodePool any leave 500m of cpu 500m, less than the pod requests",
        ],
        gaps=1,
    ),
    "static pools do not grow": Case([pooled(), node_pool(replicas=1), *waiting(4)], []),
    "a pod of a DaemonSet is none that it adds a node for": Case([pooled(cpu="1"), node_pool(), of_daemons()], []),
    "requirements that cannot be read are a gap": Case(
        [
            pooled(),
            node_pool(template={"spec": {"requirements": [{"key": "a", "operator": "Is", "values": ["b"]}]}}),
            *waiting(4),
        ],
        [],
        gaps=1,
    ),
}


def _said(report: QuestionReport) -> list[str]:
    return [text for text in report.answer if "karpenter" in text or "still pending" in text or "spec.limits" in text]


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_pending_says_what_karpenter_would_add(case: Case) -> None:
    report = kubespread.pending(Snapshot.from_objects(case.objects))
    assert (report.verdict, _said(report)) == ("no", case.said)
    assert sum("arpenter" in gap for gap in report.gaps) == case.gaps


def test_where_a_pool_grows_it_is_not_said_that_none_does() -> None:
    report = kubespread.pending(Snapshot.from_objects([pooled(), node_pool(), *waiting(4)]))
    assert not any("autoscalers" in text for text in report.not_modelled)


def test_plan_says_what_karpenter_would_add_in_the_end() -> None:
    cluster = Snapshot.from_objects([*FULL, *deployment("web", ("n1",), cpu="1")])
    report = kubespread.plan(cluster.edited("scale deploy/web=6"))
    assert (report.verdict, _said(report)) == ("no", [f"{ASSUMED} for 2 pending pods, none still pending"])
    assert kubespread.plan(cluster.edited("scale deploy/web=4")).autoscaling is None


def test_report_says_what_karpenter_would_add_at_the_maximum_of_an_autoscaler() -> None:
    cluster = Snapshot.from_objects([*FULL, *deployment("web", ("n1",), cpu="1"), autoscaled("web", 10)])
    (line,) = (line for line in kubespread.report(cluster).lines if line.key == "scaling/default/Deployment/web")
    assert line.what.partition(" cpu.; ")[2] == (
        f"{ASSUMED} for 6 pending pods, 2 still pending; Deployment/web: 2 pods still pending: spec.limits of NodePool "
        "any leave 0 of cpu 8, less than the pod requests"
    )
