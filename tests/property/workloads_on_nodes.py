"""Random small clusters with controllers, budgets, taints, zones and priorities, and what can be counted in one by hand."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from hypothesis import strategies as st

import kubespread
from kubespread import Scheduler, Snapshot
from kubespread.kube.api.core import Pod
from kubespread.kube.api.workloads import Deployment, StatefulSet
from kubespread.questions.editing import apply_edits
from kubespread.reports.outcome import WorkloadChange
from tests.builders import Data, hard, hosts, pod, soft, taint
from tests.world.clusters import budget, daemon_set, deployment, gone_to_sleep, stateful_set

ZONE, HOSTNAME = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
_NUMBER = re.compile(r"(?<![\w./-])\d[\d,]*(?![\w/-])")


@st.composite
def clusters(draw: st.DrawFn) -> list[Data]:
    """Three to five nodes of 8 CPUs in up to three zones; a few workloads that are crowded on the first of them."""
    zones = draw(st.sampled_from(["aab", "abc", "abbc", "aabbc", "abca"]))
    nodes = hosts(*zones)
    for each in nodes[1:]:
        if draw(st.integers(0, 5)) == 0:
            each["spec"]["taints"] = [taint("team", value="other")]
    if draw(st.integers(0, 4)) == 0:
        nodes[-1] = gone_to_sleep(nodes[-1])
    names = [f"n{number}" for number in range(len(nodes))]
    places = st.sampled_from([names[0], names[0], names[1], *names, None])
    made: list[Data] = []
    for name in draw(st.sampled_from([("web",), ("web", "api"), ("web", "api", "big")])):
        on = tuple(draw(st.lists(places, min_size=1, max_size=4)))
        made += deployment(name, on, cpu=draw(st.sampled_from(["1", "3", "5"])), spec=_spec(draw, name))
    if draw(st.booleans()):
        ordinals = tuple(draw(st.lists(places, min_size=1, max_size=3)))
        made += stateful_set("db", ordinals, parallel=draw(st.booleans()), spec=_spec(draw, "db"))
    if draw(st.booleans()):
        made += daemon_set("agent", tuple(names), cpu="500m")
    if draw(st.integers(0, 3)) == 0:
        made.append(pod("bare", draw(st.sampled_from(names)), requests={"cpu": "2"}))
    for app in ("web", "db"):
        if draw(st.integers(0, 2)) == 0:
            rule: Data = draw(st.sampled_from([{"minAvailable": 1}, {"maxUnavailable": 1}, {"minAvailable": "100%"}]))
            made.append(budget(app, **rule))
    return [*nodes, *made]


@st.composite
def held_clusters(draw: st.DrawFn) -> list[Data]:
    """The same with budgets that keep more of their pods: several over the same ones, over some that have no controller
    or are not ready.
    """
    objects = [each for each in draw(clusters()) if each["kind"] != "PodDisruptionBudget"]
    rules: list[Data] = [{"maxUnavailable": 0}, {"minAvailable": "100%"}, {"minAvailable": 2}, {"maxUnavailable": 1}]
    apps = st.sampled_from([{"app": "web"}, {"app": "web"}, {"app": "db"}, {"foo": "bar"}, {}])
    for number in range(draw(st.integers(1, 3))):
        made = budget(f"b{number}", **draw(st.sampled_from(rules)))
        made["spec"]["selector"] = {"matchLabels": draw(apps)}
        objects.append(made)
    for each in objects:
        if each["kind"] == "Pod" and each["spec"].get("nodeName") and draw(st.integers(0, 6)) == 0:
            each["status"] = {"phase": "Running", "conditions": [{"type": "Ready", "status": "False"}]}
    return objects


def with_options(snapshot: Snapshot, options: str) -> Snapshot:
    """The cluster with edits as they are printed: ``--budget web:maxUnavailable=1 --cordon n0``."""
    return snapshot.edited(*(each.strip() for each in options.split("--")[1:]))


def snapshot_of(objects: list[Data]) -> Snapshot:
    """The objects as a file has them: strategies share parts, and a snapshot is its own."""
    return Snapshot.from_objects(json.loads(json.dumps(objects)))


def _spec(draw: st.DrawFn, app: str) -> Data:
    spec: Data = {}
    kind = draw(st.sampled_from(["none", "hard", "hard", "soft", "domains"]))
    if kind == "hard":
        spec["topologySpreadConstraints"] = [hard(draw(st.sampled_from([ZONE, HOSTNAME])), match={"app": app})]
    elif kind == "soft":
        spec["topologySpreadConstraints"] = [soft(ZONE, match={"app": app})]
    elif kind == "domains":
        spec["topologySpreadConstraints"] = [hard(ZONE, match={"app": app}, minDomains=3, nodeTaintsPolicy="Honor")]
    if draw(st.integers(0, 3)) == 0:
        spec["priority"] = draw(st.sampled_from([5, 10]))
    if draw(st.integers(0, 3)) == 0:
        spec["nodeSelector"] = {ZONE: "a"}
    return spec


def scenario(*steps: Any) -> Data:
    return {"apiVersion": "kubespread.dev/v1alpha1", "kind": "Scenario", "spec": {"steps": list(steps)}}


SETTLED = "label n0 looked-at=yes"
"""A step that changes nothing that anybody reads: what waits is placed before anything happens."""


def after(snapshot: Snapshot, *steps: Any) -> Snapshot:
    """The cluster once everything has settled and then each of the steps was done."""
    return kubespread.after_steps(snapshot, scenario(SETTLED, *steps))


def workload_of(one: Pod) -> str:
    """NAMESPACE/Kind/name, the pod itself where nothing controls it."""
    owners = one.metadata.owner_references
    kind, name = (owners[0].kind, owners[0].name) if owners else ("Pod", one.metadata.name)
    if kind == "ReplicaSet":
        kind, name = "Deployment", name.removesuffix("-5d6")
    return f"{one.metadata.namespace}/{kind}/{name}"


def newly_waiting(before: Snapshot, now: Snapshot) -> Counter[str]:
    """How many more pods of each workload wait than ``before``."""
    return waiting(now) - waiting(before)


def came(before: Snapshot, now: Snapshot) -> Counter[tuple[str, str]]:
    """How many pods of each workload a node has that were not on it ``before``; those of DaemonSets belong to theirs."""
    were = {(each.metadata.name, each.spec.node_name) for each in _there(before)}
    new = (
        each for each in _there(now) if each.spec.node_name and (each.metadata.name, each.spec.node_name) not in were
    )
    return Counter((workload_of(each), each.spec.node_name) for each in new if "/DaemonSet/" not in workload_of(each))


def tallied(workloads: Iterable[WorkloadChange]) -> Counter[tuple[str, str]]:
    """The same of a report, which tells it of workloads alone."""
    return Counter({(str(row.workload), node): pods for row in workloads for node, pods in row.landed.items()})


def as_given(snapshot: Snapshot) -> Snapshot:
    """The cluster after its edits, before anything settles."""
    now, _ = apply_edits(snapshot, Scheduler())
    return now


def _there(snapshot: Snapshot) -> Iterator[Pod]:
    return (each for each in snapshot.pods if each.metadata.deletion_timestamp is None)


def waiting(snapshot: Snapshot) -> Counter[str]:
    """How many pods of each workload have no node."""
    return Counter(workload_of(each) for each in _there(snapshot) if not each.spec.node_name)


def ready(snapshot: Snapshot) -> Counter[str]:
    """How many pods of each workload are ready."""
    return Counter(workload_of(each) for each in _there(snapshot) if _is_ready(each))


def _is_ready(one: Pod) -> bool:
    return any((condition.type, condition.status) == ("Ready", "True") for condition in one.status.conditions)


def missing(snapshot: Snapshot) -> Counter[str]:
    """How many pods each workload is to have that no node runs, be it that they wait or that they do not exist."""
    objects = snapshot.objects
    desired = {
        f"default/{kind}/{each.metadata.name}": each.spec.replicas or 0
        for kind, listed in (("Deployment", objects.get(Deployment)), ("StatefulSet", objects.get(StatefulSet)))
        for each in listed
    }
    running = Counter(workload_of(each) for each in _there(snapshot) if each.spec.node_name)
    bare = {name: count for name, count in waiting(snapshot).items() if "/Pod/" in name}
    return Counter({name: count - running[name] for name, count in desired.items()}) + Counter(bare)


def bare_pods(snapshot: Snapshot) -> set[str]:
    return {
        f"{each.metadata.namespace}/{each.metadata.name}"
        for each in _there(snapshot)
        if not each.metadata.owner_references
    }


def numbers_said(sentences: tuple[str, ...]) -> set[int]:
    """Those in sentences that are no part of a name. kube-scheduler's and the API server's own words are not looked at."""
    own = (sentence.partition(" nodes are available")[0].partition("cannot be evicted")[0] for sentence in sentences)
    return {int(number.replace(",", "")) for each in own for number in _NUMBER.findall(each)}


def numbers_in(plain: Any) -> set[int]:
    """All numbers of a report, and how long its lists are."""
    if isinstance(plain, bool) or plain is None or isinstance(plain, str):
        return set()
    if isinstance(plain, int):
        return {plain}
    values = list(plain.values() if isinstance(plain, dict) else plain)
    return {len(values)}.union(*map(numbers_in, values))
