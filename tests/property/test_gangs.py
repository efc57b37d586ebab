"""Gangs are what they are said to be: one that fits really fits, one that does not leaves everything as it was."""

from __future__ import annotations

from hypothesis import assume, given, settings
from hypothesis import strategies as st

import kubespread
from tests.builders import Data, hard, node, pod
from tests.gangs import deployment, pod_group, scheduler

MATCH = {"labelSelector": {"matchLabels": {"foo": "bar"}}}
ANTI_AFFINITY = {
    "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "rack", **MATCH}]}
}


@st.composite
def clusters(draw: st.DrawFn) -> list[Data]:
    """A few nodes in a few zones and racks, some without the labels, some partly taken."""
    objects: list[Data] = []
    for number in range(draw(st.integers(1, 5))):
        name, zone, rack = f"n{number}", draw(st.sampled_from(["a", "b", None])), draw(st.sampled_from("12"))
        objects.append(node(name, zone=zone, cpu=draw(st.sampled_from("1234")), host=name, rack=rack))
        if draw(st.booleans()):
            labels = draw(st.sampled_from([{"foo": "bar"}, {"app": "other"}]))
            objects.append(pod(f"p{number}", name, labels=labels, requests={"cpu": "1"}))
    return objects


CANDIDATES = st.builds(
    pod,
    requests=st.sampled_from([{"cpu": "1"}, {"cpu": "2"}]),
    constraints=st.sampled_from([None, [hard("zone")], [hard("host")], [hard("zone", 2), hard("rack")]]),
    affinity=st.sampled_from([None, None, ANTI_AFFINITY]),
)


def accepted(objects: list[Data], candidate: Data, nodes: list[str]) -> bool:
    """Whether kube-scheduler would accept one copy after another on these nodes, each time in a cluster built anew."""
    placed: list[Data] = []
    for number, name in enumerate(nodes):
        snapshot = kubespread.Snapshot.from_objects([*objects, *placed])
        if name not in kubespread.explain(snapshot, candidate).feasible:
            return False
        copy = {**candidate, "spec": {**candidate["spec"], "nodeName": name}}
        placed.append({**copy, "metadata": {**candidate["metadata"], "name": f"copy-{number}"}})
    return True


def domains_of(objects: list[Data], key: str, nodes: list[str]) -> set[str | None]:
    labels = {each["metadata"]["name"]: each["metadata"]["labels"] for each in objects if each["kind"] == "Node"}
    return {labels[name].get(key) for name in nodes}


@given(objects=clusters(), candidate=CANDIDATES, size=st.integers(1, 6), same=st.sampled_from([None, "zone", "rack"]))
@settings(max_examples=50, deadline=None)
def test_a_gang_that_is_said_to_fit_fits(objects: list[Data], candidate: Data, size: int, same: str | None) -> None:
    assume(same is None or any(same in each["metadata"]["labels"] for each in objects if each["kind"] == "Node"))
    snapshot = kubespread.Snapshot.from_objects(objects)
    report = kubespread.simulate(snapshot, candidate, gang=f"{size}" if same is None else f"{size}:{same}")
    gang, nodes = report.gang, [placement.node for placement in report.placements]
    assert gang is not None
    assert (report.placed, report.pending) == ((size, 0) if gang.fits else (0, size))
    assert accepted(objects, candidate, nodes)
    if same is not None and nodes:
        assert domains_of(objects, same, nodes) == {gang.chosen[0]}


@given(objects=clusters(), replicas=st.integers(1, 6), min_count=st.integers(1, 6))
@settings(max_examples=30, deadline=None)
def test_a_pod_group_is_scheduled_in_full_or_not_at_all(objects: list[Data], replicas: int, min_count: int) -> None:
    """Where it is scheduled, its pods are where they would be without it."""
    snapshot = kubespread.Snapshot.from_objects([*objects, pod_group(min_count=min_count)])
    grouped = kubespread.simulate(snapshot, deployment(replicas), scheduler=scheduler())
    alone = kubespread.simulate(snapshot, deployment(replicas), scheduler=kubespread.Scheduler(kube_version="1.36"))
    if alone.placed >= min_count:
        assert grouped.placements == alone.placements
    else:
        assert grouped.placements == ()
