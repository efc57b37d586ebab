"""Upgrades: what a report says adds up, and its remedies, applied as they are printed, get it through."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import kubespread
from kubespread import Snapshot, UpgradeReport
from kubespread.reports.outcome import (
    GonePod,
    PendingPods,  # TODO
    UnmadePods,
)
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
    is_bad = [
        step.is_blocked or any(gone.broken_budgets or gone.lost_for_good for gone in step.preempted)
        for step in report.steps
    ]
    assert report.verdict == ("no" if any(is_bad) or _left(report) else "yes")
    assert report.complete is not any(step.is_blocked for step in report.steps)
    preempted = [gone for step in report.steps for gone in step.preempted]
    groups, unmade = (*report.pending, *report.pending_as_before), sum(each.count for each in _unmade(report))
    # Every pod that finds a node is a daemon on a new node, or takes the place of one that left or waited; of daemons
    # that are preempted and of ordinals that were missing before it is not told who made them.
    if not (
        missing(before) - waiting(before) or any("agent" in each for each in (*_named(groups), *_named(preempted)))
    ):
        left = sum(step.evicted - len(step.lost) for step in report.steps) + len(preempted)
        lacking = sum(len(group.pods) for group in groups)
        placed = sum(step.placed - step.daemons for step in report.steps)
        assert placed == left + sum(waiting(before).values()) - lacking - unmade
    assert numbers_said(report.answer) <= numbers_in(report.to_dict()) | {report.left_pending, unmade, *_counts(report)}


def _left(report: UpgradeReport) -> bool:
    return bool(report.pending or list(_unmade(report)) or report.short)


def _unmade(report: UpgradeReport) -> Iterator[UnmadePods]:
    yield from (*report.not_created, *report.not_made_yet)


def _named(listed: Iterable[PendingPods | GonePod]) -> Iterator[str]:
    return (each.workload if isinstance(each, PendingPods) else each.pod for each in listed)


def _counts(report: UpgradeReport) -> set[int]:
    """What sentences add up over the steps."""
    preempted = [gone for step in report.steps for gone in step.preempted]
    broken = {(gone.pod.namespace, budget) for gone in preempted for budget in gone.broken_budgets}
    harmless = sum(not gone.is_bad for gone in preempted)
    return {len(broken), harmless, sum(len(step.lost) for step in report.steps)}


@settings(max_examples=12, deadline=None)
@given(objects=held_clusters(), pool=POOLS, manner=st.sampled_from(MANNERS))
def test_remedies_get_it_through_when_they_are_applied_as_printed(
    objects: list[Data], pool: str, manner: dict[str, Any]
) -> None:
    snapshot = snapshot_of(objects)
    report = kubespread.upgrade(snapshot, pool, **manner)
    assert (report.verdict == "yes") is not bool(report.remedies_tried)
    assert len(report.remedies) <= report.remedies_tried
    for option in report.remedies:
        edited, options = applied(snapshot, manner, option)
        again = kubespread.upgrade(edited, pool, **options, remedies=False)
        assert again.verdict == "yes", option
        assert tuple(pod for step in again.steps for pod in step.lost) == report.remedies_lose.get(option, ()), option
        # Nor does anything wait that neither waited before nor once the cluster had settled.
        waits = {
            each.workload: len(each.pods) for each in again.pending_as_before if "/DaemonSet/" not in each.workload
        }
        assert not Counter[str](waits) - waiting(after(snapshot)), option


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
