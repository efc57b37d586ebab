"""What losing each domain comes to, counted again by hand: the nodes fail, then their Node objects are deleted."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import kubespread
from kubespread import Snapshot
from kubespread.node_groups.groups import NodeGroup
from kubespread.questions.survive.report import DomainLoss
from tests.builders import Data, hosts
from tests.property.workloads_on_nodes import (
    HOSTNAME,
    ZONE,
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
        _check(before, (failed, deleted), loss)
        assert [tallied(rows) for rows in (loss.landed, loss.landed_after_removal)] == [
            came(before, failed),
            came(before, deleted),
        ], loss.domain
        assert {row.workload: (row.ready_before, row.ready, row.ready_after_removal) for row in loss.workloads} == {
            row.workload: tuple(ready(state)[row.workload] for state in (before, failed, deleted))
            for row in loss.workloads
        }
        untouched = ready(before).keys() - {row.workload for row in loss.workloads}
        assert all(
            ready(before)[name] == ready(failed)[name] == ready(deleted)[name]
            for name in untouched
            if "/Pod/" not in name and "/DaemonSet/" not in name
        )


@settings(max_examples=6, deadline=None)
@given(objects=clusters(), key=st.sampled_from(["zone", "hostname"]))
def test_the_loss_of_a_pair_is_what_it_comes_to_by_hand(objects: list[Data], key: str) -> None:
    snapshot = snapshot_of(objects)
    before = after(snapshot)
    report = kubespread.survive(snapshot, (key,), pairs=True)
    label = ZONE if key == "zone" else HOSTNAME
    domains = sorted({each.metadata.labels[label] for each in before.nodes})
    assert [loss.domain for loss in report.losses] == ["+".join(pair) for pair in combinations(domains, 2)]
    for loss in report.losses[:4]:
        chosen = f"{label} in ({loss.domain.replace('+', ',')})"
        states = after(snapshot, f"fail {chosen}"), after(snapshot, f"fail {chosen}", f"delete-node {chosen}")
        _check(before, states, loss)
        assert set(loss.not_made_again) == bare_pods(before) - bare_pods(states[1])


def _deleting(names: Iterable[str]) -> list[str]:
    return [f"delete-node {HOSTNAME} in ({','.join(names)})"] if names else []


def _check(before: Snapshot, states: tuple[Snapshot, Snapshot], said: DomainLoss) -> None:
    """Pods pending and workloads degraded, while the Node objects are there and once they are deleted."""
    pending = [sum(newly_waiting(before, state).values()) for state in states]
    assert [said.pending, said.pending_after_removal] == pending
    assert {each.workload: (each.ready, each.ready_after_removal) for each in said.short} == {
        name: (ready(states[0])[name], ready(states[1])[name])
        for name in ready(before)
        if "/Pod/" not in name and "/DaemonSet/" not in name
        if any(_is_short(name, before, state) for state in states)
    }


def _is_short(name: str, before: Snapshot, then: Snapshot) -> bool:
    """Fewer than before, and fewer than it is to have: those that lack any."""
    desired = ready(before)[name] + missing(before)[name]
    return ready(then)[name] < min(ready(before)[name], desired)


@settings(max_examples=25, deadline=None)
@given(
    objects=clusters(),
    keys=st.sampled_from([("zone",), ("hostname",), ("zone", "hostname")]),
    more=st.sampled_from([{}, {"pairs": True}]),
)
def test_the_verdict_and_the_sentences_say_what_the_rows_say(
    objects: list[Data], keys: tuple[str, ...], more: dict[str, Any]
) -> None:
    report = kubespread.survive(snapshot_of(objects), keys, **more)
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


@settings(max_examples=6, deadline=None)
@given(objects=clusters(), most=st.integers(0, 2))
def test_what_is_left_with_an_autoscaler_is_what_its_nodes_leave_added_by_hand(objects: list[Data], most: int) -> None:
    (spare,) = hosts("z")
    spare["metadata"]["name"] = spare["metadata"]["labels"][HOSTNAME] = "spare"
    spare["spec"]["unschedulable"] = True
    snapshot = snapshot_of([*objects, spare])
    groups = [NodeGroup("pool", template="spare", zones=("a", "b", "c"), maximum=most)]
    before = after(snapshot)
    for loss in kubespread.survive(snapshot, ("zone",), autoscaler="ca", node_groups=groups).losses:
        if loss.autoscaling is None or loss.domain == "z":
            continue
        nodes = f"zone={loss.domain}"
        added = [(group.zone, len(group.nodes)) for loop in loss.autoscaling.loops for group in loop.added]
        assert loss.domain not in dict(added)
        steps = [f"add-node spare:{number}@zone={zone}" for zone, number in added]
        grown = after(snapshot, f"fail {nodes}", f"delete-node {nodes}", *steps)
        assert loss.still_pending == sum(newly_waiting(before, grown).values()), added
        for row in loss.workloads:
            assert row.ready_when_grown == ready(grown)[str(row.workload)], row.workload
