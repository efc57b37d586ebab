"""One event has one verdict: what drains, losses and growth leave behind is the same whichever command is asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import kubespread
from kubespread import Snapshot
from kubespread.errors import UsageError
from kubespread.kube.drain_flags import DrainFlags
from kubespread.questions.play.report import PlayReport
from kubespread.reports.happened import Happened, UnmadePods
from kubespread.snapshot.edits.nodes import Drain
from kubespread.snapshot.edits.target import Target
from tests.builders import Data, owned_by, pod
from tests.property import rolling
from tests.property.workloads_on_nodes import clusters, scenario, snapshot_of

ZONE = "topology.kubernetes.io/zone"
_SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
FLAGS = st.builds(DrainFlags, st.booleans(), st.booleans(), st.booleans())


@st.composite
def worlds(draw: st.DrawFn) -> Snapshot:
    """A cluster with a little of everything that makes commands differ."""
    objects = draw(st.one_of(clusters(), rolling.clusters()))
    nodes = [each["metadata"]["name"] for each in objects if each["kind"] == "Node"]
    pods = [each for each in objects if each["kind"] == "Pod"]
    places = st.sampled_from([*nodes, None])
    for number in range(draw(st.sampled_from([0, 0, 1, 2]))):
        # Nobody knows whether its owner makes it again.
        crd = pod(f"crd-{number}", draw(places), requests={"cpu": "1"}, labels={"app": "crd"})
        crd["metadata"]["ownerReferences"] = owned_by("Rollout", "crd")
        objects.append(crd)
    for each in pods:
        if draw(st.integers(0, 9)) == 0:
            each["spec"]["volumes"] = [{"name": "tmp", "emptyDir": {}}]
        if draw(st.integers(0, 14)) == 0:
            each["metadata"]["deletionTimestamp"] = "2024-05-01T00:00:00Z"
    for each in objects:
        if each["kind"] == "Node" and draw(st.integers(0, 7)) == 0:
            each["spec"]["unschedulable"] = True
    if draw(st.integers(0, 4)) == 0:
        hard = {"pods": str(draw(st.integers(1, 6)))}
        objects.append(_object("ResourceQuota", "few", {"hard": hard}))
    if draw(st.integers(0, 5)) == 0:
        least = {"type": "Container", "max": {"cpu": draw(st.sampled_from(["2", "4"]))}}
        objects.append(_object("LimitRange", "small", {"limits": [least]}))
    return snapshot_of(objects)


def _object(kind: str, name: str, spec: Data) -> Data:
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name, "namespace": "default"}, "spec": spec}


def played(snapshot: Snapshot, *steps: str) -> PlayReport:
    return kubespread.play(snapshot, scenario(*steps), deals=1)


def drained(node: str, flags: DrainFlags) -> tuple[str, str]:
    return str(Drain(Target(node), flags)), f"delete-node {node}"


def pending(happened: Happened) -> int:
    return happened.waiting.total()


def more(now: Iterable[UnmadePods], before: Iterable[UnmadePods]) -> Counter[str]:
    one, other = (Counter({str(row.workload): row.count for row in rows}) for rows in (now, before))
    return one - other


@settings(deadline=None, suppress_health_check=_SLOW, max_examples=100)
@given(worlds(), FLAGS)
def test_a_node_goes_or_stays_whoever_is_asked(snapshot: Snapshot, flags: DrainFlags) -> None:
    report = kubespread.removable(
        snapshot, force=flags.force, ignore_daemonsets=flags.ignore_daemonsets,
        delete_emptydir_data=flags.delete_emptydir_data,
    )  # fmt: skip
    assert report.rows
    for row in report.rows:
        play = played(snapshot, *drained(row.node, flags))
        assert (row.alone, report.pending_before) == (play.verdict == "yes", pending(play.start)), row.node
        if row.alone:
            lost = [pod.pod for step in play.steps for pod in step.happened.gone if pod.lost_for_good]
            assert list(row.lost) == lost, row.node


@settings(deadline=None, suppress_health_check=_SLOW, max_examples=50)
@given(worlds(), FLAGS, st.data())
def test_a_plan_of_the_same_steps_says_the_same(snapshot: Snapshot, flags: DrainFlags, data: st.DataObject) -> None:
    names = [node.metadata.name for node in snapshot.nodes]
    name, text = data.draw(st.sampled_from(names)), data.draw(st.sampled_from(["drain", "fail", "fail-hard"]))
    steps = drained(name, flags) if text == "drain" else (f"{text} {name}",)
    play = played(snapshot, *steps)
    plan = kubespread.plan(snapshot.edited(*steps))
    again = plan.played
    assert plan.verdict == again.verdict
    assert (again.pending, again.not_created, again.not_made_yet, again.short, again.worse) == (
        play.pending,
        play.not_created,
        play.not_made_yet,
        play.short,
        play.worse,
    )
    assert plan.before.pending == pending(play.start)
    assert {row.workload for row in plan.workloads if row.change == "worse"} <= set(play.worse)


@settings(deadline=None, suppress_health_check=_SLOW, max_examples=100)
@given(worlds(), st.sampled_from([ZONE, "kubernetes.io/hostname"]))
def test_a_domain_is_lost_alike_whoever_is_asked(snapshot: Snapshot, key: str) -> None:
    try:
        report = kubespread.survive(snapshot, [key])
    except UsageError:
        return
    label = "zone" if key == ZONE else "hostname"
    for loss in report.losses:
        target = f"{label}={loss.domain}"
        soft, hard = (played(snapshot, f"{verb} {target}") for verb in ("fail", "fail-hard"))
        assert report.pending_before == pending(soft.start)
        assert (loss.pending, loss.pending_after_removal) == (soft.pending, hard.pending), target
        for rows, play in ((loss.not_made, soft), (loss.not_made_after_removal, hard)):
            assert sum(row.count for row in rows) == play.not_created + play.not_made_yet, target
        assert list(loss.not_made_again) == [each.pod for each in hard.lost_unasked], target
        assert list(loss.broken_budgets) == hard.broken_budgets, target
        short = {row.workload for row in (*soft.short, *hard.short)}
        assert {row.workload for row in loss.short} == short, target
        assert (not loss.trouble) == (soft.verdict == hard.verdict == "yes"), target
