"""What InterPodAffinity counts for its filter, and after a pod comes and goes.

Source: kubernetes/kubernetes, pkg/scheduler/framework/plugins/interpodaffinity/filtering_test.go (since 1.32),
TestGetTPMapMatchingIncomingAffinityAntiAffinity (8 cases) and TestPreFilterStateAddRemovePod (3), all taken. The tables
compare the plugin's maps. What of them has an outcome is compared here: whether the affinity of the pod is met, how
often its anti-affinity is in each domain, and that a pod that comes and goes leaves things as they were.

The count of met affinity terms itself, 2 where one pod meets two of them, is seen by nobody: any that is not 0 will do.
"""

from __future__ import annotations

from typing import Any

import pytest

import kubespread
from kubespread.kube.versions import LATEST
from kubespread.scheduler.causes import PodAntiAffinityDetail
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.framework import Prepared
from kubespread.scheduler.plugin import Status
from kubespread.scheduler.plugins.inter_pod_affinity import InterPodAffinityState
from kubespread.scheduler.profile.profile import framework
from tests.suites.affinity_terms import away, near, term
from tests.suites.tables import NEVER, NO, ask_alone, asking, nodes, pods, profile_of, verdicts

Data = dict[str, Any]

NODE_A = nodes("nodeA hostname=nodeA")


def exists(key: str) -> Data:
    return term("hostname", (key, "Exists"))


# What exists, the keys of the pod's affinity and of its anti-affinity; whether the first is met on nodeA, and how often
# the second.
MET: dict[str, tuple[list[Data], str, str, bool, int]] = {
    "nil test": ([], "", "", True, 0),
    "incoming pod without affinity/anti-affinity causes a no-op": (pods("nodeA aaa"), "", "", True, 0),
    "no pod has label that violates incoming pod's affinity and anti-affinity": (
        pods("nodeA bbb"),
        "aaa",
        "aaa",
        False,
        0,
    ),
    "existing pod matches incoming pod's affinity and anti-affinity - single term case": (
        pods("nodeA aaa"),
        "aaa",
        "aaa",
        True,
        1,
    ),
    "existing pod matches incoming pod's affinity and anti-affinity - multiple terms case": (
        pods("nodeA aaa bbb"),
        "aaa bbb",
        "aaa",
        True,
        1,
    ),
    "existing pod not match incoming pod's affinity but matches anti-affinity": (
        pods("nodeA aaa"),
        "aaa bbb",
        "aaa bbb",
        False,
        1,
    ),
    "incoming pod's anti-affinity has more than one term - existing pod violates partial term - case 1": (
        pods("nodeA aaa bbb"),
        "aaa ccc",
        "aaa ccc",
        False,
        1,
    ),
    "incoming pod's anti-affinity has more than one term - existing pod violates partial term - case 2": (
        pods("nodeA bbb"),
        "aaa bbb",
        "aaa bbb",
        False,
        1,
    ),
}


@pytest.mark.parametrize("case", MET)
def test_terms_that_are_met(case: str) -> None:
    """Affinity is judged before anti-affinity, so each is asked about by itself."""
    existing, wanted, unwanted, is_met, how_often = MET[case]
    towards = ask_alone("InterPodAffinity", NODE_A + existing, asking("", affinity=near(*map(exists, wanted.split()))))
    assert towards.feasible == (("nodeA",) if is_met else ())
    apart = ask_alone("InterPodAffinity", NODE_A + existing, asking("", affinity=away(*map(exists, unwanted.split()))))
    assert met_in_domains(apart) == ({("hostname", "nodeA"): how_often} if how_often else {})


def met_in_domains(report: kubespread.ExplainReport) -> dict[tuple[str, str], int]:
    """How often the pod's own anti-affinity is met, by topology key and value."""
    details = [detail for node in report.nodes for said in node.rejections for detail in said.details]
    return {
        (detail.topology_key, detail.domain): detail.pods
        for detail in details
        if isinstance(detail, PodAntiAffinityDetail) and not detail.of_existing_pod
    }


CLUSTER = nodes("nodeA region=r1 zone=z11", "nodeB region=r1 zone=z12", "nodeC region=r2 zone=z21")
FOO_BAR = away(term("region", ("foo", "In", "bar")))
COMPLEX = (term("region", ("foo", "In", "bar", "buzz")), term("zone", ("service", "NotIn", "bar", "security", "test")))
Moved = tuple[list[Data], Data, list[Data], dict[tuple[str, str], int], dict[str, str]]
"""What exists, the pod, the one that comes and goes; with that one, the domains of anti-affinity and the verdicts."""

MOVED: dict[str, Moved] = {
    "preFilterState anti-affinity terms are updated correctly after adding and removing a pod, the first": (
        pods("nodeA foo=bar") + pods("nodeC", affinity=FOO_BAR),
        asking("foo=bar", affinity=FOO_BAR),
        pods("nodeB foo=bar", affinity=FOO_BAR),
        {("region", "r1"): 2},
        {NO: "nodeA nodeB nodeC"},
    ),
    "preFilterState anti-affinity terms are updated correctly after adding and removing a pod, the second": (
        pods("nodeA foo=bar") + pods("nodeC", affinity=FOO_BAR),
        asking("foo=bar", affinity=away(*COMPLEX)),
        pods("nodeA foo=bar", affinity=away(*COMPLEX)),
        {("region", "r1"): 2, ("zone", "z11"): 2, ("zone", "z21"): 1},
        {NO: "nodeA nodeB nodeC"},
    ),
    "preFilterState matching pod affinity and anti-affinity are updated correctly after adding and removing a pod": (
        pods("nodeA foo=bar") + pods("nodeC", affinity={**FOO_BAR, **near(*COMPLEX)}),
        asking("foo=bar", affinity=near(*COMPLEX)),
        pods("nodeA foo=bar", affinity=away(*COMPLEX)),
        {},
        # Region r1 and zone z11 meet the affinity; there the pod that came keeps others away.
        {NO: "nodeA", NEVER: "nodeB nodeC"},
    ),
}


def prepared(objects: list[Data]) -> tuple[Prepared, InterPodAffinityState]:
    """The plugin's state for the pod that waits."""
    snapshot = kubespread.Snapshot.from_objects(objects)
    profile = kubespread.Scheduler(config=profile_of("InterPodAffinity")).profile_for("default-scheduler", LATEST)
    (waiting,) = (pod for pod in snapshot.pods if not pod.spec.node_name)
    made = framework(profile).prepare(Cluster.of(snapshot.nodes, snapshot.pods, snapshot.objects), waiting)
    state = made.states["InterPodAffinity"]
    assert isinstance(state, InterPodAffinityState)
    return made, state


def judged(state: InterPodAffinityState) -> list[Status]:
    found = state.filter()
    assert found is not None
    return [found.status(place) for place in range(len(CLUSTER))]


@pytest.mark.parametrize("case", MOVED)
def test_a_pod_is_added_and_removed(case: str) -> None:
    existing, candidate, visitors, domains, expected = MOVED[case]
    with_all = ask_alone("InterPodAffinity", [*CLUSTER, *existing, *visitors], candidate)
    assert (met_in_domains(with_all), verdicts(with_all)) == (domains, expected)
    (visitor,) = kubespread.Snapshot.from_objects(visitors).pods
    _, anew = prepared([*CLUSTER, *existing, *visitors, candidate])
    made, state = prepared([*CLUSTER, *existing, candidate])
    before = judged(state)
    kind, node = made.cluster.kinds.number_of(visitor), made.cluster.nodes.index[visitor.spec.node_name]
    state.pretend(kind, node, 1)
    assert judged(state) == judged(anew)
    state.pretend(kind, node, -1)
    assert judged(state) == before
