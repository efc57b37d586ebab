"""A workload's replicas: which exist, how many it grows to, and which further pods are created at all.

Notes name what else decides their number.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count

from msgspec import Struct
from msgspec.structs import replace

from kubespread.candidate.candidate import Candidate
from kubespread.candidate.update import runs_another_template
from kubespread.controllers.adoption import PodsByController, pods_of
from kubespread.controllers.statefulset import first_ordinal, for_ordinal, ordinal_of
from kubespread.errors import UsageError
from kubespread.kube.admission.quota import allowance, charged
from kubespread.kube.api.autoscaling import HorizontalPodAutoscaler
from kubespread.kube.api.cluster_objects import ClusterObjects
from kubespread.kube.api.core import Pod, ResourceQuota
from kubespread.kube.api.kinds import POD_CREATORS
from kubespread.kube.api.workloads import Deployment, ReplicaSet, StatefulSet
from kubespread.kube.owners import WorkloadName, controller_of
from kubespread.kube.pod_status import is_active
from kubespread.kube.selector import SelectorError, from_label_selector
from kubespread.snapshot.snapshot import Snapshot


def autoscaling_notes(workload: WorkloadName | None, objects: ClusterObjects) -> Iterator[str]:
    """The bounds of every HorizontalPodAutoscaler of the workload, which the workload's own number need not respect."""
    for autoscaler in objects.of(HorizontalPodAutoscaler) if workload is not None else ():
        spec, target = autoscaler.spec, autoscaler.spec.scale_target_ref
        if WorkloadName(target.kind, autoscaler.metadata.namespace, target.name) == workload:
            # API defaulting: minReplicas is 1.
            least = 1 if spec.min_replicas is None else spec.min_replicas
            bounds = f"keeps {target.kind}/{target.name} at {least} to {spec.max_replicas} replicas"
            yield f"HorizontalPodAutoscaler {autoscaler.metadata.name} {bounds}; it is not simulated"


def others(pods: Sequence[Pod], candidate: Candidate) -> Sequence[Pod]:
    """The cluster's pods without the candidate itself, where it is one of them."""
    if not candidate.is_stored:
        return pods
    own = candidate.pod.metadata
    return tuple(pod for pod in pods if (pod.metadata.namespace, pod.metadata.name) != (own.namespace, own.name))


def first_missing(candidate: Candidate, present: Iterable[Pod]) -> Pod:
    """The first of a workload's replicas that is not ``present``: for a StatefulSet the lowest free ordinal, with the
    claims of a pod that waits for a node.
    """
    stateful_set = candidate.object
    if not isinstance(stateful_set, StatefulSet) or candidate.is_stored:
        return candidate.pod
    taken = {ordinal_of(pod, stateful_set.metadata.name) for pod in present}
    ordinal = next(number for number in count(first_ordinal(stateful_set)) if number not in taken)
    return for_ordinal(candidate.pod, stateful_set, ordinal)


def replica_names(pod: Pod, present: Iterable[Pod]) -> Iterator[str]:
    """The names of further replicas: numbered, for a StatefulSet by free ordinals, starting with that of ``pod``, the
    first of them.
    """
    taken = {replica.metadata.name for replica in present}
    owner = controller_of(pod)
    base = pod.metadata.name if owner is None else owner.name
    first = ordinal_of(pod, base) if owner is not None and owner.kind == "StatefulSet" else None
    return (name for number in count(first or 0) if (name := f"{base}-{number}") not in taken)


class Desired(Struct, frozen=True):
    """What all workloads are asked for."""

    replicas: int | None = None
    """None: each workload's own number."""
    until_full: bool = False
    from_scratch: bool = False
    counts_quotas: bool = True


class Growth(Struct, frozen=True):
    """How one workload gets from the replicas it has to those it should have."""

    further: int | None
    """Replicas to add; None for as many as fit."""
    present: Sequence[Pod]
    """Replicas that run and stay."""
    taken_away: Sequence[Pod]
    """Replicas that are placed again."""
    created: Creation
    notes: tuple[str, ...]
    is_rollout: bool = False
    """Whether ``present`` are of another template, and its controller replaces them."""
    surplus: int = 0
    """How many of ``present`` its controller will delete."""
    waiting: Sequence[Pod] = ()
    """Replicas that exist and have no node yet."""

    @property
    def count(self) -> int | None:
        """How many further pods are created; None for as many as fit."""
        counts = [count for count in (self.further, self.created.copies) if count is not None]
        return min(counts, default=None)


def growth_gaps(candidates: Iterable[Candidate], snapshot: Snapshot) -> Iterator[str]:
    """Gaps in knowing which pods belong to workloads: those of a Deployment are known only by its ReplicaSets."""
    deployments = [candidate.object for candidate in candidates if isinstance(candidate.object, Deployment)]
    if not deployments or snapshot.objects.knows(ReplicaSet):
        return
    labels = _labels_under_replica_sets(snapshot)
    if any(_selects_any(deployment, labels.get(deployment.metadata.namespace, {})) for deployment in deployments):
        yield from snapshot.objects.gap(ReplicaSet, "replicas that run already are not recognized")


def _labels_under_replica_sets(snapshot: Snapshot) -> Mapping[str, Mapping[int, Mapping[str, str]]]:
    """Per namespace the labels of pods that ReplicaSets control, those that pods share once."""
    labels: dict[str, dict[int, Mapping[str, str]]] = {}
    for pod in snapshot.pods:
        if (owner := controller_of(pod)) is not None and owner.kind == "ReplicaSet":
            labels.setdefault(pod.metadata.namespace, {})[id(pod.metadata.labels)] = pod.metadata.labels
    return labels


def _selects_any(deployment: Deployment, labels: Mapping[int, Mapping[str, str]]) -> bool:
    """Whether the Deployment's selector matches any of ``labels``."""
    if deployment.spec.selector is None:
        return False
    try:
        matches = from_label_selector(deployment.spec.selector).matches
    except SelectorError:
        return False
    return any(map(matches, labels.values()))


def growths(
    candidates: Iterable[Candidate], desired: Desired, snapshot: Snapshot, running: Iterable[Pod]
) -> list[Growth]:
    """How each candidate's workload grows; quotas are charged in the order given.

    ``running`` are the pods on nodes. Raises UsageError if a workload would not grow.
    """
    on_nodes = PodsByController(running)
    waiting = PodsByController(pod for pod in snapshot.pods if not pod.spec.node_name and is_active(pod))
    quotas: Quotas = snapshot.objects.of(ResourceQuota) if desired.counts_quotas else ()
    grown = []
    for candidate in candidates:
        # Pods that wait for a node are charged already, and are among those to be placed.
        own_waiting = _replicas(candidate, waiting, snapshot)
        for pod in own_waiting:
            quotas = charged(quotas, pod, -1)
        growth = _growth(candidate, desired, snapshot, _replicas(candidate, on_nodes, snapshot), quotas)
        growth = replace(growth, waiting=own_waiting)
        for pod in growth.present if growth.is_rollout else growth.taken_away:
            quotas = charged(quotas, pod, -1)
        if not candidate.is_stored and growth.count is not None:
            quotas = charged(quotas, candidate.pod, growth.count)
        grown.append(growth)
    return grown


def _replicas(candidate: Candidate, pods: PodsByController, snapshot: Snapshot) -> list[Pod]:
    """The pods of the candidate's workload; a bare pod has none."""
    if candidate.workload is None:
        return []
    return pods_of(candidate.workload, candidate.companions, snapshot.objects.of(ReplicaSet), pods)


def _growth(
    candidate: Candidate, desired: Desired, snapshot: Snapshot, running: Sequence[Pod], quotas: Quotas
) -> Growth:
    name = "" if candidate.workload is None else f"{candidate.workload.kind}/{candidate.workload.name}"
    if candidate.is_daemon and desired.replicas is not None:
        raise UsageError(f"{name}: a DaemonSet has no replicas, it runs one pod on every node it may run on")
    asked_for = candidate.replicas if desired.replicas is None else desired.replicas
    is_other = bool(running) and not desired.from_scratch and runs_another_template(candidate, snapshot)
    is_rollout = is_other and isinstance(candidate.object, Deployment) and not desired.until_full
    if is_rollout:
        # Its controller meets the quotas on the way.
        return Growth(asked_for, running, (), Creation(None), (), is_rollout=True)
    anew = desired.from_scratch or is_other
    present, taken_away = ((), running) if anew else (running, ())
    shrinks = not desired.until_full and not candidate.is_daemon and asked_for < len(present)
    # Nobody asked for fewer: a rollout, or the controller has not caught up.
    is_surplus = shrinks and desired.replicas is None and candidate.template is None and not candidate.sets_replicas
    if shrinks and not is_surplus and not _is_scalable(candidate):
        raise UsageError(
            f"{name} runs {len(present)} replicas and {asked_for} are asked for: which of them its controller deletes "
            f"is not modeled; --from-scratch places {asked_for} anew"
        )
    further = None if desired.until_full else max(0, asked_for - len(present))
    for pod in taken_away:
        quotas = charged(quotas, pod, -1)
    created = creation(candidate, quotas, further, present)
    notes = [_rolled_out(name, len(running), asked_for)] if is_other else []
    if is_surplus:
        notes.append(f"{name} runs {len(present)} replicas and its spec says {asked_for}: none is placed")
    surplus = len(present) - asked_for if shrinks and not is_surplus else 0
    return Growth(further, present, taken_away, created, (*notes, *created.notes), surplus=surplus)


def _is_scalable(candidate: Candidate) -> bool:
    row = POD_CREATORS.get(candidate.workload.kind) if candidate.workload is not None else None
    return row is not None and row.has_replicas


def _rolled_out(name: str, running: int, asked_for: int) -> str:
    return (
        f"{name} runs with another template: its {running} running replicas are taken away and {asked_for} are placed "
        "with this one, as if it were created anew; how a rollout gets there is not simulated"
    )


Quotas = Sequence[ResourceQuota]


class Creation(Struct, frozen=True):
    """What the API server does with the further pods of a workload."""

    copies: int | None
    """How many are created at most, None for no limit."""
    refusal: str = ""
    """What the API server says to the first one that is not."""
    notes: tuple[str, ...] = ()


def creation(candidate: Candidate, quotas: Quotas, further: int | None, present: Iterable[Pod]) -> Creation:
    """How many of ``further`` pods the quotas allow (None: as many as fit); ``present`` already exist."""
    notes = list(_adopted(present))
    allowed = allowance(candidate.pod, quotas) if not candidate.is_stored else None
    if allowed is None or allowed.copies is None:
        return Creation(None, notes=tuple(notes))
    refusal = f'pods "{candidate.pod.metadata.name}" is forbidden: {allowed.refusal}'
    if candidate.is_daemon:
        notes.append(
            f"quotas allow {allowed.copies} more pods of it; which nodes would go without is not evaluated "
            f"({allowed.refusal})"
        )
        return Creation(None, notes=tuple(notes))
    if further is not None and further > allowed.copies:
        notes.append(f"{allowed.copies} of {further} further pods are created: {allowed.refusal}")
    return Creation(allowed.copies, refusal, tuple(notes))


def _adopted(present: Iterable[Pod]) -> Iterator[str]:
    if names := sorted(pod.metadata.name for pod in present if controller_of(pod) is None):
        yield f"its controller adopts pods that match its selector and have no controller: {', '.join(names)}"
