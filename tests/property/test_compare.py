"""The rows that differ are those in which the two answers differ by themselves."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

import kubespread
from kubespread import ClusterWorkloads, CompareReport, Scheduler, Side
from kubespread.questions.resolving import pod_list
from tests.builders import Data
from tests.property.test_invariants import questions
from tests.property.workloads_on_nodes import clusters, snapshot_of

EDITS = st.lists(
    st.sampled_from(["cordon n0", "uncordon n0", "taint n0=slow:PreferNoSchedule", "label n0=zone=a", "add-node n0:2"]),
    max_size=3,
)
RELEASES = st.sampled_from(["1.26", "1.29", "1.33", "1.36", "1.37"])
EVERY = ClusterWorkloads(all_namespaces=True)


def side(asked: tuple[list[Data], list[Data], Data], edits: list[str]) -> Side:
    nodes, running, candidate = asked
    return Side(kubespread.Snapshot.from_objects([*nodes, *running]).edited(*edits), candidate)


def judged(side: Side) -> dict[str, object]:
    """Each node by itself, as explain has it."""
    report = kubespread.explain(side.snapshot, side.pod, side.scheduler)
    return {
        node.name: (
            node.feasible,
            [each.reasons for each in node.rejections if each.plugin in report.filter_plugins],
            node.total,
            report.feasible.index(node.name) if node.total is not None else None,
        )
        for node in report.nodes
    }


def placed(side: Side, replicas: int | None = None, *, from_scratch: bool = False) -> dict[str, object]:
    """Each workload, as simulate has it."""
    reports = kubespread.simulate(
        side.snapshot,
        [*pod_list(side.pod)],
        replicas,
        side.scheduler,
        from_scratch=from_scratch,
        on_refused=lambda _: None,
    )
    return {
        f"{each.pod.namespace}/{each.subject}": (
            each.running,
            each.replicas,
            {change.topology_key: change.after for change in sorted(each.skew, key=lambda change: change.after)},
            each.stopped,
            {victim.pod for victim in each.preempted},
            {node.name: node.present + node.placed for node in each.nodes},
        )
        for each in reports
    }


def excess(report: kubespread.SimulateReport) -> dict[str, int]:
    """How far the worst constraint of each key is above maxSkew."""
    by_key: dict[str, int] = {}
    for change in report.skew:
        by_key[change.topology_key] = max(by_key.get(change.topology_key, 0), change.after - change.max_skew)
    return by_key


def is_worse(before: Side, after: Side, replicas: int) -> bool:
    """True if anything is worse, from what explain and simulate answer by themselves."""
    explained = [kubespread.explain(side.snapshot, side.pod, side.scheduler) for side in (before, after)]
    (old,), (new,) = (
        kubespread.simulate(side.snapshot, [*pod_list(side.pod)], replicas, side.scheduler) for side in (before, after)
    )
    fitted, fits = ({*report.feasible} for report in explained)
    was, now = excess(old), excess(new)
    lacking = zip(*((each.pending, each.not_created, each.not_made_yet) for each in (old, new)), strict=True)
    return (
        not fitted <= fits
        or any(more > less for less, more in lacking)
        or bool(new.preempted and not old.preempted)
        or (new.running <= old.running and any(now[key] > was[key] for key in {*was} & {*now}))
    )


def differing(before: dict[str, object], after: dict[str, object]) -> set[str]:
    return {key for key in {*before, *after} if before.get(key) != after.get(key)}


def check(report: CompareReport, expected: set[str]) -> None:
    assert {change.key for change in report.changes} == expected
    assert all(change.before != change.after for change in report.changes)
    verdict = report.answer[0].removeprefix("if all replicas are placed anew, ")
    assert verdict.startswith("same: ") == (not expected)


@settings(max_examples=15, deadline=None)
@given(questions(), EDITS, st.integers(0, 6))
def test_a_side_is_the_same_as_itself(asked: tuple[list[Data], list[Data], Data], edits: list[str], count: int) -> None:
    report = kubespread.compare(side(asked, edits), side(asked, edits), replicas=count)
    assert (report.changes, report.verdict) == ((), "yes")


@settings(max_examples=40, deadline=None)
@given(questions(), questions(), EDITS, st.integers(0, 6), st.sampled_from(["cluster", "edits", "pod"]))
def test_the_rows_of_one_pod_are_those_that_differ_between_the_answers(
    asked: tuple[list[Data], list[Data], Data],
    other: tuple[list[Data], list[Data], Data],
    edits: list[str],
    count: int,
    differs: str,
) -> None:
    """One side has the other's cluster or pod, or is edited; exchanged, each cell is."""
    before = side(asked, [])
    match differs:
        case "cluster":
            after = side(other, [])
        case "edits":
            after = side(asked, edits)
        case _:
            after = side((*asked[:2], other[2]), [])
    there, back = (kubespread.compare(*pair, replicas=count) for pair in ((before, after), (after, before)))
    was, now = placed(before, count), placed(after, count)
    check(there, differing(judged(before), judged(after)) | differing(was, dict.fromkeys(was, *now.values())))
    assert there.verdict == ("no" if is_worse(before, after, count) else "yes")
    assert back.verdict == ("no" if is_worse(after, before, count) else "yes")
    cells = {(change.key.rpartition("/")[2], change.column): (change.before, change.after) for change in there.changes}
    assert len(there.changes) == len(back.changes) == len(cells)
    for change in back.changes:
        if "/" not in change.key:
            assert cells[change.key, change.column] == (change.after, change.before)


@settings(max_examples=15, deadline=None)
@given(clusters(), st.lists(st.sampled_from(["cordon n0", "delete-node n1"]), max_size=1), RELEASES, RELEASES)
def test_the_rows_of_all_workloads_are_those_that_are_placed_differently(
    objects: list[Data], edits: list[str], old: str, new: str
) -> None:
    snapshot = snapshot_of(objects)
    before = Side(snapshot, EVERY, Scheduler(kube_version=old))
    after = Side(snapshot.edited(*edits), EVERY, Scheduler(kube_version=new))
    was, now = placed(before, from_scratch=True), placed(after, from_scratch=True)
    report = kubespread.compare(before, after)
    check(report, differing(was, now))
    assert (report.nodes, report.workloads) == (0, len({*was, *now}))
