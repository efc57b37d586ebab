"""What an autoscaler adds for pods that wait in a cluster, and who waits then."""

from __future__ import annotations

from typing import NamedTuple

import pytest

import kubespread
from kubespread import Snapshot
from kubespread.node_groups import NodeGroup
from tests.builders import Data, owned_by, pod
from tests.cli.support import run
from tests.questions.autoscaling.clusters import group, machine, running, waiting

SMALL = machine("a1", "a", cpu="100m")
GATED = pod("gated", schedulingGates=[{"name": "later"}])
POOL = {
    "apiVersion": "karpenter.sh/v1",
    "kind": "NodePool",
    "metadata": {"name": "any"},
    "spec": {"template": {"spec": {}}},
}


def of_daemons() -> Data:
    made = pod("agent-1", requests={"cpu": "1"})
    made["metadata"]["ownerReferences"] = owned_by("DaemonSet", "agent")
    return made


class Case(NamedTuple):
    objects: list[Data]
    groups: list[NodeGroup] | None
    said: str
    verdict: str
    autoscaler: str = "ca"


CASES = {
    "all pods are placed": Case(
        [SMALL, *waiting(3)], [group("pool", "a")], "cluster-autoscaler adds 1 node: 3 of 3 pods placed", "yes"
    ),
    "a group at its maximum leaves one": Case(
        [SMALL, *waiting(5)],
        [group("pool", "a", maximum=1)],
        "cluster-autoscaler adds 1 node: 4 of 5 pods placed; still waiting: default/web-4",
        "no",
    ),
    "no node is added for a pod of a DaemonSet, which waits": Case(
        [SMALL, of_daemons()],
        [group("pool", "a")],
        "cluster-autoscaler adds no node: 0 of 1 pod placed; still waiting: default/agent-1",
        "no",
    ),
    "nor for a pod behind its gate": Case(
        [SMALL, GATED, *waiting(1)],
        [group("pool", "a")],
        "cluster-autoscaler adds 1 node: 1 of 2 pods placed; still waiting: default/gated",
        "no",
    ),
    "whether machines that nobody knows take them is not known": Case(
        [SMALL, POOL, *waiting(1)],
        None,
        "karpenter: whether new nodes of any would take 1 pending pod is not known, as their instance types are not in "
        "the cluster",
        "unknown",
        "karpenter",
    ),
    "but a gate is": Case(
        [SMALL, POOL, GATED, *waiting(1)],
        None,
        "karpenter: whether new nodes of any would take 1 pending pod is not known, as their instance types are not in "
        "the cluster",
        "no",
        "karpenter",
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_what_is_added_and_who_still_waits(case: Case) -> None:
    snapshot = Snapshot.from_objects(case.objects)
    report = kubespread.pending(snapshot, autoscaler=case.autoscaler, node_groups=case.groups)
    assert (report.answer[0], report.verdict) == (case.said, case.verdict)
    assert report.not_modelled == kubespread.pending(snapshot).not_modelled[:1]


def test_where_nothing_waits_nothing_is_said() -> None:
    report = kubespread.pending(
        Snapshot.from_objects([SMALL, *running({"a1": 1})]), autoscaler="ca", node_groups=[group("pool", "a")]
    )
    assert (report.autoscaling, report.verdict) == (None, "yes")


def test_pods_of_other_workloads_are_provisioned_for_and_not_counted() -> None:
    other = pod("other", requests={"cpu": "9"})
    snapshot = Snapshot.from_objects([SMALL, other, *waiting(3)])
    report = kubespread.pending(snapshot, workloads=["rs/web"], autoscaler="ca", node_groups=[group("pool", "a")])
    assert report.autoscaling is not None
    assert (report.verdict, report.autoscaling.pods_left, report.still_pending) == ("yes", 1, ())


def test_groups_need_an_autoscaler() -> None:
    assert "--autoscaler" in run("pending", "-A", "--node-groups", "groups.yaml").err
