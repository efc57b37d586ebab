"""What losing each domain comes to, counted again by hand: the nodes fail, then their Node objects are deleted."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

import kubespread
from kubespread import Snapshot
from kubespread.questions.survive.report import DomainLoss
from tests.builders import Data
from tests.property.workloads_on_nodes import (
    after,
    bare_pods,
    came,
    clusters,
    missing,
    newly_waiting,
    numbers_in,
    numbers_said,
    ready,
    snapshot_of,
    tallied,
    waiting,
)


@settings(max_examples=8, deadline=None)
@given(objects=clusters(), edit=st.sampled_from(["", "", "fail zone=a", "scale default/deploy/web=5"]))
def test_each_loss_is_what_it_comes_to_by_hand(objects: list[Data], edit: str) -> None:
    snapshot = snapshot_of(objects)
    if edit:
        snapshot = snapshot.edited(edit)
    report, before = kubespread.survive(snapshot, ("zone",)), after(snapshot)
    assert report.pending_before == sum(waiting(before).values())
    for loss in report.losses:
        nodes = f"zone={loss.domain}"
        failed, deleted = after(snapshot, f"fail {nodes}"), after(snapshot, f"fail {nodes}", f"delete-node {nodes}")
        bare = bare_pods(before)
        assert set(loss.not_made_again) == bare - bare_pods(deleted), loss.domain
        for state, pending in ((failed, loss.pending), (deleted, loss.pending_after_removal)):
            assert pending == sum(newly_waiting(snapshot, before, state).values()), loss.domain
        assert _short(loss) == {
            name: (ready(failed)[name], ready(deleted)[name])
            for name in ready(before)
            if "/Pod/" not in name and "/DaemonSet/" not in name
            if _is_short(name, before, failed) or _is_short(name, before, deleted)
        }
        assert [tallied(rows) for rows in (loss.landed, loss.landed_after_removal)] == [
            came(before, failed), came(before, deleted),
        ], loss.domain  # fmt: skip
        assert {row.workload: (row.ready_before, row.ready, row.ready_after_removal) for row in loss.workloads} == {
            row.workload: tuple(ready(state)[row.workload] for state in (before, failed, deleted))
            for row in loss.workloads
        }
        untouched = ready(before).keys() - {row.workload for row in loss.workloads}
        assert all(
            ready(before)[name] == ready(failed)[name] == ready(deleted)[name]
            for name in untouched if "/Pod/" not in name and "/DaemonSet/" not in name
        )  # fmt: skip


def _is_short(name: str, before: Snapshot, then: Snapshot) -> bool:
    """Fewer than before, and fewer than it is to have: those that lack any."""
    desired = ready(before)[name] + missing(before)[name]
    return ready(then)[name] < min(ready(before)[name], desired)


def _short(loss: DomainLoss) -> dict[str, tuple[int, int]]:
    return {each.workload: (each.ready, each.ready_after_removal) for each in loss.short}


@settings(max_examples=25, deadline=None)
@given(objects=clusters(), keys=st.sampled_from([("zone",), ("hostname",), ("zone", "hostname")]))
def test_the_verdict_and_the_sentences_say_what_the_rows_say(objects: list[Data], keys: tuple[str, ...]) -> None:
    report = kubespread.survive(snapshot_of(objects), keys)
    is_bad = [
        bool(
            loss.pending
            or loss.pending_after_removal
            or loss.not_made_again
            or any(min(each.ready, each.ready_after_removal) < each.wanted for each in loss.short)
        )
        for loss in report.losses
    ]
    assert [bool(loss.trouble) for loss in report.losses] == is_bad
    assert report.verdict == ("no" if any(is_bad) else "yes")
    plain = report.to_dict()
    by_key = [[loss for loss in report.losses if loss.topology_key == key] for key, _ in report.by_key()]
    safe = {sum(not loss.trouble for loss in losses) for losses in by_key}
    assert numbers_said(report.answer) <= numbers_in(plain) | safe | {len(losses) for losses in by_key}
    for trouble in ("pending", "short", "lost", None):
        assert (report.worst(trouble) is None) is not any(
            trouble in loss.trouble if trouble else loss.trouble for loss in report.losses
        )
