"""Findings that replicas find no node, where an autoscaler adds nodes: asked for it counts, else it is only told."""

from __future__ import annotations

from typing import NamedTuple

import pytest

import kubespread
from kubespread import Snapshot, UsageError
from kubespread.node_groups.groups import NodeGroup
from tests.builders import Data
from tests.questions.autoscaling.clusters import group, machine, waiting
from tests.questions.test_node_pools import node_pool
from tests.questions.test_report import autoscaled
from tests.world.clusters import deployment

ONE = [machine("n1", "a", pool="pool")]
SIX = deployment("web", ("n1", "n1", None), cpu="2", replicas=3)


FULL = "1 of 3 replicas finds no node: 0/1 nodes are available: 1 Insufficient cpu"


class Case(NamedTuple):
    objects: list[Data]
    groups: list[NodeGroup] | None
    found: tuple[str, str, str]
    """Code, severity and message."""


CASES = {
    "all find a new node": Case([*ONE, *SIX], [group()], ("KS209", "info", f"{FULL}; cluster-autoscaler adds 1 node")),
    "a group at its maximum": Case(
        [*ONE, *SIX],
        [group(maximum=1)],
        (
            "KS209",
            "error",
            f"{FULL}; cluster-autoscaler adds no node; "
            "Deployment/web: 1 pod still pending: it may have 1 node and has it",
        ),
    ),
    "machines that nobody knows": Case(
        [*ONE, node_pool(), *SIX],
        [],
        (
            "KS209",
            "error",
            f"{FULL}; karpenter: whether new nodes of any would take 1 pending "
            "pod is not known, as their instance types are not in the cluster",
        ),
    ),
    "neither": Case([*ONE, *SIX], None, ("KS209", "error", f"{FULL}.")),
    "other pods that wait are not its business": Case(
        [*ONE, *SIX, *waiting(9)], [group(maximum=2)], ("KS209", "info", f"{FULL}; cluster-autoscaler adds 1 node")
    ),
    "the maximum of an autoscaler of pods": Case(
        [*ONE, *deployment("web", ("n1",), cpu="3"), autoscaled("web", 3)],
        [group()],
        (
            "KS304",
            "info",
            "HorizontalPodAutoscaler of-web may ask for 3 replicas: 1 of 3 replicas fit: "
            "0/1 nodes are available: 1 Insufficient cpu; cluster-autoscaler adds 2 nodes",
        ),
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_what_is_found(case: Case) -> None:
    report = kubespread.check(
        Snapshot.from_objects(case.objects),
        autoscaler=None if case.groups is None else "ca" if case.groups else "karpenter",
        node_groups=case.groups or None,
        select=("KS209", "KS304"),
    )
    found = [
        (each.code, str(each.severity), each.message) for each in report.findings if each.called == "Deployment/web"
    ]
    assert found == [case.found]


def test_an_autoscaler_needs_a_cluster() -> None:
    with pytest.raises(UsageError, match="adds nodes to a cluster, and none is given"):
        kubespread.check(
            None, manifests=["fixtures/manifests/twelve-over-zones.yaml"], autoscaler="ca", node_groups=[group()]
        )
