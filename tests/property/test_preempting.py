"""Replicas that preempt others: as they do in a world that goes on, and not at all where nobody has to go."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import kubespread
from kubespread import Snapshot
from kubespread.questions.simulate import SimulateReport
from tests.builders import Data, hard, node, pod, replica, soft
from tests.kube.test_quota import quota
from tests.world.clusters import budget, deployment, stateful_set

SPREADS: list[list[Data]] = [[], [hard("zone", match={"app": "new"})], [soft("host", match={"app": "new"})]]


@st.composite
def full_clusters(draw: st.DrawFn) -> list[Data]:
    """Three nodes with little room, pods of several priorities, and budgets."""
    made: list[Data] = [node(f"n{at}", zone="ab"[at % 2], host=f"n{at}", cpu="4") for at in range(3)]
    for app in ("low", "mid"):
        on = tuple(draw(st.lists(st.sampled_from(["n0", "n1", "n2"]), max_size=4)))
        priority = draw(st.sampled_from([0, 3]))
        made += deployment(app, on, cpu=draw(st.sampled_from(["1", "2"])), spec={"priority": priority})
        if draw(st.booleans()):
            made.append(budget(app, minAvailable=draw(st.integers(0, 3))))
    for at in range(draw(st.integers(0, 2))):
        bare = replica(f"bare-{at}", f"n{at}")
        bare["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1"}}
        made.append(bare)
    return made


@st.composite
def asked(draw: st.DrawFn) -> tuple[Snapshot, Data, int]:
    objects = draw(full_clusters())
    if draw(st.booleans()):
        # A preempted pod that nobody makes again would leave room in the quota, which is said and not counted.
        objects = [each for each in objects if not each["metadata"]["name"].startswith("bare")]
        there = sum(each["kind"] == "Pod" for each in objects)
        objects.append(quota({"pods": str(there + draw(st.integers(0, 4)))}))
    replicas = draw(st.integers(1, 6))
    spec = {
        "priority": draw(st.sampled_from([0, 5])),
        "topologySpreadConstraints": draw(st.sampled_from(SPREADS)),
        "containers": pod(requests={"cpu": draw(st.sampled_from(["1", "2", "3"]))})["spec"]["containers"],
    }
    if draw(st.booleans()):
        (manifest, *_) = stateful_set("new", (None,) * replicas, parallel=draw(st.booleans()), spec=spec)
        del manifest["status"]
    else:
        (manifest, *_) = deployment("new", (), replicas=replicas, spec=spec)
    return Snapshot.from_objects(json.loads(json.dumps(objects))), manifest, replicas


def comparable(report: SimulateReport) -> Data:
    """All but what was asked, in the two places that say it."""
    return {key: value for key, value in report.to_dict().items() if key not in ("question", "preempts")}


@given(asked())
@settings(max_examples=25, deadline=None)
def test_nothing_is_other_than_without_preemption_where_nobody_has_to_go(case: tuple[Snapshot, Data, int]) -> None:
    snapshot, manifest, replicas = case
    on = kubespread.simulate(snapshot, manifest, replicas)
    off = kubespread.simulate(snapshot, manifest, replicas, preemption=False)
    assert off.preempted == ()
    if on.preempted:
        assert on.placed > off.placed
        assert [each.node for each in on.placements[: off.placed]] == [each.node for each in off.placements]
    else:
        assert comparable(on) == comparable(off)


@given(asked())
@settings(max_examples=25, deadline=None)
def test_every_replica_is_counted_once_and_the_verdict_is_yes_where_all_have_a_node(
    case: tuple[Snapshot, Data, int],
) -> None:
    snapshot, manifest, replicas = case
    report: dict[str, Any] = kubespread.simulate(snapshot, manifest, replicas).to_dict()
    assert report["running"] == report["present"] + report["placed"]
    lacking = {key: report[key] for key in ("pending", "notCreated", "notMadeYet")}
    assert report["running"] + sum(lacking.values()) == report["replicas"] == replicas
    assert (report["verdict"] == "yes") == (not any(lacking.values()))
    assert report["answer"][0].startswith(f"{report['placed']} of {replicas} placed")
    for key, words in {"notCreated": "not created", "notMadeYet": "not created yet"}.items():
        assert (f", {lacking[key]} {words}" in report["answer"][0]) == bool(lacking[key])
    assert (f"preempting {len(report['preempted'])} pod" in report["answer"][0]) == bool(report["preempted"])


@given(asked())
@settings(max_examples=25, deadline=None)
def test_a_last_replica_preempts_as_it_does_in_a_world(case: tuple[Snapshot, Data, int]) -> None:
    """In a world replicas come at once, and those that preempt are nominated for a while."""
    snapshot, manifest, replicas = case
    report = kubespread.simulate(snapshot, manifest, replicas)
    last = {str(placement.pod) for placement in report.placements[-1:]}
    if report.running < replicas or not {str(each.made_room_for) for each in report.preempted} <= last:
        return
    given = {**manifest, "spec": {**manifest["spec"], "replicas": replicas}}
    (step,) = kubespread.plan(snapshot, manifests=[given]).steps
    own = f"default/{manifest['kind']}/new"
    (row,) = (each for each in step.workloads if each.workload == own)
    assert (row.ready, row.pending, row.unmade) == (
        report.running,
        report.pending,
        report.not_created + report.not_made_yet,
    )
    are_own = [placed.pod.startswith("default/new-") for placed in step.pods_placed]
    if True in are_own and not all(are_own[: len(are_own) - are_own[::-1].index(True)]):
        # Its pods come one after another, and between them successors of those that they pushed away.
        assert manifest["kind"] == "StatefulSet"
        assert manifest["spec"].get("podManagementPolicy", "OrderedReady") == "OrderedReady"
        return
    for_it = [each for each in step.pods_gone if (each.made_room_for or "").startswith("default/new-")]
    assert [(each.pod, each.broken_budgets) for each in for_it] == [
        (each.pod, each.broken_budgets) for each in report.preempted
    ]
