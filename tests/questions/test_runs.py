"""What depends on chance: which of several equal pods a controller deletes, run again and again."""

from __future__ import annotations

import json
from itertools import combinations, count
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

import kubespread
from kubespread import Snapshot
from kubespread.errors import UsageError
from kubespread.kube.owners import WorkloadName
from kubespread.questions.plan import PlanReport, PlanStep
from kubespread.questions.simulate import SimulateReport
from kubespread.reports.outcome import WorkloadChange
from kubespread.reports.parts import Range, SkewChange
from kubespread.views import terminal
from kubespread.views.look import Look
from tests.builders import hard, hosts
from tests.cli.support import FIXTURES, run
from tests.world.clusters import deployment, job

ZONE = "topology.kubernetes.io/zone"
FULL = FIXTURES / "cases" / "running" / "1"
"""A cluster without room for a surge. On a real control plane the rollout got stuck in three runs of five."""


def play(snapshot: Snapshot, *steps: str, runs: int | None = None, seed: int | None = None) -> PlanReport:
    scenario = {"apiVersion": "kubespread.dev/v1alpha1", "kind": "Scenario", "spec": {"steps": list(steps)}}
    return kubespread.plan(snapshot, scenario, runs=runs, seed=seed)


def spread_over(zones: str, per_zone: int = 4) -> Snapshot:
    """The ready, equally old pods of web, each on a node of its own, in these zones, which have as many nodes each."""
    nodes = hosts(*(zone for zone in sorted(set(zones)) for _ in range(per_zone)))
    free = {zone: count(place * per_zone) for place, zone in enumerate(sorted(set(zones)))}
    on = tuple(f"n{next(free[zone])}" for zone in zones)
    return Snapshot.from_objects([*nodes, *deployment(on=on, spec={"constraints": [hard(ZONE, match={"app": "web"})]})])


def test_a_rollout_that_ends_well_as_shown_may_get_stuck_in_other_runs() -> None:
    cluster = kubespread.load(FULL / "cluster.json.gz")
    report = kubespread.plan(cluster, FULL / "cluster.scenario.json", kubespread.Scheduler(kube_version="1.36.2"))
    (step,) = report.steps
    (rollout,) = step.rollouts
    assert (report.verdict, report.runs, report.pending, step.is_done) == ("no", 8, 0, True)
    assert report.stuck_runs == step.stuck_runs == rollout.stuck_runs
    assert 0 < report.stuck_runs < 8
    assert report.answer[0] == (
        f"may get stuck ({report.stuck_runs} of 8 runs, in step 1); every step done in full; nothing is worse"
    )
    assert step.pending_runs == Range(minimum=0, median=1, maximum=1)
    assert (rollout.complete, rollout.wedged_on) == (True, None)
    assert rollout.stuck_on == (
        "0/5 nodes are available: 2 node(s) didn't match pod topology spread constraints, 3 Insufficient cpu."
    )


def test_what_may_get_stuck_is_a_no_for_scripts() -> None:
    asked = ("plan", FULL / "cluster.scenario.json", "-S", FULL / "cluster.json.gz", "--kube-version", "1.36.2")
    assert run(*asked, "-o", "json").code == 1
    assert run(*asked, "--fail-on", "pending").code == 1
    assert run(*asked, "--fail-on", "nothing").code == 0
    assert run(*asked, "--runs", "1").code == 0


def test_the_same_question_has_the_same_runs() -> None:
    cluster = spread_over("aaabbbcc")
    assert play(cluster, "rollout deploy/web") == play(cluster, "rollout deploy/web")


def test_there_is_one_run_where_nothing_was_left_to_chance() -> None:
    report = play(spread_over("aabbcc"), "drain n0 --force --ignore-daemonsets", "scale deploy/web=9")
    assert (report.runs, report.stuck_runs) == (1, 0)
    assert [step.pending_runs for step in report.steps] == [None, None]


def test_as_many_runs_as_are_asked_for() -> None:
    assert [play(spread_over("aabbcc"), "scale deploy/web=4", runs=runs).runs for runs in (None, 1, 3)] == [8, 1, 3]
    with pytest.raises(UsageError, match="runs must be from 1 to 10000, not 0"):
        play(spread_over("aabbcc"), "scale deploy/web=4", runs=0)


def test_fewer_replicas_leave_a_skew_that_depends_on_chance() -> None:
    report = simulate(spread_over("aabbcc"), 4)
    (skew,) = report.skew
    assert (skew.before, skew.after_runs, skew.is_violated) == (0, Range(minimum=1, median=1, maximum=2), True)
    assert "skew 0 → 1–2" in terminal.table([report], Look(width=80))


def test_which_of_its_equal_pods_a_job_deletes_is_chance_too(tmp_path: Path) -> None:
    made, *pods = job("run", on=("n0", "n1", "n2", "n3"))
    smaller = {**made, "spec": {**made["spec"], "parallelism": 2}}
    (tmp_path / "job.json").write_text(json.dumps(smaller))
    report = play(Snapshot.from_objects([*hosts("a", "a", "b", "b"), made, *pods]), f"apply {tmp_path / 'job.json'}")
    assert report.runs == 8
    assert report.steps[0].gone == 2


def simulate(snapshot: Snapshot, replicas: int) -> SimulateReport:
    return kubespread.simulate(snapshot, "deploy/web", replicas)


@settings(max_examples=25)
@given(st.text("abc", min_size=2, max_size=7), st.data())
def test_a_range_holds_nothing_that_cannot_happen(zones: str, data: st.DataObject) -> None:
    """Pods that are alone on their nodes are all equal: any of them may go."""
    left = data.draw(st.integers(1, len(zones) - 1))
    (skew,) = simulate(spread_over(zones, len(zones)), left).skew
    domains = sorted(set(zones))
    possible = set()
    for kept in combinations(zones, left):
        counts = [kept.count(zone) for zone in domains]
        possible.add(max(counts) - min(counts))
    said = {skew.after} if skew.after_runs is None else {skew.after, skew.after_runs.minimum, skew.after_runs.maximum}
    assert said <= possible
    assert len(said) == 1 or len(possible) > 1


def test_a_run_that_touches_pods_with_other_constraints_says_nothing_of_those_of_the_first() -> None:
    zone, host = (
        SkewChange(topology_key=key, when_unsatisfiable="DoNotSchedule", max_skew=1, before=0, after=1)
        for key in ("zone", "host")
    )
    name = WorkloadName("Deployment", "default", "web")
    web = WorkloadChange(workload=name, wanted=2, ready_before=2, ready=2, fewest_ready=2, skew=(zone, host))
    other = replace(web, skew=(replace(zone, after=3),))
    shown, another = (PlanStep(name="scale deploy/web=2", number=1, workloads=(row,)) for row in (web, other))
    assert [skew.range_after for skew in shown.merge([another]).workloads[0].skew] == ["1–3", "1"]
