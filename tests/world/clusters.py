"""Small clusters with controllers on one line, and what becomes of them as lines of text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kubespread import Snapshot
from kubespread.questions.scheduler import Scheduler
from kubespread.questions.worlds import world_of
from kubespread.snapshot.edits.registry import parse
from kubespread.world.events.editing import apply
from kubespread.world.events.world import World, unmade
from kubespread.world.store.pod_book import key_of
from tests.builders import Data, ago, owned_by, pod, replica, taint

HASH = "5d6"


def deployment(
    name: str = "web",
    on: tuple[str | None, ...] = (),
    *,
    replicas: int | None = None,
    cpu: str | None = None,
    spec: Data | None = None,
    strategy: Data | None = None,
) -> list[Data]:
    """A Deployment with one ReplicaSet and its ready pods ``web-a``, ``web-b``, ... on nodes (None: on none)."""
    labels = {"app": name, "pod-template-hash": HASH}
    replica_set = f"{name}-{HASH}"
    plain = pod(requests=None if cpu is None else {"cpu": cpu}, **(spec or {}))["spec"]
    count = len(on) if replicas is None else replicas
    revision = {"deployment.kubernetes.io/revision": "1"}
    sizes = {
        "deployment.kubernetes.io/desired-replicas": str(count),
        "deployment.kubernetes.io/max-replicas": str(count + -(-count // 4)),
    }
    own: Data = {"replicas": count, "selector": {"matchLabels": {"app": name}}}
    template: Data = {"metadata": {"labels": {"app": name}}, "spec": plain}
    hashed: Data = {"metadata": {"labels": labels}, "spec": plain}
    above = {**own, "template": template, **({"strategy": strategy} if strategy else {})}
    below = {**own, "selector": {"matchLabels": labels}, "template": hashed}
    return [
        _object("Deployment", name, above, annotations=revision),
        _object("ReplicaSet", replica_set, below, annotations={**revision, **sizes}, owner=("Deployment", name)),
        *(_pod(f"{name}-{letter(at)}", node, plain, labels, ("ReplicaSet", replica_set)) for at, node in enumerate(on)),
    ]


def stateful_set(
    name: str, on: tuple[str | None, ...], *, parallel: bool = False, spec: Data | None = None
) -> list[Data]:
    """A StatefulSet with the ready pods of its ordinals on nodes."""
    labels, plain = {"app": name, "controller-revision-hash": "r1"}, pod(**(spec or {}))["spec"]
    own: Data = {
        "replicas": len(on),
        "selector": {"matchLabels": {"app": name}},
        "template": {"metadata": {"labels": {"app": name}}, "spec": plain},
        "podManagementPolicy": "Parallel" if parallel else "OrderedReady",
    }
    status = {"currentRevision": "r1", "updateRevision": "r1"}
    made = {**_object("StatefulSet", name, own), "status": status}
    return [made, *(_pod(f"{name}-{at}", node, plain, labels, ("StatefulSet", name)) for at, node in enumerate(on))]


def daemon_set(name: str, on: tuple[str, ...], *, cpu: str = "1", **spec: Any) -> list[Data]:
    """A DaemonSet with ready pods on nodes, pinned there as its controller pins them."""
    plain = pod(requests={"cpu": cpu}, **spec)["spec"]
    own = {
        "selector": {"matchLabels": {"app": name}},
        "template": {"metadata": {"labels": {"app": name}}, "spec": plain},
    }
    everywhere = {"tolerations": [{"operator": "Exists", "effect": "NoExecute"}], **plain}
    made = (_pod(f"{name}-{node}", node, everywhere, {"app": name}, ("DaemonSet", name)) for node in on)
    return [_object("DaemonSet", name, own), *made]


def job(name: str, on: tuple[str, ...], **spec: Any) -> list[Data]:
    plain = pod(restartPolicy="Never")["spec"]
    labels = {"job-name": name}
    made = {**_object("Job", name, {"parallelism": len(on), "completions": len(on), **spec}), "apiVersion": "batch/v1"}
    made["spec"]["template"] = {"metadata": {"labels": labels}, "spec": plain}
    pods = [_pod(f"{name}-{letter(at)}", node, plain, labels, ("Job", name)) for at, node in enumerate(on)]
    for each in pods:
        each["metadata"]["ownerReferences"] = owned_by("Job", name, api_version="batch/v1")
    return [made, *pods]


def budget(app: str, **spec: Any) -> Data:
    """A budget ``app`` over the pods of a workload, as the API server has it before its controller saw it."""
    full = {"selector": {"matchLabels": {"app": app}}, **spec}
    made = _object("PodDisruptionBudget", app, full, generation=1)
    return {**made, "apiVersion": "policy/v1"}


def gone_to_sleep(node: Data) -> Data:
    """The node, cordoned."""
    spec = {**node["spec"], "unschedulable": True, "taints": [taint("node.kubernetes.io/unschedulable")]}
    return {**node, "spec": spec}


def unready(made: list[Data], name: str) -> list[Data]:
    """One of the pods not ready."""
    status = {"phase": "Running", "conditions": [{"type": "Ready", "status": "False"}]}
    return [{**each, "status": status} if each["metadata"]["name"] == name else each for each in made]


def letter(number: int) -> str:
    return "abcdefghijklmnopqrstuvwxyz"[number]


def _object(kind: str, name: str, spec: Data, *, owner: tuple[str, str] | None = None, **metadata: Any) -> Data:
    own: Data = {"name": name, "namespace": "default", "uid": f"uid-{name}", **metadata}
    if owner is not None:
        own["ownerReferences"] = owned_by(*owner)
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": own, "spec": spec}


def _pod(name: str, node: str | None, spec: Data, labels: Data, owner: tuple[str, str]) -> Data:
    made = pod(name, labels=labels)
    made["metadata"] |= {"uid": name, "creationTimestamp": ago(2000), "ownerReferences": owned_by(*owner)}
    made["spec"] = spec if node is None else {**spec, "nodeName": node}
    made["status"] = replica(name)["status"] if node is not None else {"phase": "Pending"}
    return made


def world(*objects: Data | list[Data]) -> World:
    """The objects as a world; lists are what the functions above return."""
    flat = [each for group in objects for each in (group if isinstance(group, list) else [group])]
    return world_of(Snapshot.from_objects(flat), Scheduler())


def play(living: World, *edits: str) -> list[str]:
    """What became of pods while ``edits`` were played, in order, as `told_shortly` has it."""
    lines: list[str] = []
    for edit in edits:
        waited = {key_of(each.pod) for each in living.waiting}
        apply(living, parse(edit), "default")
        lines += told_shortly(living, waited)
        living.next_step()
    return lines


def told_shortly(living: World, waited: set[tuple[str, str]]) -> Iterator[str]:
    """``- web-a n0 evicted`` for a pod that went (``for good`` where nobody makes another), ``+ web-1 n1`` for one that
    came, ``? web-2 ...`` for one that waits since, ``! web-b ...`` for one that stays, then notes.
    """
    happened = living.happenings
    for gone in happened.departures:
        node = gone.pod.spec.node_name or "nowhere"
        yield f"- {gone.pod.metadata.name} {node} {gone.why}{'' if gone.owner is not None else ' for good'}"
    yield from (f"+ {pod.metadata.name} {pod.spec.node_name}" for pod in happened.placed)
    for each in living.waiting:
        if key_of(each.pod) not in waited:
            yield f"? {each.pod.metadata.name} {living.message(each)}"
    for blocked in happened.blocked:
        yield f"! {blocked.pod.metadata.name} {blocked.cause or blocked.message}"
    yield from happened.notes


def on_nodes(living: World) -> dict[str, list[str]]:
    """The names of the pods on each node that has any, those on their way out in parentheses."""
    found: dict[str, list[str]] = {}
    for pod_there in living.book:
        name = pod_there.metadata.name
        said = f"({name})" if pod_there.metadata.deletion_timestamp else name
        if pod_there.spec.node_name:
            found.setdefault(pod_there.spec.node_name, []).append(said)
    return {node: sorted(names) for node, names in sorted(found.items())}


def lacking(living: World) -> list[str]:
    """The pods that workloads are to have and that are not made, by their owner, and why."""
    return [
        f"{each.owner.kind}/{each.owner.name} {each.count} {'refused' if each.is_refused else 'later'}: {each.message}"
        for each in unmade(living)
    ]
