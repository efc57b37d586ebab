"""A constraint is proposed where one zone or node holds most replicas, and does what is said of it."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kubespread
from kubespread import Snapshot
from tests.builders import Data, hard, node
from tests.world.clusters import deployment

ZONE = "topology.kubernetes.io/zone"


def machine(name: str, zone: str, cpu: str) -> Data:
    labels = {ZONE: zone, "kubernetes.io/hostname": name}
    return {**node(name, cpu=cpu), "metadata": {"name": name, "labels": labels}}


UNEVEN = [
    *(machine(f"a{place}", "a", "64") for place in range(1, 5)),
    *(machine(f"{zone}1", zone, "4") for zone in "bc"),
]
"""Free room draws pods to zone a."""
SOFT, HARD = (f"topologySpreadConstraints={ZONE}:1{action}" for action in (":soft", ""))


def web(replicas: int = 6, **spec: Any) -> Data:
    """A Deployment by itself."""
    return deployment("web", (), cpu="1500m", replicas=replicas, spec=spec)[0]


PREFERRING = {
    "preferredDuringSchedulingIgnoredDuringExecution": [
        {"weight": 100, "preference": {"matchExpressions": [{"key": ZONE, "operator": "In", "values": ["a"]}]}}
    ]
}
PROPOSED: dict[str, tuple[list[Data], Data, tuple[str, ...]]] = {
    "replicas that free room draws to one zone": (UNEVEN, web(), (SOFT,)),
    "those that prefer it more than a soft constraint counts": (
        UNEVEN,
        web(affinity={"nodeAffinity": PREFERRING}),
        (HARD,),
    ),
    "those that have a hard one": (UNEVEN, web(constraints=[hard(key=ZONE, match={"app": "web"})]), ()),
    "those that may go nowhere else": (UNEVEN, web(nodeSelector={ZONE: "a"}), ()),
    "a single one": (UNEVEN, web(1), ()),
    "nodes of one zone": (
        [machine("a1", "a", "64"), machine("a2", "a", "4")],
        web(4),
        ("topologySpreadConstraints=kubernetes.io/hostname:1:soft",),
    ),
    "zones without room for a share": ([UNEVEN[0], machine("b1", "b", "100m")], web(), ()),
}


@pytest.mark.parametrize("case", PROPOSED)
def test_check_proposes_the_constraint(case: str) -> None:
    nodes, manifest, proposed = PROPOSED[case]
    snapshot = Snapshot.from_objects(nodes)
    findings = kubespread.check(snapshot, manifest, select=["KS505"]).findings
    assert tuple(setting for finding in findings for setting in finding.remedy.settings) == proposed


def test_of_a_workload_of_the_cluster_the_remedy_is_an_edit() -> None:
    snapshot = Snapshot.from_objects([*UNEVEN, *deployment("web", ("a1", "a1", "a2", "a2", "a3", "a3"), cpu="1500m")])
    (finding,) = kubespread.check(snapshot, select=["KS505"]).findings
    assert finding.remedy.edits == (f"spread default/Deployment/web={ZONE}:1:soft",)
    (command,) = finding.remedy.commands
    assert '"labelSelector":{"matchLabels":{"app":"web"}}' in command
    assert kubespread.check(snapshot.edited(*finding.remedy.edits), select=["KS505"]).findings == ()


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["2", "4", "32"])), min_size=2, max_size=6),
    st.integers(2, 7),
    st.booleans(),
)
def test_with_the_constraint_all_replicas_are_placed_and_no_domain_holds_most(
    machines: list[tuple[str, str]], replicas: int, prefers: bool
) -> None:
    nodes = [machine(f"n{place}", zone, cpu) for place, (zone, cpu) in enumerate(machines)]
    zone_of = {each["metadata"]["name"]: each["metadata"]["labels"][ZONE] for each in nodes}
    snapshot, manifest = (
        Snapshot.from_objects(nodes),
        web(replicas, **({"affinity": {"nodeAffinity": PREFERRING}} if prefers else {})),
    )
    for finding in kubespread.check(snapshot, manifest, select=["KS505"]).findings:
        (setting,) = finding.remedy.settings
        placements = kubespread.simulate(snapshot, manifest, set=[setting]).placements
        counted = Counter(zone_of[each.node] if ZONE in setting else each.node for each in placements)
        assert (len(placements), 2 * max(counted.values()) <= replicas + 1) == (replicas, True)
