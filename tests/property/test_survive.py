"""What losing each domain comes to, counted again by hand."""

from __future__ import annotations

from itertools import combinations
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import kubespread
from kubespread import Snapshot
from kubespread.node_groups import NodeGroup
from kubespread.questions.survive import LostDomain
from kubespread.reports.outcome import kinds_of
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
@given(
    objects=clusters(),
    edit=st.sampled_from(["", "", "fail zone=a", "scale default/deploy/web=5"]),
    nodes_deleted=st.booleans(),
)
def test_each_loss_is_what_it_comes_to_by_hand(objects: list[Data], edit: str, nodes_deleted: bool) -> None:
    snapshot = snapshot_of(objects)
    if edit:
        snapshot = snapshot.edited(edit)
    report, before = kubespread.survive(snapshot, ("zone",), nodes_deleted=nodes_deleted), after(snapshot)
    assert report.pending_before == sum(waiting(before).values())
    for loss in report.losses:
        lost = after(snapshot, *_losing(f"zone={loss.domain}", nodes_deleted))
        _check(before, lost, loss)
        assert tallied(loss.workloads) == came(before, lost), loss.domain
        assert {row.workload: (row.ready_before, row.ready) for row in loss.workloads} == {
            row.workload: tuple(ready(state)[row.workload] for state in (before, lost)) for row in loss.workloads
        }
        untouched = ready(before).keys() - {row.workload for row in loss.workloads}
        assert all(
            ready(before)[name] == ready(lost)[name]
            for name in untouched
            if "/Pod/" not in name and "/DaemonSet/" not in name
        )


@settings(max_examples=6, deadline=None)
@given(objects=clusters(), key=st.sampled_from(["zone", "hostname"]), nodes_deleted=st.booleans())
def test_the_loss_of_a_pair_is_what_it_comes_to_by_hand(objects: list[Data], key: str, nodes_deleted: bool) -> None:
    snapshot = snapshot_of(objects)
    before = after(snapshot)
    report = kubespread.survive(snapshot, (key,), pairs=True, nodes_deleted=nodes_deleted)
    label = ZONE if key == "zone" else HOSTNAME
    domains = sorted({each.metadata.labels[label] for each in before.nodes})
    assert [loss.domain for loss in report.losses] == ["+".join(pair) for pair in combinations(domains, 2)]
    for loss in report.losses[:4]:
        _check(before, after(snapshot, *_losing(f"{label} in ({loss.domain.replace('+', ',')})", nodes_deleted)), loss)


def _losing(nodes: str, nodes_deleted: bool) -> list[str]:
    return [f"fail {nodes}", *([f"delete-node {nodes}"] if nodes_deleted else [])]


def _check(before: Snapshot, lost: Snapshot, said: LostDomain) -> None:
    """Pods pending and gone for good, and workloads degraded."""
    assert said.pending == sum(newly_waiting(before, lost).values())
    assert set(said.lost) == bare_pods(before) - bare_pods(lost)
    assert {each.workload: each.ready for each in said.degraded} == {
        name: ready(lost)[name]
        for name in ready(before)
        if "/Pod/" not in name and "/DaemonSet/" not in name
        if _is_short(name, before, lost)
    }


def _is_short(name: str, before: Snapshot, then: Snapshot) -> bool:
    """Fewer than before, and fewer than it is to have: those that lack any."""
    desired = ready(before)[name] + missing(before)[name]
    return ready(then)[name] < min(ready(before)[name], desired)


@settings(max_examples=25, deadline=None)
@given(
    objects=clusters(),
    keys=st.sampled_from([("zone",), ("hostname",), ("zone", "hostname")]),
    more=st.sampled_from([{}, {"pairs": True}, {"nodes_deleted": True}]),
)
def test_the_verdict_and_the_sentences_say_what_the_rows_say(
    objects: list[Data], keys: tuple[str, ...], more: dict[str, Any]
) -> None:
    snapshot = snapshot_of(objects)
    report, before = kubespread.survive(snapshot, keys, **more), after(snapshot)
    untested = {name for name, count in missing(before).items() if count > 0 and not ready(before)[name]}
    assert set(map(str, report.untested)) == untested
    is_bad = [
        bool(loss.pending or loss.lost or any(each.ready < each.wanted for each in loss.degraded))
        for loss in report.losses
    ]
    assert [bool(loss.troubles) for loss in report.losses] == is_bad
    assert report.verdict == ("no" if any(is_bad) else "unknown" if untested else "yes")
    plain = report.to_dict()
    by_key = [[loss for loss in report.losses if loss.topology_key == key] for key, _ in report.by_key()]
    safe = {sum(not loss.troubles for loss in losses) for losses in by_key}
    assert numbers_said(report.answer) <= numbers_in(plain) | safe | {len(losses) for losses in by_key}
    for kind in ("pending", "short", "lost"):
        assert [loss.fails(kind) for loss in report.losses] == [
            bool({"pending": loss.pending, "short": loss.degraded, "lost": loss.lost}[kind]) for loss in report.losses
        ]
    assert [loss.fails("any") for loss in report.losses] == is_bad
    assert all(kinds_of(loss)[0] == loss.troubles[0].kind for loss in report.losses if loss.troubles)


@settings(max_examples=6, deadline=None)
@given(objects=clusters(), most=st.integers(0, 2))
def test_what_is_left_with_an_autoscaler_is_what_its_nodes_leave_added_by_hand(objects: list[Data], most: int) -> None:
    (spare,) = hosts("z")
    spare["metadata"]["name"] = spare["metadata"]["labels"][HOSTNAME] = "spare"
    spare["spec"]["unschedulable"] = True
    snapshot = snapshot_of([*objects, spare])
    groups = [NodeGroup("pool", template="spare", zones=("a", "b", "c"), maximum=most)]
    before = after(snapshot)
    asked = kubespread.survive(snapshot, ("zone",), nodes_deleted=True, autoscaler="ca", node_groups=groups)
    for loss in asked.losses:
        if loss.domain == "z":
            continue
        nodes = f"zone={loss.domain}"
        # New nodes come last in the cluster, in the order in which they were added.
        added = [load.node for load in loss.nodes.loads if load.node in loss.nodes.joined]
        assert sorted(added) == [*loss.nodes.joined]
        zones = [name.split("-")[1] for name in added]
        assert loss.domain not in zones
        steps = [f"add-node spare:1@zone={zone}" for zone in zones]
        grown = after(snapshot, f"fail {nodes}", f"delete-node {nodes}", *steps)
        assert loss.pending == sum(newly_waiting(before, grown).values()), added
        for row in loss.workloads:
            assert row.ready == ready(grown)[str(row.workload)], row.workload
