"""What autoscalers add for pods that wait, loop by loop, and what kube-scheduler makes of it."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from msgspec.structs import replace

from kubespread.kube.api.core import Taint
from kubespread.kube.selector import parse_selector
from kubespread.node_groups import Autoscaler, NodeGroup
from kubespread.questions.autoscaling.autoscale import autoscale
from kubespread.reports.autoscaling import AutoscalingReport
from tests.builders import Data, hard, pod, soft, taint
from tests.questions.autoscaling.clusters import HOSTNAME, ZONE, group, machine, running, typed, waiting, world
from tests.suites.node_terms import preferred

CA, KARPENTER = Autoscaler.CLUSTER_AUTOSCALER, Autoscaler.KARPENTER
SPREAD = "node(s) didn't match pod topology spread constraints"
SKEWED = f"on another node of it: {SPREAD}"
SMALL = [machine("a1", "a", cpu="100m"), machine("b1", "b", cpu="100m")]
GIVEN = typed(machine("given", "a"))
FULL = [machine("a1", "a"), machine("b1", "b")]


class Case(NamedTuple):
    cluster: list[Data]
    groups: list[NodeGroup]
    loops: list[tuple[dict[str, int], int, int, str | None]]
    """Of each loop the nodes added, the pods expected, the pods placed, and why no more."""
    left: int = 0


CASES = {
    "copies in one zone help one pod, and no further copy helps": Case(
        [*SMALL, *waiting(10, [hard(ZONE)])], [group("pool", "a")], [({"pool": 1}, 1, 1, SKEWED)], 9
    ),
    "two zones converge one zone at a time": Case(
        [*SMALL, *waiting(10, [hard(ZONE)])],
        [group("pool", "a", "b")],
        [
            ({"pool/a": 1}, 1, 1, SKEWED),
            ({"pool/b": 1}, 2, 7, SKEWED),
            ({"pool/a": 1}, 1, 1, SKEWED),
            ({"pool/b": 1}, 1, 1, None),
        ],
    ),
    "a zone that has no node yet is a domain with its template": Case(
        [*FULL, *waiting(10, [hard(ZONE)])], [group("pool", "a", "b", "c")], [({"pool/c": 1}, 2, 2, None)]
    ),
    "a third zone satisfies minDomains": Case(
        [*FULL, *running({"a1": 2, "b1": 2}), *waiting(2, [hard(ZONE, minDomains=3)])],
        [group("pool", "a", "b", "c")],
        [({"pool/c": 1}, 2, 2, None)],
    ),
    "every copy is a host of its own": Case(
        [SMALL[0], *waiting(5, [hard(HOSTNAME)])], [group("pool", "a")], [({"pool": 5}, 5, 5, None)]
    ),
    "with a constraint on hosts a pod that its new node is too full for may go to any other node, which counts as new": Case(
        [FULL[0], *running({"a1": 1}), *waiting(3, [hard(HOSTNAME, minDomains=2)])],
        [group("pool", "a")],
        [({"pool": 2}, 3, 3, None)],
    ),
    "as far as the group has room": Case(
        [FULL[0], *running({"a1": 1}), *waiting(3, [hard(HOSTNAME, minDomains=2)])],
        [group("pool", "a", maximum=1)],
        [({"pool": 1}, 3, 3, None)],
    ),
    "with one on zones it may not, in this loop": Case(
        [FULL[0], *running({"a1": 1}), *waiting(3, [hard(ZONE, minDomains=2)])],
        [group("pool", "b")],
        [({"pool": 1}, 2, 3, SKEWED)],
    ),
    "unless there is one on hosts beside it, if only a soft one": Case(
        [FULL[0], *running({"a1": 1}), *waiting(3, [hard(ZONE, minDomains=2), soft(HOSTNAME)])],
        [group("pool", "b")],
        [({"pool": 2}, 3, 3, None)],
    ),
    "a soft constraint never adds a node": Case(
        [FULL[0], SMALL[1], *waiting(4, [soft(ZONE)])], [group("pool", "a", "b")], []
    ),
    "a pod that is larger than the template is not helped": Case(
        [SMALL[0], *waiting(2, cpu="9")], [group("pool", "a")], [], 2
    ),
    "a template without the label of a constraint never helps": Case(
        [SMALL[0], *waiting(2, [hard(ZONE)])], [group("pool")], [], 2
    ),
    "max is kept": Case(
        [SMALL[0], *waiting(9)], [group("pool", "a", maximum=2)], [({"pool": 2}, 8, 8, "pool may have 2 nodes")], 1
    ),
    "nodes that run count towards max": Case(
        [machine("a1", "a", cpu="1", pool="pool"), *waiting(3)],
        [group("pool", "a", maximum=2)],
        [({"pool": 1}, 1, 1, "pool may have 2 nodes")],
        1,
    ),
    "the group that wastes less is chosen": Case(
        [SMALL[0], *waiting(2)],
        [group("big", template=machine("big", "a", cpu="16")), group("small", template=machine("small", "a", cpu="2"))],
        [({"small": 1}, 2, 2, None)],
    ),
    "the largest pods come first, and the small ones fill what they leave": Case(
        [
            SMALL[0],
            pod("small", requests={"cpu": "1"}),
            *(pod(f"large-{number}", requests={"cpu": "3"}) for number in range(2)),
        ],
        [group("pool", "a")],
        [({"pool": 2}, 3, 3, None)],
    ),
    "the pods of DaemonSets take their room on every new node": Case(
        [
            SMALL[0],
            {
                "apiVersion": "apps/v1",
                "kind": "DaemonSet",
                "metadata": {"name": "agent"},
                "spec": {
                    "selector": {"matchLabels": {"app": "agent"}},
                    "template": {
                        "metadata": {"labels": {"app": "agent"}},
                        "spec": {"containers": [{"name": "c", "image": "x", "resources": {"requests": {"cpu": "1"}}}]},
                    },
                },
            },
            *waiting(6),
        ],
        [group("pool", "a")],
        [({"pool": 2}, 6, 6, None)],
    ),
    "pods behind a scheduling gate are nobody's business": Case(
        [SMALL[0], *waiting(2, schedulingGates=[{"name": "later"}])], [group("pool", "a")], []
    ),
    "a taint keeps the pods away": Case(
        [SMALL[0], *waiting(2)], [group("pool", template=machine("t", "a", taints=[taint("gpu")]))], [], 2
    ),
}


def summary(report: AutoscalingReport) -> Case:
    return Case(
        [],
        [],
        [
            ({each.group: len(each.nodes) for each in loop.added}, loop.expected, loop.placed, loop.why)
            for loop in report.loops
        ],
        report.pods_left,
    )


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_cluster_autoscaler(case: Case) -> None:
    report = autoscale(world(case.cluster), groups=case.groups, kind=CA)
    assert summary(report) == case._replace(cluster=[], groups=[])


def added(report: AutoscalingReport) -> dict[str, int]:
    return {group.group: group.added for group in report.groups if group.added}


@pytest.mark.parametrize("kind", list(Autoscaler))
@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_what_is_reported_is_what_happened(case: Case, kind: Autoscaler) -> None:
    before = world(case.cluster)
    after = before.fork()
    report = autoscale(after, groups=case.groups, kind=kind)
    names = [name for loop in report.loops for each in loop.added for name in each.nodes]
    assert list(after.cluster.nodes.names) == [*before.cluster.nodes.names, *names]
    assert sum(added(report).values()) == len(names)
    assert report.pods_left == sum(not each.pod.spec.scheduling_gates for each in after.waiting)
    assert all(group.maximum is None or (group.before or 0) + group.added <= group.maximum for group in report.groups)
    for name in names:
        labels = after.cluster.nodes.objects[after.cluster.nodes.index[name]].metadata.labels
        assert labels[HOSTNAME] == name
        assert "cluster-autoscaler.kubernetes.io/template-node" not in labels


def test_the_same_world_grows_the_same() -> None:
    case = CASES["two zones converge one zone at a time"]
    first, second = (autoscale(world(case.cluster), groups=case.groups, kind=CA) for _ in range(2))
    assert first == second


def unhelped(report: AutoscalingReport) -> dict[str, str]:
    (pods,) = report.pending
    return {each.group: each.reason for each in pods.groups}


def test_who_still_waits_hears_what_each_group_lacks() -> None:
    groups = [
        group("arm", template=machine("t", "a", taints=[taint("arm")])),
        group("full", "a", maximum=0),
        NodeGroup("gone", maximum=3),
        group("small", template=machine("t", "a", cpu="1")),
    ]
    report = autoscale(world(SMALL, waiting(1, cpu="2")), groups=groups, kind=CA)
    assert unhelped(report) == {
        "arm": "on an empty node of it: node(s) had untolerated taint(s)",
        "full": "it may have 0 nodes and has them",
        "gone": "nothing tells what its nodes are like",
        "small": "on an empty node of it: Insufficient cpu",
    }
    assert report.notes == ("gone: it has no good node and no template, so it does not grow",)


def test_what_a_template_lacks_is_said() -> None:
    report = autoscale(world(SMALL, waiting(1, [hard(ZONE)])), groups=[group("pool", minimum=1)], kind=CA)
    assert report.notes == (
        f"pool: its nodes lack {ZONE}, which a constraint of waiting pods asks for",
        "pool: 0 nodes are fewer than min 1, but no autoscaler adds nodes for that alone",
    )


class Pools(NamedTuple):
    cluster: list[Data]
    groups: list[NodeGroup]
    added: dict[str, int]
    left: int = 0


KARPENTER_CASES = {
    "the minimum is taken over zones that are only possible": Pools(
        [*SMALL, *waiting(3, [hard(ZONE)])], [group("pool", "a", "b", "c")], {"pool/a": 1, "pool/b": 1, "pool/c": 1}
    ),
    "one round is enough for all zones": Pools(
        [*SMALL, *waiting(10, [hard(ZONE)])], [group("pool", "a", "b")], {"pool/a": 2, "pool/b": 2}
    ),
    "soft constraints are kept as long as they can be": Pools(
        [SMALL[0], *waiting(2, [soft(ZONE)])], [group("pool", "a", "b")], {"pool/a": 1, "pool/b": 1}
    ),
    "and dropped where they cannot": Pools([*SMALL, *waiting(4, [soft(ZONE)])], [group("pool", "a")], {"pool": 1}),
    "hosts never have a minimum above zero": Pools(
        [SMALL[0], *waiting(4, [hard(HOSTNAME, maxSkew=2)])], [group("pool", "a")], {"pool": 2}
    ),
    "zones of a pool whose taint the pod does not tolerate are none where taints are honored": Pools(
        [*SMALL, *waiting(2, [hard(ZONE, nodeTaintsPolicy="Honor")])],
        [group("pool", "a", "b"), group("gpu", template=machine("t", "c", taints=[taint("gpu")]))],
        {"pool/a": 1, "pool/b": 1},
    ),
    "else they are possible and empty, of which kube-scheduler knows nothing": Pools(
        [*SMALL, *waiting(4, [hard(ZONE)])],
        [group("pool", "a", "b"), group("gpu", template=machine("t", "c", taints=[taint("gpu")]))],
        {"pool/a": 1, "pool/b": 1},
    ),
    "the minimum is over the zones that the pod may go to": Pools(
        [*SMALL, *waiting(4, [hard(ZONE)], nodeSelector={ZONE: "a"})], [group("pool", "a", "b")], {"pool/a": 1}
    ),
    "and a pool makes nodes in the second zone for pods that may not go to the first": Pools(
        [*SMALL, *waiting(4, nodeSelector={ZONE: "b"})], [group("pool", "a", "b")], {"pool/b": 1}
    ),
    "nodes that pods only prefer do not limit the zones they are spread over": Pools(
        [*SMALL, *waiting(6, [hard(ZONE)], affinity={"nodeAffinity": preferred(w1=f"{ZONE} In a,b")})],
        [group("pool", "a", "b", "c")],
        {"pool/a": 1, "pool/b": 1, "pool/c": 1},
    ),
    "a taint that new nodes are only better without is tolerated in the end": Pools(
        [SMALL[0], *waiting(1)],
        [group("pool", template=machine("t", "a", taints=[taint("busy", "PreferNoSchedule")]))],
        {"pool": 1},
    ),
    "a pool that has none is tried before one whose taint is to be avoided": Pools(
        [SMALL[0], *waiting(1)],
        [group("busy", template=machine("t", "a", taints=[taint("busy", "PreferNoSchedule")])), group("pool", "a")],
        {"pool": 1},
    ),
    "the pool with the highest weight comes first": Pools(
        [SMALL[0], *waiting(1)], [group("a-pool", "a"), group("b-pool", "a", weight=10)], {"b-pool": 1}
    ),
    "limits are those of a whole pool": Pools(
        [*SMALL, *waiting(12)], [group("pool", "a", "b", limits={"cpu": "8"})], {"pool/a": 2}, 4
    ),
}


@pytest.mark.parametrize("case", KARPENTER_CASES.values(), ids=list(KARPENTER_CASES))
def test_karpenter(case: Pools) -> None:
    report = autoscale(world(case.cluster), groups=case.groups, kind=KARPENTER)
    assert (added(report), report.pods_left) == (case.added, case.left)


GAP = "karpenter: the instance types of pool are not in the cluster: its new nodes"
TOLD = "--instance-types FILE says which there are"
POOL = NodeGroup("pool", zones=("a", "b"), members=parse_selector("pool=w"))
MEMBER = machine("w1", "a", pool="w", cpu="100m")
UNKNOWN = {
    "nothing tells what a node is like": (
        [*SMALL, *waiting(2)],
        POOL,
        (("pool",), 2, [f"{GAP} may be of any kind; {TOLD}"]),
    ),
    "a node like those of the pool is too small, but another may not be": (
        [MEMBER, *waiting(2)],
        POOL,
        (("pool",), 2, [f"{GAP} are taken to be like node w1; {TOLD}"]),
    ),
    "a node like those of the pool is enough": (
        [machine("w1", "a", pool="w", cpu="1"), *waiting(2)],
        POOL,
        ((), 0, []),
    ),
    "all nodes of the pool have a taint that keeps the pods off": (
        [*SMALL, *waiting(2)],
        replace(POOL, taints=[Taint(key="gpu", effect="NoSchedule")]),
        ((), 2, []),
    ),
    "or a label that they do not select": (
        [*SMALL, *waiting(2, nodeSelector={"team": "b"})],
        replace(POOL, labels={"team": "a"}),
        ((), 2, []),
    ),
    "or are in other zones": ([*SMALL, *waiting(2, nodeSelector={ZONE: "c"})], POOL, ((), 2, [])),
    "it may take some of the pods, and others certainly not": (
        [*SMALL, *waiting(2), pod("else", nodeSelector={ZONE: "c"})],
        POOL,
        ((), 3, [f"{GAP} may be of any kind; {TOLD}"]),
    ),
    "it may have no more nodes": ([*SMALL, *waiting(2)], replace(POOL, maximum=0), ((), 2, [])),
    "a template tells": ([*SMALL, *waiting(2, cpu="9")], replace(POOL, template=GIVEN), ((), 2, [])),
}


@pytest.mark.parametrize("case", UNKNOWN)
def test_what_karpenter_would_launch_is_not_known_of_pools_without_a_template(case: str) -> None:
    cluster, pool, expected = UNKNOWN[case]
    there = world(cluster)
    report = autoscale(there, groups=[pool], kind=KARPENTER)
    gaps = [gap for gap in there.assumed if gap.startswith("karpenter")]
    assert (report.unknown_groups, report.pods_left, gaps) == expected


def test_karpenter_places_the_largest_pods_first() -> None:
    """Were they placed in the order they came, the small pods would fill the first node together."""
    small = [pod(f"small-{number}", requests={"cpu": "1"}) for number in range(2)]
    large = [pod(f"large-{number}", requests={"cpu": "3"}) for number in range(2)]
    report = autoscale(world(SMALL, small, large), groups=[group("pool", "a")], kind=KARPENTER)
    assert (report.loops[0].expected, added(report)) == (4, {"pool": 2})
