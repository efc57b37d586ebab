"""What nodes have left: what counts as requested, whose fault it is that some of it is of no use, what fits where."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kubespread
from kubespread import CapacityReport, Snapshot, UsageError
from kubespread.kube.quantity import parse
from tests.builders import Data, node, owner, pod, taint

ZONE = "topology.kubernetes.io/zone"
GPU = "nvidia.com/gpu"


def sized(name: str, cpu: str, memory: str, *, pods: str = "110", gpu: str | None = None, **more: Any) -> Data:
    """A node with so much to allocate; ``in_zone`` labels it."""
    zone = more.pop("in_zone", None)
    made = node(name, **more)
    made["status"]["allocatable"] = {"cpu": cpu, "memory": memory, "pods": pods, **({GPU: gpu} if gpu else {})}
    if zone is not None:
        made["metadata"]["labels"][ZONE] = zone
    return made


def taking(on: str, cpu: str, memory: str, name: str = "p", **spec: Any) -> Data:
    return pod(f"{name}-{on}", on, requests={"cpu": cpu, "memory": memory}, **spec)


def asked(objects: list[Data], request: str | None = None, **options: Any) -> CapacityReport:
    return kubespread.capacity(Snapshot.from_objects(objects), request, **options)


def stranded(report: CapacityReport, resource: str) -> list[str]:
    """``3 of 4 left: 1 cordoned (1 nodes)``."""
    found = next(each for each in report.resources if each.resource == resource)
    return [f"{found.usable} of {found.free}"] + [
        f"{each.amount} {each.cause}{f' {each.detail}' if each.detail else ''} ({each.nodes})"
        for each in found.stranded
    ]


UNREACHABLE = taint("node.kubernetes.io/unreachable")
FAILED = [
    sized("n1", "4", "4Gi", taints=[UNREACHABLE]),
    sized("n2", "5", "4Gi", taints=[taint("spot", value="true"), UNREACHABLE]),
    sized("n3", "3", "4Gi", unschedulable=True, taints=[taint("node.kubernetes.io/unschedulable"), UNREACHABLE]),
    sized("n4", "1", "8Gi", taints=[UNREACHABLE]),
    taking("n4", "1", "0"),
    sized("n5", "5", "4Gi", unschedulable=True, taints=[taint("spot", value="true")]),
    sized("n6", "2", "8Gi"),
]
CASES: dict[str, tuple[list[Data], str | None, list[str], list[str]]] = {
    "without a request what some pod could use is not stranded": (
        [sized("a", "4", "8Gi"), taking("a", "1", "1Gi")],
        None,
        ["3 of 3"],
        ["7Gi of 7Gi"],
    ),
    "cpu on a node without memory left": (
        [sized("a", "4", "8Gi"), taking("a", "1", "8Gi")],
        None,
        ["0 of 3", "3 resource memory (1)"],
        ["0 of 0"],
    ),
    "memory on a node without cpu left": (
        [sized("a", "4", "8Gi"), taking("a", "4", "1Gi")],
        None,
        ["0 of 0"],
        ["0 of 7Gi", "7Gi resource cpu (1)"],
    ),
    "a node whose pods ask for more than it has takes nothing from others": (
        [sized("a", "4", "8Gi"), sized("b", "4", "8Gi"), taking("a", "6", "1Gi")],
        None,
        ["4 of 4"],
        ["8Gi of 15Gi", "7Gi resource cpu (1)"],
    ),
    "cordoned, tainted and full nodes": (
        [
            sized("a", "4", "8Gi", unschedulable=True),
            sized("b", "3", "8Gi", taints=[taint("gpu", value="yes")]),
            sized("c", "2", "8Gi", pods="1"),
            taking("c", "1", "1Gi"),
            sized("d", "8", "8Gi"),
        ],
        None,
        ["8 of 16", "4 cordoned (1)", "3 tainted gpu=yes:NoSchedule (1)", "1 pods (1)"],
        ["8Gi of 31Gi", "8Gi cordoned (1)", "8Gi tainted gpu=yes:NoSchedule (1)", "7Gi pods (1)"],
    ),
    "with a request what is left once as many as possible run": (
        [sized("a", "5", "8Gi"), sized("b", "8", "5Gi")],
        "cpu=2,memory=2Gi",
        ["8 of 13", "4 resource memory (1)", "1 remainder (1)"],
        ["8Gi of 13Gi", "4Gi resource cpu (1)", "1Gi remainder (1)"],
    ),
    "a resource that only some nodes have": (
        [sized("a", "4", "8Gi", gpu="1"), sized("b", "4", "8Gi")],
        f"cpu=1,{GPU}=1",
        ["1 of 8", f"7 resource {GPU} (2)"],
        ["0 of 16Gi", f"16Gi resource {GPU} (2)"],
    ),
    "a failed node is failed first, whatever else it is, a cordoned one cordoned": (
        FAILED,
        None,
        ["2 of 19", "12 tainted node.kubernetes.io/unreachable:NoSchedule (3)", "5 cordoned (1)"],
        ["8Gi of 32Gi", "20Gi tainted node.kubernetes.io/unreachable:NoSchedule (4)", "4Gi cordoned (1)"],
    ),
    "a failed node is failed first for pods of one size, too": (
        FAILED,
        "cpu=8",
        ["0 of 19", "12 tainted node.kubernetes.io/unreachable:NoSchedule (3)", "5 cordoned (1)", "2 remainder (1)"],
        [
            "0 of 32Gi",
            "20Gi tainted node.kubernetes.io/unreachable:NoSchedule (4)",
            "8Gi resource cpu (1)",
            "4Gi cordoned (1)",
        ],
    ),
    "pods that have ended ask for nothing any more": (
        [sized("a", "4", "8Gi"), {**taking("a", "1", "1Gi"), "status": {"phase": "Succeeded"}}],
        None,
        ["4 of 4"],
        ["8Gi of 8Gi"],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_free_and_what_is_stranded(case: str) -> None:
    objects, request, cpu, memory = CASES[case]
    report = asked(objects, request)
    assert (stranded(report, "cpu"), stranded(report, "memory")) == (cpu, memory)


REQUESTED: dict[str, tuple[Data, str]] = {
    "containers together": ({"containers": [{"name": "a", "resources": {"requests": {"cpu": "1"}}}] * 2}, "2"),
    "the largest init container": (
        {
            "containers": [{"name": "a", "resources": {"requests": {"cpu": "1"}}}],
            "initContainers": [{"name": "i", "resources": {"requests": {"cpu": "3"}}}],
        },
        "3",
    ),
    "what is asked for the pod as a whole": (
        {
            "containers": [{"name": "a", "resources": {"requests": {"cpu": "1"}}}],
            "resources": {"requests": {"cpu": "2"}},
        },
        "2",
    ),
    "overhead": (
        {"containers": [{"name": "a", "resources": {"requests": {"cpu": "1"}}}], "overhead": {"cpu": "250m"}},
        "1250m",
    ),
}


@pytest.mark.parametrize("case", REQUESTED)
def test_requests_are_counted_as_the_scheduler_counts_them(case: str) -> None:
    spec, expected = REQUESTED[case]
    running = pod(on="a")
    running["spec"] |= spec
    report = asked([sized("a", "8", "8Gi"), running])
    (row,) = report.node_rows
    assert next(each.requested for each in row.resources if each.resource == "cpu") == expected


def test_domains_and_nodes_say_how_many_fit_and_why_no_more() -> None:
    objects = [
        sized("n1", "4", "8Gi", in_zone="b"),
        sized("n2", "4", "2Gi", in_zone="a"),
        sized("n3", "8", "64Gi"),
        sized("n4", "8", "64Gi", in_zone="a", unschedulable=True),
    ]
    report = asked(objects, "cpu=2,memory=2Gi")
    assert report.fits == 7
    assert [(each.domain, each.nodes, each.fits) for each in report.domains] == [("a", 2, 1), ("b", 1, 2), (None, 1, 4)]
    assert [(each.node, each.fits, each.why) for each in report.node_rows] == [
        ("n1", 2, ("cpu",)),
        ("n2", 1, ("memory",)),
        ("n3", 4, ("cpu",)),
        ("n4", 0, ("cordoned",)),
    ]
    by_host = asked(
        [*objects, {**sized("n5", "1", "1Gi"), "metadata": {"name": "n5", "labels": {"rack": "r"}}}], by="rack"
    )
    assert [(each.domain, each.nodes, each.fits) for each in by_host.domains] == [("r", 1, None), (None, 4, None)]


def test_limit_ranges_and_quotas_of_the_namespace_do_not_count() -> None:
    limits = {
        "apiVersion": "v1",
        "kind": "LimitRange",
        "metadata": {"name": "l", "namespace": "default"},
        "spec": {"limits": [{"type": "Container", "max": {"cpu": "1"}, "defaultRequest": {"memory": "4Gi"}}]},
    }
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "q", "namespace": "default"},
        "spec": {"hard": {"pods": "0"}},
        "status": {"hard": {"pods": "0"}, "used": {"pods": "0"}},
    }
    assert asked([sized("n1", "4", "8Gi"), limits, quota], "cpu=2").fits == 2


def test_a_cluster_without_pods_or_zones_has_neither_rows_nor_domains_for_them() -> None:
    report = asked([sized("n1", "4", "8Gi"), owner("Service", "s", {"a": "b"})])
    assert (report.domains, report.topology_key) == ((), None)


FAULTS: dict[str, tuple[str, str]] = {
    "no amount": ("cpu", "invalid request 'cpu': expected RESOURCE=AMOUNT, such as cpu=2 or memory=4Gi"),
    "nothing": ("", "invalid request '': expected RESOURCE=AMOUNT, such as cpu=2 or memory=4Gi"),
    "the same twice": ("cpu=1,cpu=2", "invalid request 'cpu=1,cpu=2': cpu is given twice"),
    "no quantity": ("memory=1ee", "invalid request memory=1ee: unable to parse quantity's suffix"),
    "less than nothing": ("cpu=-1", 'invalid request cpu=-1: Invalid value: "-1": must be greater than or equal to 0'),
    "a resource without its domain, and a part of a device": (
        "gpu=1,nvidia.com/gpu=500m",
        'invalid request gpu=1: Invalid value: "gpu": must be a standard resource type or fully qualified, did you mean '
        '"nvidia.com/gpu"?\ninvalid request nvidia.com/gpu=500m: Invalid value: "500m": must be an integer',
    ),
    "a key that no node has": ("zoen", f"no node has the topology key 'zoen'; did you mean {ZONE}?"),
}


@pytest.mark.parametrize("case", FAULTS)
def test_what_cannot_be_asked_is_said(case: str) -> None:
    text, expected = FAULTS[case]
    objects = [sized("n1", "4", "8Gi", gpu="1", in_zone="a")]
    with pytest.raises(UsageError) as refused:
        asked(objects, by=text) if case.startswith("a key") else asked(objects, text)
    assert str(refused.value) == expected


def test_without_the_plugin_that_counts_nothing_is_counted() -> None:
    config = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{plugins: {multiPoint: {disabled: [{name: NodeResourcesFit}]}}}]
"""
    with pytest.raises(UsageError) as refused:
        asked([sized("n1", "4", "8Gi")], scheduler=kubespread.Scheduler(config=config))
    assert str(refused.value) == "profile default-scheduler does not run NodeResourcesFit: any number of pods fits"


DEVICES = [
    sized("g1", "8", "32Gi", gpu="4", in_zone="a", taints=[taint(GPU, value="present")]),
    sized("g2", "8", "32Gi", gpu="4", in_zone="b", taints=[taint(GPU, value="present")]),
    sized("n1", "4", "16Gi", in_zone="a"),
    pod("train", "g1", requests={GPU: "1"}),
    pod("infer", "g2", requests={GPU: "2"}),
]
CLOSED: dict[str, tuple[list[Data], dict[str, Any], tuple[int, list[str]]]] = {
    "taints alone keep the pods off": (
        DEVICES,
        {"request": f"{GPU}=2"},
        (
            0,
            [
                f"0 pods of {GPU} 2 fit",
                "cpu stranded: 16 on 2 nodes reserved by taint nvidia.com/gpu=present:NoSchedule, 4 on 1 node with too little "
                "nvidia.com/gpu left",
                "memory stranded: 64Gi on 2 nodes reserved by taint nvidia.com/gpu=present:NoSchedule, 16Gi on 1 node "
                "with too little nvidia.com/gpu left",
                f"{GPU} stranded: 5 on 2 nodes reserved by taint nvidia.com/gpu=present:NoSchedule",
            ],
        ),
    ),
    "they tolerate a taint, whatever its value": (
        DEVICES,
        {"request": f"{GPU}=2", "tolerate": [GPU]},
        (
            2,
            [
                f"2 pods of {GPU} 2 fit: a 1, b 1",
                "cpu stranded: 20 on 3 nodes with too little nvidia.com/gpu left",
                "memory stranded: 80Gi on 3 nodes with too little nvidia.com/gpu left",
                f"{GPU} stranded: 1 on 1 node in pieces too small for one more pod",
            ],
        ),
    ),
    "they tolerate another value": (
        DEVICES,
        {"request": f"{GPU}=2", "tolerate": [f"{GPU}=absent:NoSchedule"]},
        (
            0,
            [
                f"0 pods of {GPU} 2 fit",
                "cpu stranded: 16 on 2 nodes reserved by taint nvidia.com/gpu=present:NoSchedule, 4 on 1 node with too little "
                "nvidia.com/gpu left",
                "memory stranded: 64Gi on 2 nodes reserved by taint nvidia.com/gpu=present:NoSchedule, 16Gi on 1 node "
                "with too little nvidia.com/gpu left",
                f"{GPU} stranded: 5 on 2 nodes reserved by taint nvidia.com/gpu=present:NoSchedule",
            ],
        ),
    ),
    "no node has as many left, tainted or not": (
        DEVICES,
        {"request": f"{GPU}=4"},
        (
            0,
            [
                f"0 pods of {GPU} 4 fit",
                f"{GPU} is fragmented: 5 left in all, 3 at most on one node",
                "cpu stranded: 20 on 3 nodes with too little nvidia.com/gpu left",
                "memory stranded: 80Gi on 3 nodes with too little nvidia.com/gpu left",
                f"{GPU} stranded: 5 on 2 nodes in pieces too small for one more pod",
            ],
        ),
    ),
    "all nodes together have too few": (
        [*DEVICES, pod("more", "g1", requests={GPU: "2"}), pod("most", "g2", requests={GPU: "1"})],
        {"request": f"{GPU}=3"},
        (
            0,
            [
                f"0 pods of {GPU} 3 fit",
                f"{GPU} is short: 2 left in all",
                "cpu stranded: 20 on 3 nodes with too little nvidia.com/gpu left",
                "memory stranded: 80Gi on 3 nodes with too little nvidia.com/gpu left",
                f"{GPU} stranded: 2 on 2 nodes in pieces too small for one more pod",
            ],
        ),
    ),
    "no node is large enough, were it empty": (
        DEVICES,
        {"request": f"cpu=5,{GPU}=6"},
        (
            0,
            [
                f"0 pods of cpu 5, {GPU} 6 fit",
                f"no node has that much {GPU}: 4 at most",
                "cpu stranded: 16 on 2 nodes with too little nvidia.com/gpu left, 4 on 1 node in pieces too small for "
                "one more pod",
                "memory stranded: 64Gi on 2 nodes with too little nvidia.com/gpu left, 16Gi on 1 node with too little "
                "cpu left",
                f"{GPU} stranded: 5 on 2 nodes in pieces too small for one more pod",
            ],
        ),
    ),
    "some fit, where no taint keeps them off": (
        DEVICES,
        {"request": "cpu=4"},
        (
            1,
            [
                "1 pod of cpu 4 fits: a 1, b 0",
                "cpu stranded: 16 on 2 nodes reserved by taint nvidia.com/gpu=present:NoSchedule",
                "memory stranded: 64Gi on 2 nodes reserved by taint nvidia.com/gpu=present:NoSchedule, 16Gi on 1 node "
                "with too little cpu left",
                f"{GPU} stranded: 5 on 2 nodes reserved by taint nvidia.com/gpu=present:NoSchedule",
            ],
        ),
    ),
    "what says in what state a node is goes with that": (
        [sized("n1", "4", "8Gi", taints=[taint("node.kubernetes.io/not-ready")])],
        {"request": "cpu=1"},
        (
            0,
            [
                "0 pods of cpu 1 fit",
                "the only node has a taint the pod does not tolerate",
                "cpu stranded: 4 on 1 node tainted node.kubernetes.io/not-ready:NoSchedule",
                "memory stranded: 8Gi on 1 node tainted node.kubernetes.io/not-ready:NoSchedule",
            ],
        ),
    ),
    "failed and cordoned nodes have nothing left": (
        [*FAILED, sized("n7", "3", "4Gi", taints=[taint("spot", value="true")])],
        {"request": "cpu=4"},
        (
            0,
            [
                "0 pods of cpu 4 fit",
                "cpu is fragmented: 5 left in all, 3 at most on one node",
                "cpu stranded: 12 on 3 nodes tainted node.kubernetes.io/unreachable:NoSchedule, 5 on 1 cordoned node, "
                "5 on 2 nodes in pieces too small for one more pod",
                "memory stranded: 20Gi on 4 nodes tainted node.kubernetes.io/unreachable:NoSchedule, 12Gi on 2 nodes "
                "with too little cpu left, 4Gi on 1 cordoned node",
            ],
        ),
    ),
    "only what nodes that take pods have left is too little": (
        FAILED,
        {"request": "cpu=4"},
        (
            0,
            [
                "0 pods of cpu 4 fit",
                "cpu is short: 2 left in all",
                "cpu stranded: 12 on 3 nodes tainted node.kubernetes.io/unreachable:NoSchedule, 5 on 1 cordoned node, "
                "2 on 1 node in pieces too small for one more pod",
                "memory stranded: 20Gi on 4 nodes tainted node.kubernetes.io/unreachable:NoSchedule, 8Gi on 1 node with "
                "too little cpu left, 4Gi on 1 cordoned node",
            ],
        ),
    ),
}


@pytest.mark.parametrize("case", CLOSED)
def test_whom_taints_keep_off_and_how_many(case: str) -> None:
    objects, options, expected = CLOSED[case]
    report = kubespread.capacity(Snapshot.from_objects(objects), **options)
    assert (report.fits, list(report.answer)) == expected


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"tolerate": ["gpu:Never"]}, "invalid toleration 'gpu:Never': the effect is one of NoSchedule"),
        ({"tolerate": ["=x"]}, "invalid toleration '=x': expected KEY[=VALUE][:EFFECT]"),
    ],
)
def test_faults_in_what_pods_tolerate_and_select_are_said(options: dict[str, Any], expected: str) -> None:
    with pytest.raises(UsageError) as refused:
        kubespread.capacity(Snapshot.from_objects([node("n1")]), **options)
    assert str(refused.value).startswith(expected)


_AMOUNT = st.sampled_from(("0", "250m", "1", "3"))
_NODE = st.fixed_dictionaries(
    {
        "cpu": st.sampled_from(("1", "2500m", "6")),
        "memory": st.sampled_from(("1Gi", "6Gi")),
        "pods": st.sampled_from(("0", "2", "5")),
        "gpu": st.sampled_from((None, "1", "3")),
        "unschedulable": st.booleans(),
        "taints": st.sampled_from(
            (
                [],
                [taint("team", value="a")],
                [taint("team", value="b"), taint("gpu")],
                [taint("team", value="a"), UNREACHABLE],
            )
        ),
    }
)


_TOLERATIONS: dict[str, Data] = {
    "team=a": {"key": "team", "value": "a"},
    "team=b": {"key": "team", "value": "b"},
    "team": {"key": "team", "operator": "Exists"},
    "gpu:NoSchedule": {"key": "gpu", "operator": "Exists", "effect": "NoSchedule"},
}


@settings(max_examples=40, deadline=None)
@given(
    nodes=st.lists(_NODE, min_size=1, max_size=4),
    running=st.lists(st.tuples(st.integers(0, 3), _AMOUNT, st.booleans()), max_size=5),
    request=st.sampled_from(("cpu=500m", "cpu=1,memory=1Gi", f"{GPU}=1", "cpu=0", f"memory=700Mi,{GPU}=1")),
    hostile=st.booleans(),
    tolerate=st.sampled_from(([], ["team=a"], ["team"], ["gpu:NoSchedule", "team=b"])),
)
def test_as_many_fit_as_simulate_places(
    nodes: list[Data], running: list[tuple[int, str, bool]], request: str, hostile: bool, tolerate: list[str]
) -> None:
    objects = [sized(f"n{number}", **each) for number, each in enumerate(nodes)]
    for number, (on, cpu, nominated) in enumerate(running):
        made = pod(f"p{number}", None if nominated else f"n{on}", requests={"cpu": cpu}, priority=5)
        made["status"] = {"nominatedNodeName": f"n{on}"} if nominated else {"phase": "Running"}
        objects.append(made)
    if hostile:
        everyone = {"labelSelector": {"matchExpressions": [{"key": "x", "operator": "DoesNotExist"}]}}
        term = {**everyone, "topologyKey": "kubernetes.io/hostname"}
        away = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
        objects[0]["metadata"]["labels"] = {"kubernetes.io/hostname": "n0"}
        objects.append(pod("hermit", "n0", affinity=away))
    snapshot = Snapshot.from_objects(objects)
    report = kubespread.capacity(snapshot, request, tolerate=tolerate)
    resources = dict(part.split("=") for part in request.split(","))

    asking = pod("many", labels={}, requests=resources, tolerations=[_TOLERATIONS[text] for text in tolerate])
    asking["spec"]["containers"][0]["resources"]["limits"] = {k: v for k, v in resources.items() if k == GPU}
    placed = Counter(each.node for each in kubespread.simulate(snapshot, asking, replicas="max").placements)
    assert {each.node: each.fits for each in report.node_rows} == {
        each.node: placed[each.node] for each in report.node_rows
    }
    assert report.fits == placed.total()
    closed = {
        f"n{number}" for number, each in enumerate(nodes) if each["unschedulable"] or UNREACHABLE in each["taints"]
    }
    lost = Counter[str]()
    for row in report.node_rows:
        lost.update({each.resource: parse(each.free).nano for each in row.resources if row.node in closed})
    assert (
        Counter({row.resource: parse(row.free).nano - row.free_on_open_nodes.nano for row in report.resources}) == lost
    )
