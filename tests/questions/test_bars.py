"""The sentence that says what bars a pod that fits nowhere, and the pods behind the numbers."""

from __future__ import annotations

import pytest

import kubespread
from tests.builders import Data, hard, node, owned_by, pod, pods_on, soft, taint
from tests.storage import claim, on_host, storage_class, volume


def conclusion(nodes: list[Data], running: list[Data], candidate: Data) -> str | None:
    return kubespread.explain(kubespread.Snapshot.from_objects([*nodes, *running]), candidate).conclusion


def zones(a: Data | None = None, b: Data | None = None) -> list[Data]:
    """Two nodes in zone a and two in zone b; ``a`` and ``b`` are what is special about the nodes of each."""
    return [
        *(node(f"a{number}", zone="a", **(a or {})) for number in range(2)),
        *(node(f"b{number}", zone="b", **(b or {})) for number in range(2)),
    ]


IN_A = pods_on({"a0": 1})
ASKS = {"cpu": "2"}
DATA = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
CASES: dict[str, tuple[list[Data], list[Data], Data, str | None]] = {
    "fits": (zones(), IN_A, pod(constraints=[hard()]), None),
    "only one zone is left, and it is cordoned": (
        zones(b={"unschedulable": True}),
        IN_A,
        pod(constraints=[hard()]),
        "zone constraint allows only b; there both nodes are cordoned",
    ),
    "what is wrong differs": (
        [*zones(b={"cpu": "1"}), node("b2", zone="b", unschedulable=True)],
        IN_A,
        pod(constraints=[hard()], requests=ASKS),
        "zone constraint allows only b; there 2 nodes have too little cpu, 1 node is cordoned",
    ),
    "another constraint bars what is left": (
        [node("a0", zone="a", host="a0"), node("b0", zone="b", host="b0"), node("b1", zone="b", host="b1")],
        pods_on({"a0": 2, "b0": 1}),
        pod(constraints=[soft(), hard(), hard("host", minDomains=9)]),
        None,
    ),
    "letters follow the declaration, the soft ones included": (
        zones(b={"unschedulable": True}),
        IN_A,
        pod(constraints=[soft(), hard()]),
        "zone constraint allows only b; there both nodes are cordoned",
    ),
    "one cause everywhere": (
        zones(a={"cpu": "1"}, b={"cpu": "1"}),
        IN_A,
        pod(requests=ASKS),
        "all 4 nodes have too little cpu",
    ),
    "one cause everywhere, whatever the constraint says": (
        zones(a={"cpu": "1"}, b={"cpu": "1"}),
        IN_A,
        pod(constraints=[hard()], requests=ASKS),
        "all 4 nodes have too little cpu",
    ),
    "a single node": ([node("n", unschedulable=True)], [], pod(), "the only node is cordoned"),
    "several taints are one cause": (
        [node("n0", taints=[taint("gpu")]), node("n1", taints=[taint("db")])],
        [],
        pod(),
        "both nodes have taints the pod does not tolerate",
    ),
    "two things everywhere": (
        [node("n", unschedulable=True, cpu="1")],
        [],
        pod(requests=ASKS),
        "the only node is cordoned and has too little cpu",
    ),
    "a label that no node has": (
        zones(),
        [],
        pod(nodeSelector={"disk": "ssd", "zone": "a"}),
        "no node has disk=ssd (nodeSelector)",
    ),
    "labels that no node has together": (
        [node("a0", zone="a", disk="ssd"), node("b0", zone="b")],
        [],
        pod(nodeSelector={"disk": "ssd", "zone": "b"}),
        "no node meets nodeSelector disk=ssd,zone=b",
    ),
    "a node selector that leaves one node, and all that is wrong with it": (
        [node("a0", zone="a"), node("m0", pool="mem", cpu="1", taints=[taint("gpu", value="x")])],
        [],
        pod(nodeSelector={"pool": "mem"}, constraints=[hard()], requests=ASKS),
        "nodeSelector pool=mem leaves only m0, which has no zone label, has taint gpu=x:NoSchedule and has too little cpu",
    ),
    "a node selector that leaves some nodes": (
        [node("a0", zone="a"), *(node(f"m{number}", pool="mem", cpu="1") for number in range(2))],
        [],
        pod(nodeSelector={"pool": "mem"}, requests=ASKS),
        "nodeSelector pool=mem leaves only m0 and m1; there both nodes have too little cpu",
    ),
    "a constraint that counts other nodes once another one is gone": (
        [
            node("a1", zone="a", rack="ra"),
            node("b1", zone="b", rack="rb", unschedulable=True),
            node("b2", zone="b", cpu="1"),
        ],
        pods_on({"a1": 1, "b2": 1}),
        pod(constraints=[hard(), hard("rack")], requests=ASKS),
        "rack constraint allows only rb; there the only node is cordoned",
    ),
    "different things on different nodes": (
        [node("n0", unschedulable=True), node("n1", cpu="1")],
        [],
        pod(requests=ASKS),
        None,
    ),
    "too few domains": (
        zones(),
        pods_on({"a0": 1, "b0": 1}),
        pod(constraints=[hard(minDomains=3)]),
        "zone constraint allows no node: there are 2 domains, fewer than minDomains 3, so the minimum is 0",
    ),
    "nobody has the label": (
        zones(),
        [],
        pod(constraints=[hard("rack")]),
        "rack constraint allows no node: none has the label rack",
    ),
}


IN_ZONE_B = [
    claim("data", "v"),
    volume("v", "made", only=on_host("b", "zone"), phase="Bound"),
    storage_class("made", "d.csi"),
]
OF_VOLUMES: dict[str, tuple[list[Data], list[Data], Data, str]] = {
    "a volume is where no node has room": (
        zones(b={"cpu": "1"}),
        IN_ZONE_B,
        pod(requests=ASKS, volumes=DATA),
        "volume data is in b, which has no node with room: both nodes have too little cpu",
    ),
    "a volume is where something else is wrong": (
        zones(b={"unschedulable": True}),
        IN_ZONE_B,
        pod(requests=ASKS, volumes=DATA),
        "volume data is in b; there both nodes are cordoned",
    ),
    "a volume is where there is no node": (
        zones()[:2],
        IN_ZONE_B,
        pod(volumes=DATA),
        "volume data is in b, which no node is",
    ),
    "a volume is not all that keeps it elsewhere": (
        zones(a={"cpu": "1"}, b={"cpu": "1"}),
        IN_ZONE_B,
        pod(requests=ASKS, volumes=DATA),
        "all 4 nodes have too little cpu",
    ),
}
CASES |= OF_VOLUMES


@pytest.mark.parametrize("case", CASES)
def test_what_bars_the_pod(case: str) -> None:
    nodes, running, candidate, expected = CASES[case]
    assert conclusion(nodes, running, candidate) == expected


def test_the_pods_of_a_domain_are_those_it_counts_and_the_terminating_ones() -> None:
    nodes = [node("n0", zone="a"), node("n1", zone="a"), node("n2", zone="b")]
    stale = pod("old", "n1")
    stale["metadata"]["ownerReferences"] = owned_by("ReplicaSet", "web-1")
    ending = pod("ending", "n0")
    ending["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    elsewhere = pod("elsewhere", "n0", namespace="other")
    snapshot = kubespread.Snapshot.from_objects(
        [*nodes, stale, ending, elsewhere, pod("none", "n2", labels={"a": "b"})]
    )
    candidate = pod(constraints=[hard(), soft()])
    for constraint in kubespread.explain(snapshot, candidate, with_pods=True).constraints:
        a, b = constraint.domains
        assert [(each.name, each.owner, each.node, each.terminating) for each in a.pods or ()] == [
            ("ending", None, "n0", True),
            ("old", "ReplicaSet/web-1", "n1", False),
        ]
        assert (a.matching, b.matching, b.pods) == (1, 0, ())
    assert kubespread.explain(snapshot, candidate).constraints[0].domains[0].pods is None


def test_the_answer_names_its_cluster() -> None:
    origin = kubespread.Snapshot.from_objects([node("n")]).stamp("context prod")
    cluster = kubespread.explain(origin, pod()).cluster
    assert cluster is not None
    assert (cluster.context, cluster.server, cluster.snapshot, cluster.server_version) == ("prod", None, None, None)
    assert cluster.age_seconds in range(60)


def test_a_node_where_the_volume_is_gets_the_pod_in() -> None:
    cluster = kubespread.Snapshot.from_objects([*zones()[:2], *IN_ZONE_B, pod("web", volumes=DATA)])
    advice = kubespread.explain(cluster, "pod/web", fix=True).advice
    assert advice is not None
    assert "--add-node a0@zone=b" in [text for each in advice.enough for text in each.options]
