"""Nodes that are said to go really go when that is played, with budgets kept; those that are held really do not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from hypothesis import given, settings

import kubespread
from kubespread import Snapshot
from kubespread.kube.api.cluster_objects import PodDisruptionBudget
from tests.builders import Data
from tests.property.workloads_on_nodes import (
    SETTLED,
    ZONE,
    after,
    bare_pods,
    came,
    clusters,
    held_clusters,
    missing,
    newly_waiting,
    numbers_in,
    numbers_said,
    ready,
    scenario,
    snapshot_of,
    tallied,
    waiting,
    with_options,
    workload_of,
)


def steps(groups: Sequence[Sequence[str]]) -> list[str]:
    """Each group is cordoned at once; its nodes are drained one after another, and deleted."""
    return [
        step
        for group in groups
        for step in (
            *(f"cordon {name}" for name in group),
            *(f"drain {name}" for name in group),
            *(f"delete-node {name}" for name in group),
        )
    ]


def goes(snapshot: Snapshot, groups: Sequence[Sequence[str]]) -> bool:
    """Whether nodes go when they are drained and deleted: what kubectl or a budget refuses ends it, and so does a pod
    without a node that had one, or one that is pushed away against a budget or for good.
    """
    before, played = after(snapshot), kubespread.plan(snapshot, scenario(SETTLED, *steps(groups)))
    if played.blocked_steps:
        return False
    now = after(snapshot, *steps(groups))
    is_left = newly_waiting(before, now) or _unmade(now) - _unmade(before)
    is_broken = any(step.get("budget") for step in played.steps)
    return not (is_left or is_broken or bare_pods(before) - bare_pods(now))


def _unmade(snapshot: Snapshot) -> Counter[str]:
    """How many pods of each workload do not exist."""
    return missing(snapshot) - waiting(snapshot)


def last_of_its_domain(snapshot: Snapshot, name: str) -> bool:
    """Whether the node is the only one in its zone while there are others, or the only node."""
    zones = {node.metadata.name: node.metadata.labels[ZONE] for node in snapshot.nodes}
    return len(zones) == 1 or (list(zones.values()).count(zones[name]) == 1 and len(set(zones.values())) > 1)


@settings(max_examples=6, deadline=None)
@given(objects=clusters())
def test_each_node_goes_or_stays_as_it_is_said(objects: list[Data]) -> None:
    snapshot = snapshot_of(objects)
    report = kubespread.removable(snapshot)
    for row in report.rows:
        remarks = {remark.kind for remark in row.remarks}
        assert ("lastOfDomain" in remarks) is last_of_its_domain(snapshot, row.name), row.name
        assert goes(snapshot, [[row.name]]) is row.alone is not bool(row.troubles), row.name
        if row.alone:
            moved = came(after(snapshot), after(snapshot, *steps([[row.name]])))
            # Of what is certain only how many move is said.
            assert tallied(row.workloads) == moved or (row.workloads, sum(moved.values())) == ((), row.pods), row.name
    groups = report.together.by_group
    assert [name for group in groups for name in group] == [*report.together.nodes]
    assert goes(snapshot, groups)
    for number, group in enumerate(report.together.groups):
        assert {*group.nodes.left} == {*groups[number]}
        moved = came(after(snapshot, *steps(groups[:number])), after(snapshot, *steps(groups[: number + 1])))
        assert tallied(group.workloads) == moved
    assert report.verdict == ("yes" if any(row.alone for row in report.rows) else "no")
    counted = {sum(row.alone for row in report.rows)}
    assert numbers_said(report.answer) <= numbers_in(report.to_dict()) | counted


@settings(max_examples=15, deadline=None)
@given(objects=clusters())
def test_what_has_no_ready_pod_for_a_time_is_what_loses_all_of_them_at_once(objects: list[Data]) -> None:
    snapshot = snapshot_of(objects)
    settled = after(snapshot)
    for row in kubespread.removable(snapshot).rows:
        down = _down(settled, row.name)
        assert {*row.down} == down, row.name
        (_, step) = kubespread.plan(snapshot, scenario(SETTLED, f"drain {row.name}")).steps
        is_refused = bool(step.failed or step.get("noController", "localStorage", "daemonSet"))
        assert {*step.down} == (set() if is_refused else down), row.name
        upgraded = kubespread.upgrade(snapshot, row.name, force=True, remedies=False)
        assert {*upgraded.steps[0].down} == down, row.name


def _down(snapshot: Snapshot, node: str) -> set[str]:
    """Workloads with ready pods on the node alone, of which a budget does not make some wait for successors."""
    every = ready(snapshot)
    here = Counter(workload_of(one) for one in snapshot.pods if one.spec.node_name == node)
    rules = {budget.metadata.name: budget.spec for budget in snapshot.objects.get(PodDisruptionBudget)}
    down = set()
    for name in here:
        rule, desired = rules.get(name.rpartition("/")[2]), every[name] + missing(snapshot)[name]
        least = 0
        if rule is not None:
            least = desired - 1 if rule.max_unavailable is not None else desired if rule.min_available == "100%" else 1
        if "/Pod/" not in name and "/DaemonSet/" not in name and here[name] == every[name] <= every[name] - least:
            down.add(name)
    return down


@settings(max_examples=15, deadline=None)
@given(objects=held_clusters())
def test_nodes_that_budgets_keep_go_with_the_remedies_as_printed(objects: list[Data]) -> None:
    snapshot = snapshot_of(objects)
    report = kubespread.removable(snapshot)
    for row in report.rows:
        assert row.remedy is None or {trouble.kind for trouble in row.troubles} == {"blocked"}, row.name
        if row.remedy is not None:
            changed = with_options(snapshot, row.remedy)
            assert kubespread.removable(changed, row.name).rows[0].alone, row.name
            assert goes(changed, [[row.name]]), row.name
