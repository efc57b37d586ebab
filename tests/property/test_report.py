"""Every line of a report, counted again by hand on small clusters."""

from __future__ import annotations

from collections import Counter
from functools import partial

from hypothesis import given, settings
from hypothesis import strategies as st

import kubespread
from kubespread import Scheduler, Scorecard, Snapshot
from kubespread.controllers.outage import is_silent
from kubespread.kube.api.cluster_objects import PodDisruptionBudget
from kubespread.kube.api.core import Node, Pod, TopologySpreadConstraint
from kubespread.kube.api.meta import LabelSelector
from kubespread.kube.api.workloads import Deployment
from kubespread.questions.report import ReportLine
from kubespread.questions.report.at_maximum import at_maximum, growing
from kubespread.questions.worlds import world_of
from kubespread.world.events.editing import scale
from kubespread.world.reporting.difference import Baseline
from kubespread.world.store.happenings import PREEMPTED
from tests.builders import Data, pod
from tests.property.workloads_on_nodes import (
    HOSTNAME,
    ZONE,
    after,
    as_given,
    bare_pods,
    clusters,
    missing,
    newly_waiting,
    ready,
    snapshot_of,
    waiting,
    workload_of,
)

KEYS = {"zone": ZONE, "hostname": HOSTNAME}


@settings(max_examples=3, deadline=None)
@given(objects=clusters(), edit=st.sampled_from(["", "", "fail zone=a", "scale default/deploy/web=5"]))
def test_every_line_says_what_is_counted_by_hand(objects: list[Data], edit: str) -> None:
    snapshot = snapshot_of(objects).edited(edit) if edit else snapshot_of(objects)
    report, now = kubespread.report(snapshot), as_given(snapshot)
    waits = waiting(now)
    pending = [line for line in report.lines if line.key.startswith("running/pending/")]
    assert sum(line.extent for line in pending) == sum(waits.values())
    assert {str(name) for line in pending for name in line.workloads} == set(waits)
    for line in report.lines:
        kind = line.key.split("/")[1]
        if kind in ("violated", "uneven"):
            constraint, skew = _skew(now, line)
            assert line.extent == skew - constraint.max_skew > 0
            assert line.level == ("warning" if constraint.when_unsatisfiable == "DoNotSchedule" else "notice")
        elif kind == "oneDomain":
            places = [_labels(now, each)[ZONE] for each in _placed(now, line)]
            assert len(set(places)) == 1
            assert (line.extent, line.level) == (len(places), "notice" if len(places) == 1 else "warning")
        elif kind == "noRoom":
            assert line.level == "notice"
            assert all(_does_not_grow(snapshot, str(name)) for name in line.workloads)
        elif kind == "noRollout":
            assert line.level == "critical"
            assert all(_does_not_grow(snapshot, str(name)) for name in line.workloads)
            for each in line.workloads:
                played = kubespread.plan(snapshot, [f"rollout {each.namespace}/deploy/{each.name}"])
                assert [rollout.complete for step in played.steps for rollout in step.rollouts] == [False], each
        elif kind in ("notReady", "notCreated"):
            name = str(line.workloads[0])
            lacks = (
                missing(now)[name]
                if kind == "notCreated"
                else missing(now)[name] + len(_placed(now, line)) - ready(now)[name]
            )
            assert line.extent == lacks
    _check_losses(snapshot, report)
    if not edit:
        _check_unconstrained(snapshot, report)
    _check_levels(report)


@settings(max_examples=4, deadline=None)
@given(objects=clusters(), data=st.data())
def test_what_holds_pods_and_what_they_ask_for_is_as_by_hand(objects: list[Data], data: st.DataObject) -> None:
    for one in objects:
        if one["kind"] == "Pod" and (text := data.draw(st.sampled_from(["", "", "", *KEEPING]))):
            one["metadata"] = {**one["metadata"], "annotations": {text: KEEPING[text]}}
    names = [one["metadata"]["name"] for one in objects if one["kind"] == "Deployment"]
    most = {name: data.draw(st.integers(1, 6)) for name in names}
    snapshot = snapshot_of([*objects, *(_autoscaler(name, number) for name, number in most.items())])
    lines = {line.key: line for line in kubespread.report(snapshot).lines}
    held = _tight(snapshot) | _unprotected(snapshot)
    assert {key: lines[key].extent for key in lines if key.startswith("budgets/")} == held
    assert {key: set(lines[key].nodes) for key in lines if key.startswith("drains/")} == _kept(snapshot)
    # That the next pod fits nowhere is said besides, of workloads without an autoscaler too.
    scaling = (
        key for key in lines if key.startswith("scaling/") and not {"noRoom", "noRollout"}.intersection(key.split("/"))
    )
    assert {key: lines[key].extent for key in scaling} == _beyond(snapshot, most)


@settings(max_examples=60, deadline=None)
@given(objects=clusters(), data=st.data())
def test_a_maximum_beyond_all_room_leaves_as_much_as_if_each_pod_were_made(
    objects: list[Data], data: st.DataObject
) -> None:
    for one in objects:
        if one["kind"] == "Node":
            one["status"]["allocatable"]["pods"] = str(data.draw(st.integers(1, 6)))
    names = [one["metadata"]["name"] for one in objects if one["kind"] in ("Deployment", "StatefulSet")]
    kinds = {one["metadata"]["name"]: one["kind"] for one in objects if one["kind"] in ("Deployment", "StatefulSet")}
    most = {name: data.draw(st.integers(1, 90)) for name in names}
    quota = data.draw(st.sampled_from([None, None, {"pods": "50"}, {"requests.cpu": "70"}, {"pods": "120"}]))
    quotas = [_quota(quota)] if quota else []
    scalers = [_autoscaler(name, number, kinds[name]) for name, number in most.items()]
    baseline = Baseline.settle(world_of(snapshot_of([*objects, *quotas, *scalers]), Scheduler()))
    scaled = list(growing(baseline.world, lambda _: True))
    if not scaled:
        return
    found = at_maximum(baseline, scaled)
    trial = baseline.trial()
    for name, _, number in scaled:
        then = trial.advance(partial(scale, name=name, replicas=number))
    lacking = then.pending + then.unmade_counts
    assert (found.lacking, found.not_made, bool(found.preempted), found.untried_pods) == (
        lacking,
        then.unmade_counts.total(),
        any(gone.why == PREEMPTED for step in then.happened for gone in step.departures),
        0,
    )
    if then.waiting:
        assert found.get("pending")[0].why == then.world.message(then.waiting[0])


def _quota(hard: Data) -> Data:
    metadata = {"name": "q", "namespace": "default"}
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": metadata, "spec": {"hard": hard}}


KEEPING = {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false", "karpenter.sh/do-not-disrupt": "true"}


def _autoscaler(name: str, most: int, kind: str = "Deployment") -> Data:
    target = {"apiVersion": "apps/v1", "kind": kind, "name": name}
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": f"of-{name}", "namespace": "default"},
        "spec": {"scaleTargetRef": target, "maxReplicas": most},
    }


def _movable(snapshot: Snapshot) -> list[Pod]:
    """Pods on nodes that do not go with them."""
    return [one for one in snapshot.pods if one.spec.node_name and "/DaemonSet/" not in workload_of(one)]


def _tight(snapshot: Snapshot) -> dict[str, int]:
    """By budget that lets none of its pods go, how many it protects."""
    held: dict[str, int] = {}
    for budget in snapshot.objects.get(PodDisruptionBudget):
        app, spec = budget.metadata.name, budget.spec
        placed = [one for one in _movable(snapshot) if one.metadata.labels.get("app") == app]
        owners = {workload_of(one) for one in snapshot.pods if one.metadata.labels.get("app") == app}
        scale = len(placed) + sum(missing(snapshot)[name] for name in owners)
        least = scale - 1 if spec.max_unavailable is not None else scale if spec.min_available == "100%" else 1
        if placed and len(placed) <= least:
            held[f"budgets/default/{app}"] = len(placed)
    return held


def _unprotected(snapshot: Snapshot) -> dict[str, int]:
    """How many workloads of several pods no budget is over, where one is known."""
    protected = {budget.metadata.name for budget in snapshot.objects.get(PodDisruptionBudget)}
    apps = {
        workload_of(one): one.metadata.labels.get("app")
        for one in snapshot.pods
        if "/DaemonSet/" not in workload_of(one)
    }
    desired = Counter(workload_of(one) for one in snapshot.pods if one.spec.node_name) + missing(snapshot)
    bare = [name for name, app in apps.items() if desired[name] > 1 and app not in protected]
    return {"budgets/unprotected": len(bare)} if protected and bare else {}


def _kept(snapshot: Snapshot) -> dict[str, set[str]]:
    kept: dict[str, set[str]] = {}
    tight = {name.rpartition("/")[2] for name in _tight(snapshot)}
    for one in _movable(snapshot):
        causes = {
            "noController": not one.metadata.owner_references,
            "blocked": one.metadata.labels.get("app") in tight,
            "safeToEvict": "cluster-autoscaler.kubernetes.io/safe-to-evict" in one.metadata.annotations,
            "doNotDisrupt": "karpenter.sh/do-not-disrupt" in one.metadata.annotations,
        }
        for cause, holds in causes.items():
            if holds:
                kept.setdefault(f"drains/{cause}", set()).add(one.spec.node_name)
    return kept


def _beyond(snapshot: Snapshot, most: dict[str, int]) -> dict[str, int]:
    """What lacks a node with each autoscaled workload at its maximum, and with all of them."""
    before = after(snapshot)
    desired = {each.metadata.name: each.spec.replicas or 0 for each in snapshot.objects.get(Deployment)}
    steps = {name: f"scale default/deploy/{name}={most[name]}" for name in sorted(most) if most[name] > desired[name]}
    played = {f"default/Deployment/{name}": [step] for name, step in steps.items()}
    if len(steps) > 1:
        played["all"] = [*steps.values()]
    found = {}
    for key, scaled in played.items():
        then = after(snapshot, *scaled)
        # Pods of DaemonSets make room for pods of higher priority too.
        pushed_away = sum("/DaemonSet/" in workload_of(one) and not one.spec.node_name for one in then.pods)
        found[key] = sum(newly_waiting(before, then).values()) + pushed_away
    return {f"scaling/{key}": pods for key, pods in found.items() if pods}


def _check_losses(snapshot: Snapshot, report: Scorecard) -> None:
    """The worst domain of each key, each lost by hand."""
    before = after(snapshot)
    for name, key in KEYS.items():
        nodes: dict[str, list[Node]] = {}
        for node in before.nodes:
            nodes.setdefault(node.metadata.labels[key], []).append(node)
        standing = [domain for domain, its in nodes.items() if not all(map(is_silent, its))]
        lost = [_missing_without(snapshot, before, f"{key}={domain}") for domain in standing]
        line = next((line for line in report.lines if line.key == f"losses/{name}"), None)
        if len(nodes) > 1 and any(lost):
            assert line is not None
            assert line.extent == max(lost)
            safe, noun = lost.count(0) or "none", "node" if name == "hostname" else "zone"
            assert line.text.startswith(
                f"{safe} of {len(standing)} {noun}{'' if len(standing) == 1 else 's'} can be lost. "
            ), (line.text, lost, standing)
        else:
            assert line is None


def _check_unconstrained(snapshot: Snapshot, report: Scorecard) -> None:
    """Workloads of several pods with constraints of their own, so that none by default, and none of them over zones."""
    zones = {node.metadata.labels[ZONE] for node in snapshot.nodes}
    pods = {workload_of(one): one for one in snapshot.pods if "/DaemonSet/" not in workload_of(one)}
    desired = Counter(workload_of(one) for one in snapshot.pods if one.spec.node_name) + missing(snapshot)
    free = {
        name
        for name, one in pods.items()
        if desired[name] > 1
        and len(zones) > 1
        and {each.topology_key for each in one.spec.topology_spread_constraints} == {HOSTNAME}
    }
    said = [line for line in report.lines if line.key == "spread/unconstrained"]
    assert {str(name) for line in said for name in line.workloads} == free


def _missing_without(snapshot: Snapshot, before: Snapshot, nodes: str) -> int:
    lost = after(snapshot, f"fail {nodes}")
    pending = sum(newly_waiting(before, lost).values())
    unready = sum(
        max(0, min(number, number + missing(before)[name]) - ready(lost)[name])
        for name, number in ready(before).items()
        if "/Pod/" not in name and "/DaemonSet/" not in name
    )
    return max(pending, unready) + len(bare_pods(before) - bare_pods(lost))


def _skew(now: Snapshot, line: ReportLine) -> tuple[TopologySpreadConstraint, int]:
    """Most minus least pods of the domains that count, by the workload's template."""
    pod = _template(now, str(line.workloads[0]))
    constraint = (pod.spec.topology_spread_constraints or _defaults(pod))[int(line.key.split("/")[-1])]
    selector = pod.spec.node_selector
    eligible = [
        node
        for node in now.nodes
        if all(node.metadata.labels.get(key) == value for key, value in selector.items())
        and not (constraint.node_taints_policy == "Honor" and _is_closed(node))
    ]
    assert constraint.label_selector is not None
    match = constraint.label_selector.match_labels.items()
    counts = Counter({node.metadata.labels[constraint.topology_key]: 0 for node in eligible})
    names = {node.metadata.name: node for node in eligible}
    for each in now.pods:
        node = names.get(each.spec.node_name)
        if node and each.metadata.deletion_timestamp is None and match <= each.metadata.labels.items():
            counts[node.metadata.labels[constraint.topology_key]] += 1
    least = min(counts.values()) if len(counts) >= (constraint.min_domains or 1) else 0
    return constraint, max(counts.values()) - least


def _defaults(pod: Pod) -> list[TopologySpreadConstraint]:
    """kube-scheduler's own, for pods that a Service or a controller selects."""
    return [
        TopologySpreadConstraint(
            max_skew=skew,
            topology_key=key,
            when_unsatisfiable="ScheduleAnyway",
            label_selector=LabelSelector(match_labels=pod.metadata.labels),
        )
        for key, skew in ((HOSTNAME, 3), (ZONE, 5))
    ]


def _is_closed(node: Node) -> bool:
    return node.spec.unschedulable or any(taint.effect != "PreferNoSchedule" for taint in node.spec.taints)


def _template(now: Snapshot, name: str) -> Pod:
    return next(each for each in now.pods if workload_of(each) == name)


def _placed(now: Snapshot, line: ReportLine) -> list[Pod]:
    names = {node.metadata.name for node in now.nodes}
    active = (each for each in now.pods if each.metadata.deletion_timestamp is None and each.spec.node_name in names)
    return [each for each in active if workload_of(each) == str(line.workloads[0])]


def _labels(now: Snapshot, one: Pod) -> dict[str, str]:
    return next(node.metadata.labels for node in now.nodes if node.metadata.name == one.spec.node_name)


def _does_not_grow(snapshot: Snapshot, name: str) -> bool:
    """Whether no node takes one pod more, as one question about that pod alone says."""
    _, kind, short = name.split("/")
    asked = pod("another", requests={"cpu": "2"}) if kind == "Pod" else f"{kind}/{short}"
    return kubespread.explain(snapshot, asked).verdict == "no"


def _check_levels(report: Scorecard) -> None:
    order = ["critical", "warning", "notice"]
    assert [line.level for line in report.lines] == sorted((line.level for line in report.lines), key=order.index)
    assert len({line.key for line in report.lines}) == len(report.lines)
    assert report.verdict == ("no" if any(line.level != "notice" for line in report.lines) else "yes")
