"""The cluster that is served, read again now and then where it runs, and what changed since it was last looked at."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from kubespread.kube.api.core import Pod
from kubespread.kube.api.kinds import REFERABLE
from kubespread.kube.owners import controller_of
from kubespread.questions.scene import cluster_reference
from kubespread.snapshot.snapshot import Snapshot
from kubespread.wording import count_of, some_of

_MOST = 8
"""Changes, and taints, that are named."""
_SOFT = "PreferNoSchedule"
"""The effect of taints that keep no pod away."""
_MAX_NAMED = 3
_PAUSE = 10
"""How many times longer it is left alone than it takes to read."""


class Workload(Struct, frozen=True):
    """What may be turned about one: how it is in the cluster."""

    name: str
    """NAMESPACE/KIND/NAME, KIND as kubectl abbreviates it."""
    replicas: int
    requests: Mapping[str, str]
    """Of its only container; nothing where it has several."""


class Look(Struct, frozen=True, rename="camel"):
    """What is served now."""

    number: int
    """Of this reading, from 1."""
    time: str
    source: str
    nodes: int
    pods: int
    workloads: tuple[Workload, ...]
    """By name."""
    taints: tuple[str, ...]
    """Of nodes, as tolerations are written."""
    is_live: bool
    changes: tuple[str, ...]
    """What differs from the reading before."""


class Followed:
    """Reads the cluster on first use, and again where it was read more than ``max_age`` seconds ago and somebody looks;
    None: once and for all.
    """

    def __init__(self, read: Callable[[], Snapshot], max_age: float | None) -> None:
        self._read, self._max_age = read, max_age
        self._snapshot: Snapshot | None = None
        self._due, self._number = 0.0, 0
        self._changes: tuple[str, ...] = ()

    def snapshot(self) -> Snapshot:
        """As last read. Raises SnapshotError, UsageError and ManifestError."""
        if self._snapshot is None:
            self._read_again()
        assert self._snapshot is not None, "it was read"
        return self._snapshot

    def look(self) -> Look:
        """As it is now. Raises what `snapshot` raises."""
        if self._max_age is not None and time.monotonic() > self._due:
            self._read_again()
        snapshot = self.snapshot()
        reference = cluster_reference(snapshot)
        return Look(
            self._number,
            reference.time or "",
            reference.context or reference.snapshot or "",
            len(snapshot.nodes),
            len(snapshot.pods),
            tuple(sorted(_workloads(snapshot), key=lambda one: one.name)),
            _taints(snapshot),
            self._max_age is not None,
            self._changes,
        )

    def _read_again(self) -> None:
        begun, before = time.monotonic(), self._snapshot
        now = self._read()
        took = time.monotonic() - begun
        self._due = time.monotonic() + max(self._max_age or 0.0, _PAUSE * took)
        changes = () if before is None else tuple(differences(before, now))
        if before is None or changes:
            self._snapshot, self._changes, self._number = now, changes, self._number + 1


def _workloads(snapshot: Snapshot) -> Iterator[Workload]:
    """Those that no other one made."""
    for row in REFERABLE:
        for obj in snapshot.of_kind(row) if row.cls is not Pod else ():
            if controller_of(obj) is None and (template := row.pod_template(obj)) is not None:
                containers = template.spec.containers
                requests = containers[0].resources.requests if len(containers) == 1 else {}
                replicas: int | None = getattr(getattr(obj, "spec", None), "replicas", None)
                called = f"{obj.metadata.namespace}/{row.short}/{obj.metadata.name}"
                texts = {name: str(amount) for name, amount in requests.items()}
                yield Workload(called, 1 if replicas is None else replicas, texts)


def _taints(snapshot: Snapshot) -> tuple[str, ...]:
    taints = (taint for node in snapshot.nodes for taint in node.spec.taints if taint.effect != _SOFT)
    texts = {f"{each.key}{f'={each.value}' if each.value else ''}:{each.effect}" for each in taints}
    return tuple(sorted(texts))[:_MOST]


def differences(before: Snapshot, now: Snapshot) -> Iterator[str]:
    """What differs, nodes first; objects other than nodes and pods are only said to."""
    said = [*_of_nodes(before, now), *_of_pods(before, now)]
    if not said and before.objects != now.objects:
        said = ["objects other than nodes and pods changed"]
    yield from said[:_MOST]
    if len(said) > _MOST:
        yield f"{len(said) - _MOST} more changes"


def _of_nodes(before: Snapshot, now: Snapshot) -> Iterator[str]:
    were, are = ({node.metadata.name: node for node in each.nodes} for each in (before, now))
    for names, what in ((are.keys() - were.keys(), "joined"), (were.keys() - are.keys(), "left")):
        if names:
            yield f"{count_of(len(names), 'node')} {what}: {some_of(sorted(names), _MAX_NAMED)}"
    for name in were.keys() & are.keys():
        old, new = were[name], are[name]
        if old.spec.unschedulable != new.spec.unschedulable:
            yield f"{name} was {'cordoned' if new.spec.unschedulable else 'uncordoned'}"
        elif (old.spec, old.metadata.labels, old.status.allocatable) != (
            new.spec,
            new.metadata.labels,
            new.status.allocatable,
        ):
            yield f"{name} changed"


def _of_pods(before: Snapshot, now: Snapshot) -> Iterator[str]:
    """How many came, went or got a node, by what controls them."""
    were, are = ({(pod.metadata.namespace, pod.metadata.name): pod for pod in each.pods} for each in (before, now))
    counted: dict[str, Counter[str]] = {"came": Counter(), "went": Counter(), "got a node": Counter()}
    counted["came"].update(_owner(are[key]) for key in are.keys() - were.keys())
    counted["went"].update(_owner(were[key]) for key in were.keys() - are.keys())
    counted["got a node"].update(
        _owner(are[key]) for key in were.keys() & are.keys() if are[key].spec.node_name and not were[key].spec.node_name
    )
    for owner in sorted({owner for counts in counted.values() for owner in counts}):
        what = ", ".join(f"{counts[owner]} {verb}" for verb, counts in counted.items() if counts[owner])
        yield f"{owner}: {what}"


def _owner(pod: Any) -> str:
    owner = controller_of(pod)
    return f"{pod.metadata.namespace}/{pod.metadata.name if owner is None else f'{owner.kind}/{owner.name}'}"
