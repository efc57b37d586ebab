"""One event has one verdict: what drains, losses and growth leave behind is the same whichever command is asked."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import kubespread
from kubespread import Scheduler, Snapshot
from kubespread.errors import KubespreadError, UsageError
from kubespread.kube.owners import is_active
from kubespread.kube.taint import DrainFlags
from kubespread.questions.audit import AuditedWorkload
from kubespread.questions.calls import tools
from kubespread.questions.plan import PlanReport
from kubespread.questions.survive import LostDomain
from kubespread.questions.worlds import world_of
from kubespread.reports.outcome import LACKING, Outcome
from kubespread.snapshot.edits.nodes import Drain
from kubespread.snapshot.edits.verb import Target
from kubespread.world.events.world import World
from kubespread.world.reporting.difference import Baseline
from kubespread.world.reporting.happenings import workload_of
from tests.builders import Data, owned_by, pod
from tests.property import rolling
from tests.property.workloads_on_nodes import SETTLED, clusters, scenario, snapshot_of

ZONE, HOSTNAME = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
_SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
_TIMES = 66 if settings.get_current_profile_name() == "fresh" else 1
FLAGS = st.builds(DrainFlags, st.booleans(), st.booleans(), st.booleans())


def examples(number: int) -> settings:
    """How many clusters `make test` asks about; `make properties` takes 20,000 in all."""
    return settings(deadline=None, suppress_health_check=_SLOW, max_examples=number * _TIMES)


@st.composite
def worlds(draw: st.DrawFn) -> Snapshot:
    """A cluster with a little of everything that makes commands differ."""
    objects = draw(st.one_of(clusters(), rolling.clusters()))
    nodes = [each["metadata"]["name"] for each in objects if each["kind"] == "Node"]
    pods = [each for each in objects if each["kind"] == "Pod"]
    places = st.sampled_from([*nodes, None])
    if not pods:
        # Of a cluster without pods nothing can be asked.
        objects.append(pod("solo", nodes[0]))
    for number in range(draw(st.sampled_from([0, 0, 1, 2]))):
        # Nobody knows whether its owner makes it plan.
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


def played(snapshot: Snapshot, *steps: str) -> PlanReport:
    return kubespread.plan(snapshot, scenario(*steps), runs=1)


def drained(node: str, flags: DrainFlags) -> tuple[str, str]:
    return str(Drain(Target(node), flags)), f"delete-node {node}"


def waiting(play: PlanReport) -> int:
    """The pods that are pending before the first step."""
    return sum(trouble.count for trouble in play.waiting if trouble.kind == "pending")


def told(row: Outcome) -> Counter[tuple[str, str]]:
    """How many pods each trouble concerns, by its kind and whom it is about."""
    counts = Counter[tuple[str, str]]()
    for trouble in row.troubles:
        counts[trouble.kind, trouble.subject] += trouble.count
    return counts


def degraded(row: Outcome) -> dict[str, tuple[int, int]]:
    return {change.workload: (change.ready, change.wanted) for change in row.degraded}


@examples(60)
@given(worlds(), FLAGS)
def test_a_node_goes_or_stays_whoever_is_asked(snapshot: Snapshot, flags: DrainFlags) -> None:
    report = kubespread.removable(
        snapshot,
        force=flags.force,
        ignore_daemonsets=flags.ignore_daemonsets,
        delete_emptydir_data=flags.delete_emptydir_data,
    )
    assert report.rows
    for row in report.rows:
        play = played(snapshot, *drained(row.name, flags))
        assert (row.verdict, report.pending_before) == (play.verdict, waiting(play)), row.name
        if row.alone:
            assert list(row.lost) == play.lost_pods, row.name
        elif row.is_done:
            # Where nothing is refused, what is left is the same in every part.
            assert told(row) == told(play.whole), row.name
            assert degraded(row) == degraded(play.whole), row.name


@examples(30)
@given(worlds(), FLAGS, st.data())
def test_a_plan_of_the_same_steps_says_the_same(snapshot: Snapshot, flags: DrainFlags, data: st.DataObject) -> None:
    names = [node.metadata.name for node in snapshot.nodes]
    name, text = data.draw(st.sampled_from(names)), data.draw(st.sampled_from(["drain", "fail", "fail-hard"]))
    steps = drained(name, flags) if text == "drain" else (f"{text} {name}",)
    play = played(snapshot, *steps)
    plan = kubespread.plan(snapshot.edited(*steps), runs=1)
    assert (plan.verdict, plan.whole) == (play.verdict, play.whole)
    assert plan.worse == play.worse


@examples(50)
@given(worlds(), st.sampled_from([ZONE, HOSTNAME]), st.booleans())
def test_a_domain_is_lost_alike_whoever_is_asked(snapshot: Snapshot, key: str, nodes_deleted: bool) -> None:
    try:
        report = kubespread.survive(snapshot, [key], nodes_deleted=nodes_deleted)
    except UsageError:
        return
    label = "zone" if key == ZONE else "hostname"
    for loss in report.losses:
        target = f"{label}={loss.domain}"
        play = played(snapshot, f"{'fail-hard' if nodes_deleted else 'fail'} {target}")
        assert report.pending_before == waiting(play)
        assert told(loss) == told(play.whole), target
        assert degraded(loss) == degraded(play.whole), target
        assert loss.verdict == play.verdict, target
        assert (list(loss.lost), loss.nodes) == (play.lost_pods, play.steps[-1].nodes), target


@examples(30)
@given(worlds())
def test_two_losses_at_once_are_those_of_both_in_one_step(snapshot: Snapshot) -> None:
    try:
        report = kubespread.survive(snapshot, [HOSTNAME], pairs=True)
    except UsageError:
        return
    for loss in report.losses[:3]:
        play = played(snapshot, f"fail hostname in ({','.join(loss.values)})")
        assert (told(loss), loss.verdict) == (told(play.whole), play.verdict), loss.name


@examples(25)
@given(worlds())
def test_promises_are_kept_by_the_same_events(snapshot: Snapshot) -> None:
    """Of drains the clause of each workload, and of losses that of each as `survive` has its row."""
    world = Baseline.settle(world_of(snapshot, Scheduler())).world
    kept = {"namespace": "default"}
    promises = {
        "apiVersion": "kubespread.dev/v1alpha1",
        "kind": "Promises",
        "promises": [{**kept, "drain": "never blocked"}, {**kept, "survives": "any node"}],
    }
    try:
        clauses = {(row.clause, row.workload): row.state for row in kubespread.verify(snapshot, promises).clauses}
        losses = [loss for loss in kubespread.survive(snapshot, [HOSTNAME]).losses if not loss.already_lost]
    except KubespreadError:
        # No workloads, or no nodes to lose.
        return
    pods = [pod for pod in world.book if pod.spec.node_name and is_active(pod)]
    on = {name: {pod.spec.node_name for pod in pods if workload_of(world, pod) == name} for _, name in clauses}
    drains = {name: _drained_in_full(snapshot, name) for name in set().union(*on.values())}
    for (clause, name), state in clauses.items():
        assert name is not None
        if state == "unknown":
            continue
        if clause == "drain":
            bad = any(name in drains[node].worse or name in _blocked(world, drains[node]) for node in on[name])
        else:
            bad = any(name in _lacking(loss) for loss in losses)
        assert (state == "broken") is bad, (clause, name)


def _drained_in_full(snapshot: Snapshot, node: str) -> PlanReport:
    """The node is deleted only where its drain is done."""
    drain, delete = drained(node, DrainFlags(force=True))
    play = played(snapshot, drain)
    return played(snapshot, drain, delete) if play.steps[0].is_done else play


def _blocked(world: World, play: PlanReport) -> set[str]:
    """The workloads with a pod that the first step could not evict."""
    blocked = (trouble.subject for trouble in play.steps[0].get("blocked", "finalizer"))
    return {workload_of(world, world.book[pod.namespace, pod.name]) for pod in blocked}


def _lacking(loss: LostDomain) -> set[str]:
    """The workloads that a loss leaves degraded, or with more pods pending or not made."""
    return {*(trouble.subject for trouble in loss.get(*LACKING)), *(row.workload for row in loss.degraded)}


@examples(15)
@given(clusters(), st.data())
def test_autoscalers_at_their_maximum_lack_the_same_pods(objects: list[Data], data: st.DataObject) -> None:
    names = [each["metadata"]["name"] for each in objects if each["kind"] == "Deployment"]
    most = {name: data.draw(st.integers(1, 8)) for name in names}
    for name, number in most.items():
        target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": name}
        spec = {"scaleTargetRef": target, "maxReplicas": number}
        objects = [*objects, {**_object("HorizontalPodAutoscaler", name, spec), "apiVersion": "autoscaling/v2"}]
    snapshot = snapshot_of(objects)
    replicas = {each["metadata"]["name"]: each["spec"]["replicas"] for each in objects if each["kind"] == "Deployment"}
    growing = {name: number for name, number in sorted(most.items()) if number > replicas[name]}
    together = [line for line in kubespread.report(snapshot).lines if line.key == "scaling/together"]
    if not growing:
        assert together == []
        return
    plan = kubespread.plan(snapshot, hpa_max=True, runs=1)
    steps = [f"scale default/deploy/{name}={number}" for name, number in growing.items()]
    assert plan.whole == played(snapshot, *steps).whole
    # A pod that waited before may have the room of one that is preempted.
    after = kubespread.after_steps(snapshot, scenario(*steps))
    assert kubespread.pending(snapshot.edited(*steps)).pending == sum(not each.spec.node_name for each in after.pods)


@examples(15)
@given(worlds())
def test_as_many_pods_are_pending_before_whoever_is_asked(snapshot: Snapshot) -> None:
    name = snapshot.nodes[0].metadata.name
    removable, upgrade = kubespread.removable(snapshot), kubespread.upgrade(snapshot, name, remedies=False)
    plan = kubespread.plan(snapshot.edited(f"cordon {name}"))
    assert removable.pending_before == waiting(upgrade) == waiting(plan)
    with suppress(UsageError):
        # It has no workloads whose pods could be evicted.
        assert kubespread.rebalance(snapshot).pending_before == removable.pending_before
    with suppress(UsageError):
        assert kubespread.survive(snapshot).pending_before == removable.pending_before


@examples(25)
@given(worlds(), FLAGS)
def test_a_node_is_replaced_as_its_steps_do_it(snapshot: Snapshot, flags: DrainFlags) -> None:
    name = snapshot.nodes[-1].metadata.name
    upgrade = kubespread.upgrade(
        snapshot,
        name,
        remedies=False,
        force=flags.force,
        ignore_daemonsets=flags.ignore_daemonsets,
        delete_emptydir_data=flags.delete_emptydir_data,
    )
    assert bool(upgrade.blocked_steps) is bool(played(snapshot, drained(name, flags)[0]).blocked_steps)


@examples(15)
@given(worlds())
def test_pods_without_a_node_are_one_number_now(snapshot: Snapshot) -> None:
    """What `pending`, `audit` and `report` show of the cluster as it stands, as counted in the file."""
    try:
        audit = kubespread.audit(snapshot)
    except UsageError:
        # It has no workloads.
        return
    report = kubespread.report(snapshot)
    now = sum(
        1
        for each in snapshot.pods
        if not each.spec.node_name and is_active(each) and each.metadata.deletion_timestamp is None
    )
    by_line = sum(line.extent for line in report.lines if line.key.startswith("running/pending/"))
    assert (kubespread.pending(snapshot).pending, sum(row.pending for row in audit.workloads), by_line) == (
        now,
        now,
        now,
    )


@examples(15)
@given(worlds(), st.data())
def test_a_workload_is_as_ready_whoever_shows_it(snapshot: Snapshot, data: st.DataObject) -> None:
    """Before anything happens, as `audit` shows the settled cluster; and after a step, as it shows what is left."""
    name = data.draw(st.sampled_from([node.metadata.name for node in snapshot.nodes]))
    step = data.draw(st.sampled_from([f"cordon {name}", f"drain {name} --force", f"fail {name}"]))
    plan = kubespread.plan(snapshot.edited(step))
    before, after = (_audited(settled) for settled in (_as_planned(snapshot), _as_planned(snapshot, step)))
    for row in plan.whole.workloads:
        was, left = (side.get(str(row.workload)) for side in (before, after))
        assert row.ready_before == (0 if was is None else was.ready), row.workload
        if not plan.chances:
            assert row.ready == (0 if left is None else left.ready), row.workload
    with suppress(UsageError):
        for loss in kubespread.survive(snapshot).losses:
            for lost in loss.workloads:
                audited = before[str(lost.workload)]
                assert (lost.wanted, lost.ready_before) == (audited.replicas, audited.ready), lost.workload


def _as_planned(snapshot: Snapshot, *steps: str) -> Snapshot:
    return kubespread.after_steps(snapshot, scenario(SETTLED, *steps))


def _audited(snapshot: Snapshot) -> dict[str, AuditedWorkload]:
    try:
        return {str(row.workload): row for row in kubespread.audit(snapshot).workloads}
    except UsageError:
        return {}


@examples(15)
@given(worlds(), FLAGS)
def test_an_assistant_gets_the_same_answers(snapshot: Snapshot, flags: DrainFlags) -> None:
    """The flags of a drain apply to its edits, too."""
    asked = {
        "force": flags.force,
        "ignoreDaemonsets": flags.ignore_daemonsets,
        "deleteEmptydirData": flags.delete_emptydir_data,
        "limit": 1000,
    }
    own: dict[str, Any] = {
        "force": flags.force,
        "ignore_daemonsets": flags.ignore_daemonsets,
        "delete_emptydir_data": flags.delete_emptydir_data,
    }
    told = tools()["removable"].call(snapshot, Scheduler(), asked)
    assert told == kubespread.removable(snapshot, **own).to_dict()
    name = snapshot.nodes[0].metadata.name
    edits = [f"drain {name}", f"delete-node {name}"]
    plan = kubespread.plan(snapshot.edited(*drained(name, flags)), **own)
    told = tools()["plan"].call(snapshot, Scheduler(), {**asked, "edits": edits})
    assert (told["verdict"], told["answer"]) == (plan.verdict, list(plan.answer))
