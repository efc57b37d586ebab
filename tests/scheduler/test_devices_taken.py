"""Devices that placed pods take: one replica after another, shared claims, and what pods give back when they go."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kubespread
from kubespread.candidate.sources import Surroundings
from kubespread.kube.api.core import Pod
from kubespread.scheduler.cluster.cluster import Cluster, ClusterChange
from kubespread.scheduler.evaluation import evaluate, evaluate_prepared
from kubespread.scheduler.placing import Placing
from kubespread.scheduler.plugins.dynamicresources.devices import Rules
from kubespread.scheduler.plugins.dynamicresources.judging import ledger_of, written_back
from kubespread.scheduler.profile.profile import default_profile, framework
from tests.builders import (
    DRIVER,
    device,
    device_class,
    device_request,
    node,
    pod,
    resource_claim,
    resource_claim_template,
    resource_slice,
    using,
)
from tests.candidate.objects import from_object
from tests.cli.support import FIXTURES

Data = dict[str, Any]

GPU = device_class("gpu", resource="example.com/gpu")
NODES = [node("n1"), node("n2")]
TEMPLATE = resource_claim_template("t", device_request())


def placements(objects: list[Data], candidate: Data, replicas: int) -> tuple[list[str], str | None]:
    """The node of each replica, and why the next found none."""
    report = kubespread.simulate(kubespread.Snapshot.from_objects(objects), candidate, replicas=replicas)
    return [each.node for each in report.placements], report.stopped


def stopped(*counts: tuple[int, str]) -> str:
    total = sum(count for count, _ in counts)
    return f"0/{total} nodes are available: {', '.join(f'{count} {reason}' for count, reason in counts)}."


NOT_ENOUGH = (2, "cannot allocate all claims")
TAKEN: dict[str, tuple[list[Data], Data, int, list[str], str | None]] = {
    "each replica has a claim of its own": (
        [TEMPLATE, resource_slice("n1", 2, "n1"), resource_slice("n2", 1, "n2")],
        using(templates=("t",)),
        5,
        ["n1", "n1", "n2"],
        stopped(NOT_ENOUGH),
    ),
    "devices that all nodes reach": (
        [TEMPLATE, resource_slice("fabric", 3)],
        using(templates=("t",)),
        5,
        ["n1", "n1", "n2"],
        stopped(NOT_ENOUGH),
    ),
    "all share one claim, where the first got it": (
        [resource_claim("c", device_request()), resource_slice("n2", 1, "n2")],
        using(claims=("c",)),
        3,
        ["n2", "n2", "n2"],
        None,
    ),
    "a shared claim with a device for every node": (
        [resource_claim("c", device_request()), resource_slice("fabric", 1)],
        using(claims=("c",)),
        3,
        ["n1", "n1", "n2"],
        None,
    ),
    "extended resources": (
        [resource_slice("n1", 2, "n1"), resource_slice("n2", 2, "n2")],
        pod(containers=[{"name": "c", "image": "x", "resources": {"limits": {"example.com/gpu": "2"}}}]),
        3,
        ["n1", "n2"],
        stopped(NOT_ENOUGH),
    ),
    "the better alternative as long as there is one": (
        [
            resource_claim_template(
                "t",
                {
                    "name": "r",
                    "firstAvailable": [
                        {"name": "two", "deviceClassName": "gpu", "count": 2},
                        {"name": "one", "deviceClassName": "gpu"},
                    ],
                },
            ),
            resource_slice("n1", 1, "n1"),
            resource_slice("n2", 3, "n2"),
        ],
        using(templates=("t",)),
        4,
        ["n2", "n1", "n2"],
        stopped(NOT_ENOUGH),
    ),
    "admin access takes nothing": (
        [resource_claim_template("t", device_request(adminAccess=True)), resource_slice("n1", 1, "n1")],
        using(templates=("t",)),
        3,
        ["n1", "n1", "n1"],
        None,
    ),
}


@pytest.mark.parametrize("case", TAKEN)
def test_replicas_use_up_devices(case: str) -> None:
    objects, candidate, replicas, nodes, why = TAKEN[case]
    assert sorted_by_load(placements([*NODES, GPU, *objects], candidate, replicas)) == (sorted(nodes), why)


def sorted_by_load(shown: tuple[list[str], str | None]) -> tuple[list[str], str | None]:
    return sorted(shown[0]), shown[1]


def test_several_workloads_see_what_others_took() -> None:
    first, second = using("a", templates=("t",)), using("b", templates=("t",))
    objects = [*NODES, GPU, TEMPLATE, resource_slice("n1", 2, "n1"), resource_slice("n2", 1, "n2")]
    reports = kubespread.simulate(kubespread.Snapshot.from_objects(objects), [first, second], replicas=2)
    assert [len(report.placements) for report in reports] == [2, 1]
    assert Counter(each.node for report in reports for each in report.placements) == {"n1": 2, "n2": 1}


def admitted(snapshot: kubespread.Snapshot, candidate: Data) -> Pod:
    return from_object(candidate, Surroundings(snapshot)).pod


@st.composite
def clusters(draw: st.DrawFn) -> list[Data]:
    """Up to four nodes with devices of their own, some that several reach, claims, and who uses them."""
    names = [f"n{at}" for at in range(draw(st.integers(1, 4)))]
    devices = st.lists(
        st.builds(
            lambda numa, mem, sharing: device("", numa=numa, mem=mem) | sharing,
            st.integers(0, 1),
            st.sampled_from([10, 40]),
            st.sampled_from(SHARING),
        ),
        max_size=4,
    )

    def offered(name: str, on: Any) -> list[Data]:
        """A slice, and one with the counters of its devices."""
        listed = [each | {"name": f"d{at}"} for at, each in enumerate(draw(devices))]
        pool = {"name": name, "generation": 1, "resourceSliceCount": 2}
        sets = [{"name": "s", "counters": {"slots": {"value": "3"}}}]
        counters = resource_slice(f"{name}-counters", [], on, pool=pool, sharedCounters=sets)
        return [counters, resource_slice(name, listed, on, pool=pool)]

    slices = [each for name in names if draw(st.booleans()) for each in offered(name, name)]
    slices += offered("fabric", None)
    in_zone = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}]}
    slices += offered("zonal", in_zone)
    big = device_request("big", "gpu", f'device.attributes["{DRIVER}"].mem > 20')
    same = [{"matchAttribute": f"{DRIVER}/numa"}]
    either = {"name": "r", "firstAvailable": [{**request(2), "name": "a"}, {**request(1), "name": "b"}]}
    part = device_request("part", capacity={"requests": {"memory": "3"}})
    wanted = [
        [device_request()],
        [part],
        [part, device_request("other")],
        [device_request(count=2)],
        [big, device_request("any")],
        [either],
    ]
    made: list[Data] = [
        resource_claim_template("t", *draw(st.sampled_from(wanted)), constraints=draw(st.sampled_from([[], same]))),
        resource_claim_template("all", device_request(allocationMode="All")),
        resource_claim("c", *draw(st.sampled_from(wanted))),
    ]
    nodes = [node(name, zone=draw(st.sampled_from(["a", "b"]))) for name in names]
    return [*nodes, GPU, *slices, *made]


SHARING: tuple[Data, ...] = (
    {},
    {"consumesCounters": [{"counterSet": "s", "counters": {"slots": {"value": "1"}}}]},
    {"consumesCounters": [{"counterSet": "s", "counters": {"slots": {"value": "2"}}}]},
    {"allowMultipleAllocations": True, "capacity": {"memory": {"value": "8", "requestPolicy": {"default": "5"}}}},
    {
        "allowMultipleAllocations": True,
        "capacity": {"memory": {"value": "6"}},
        "consumesCounters": [{"counterSet": "s", "counters": {"slots": {"value": "2"}}}],
    },
)
"""What devices are besides a numa node and some memory: alone, partitions, shared, shared partitions."""


def named(pod: Pod, name: str) -> Pod:
    """A copy under another name."""
    return msgspec.structs.replace(pod, metadata=msgspec.structs.replace(pod.metadata, name=name))


def request(count: int) -> Data:
    return {"deviceClassName": "gpu", "count": count}


CANDIDATES = st.sampled_from(
    [
        using(templates=("t",)),
        using(templates=("t", "all")),
        using(claims=("c",)),
        using(claims=("c",), templates=("t",)),
        pod(containers=[{"name": "c", "image": "x", "resources": {"limits": {"example.com/gpu": "1"}}}]),
    ]
)
PROFILE = framework(default_profile())


def held(cluster: Cluster) -> Any:
    """The devices that claims have, alone and with others."""
    ledger = ledger_of(cluster, Rules())
    return ledger.in_use, {shared: sorted(shares) for shared, shares in ledger.shares.items()}


def said(cluster: Cluster, candidate: Pod) -> Any:
    """Everything that the plugin says of every node."""
    evaluation = evaluate(PROFILE, cluster, candidate)
    return (
        evaluation.message,
        [evaluation.verdict(at) for at in range(len(cluster))],
        {name: score.weighted_scores[evaluation.feasible].tolist() for name, score in evaluation.scores.items()},
    )


@given(clusters(), CANDIDATES, st.randoms(use_true_random=False))
@settings(max_examples=150, deadline=None)
def test_the_order_of_objects_in_a_snapshot_does_not_matter(objects: list[Data], candidate: Data, random: Any) -> None:
    """Pools and slices are taken by name, so that everyone gets the same devices each time."""
    nodes, others = [each for each in objects if each["kind"] == "Node"], [x for x in objects if x["kind"] != "Node"]
    shuffled = list(others)
    random.shuffle(shuffled)
    assert placed([*nodes, *shuffled], candidate) == placed([*nodes, *others], candidate)


def placed(objects: list[Data], candidate: Data) -> Any:
    """Up to six replicas one after another: where, what was said before each, and which devices are in use."""
    snapshot = kubespread.Snapshot.from_objects(objects)
    cluster, one = Cluster.build(snapshot.nodes, snapshot.pods, snapshot.objects), admitted(snapshot, candidate)
    told = []
    for _ in range(6):
        told.append((said(cluster, one), held(cluster)))
        evaluation = evaluate(PROFILE, cluster, one)
        if evaluation.error is not None or not evaluation.feasible.any():
            break
        cluster = cluster.apply(ClusterChange(added_pods=[(one, int(evaluation.ranking[0]))]))
    return told


@given(clusters(), st.lists(CANDIDATES, min_size=2, max_size=2), st.data())
@settings(max_examples=150, deadline=None)
def test_states_that_follow_pods_with_claims_equal_states_prepared_anew(
    objects: list[Data], candidates: list[Data], data: st.DataObject
) -> None:
    snapshot = kubespread.Snapshot.from_objects(objects)
    cluster = start = Cluster.build(snapshot.nodes, snapshot.pods, snapshot.objects)
    one, other = (
        admitted(snapshot, {**each, "metadata": {**each["metadata"], "name": f"p{at}"}})
        for at, each in enumerate(candidates)
    )
    prepared, latest = PROFILE.prepare(cluster, one), [cluster]
    placing = Placing(PROFILE.prepare(cluster, one), now=lambda: latest[0])
    here: list[tuple[Pod, int]] = []
    for step in range(data.draw(st.integers(1, 6))):
        coming = named(data.draw(st.sampled_from([one, other])), f"copy-{step}")
        come = [(coming, data.draw(st.integers(0, len(cluster) - 1)))]
        leaves = bool(here) and data.draw(st.booleans())
        gone = [data.draw(st.sampled_from(here))] if leaves else []
        change = ClusterChange(removed_pods=gone) if gone else ClusterChange(added_pods=come)
        moves, after = cluster.moves(change), cluster.apply(change)
        prepared = prepared.carry_over(after, moves)
        latest[0] = after
        placing.answers.follow(lambda: latest[0], after.running.usage, moves.node)
        placing.follow(moves)
        expected = said(after, one)
        followed = evaluate_prepared(prepared)
        assert (followed.message, [followed.verdict(at) for at in range(len(after))]) == expected[:2]
        shown = placing.evaluation()
        assert (shown.message, [shown.verdict(at) for at in range(len(after))]) == expected[:2]
        here = [each for each in [*here, *change.added_pods] if each not in gone]
        cluster = after
    assert said(rebuilt(cluster, snapshot, here), one) == said(cluster, one)
    last = ClusterChange(removed_pods=here)
    assert held(cluster.apply(last)) == held(start)


def rebuilt(cluster: Cluster, snapshot: kubespread.Snapshot, here: list[tuple[Pod, int]]) -> Cluster:
    """A cluster made of the objects that ``cluster`` has become."""
    placed = [
        msgspec.structs.replace(each, spec=msgspec.structs.replace(each.spec, node_name=cluster.nodes.names[at]))
        for each, at in here
    ]
    objects, pods = written_back(cluster, snapshot.objects, placed)
    again = Cluster.build(snapshot.nodes, pods, objects)
    assert held(again) == held(cluster)
    left = again.apply(ClusterChange(removed_pods=[(pod, at) for pod, (_, at) in zip(pods, here, strict=True)]))
    assert held(left) == (set(), {})
    return again


@given(clusters(), CANDIDATES)
@settings(max_examples=100, deadline=None)
def test_placing_copies_equals_judging_each_anew(objects: list[Data], candidate: Data) -> None:
    snapshot = kubespread.Snapshot.from_objects(objects)
    cluster = Cluster.build(snapshot.nodes, snapshot.pods, snapshot.objects)
    one = admitted(snapshot, candidate)
    placing = Placing(PROFILE.prepare(cluster, one))
    for _ in range(6):
        evaluation = evaluate(PROFILE, cluster, one)
        if evaluation.error is not None:
            assert placing.evaluation().error == evaluation.error
            return
        choice = placing.choose()
        best = int(evaluation.ranking[0]) if evaluation.feasible.any() else None
        assert (choice.node if choice else None) == best
        if choice is None:
            return
        placing.place(choice.node)
        cluster = cluster.apply(ClusterChange(added_pods=[(one, choice.node)]))


def test_pods_of_the_snapshot_give_back_what_they_hold_when_they_go() -> None:
    held = resource_claim("web-t-x1", device_request())
    held["metadata"]["ownerReferences"] = [{"kind": "Pod", "name": "web", "uid": "u", "controller": True}]
    shared = resource_claim("c", device_request())
    for claim, each in ((held, "dev-0"), (shared, "dev-1")):
        results = [{"request": "r", "driver": DRIVER, "pool": "n1", "device": each}]
        claim["status"] = {
            "allocation": {"devices": {"results": results}},
            "reservedFor": [{"resource": "pods", "name": "web", "uid": "u"}],
        }
    running = using("web", templates=("t",), claims=("c",), nodeName="n1")
    running["metadata"]["uid"] = "u"
    running["status"] = {"resourceClaimStatuses": [{"name": "t", "resourceClaimName": "web-t-x1"}]}
    objects = [node("n1"), node("n2"), GPU, TEMPLATE, held, shared, resource_slice("n1", 2, "n1"), running]
    snapshot = kubespread.Snapshot.from_objects(objects)
    cluster = Cluster.build(snapshot.nodes, snapshot.pods, snapshot.objects)
    assert {each.device for each in ledger_of(cluster, Rules()).in_use} == {"dev-0", "dev-1"}
    left = cluster.apply(ClusterChange(removed_pods=[(snapshot.pods[0], 0)]))
    assert ledger_of(left, Rules()).in_use == set()
    lost = cluster.apply(ClusterChange(removed_nodes=frozenset({0})))
    assert ledger_of(lost, Rules()).in_use == set()


def test_an_edit_frees_devices_for_the_question_after_it() -> None:
    snapshot = kubespread.load(FIXTURES / "clusters" / "devices.yaml")
    manifest = FIXTURES / "manifests" / "devices-train.yaml"
    placed = [
        kubespread.simulate(each, manifest).placed for each in (snapshot, snapshot.edited("delete-pods app=nightly"))
    ]
    assert placed == [1, 2]
