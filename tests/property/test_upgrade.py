"""Upgrades: what a report says adds up, and its remedies, applied as they are printed, get it through."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import kubespread
from kubespread import PlanReport, Snapshot
from kubespread.kube.taint import DrainFlags
from kubespread.questions.upgrade.answer import UpgradePool
from kubespread.questions.worlds import as_snapshot, world_of
from kubespread.reports.outcome import KINDS
from kubespread.snapshot.edits.verb import nodes_of_target, parse_target
from tests.builders import Data
from tests.property.workloads_on_nodes import (
    after,
    clusters,
    held_clusters,
    missing,
    numbers_in,
    numbers_said,
    snapshot_of,
    waiting,
)

POOLS = st.sampled_from(["zone=a", "zone in (a,b)", "n0"])
MANNERS: list[dict[str, Any]] = [{}, {}, {"surge": 1}, {"batch": 2}, {"force": True}]


@settings(max_examples=20, deadline=None)
@given(objects=clusters(), pool=POOLS, manner=st.sampled_from(MANNERS))
def test_the_verdict_and_the_totals_follow_from_the_rows(
    objects: list[Data], pool: str, manner: dict[str, Any]
) -> None:
    snapshot = snapshot_of(objects)
    report, before = kubespread.upgrade(snapshot, pool, **manner, remedies=False), after(snapshot)
    is_bad = [not step.is_done or bool(step.get("budget", "lost")) for step in report.steps]
    is_lacking = bool(report.steps[-1].get("pending", "unmade") or report.steps[-1].degraded)
    assert report.verdict == ("no" if any(is_bad) or is_lacking else "yes")
    assert report.blocked_steps == (() if report.steps[-1].is_done else (len(report.steps),))
    assert not (report.undone and report.steps[-1].is_done)
    # Every pod that finds a node is a daemon on a new node, or takes the place of one that left or waited; of daemons
    # that are preempted and of ordinals that were missing before it is not told who made them.
    now = replaced(snapshot, pool, **manner)
    gone = [pod for step in report.steps for pod in step.pods_gone if pod.why in ("evicted", "preempted")]
    if not (
        missing(before) - waiting(before) or any("agent" in each for each in (*waiting(now), *(g.pod for g in gone)))
    ):
        left = sum(not pod.lost_for_good for pod in gone)
        placed = sum("agent" not in placed.pod.name for step in report.steps for placed in step.pods_placed)
        assert placed == left + sum(waiting(before).values()) - sum(waiting(now).values()) - report.unmade
    assert numbers_said(report.answer) <= numbers_in(report.to_dict()) | _counts(report)


def replaced(snapshot: Snapshot, pool: str, surge: int = 0, batch: int = 1, *, force: bool = False) -> Snapshot:
    """The cluster once the pool is replaced, as far as that goes."""
    world = world_of(snapshot, kubespread.Scheduler())
    world.settle()
    names = [node.metadata.name for node in nodes_of_target(parse_target(pool), world.living.nodes.objects)]
    nodes, left = UpgradePool(world, names, surge, DrainFlags(force=force)), len(names)
    while left > 0 and nodes.replace_batch(world, batch):
        left -= batch
    return as_snapshot(world, snapshot)


def _counts(report: PlanReport) -> set[int]:
    """What sentences add up over the troubles of a step, and over the steps."""
    rows = (report.whole, *report.steps)
    troubles = {row.count(kind) for row in rows for kind in KINDS} | {len(row.degraded) for row in rows}
    budgets = {len(row.get("budget")) for row in rows}
    steps = len(report.steps) + len(report.undone)
    waited = sum(trouble.count for trouble in report.waiting)
    return (
        troubles
        | budgets
        | {steps, steps - len(report.undone) - len(report.blocked_steps), len(report.lost_pods), waited}
    )


@settings(max_examples=12, deadline=None)
@given(objects=held_clusters(), pool=POOLS, manner=st.sampled_from(MANNERS))
def test_remedies_get_it_through_when_they_are_applied_as_printed(
    objects: list[Data], pool: str, manner: dict[str, Any]
) -> None:
    snapshot = snapshot_of(objects)
    report = kubespread.upgrade(snapshot, pool, **manner)
    assert (report.verdict == "yes") is not bool(report.tried)
    assert {remedy.options for remedy in report.remedies} <= {*report.tried}
    for remedy in report.remedies:
        edited, options = applied(snapshot, manner, remedy.options)
        again = kubespread.upgrade(edited, pool, **options, remedies=False)
        assert again.verdict == "yes", remedy
        assert tuple(again.lost_pods) == remedy.lost, remedy
        # Nor does anything wait that neither waited before nor once the cluster had settled.
        waits = waiting(replaced(after(edited), pool, **options)) - waiting(after(snapshot))
        assert not [workload for workload in waits if "/DaemonSet/" not in workload], remedy


def applied(snapshot: Snapshot, manner: dict[str, Any], option: str) -> tuple[Snapshot, dict[str, Any]]:
    """The cluster and the keywords of an upgrade with one more option of the command line."""
    options = dict(manner)
    for each in option.split("--")[1:]:
        name, _, value = each.strip().partition(" ")
        if name in ("surge", "batch"):
            options[name] = int(value)
        elif value:
            snapshot = snapshot.edited(each.strip())
        else:
            options[name.replace("-", "_")] = True
    return snapshot, options
