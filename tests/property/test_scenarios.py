"""Scenarios over random clusters: totals, verdicts and quotas, recounted from the rows and from the cluster in the end."""

from __future__ import annotations

import json
import re
from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st

import kubespread
from kubespread import Snapshot
from kubespread.errors import UsageError
from kubespread.kube.api.core import ResourceQuota
from kubespread.kube.api.workloads import ReplicaSet, StatefulSet
from kubespread.reports.outcome import REFUSALS
from tests.builders import Data
from tests.kube.test_quota import quota
from tests.property.test_worlds import EDITS, clusters, owner
from tests.property.workloads_on_nodes import waiting

WORKLOADS = ("Deployment/web", "Deployment/api", "StatefulSet/db")
STEPS = st.one_of(EDITS, st.sampled_from(["rollout deploy/web", "rollout sts/db", "rollout deploy/api cpu=2"]))


@st.composite
def quotas(draw: st.DrawFn, objects: list[Data]) -> Data:
    """One of pods and of their requests, which leaves room for a few more than there are."""
    pods = [each for each in objects if each["kind"] == "Pod"]
    cpu = sum(map(requested, pods))
    hard = {"pods": str(len(pods) + draw(st.integers(0, 3)))}
    if draw(st.booleans()):
        hard["requests.cpu"] = f"{cpu + draw(st.integers(0, 2000))}m"
    return quota(hard)


def requested(plain: Data) -> int:
    """What a pod of plain data requests, in thousandths of a CPU."""
    texts = [each.get("resources", {}).get("requests", {}).get("cpu", "0") for each in plain["spec"]["containers"]]
    return sum(int(text[:-1]) if text.endswith("m") else 1000 * int(text) for text in texts)


@st.composite
def played(draw: st.DrawFn) -> tuple[Snapshot, Data]:
    """A cluster and a scenario in it."""
    objects = draw(clusters())
    if draw(st.booleans()):
        # A quota on CPU refuses pods that do not say what they need.
        made = draw(quotas(objects))
        objects = [*objects, made]
    steps = draw(st.lists(STEPS, min_size=1, max_size=3))
    scenario = {"apiVersion": "kubespread.dev/v1alpha1", "kind": "Scenario", "spec": {"steps": steps}}
    return Snapshot.from_objects(json.loads(json.dumps(objects))), scenario


@given(played(), st.sampled_from([1, 3]))
@settings(max_examples=30, deadline=None)
def test_totals_are_those_of_the_rows_and_the_verdict_is_yes_where_nothing_is_bad(
    case: tuple[Snapshot, Data], runs: int
) -> None:
    snapshot, scenario = case
    try:
        report = kubespread.plan(snapshot, scenario, runs=runs)
    except UsageError:
        assume(False)
    steps = report.steps
    settled = waiting(kubespread.after_steps(snapshot, scenario, 0))
    for number, step in enumerate(steps, 1):
        # Of each workload those beyond as many as before: one that waits may do so in the stead of another.
        if runs == 1:
            more = waiting(kubespread.after_steps(snapshot, scenario, number)) - settled
            assert {str(each.subject): each.count for each in step.get("pending")} == more
        assert (step.placed, step.gone) == (len(step.pods_placed), len(step.pods_gone))
        assert all(gone.made_room_for is not None for gone in step.pods_gone if gone.why == "preempted")
    assert (report.pending, report.unmade) == (steps[-1].pending, steps[-1].unmade)
    bad = [
        step.number
        for step in steps
        if step.failed or step.get(*REFUSALS) or not all(rollout.complete for rollout in step.rollouts)
    ]
    gone = [pod for step in steps for pod in step.pods_gone]
    assert report.blocked_steps == tuple(bad)
    assert report.lost_pods == [pod.pod for pod in gone if pod.lost_for_good]
    is_lost = any(pod.lost_for_good and pod.why not in ("evicted", "deleted") for pod in gone)
    is_bad_as_shown = bool(
        report.pending
        or report.unmade
        or steps[-1].degraded
        or is_lost
        or bad
        or any(pod.broken_budgets for pod in gone)
    )
    assert report.runs == runs
    stuck = range(is_bad_as_shown, runs + is_bad_as_shown) if runs > 1 else range(1)
    assert report.stuck_runs in stuck
    assert (report.verdict == "yes") == (not is_bad_as_shown and not report.stuck_runs)
    said = dict.fromkeys(re.findall(r"(\d+) pods? (pending|not created)", report.answer[0]))
    figures = {"pending": report.pending, "not created": report.unmade}
    assert {(int(number), what) for number, what in said} == {(count, what) for what, count in figures.items() if count}


@given(played())
@settings(max_examples=30, deadline=None)
def test_every_replica_that_is_to_be_is_placed_pending_or_not_made(case: tuple[Snapshot, Data]) -> None:
    snapshot, scenario = case
    try:
        report = kubespread.plan(snapshot, scenario)
    except UsageError:
        assume(False)
    after = kubespread.after_steps(snapshot, scenario)
    before, unmade = (
        {name: sum(each.count for each in rows if each.subject == f"default/{name}") for name in WORKLOADS}
        for rows in ([each for each in report.waiting if each.kind == "unmade"], report.steps[-1].get("unmade"))
    )
    pods = [each for each in after.pods if not each.metadata.deletion_timestamp]
    for name in WORKLOADS:
        app = {"Deployment/web": "web-5d6", "Deployment/api": "api-5d6"}.get(name)
        if app is None:
            (stateful_set,) = (each for each in after.objects.get(StatefulSet) if each.metadata.name == "db")
            ordinals = {f"db-{ordinal}" for ordinal in range(stateful_set.spec.replicas or 0)}
            desired, there = len(ordinals), sum(each.metadata.name in ordinals for each in pods)
        else:
            controllers = [each for each in after.objects.get(ReplicaSet) if owner(each) == tuple(name.split("/"))]
            desired = sum(each.spec.replicas or 0 for each in controllers)
            own = {each.metadata.name for each in controllers}
            there = sum(owner(each)[0] == "ReplicaSet" and owner(each)[1] in own for each in pods)
        # What lacked from the start is not the step's.
        assert desired - there - before[name] <= unmade[name] <= desired - there, name


@given(played())
@settings(max_examples=20, deadline=None)
def test_no_step_exceeds_a_quota(case: tuple[Snapshot, Data]) -> None:
    snapshot, scenario = case
    quotas_there = snapshot.objects.get(ResourceQuota)
    assume(quotas_there)
    hard: dict[str, Any] = quotas_there[0].spec.hard
    for step in range(len(scenario["spec"]["steps"]) + 1):
        try:
            after = kubespread.after_steps(snapshot, scenario, step)
        except UsageError:
            assume(False)
        plain = [plain_pod(each) for each in after.pods if not each.metadata.deletion_timestamp]
        assert len(plain) <= int(hard["pods"])
        if "requests.cpu" in hard:
            assert sum(map(requested, plain)) <= int(hard["requests.cpu"][:-1])


def plain_pod(made: Any) -> Data:
    containers = [{"resources": {"requests": dict(each.resources.requests)}} for each in made.spec.containers]
    return {"spec": {"containers": containers}}


@given(played())
@settings(max_examples=20, deadline=None)
def test_what_nodes_hold_step_by_step_is_what_a_map_of_the_cluster_then_shows(case: tuple[Snapshot, Data]) -> None:
    snapshot, scenario = case
    try:
        report = kubespread.plan(snapshot, scenario, runs=1)
    except UsageError:
        assume(False)
    held = shown(snapshot)
    for number, row in enumerate([report.start, *report.steps]):
        held = {name: what for name, what in held.items() if name not in row.nodes.left}
        held |= {load.node: (load.pods, load.percent) for load in row.nodes.loads}
        assert held == shown(kubespread.after_steps(snapshot, scenario, number))


def shown(snapshot: Snapshot) -> dict[str, tuple[int, dict[str, int | None]]]:
    """The pods of each node, and how much of each resource they request."""
    drawn = kubespread.topology_map(snapshot)
    return {node.name: (node.pods, {load.resource: load.percent for load in node.load}) for node in drawn.nodes}
