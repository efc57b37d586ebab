"""Topology spread constraint that a workload lacks, where one zone or node holds most of its replicas; and a cluster in
which workloads have one, as if their manifests had been written with it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from kubespread.kube.api.core import Pod, PodSpec, PodTemplateSpec, TopologySpreadConstraint
from kubespread.kube.api.kinds import KIND_OF
from kubespread.kube.api.meta import ApiObject, LabelSelector
from kubespread.kube.api.workloads import CronJob
from kubespread.kube.owners import WorkloadName, controller_of
from kubespread.kube.well_known import DO_NOT_SCHEDULE, HOSTNAME, SCHEDULE_ANYWAY, ZONE
from kubespread.questions.remedies.change import Change
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.snapshot.edits.pods import Spread
from kubespread.snapshot.snapshot import Snapshot
from kubespread.snapshot.topology_keys import SOFT, check_topology_keys, constraint_of, full_topology_key
from kubespread.wording import Decisive, count_of, short_key, some_of
from kubespread.world.events.editing import not_found
from kubespread.world.events.world import World
from kubespread.world.store.owners import name_of

T = TypeVar("T", bound=ApiObject)

SPREAD, _COST = "spread", 10
"""Family and cost of these changes."""
_MAX_NAMED = 3
_PINNED = ("DaemonSet", "Node")
"""Kinds with pods that are each created for one node."""


def replicas_by_domain(cluster: Cluster, nodes: Iterable[int], topology_key: str) -> Mapping[str, int]:
    """Number of replicas on ``nodes`` in each domain that nodes are in, by name."""
    column = cluster.nodes.label(topology_key)
    counted = Counter(column.values[column.codes[node]] for node in nodes if column.present[node])
    return {value: counted[value] for value in column.sorted_values}


def is_gathered(counts: Mapping[str, int]) -> bool:
    """True if one domain holds more than half of the replicas, rounded up."""
    return 2 * max(counts.values(), default=0) > sum(counts.values()) + 1


def missing_constraints(
    counted: Callable[[str], Mapping[str, int]], constraints: Iterable[TopologySpreadConstraint]
) -> Iterator[TopologySpreadConstraint]:
    """Yield constraints to try, the widest and softest first, for keys with most replicas in one domain.

    A key with a hard constraint among ``constraints`` is left out, as is a soft constraint that has maxSkew 1 already.
    """
    present = {(constraint.topology_key, constraint.when_unsatisfiable): constraint for constraint in constraints}
    for key in (ZONE, HOSTNAME):
        if (key, DO_NOT_SCHEDULE) in present or not is_gathered(counted(key)):
            continue
        for action in (SCHEDULE_ANYWAY, DO_NOT_SCHEDULE):
            earlier = present.get((key, action))
            if earlier is None or earlier.max_skew > 1:
                yield TopologySpreadConstraint(1, key, action)


def spreading(constraint: TopologySpreadConstraint, edited: WorkloadName | None = None) -> Change:
    """Change that adds the constraint: to the pod, or by an edit to the workload in the cluster."""
    key, skew, action = constraint.topology_key, constraint.max_skew, constraint.when_unsatisfiable
    text = f"{key}:{skew}{SOFT if action == SCHEDULE_ANYWAY else ''}"
    what = f"a constraint of its own over {short_key(key)}: maxSkew {skew} {action}"
    settings = () if edited is not None else (f"topologySpreadConstraints={text}",)
    edits = () if edited is None else (Spread(text, edited.kind, edited.name, edited.namespace),)
    return Change(SPREAD, what, _COST, settings, edits, brief=f"constraint over {short_key(key)}")


class Spreading(Struct):
    """Writer of a constraint into pods and templates of one or all workloads, over the pods of each workload."""

    world: World
    """World of a snapshot."""
    constraint: TopologySpreadConstraint
    named: WorkloadName | None
    """The only workload; None for all that may run on more than one node."""
    added: dict[WorkloadName, TopologySpreadConstraint] = field(default_factory=dict)
    """The constraint of each workload."""
    _specs: dict[tuple[int, WorkloadName], tuple[PodSpec, PodSpec]] = field(default_factory=dict)
    """Specs, which many pods share, and the changed ones."""

    def _spec(self, pod: Pod, maker: WorkloadName, obj: ApiObject) -> PodSpec:
        """Spec for a pod that ``maker`` makes, or for the template in ``obj``."""
        above, owner = self.world.workloads.top_owner(maker, [pod]), controller_of(obj)
        makers = [maker, above, *([] if owner is None else [WorkloadName(owner.kind, maker.namespace, owner.name)])]
        if maker.kind in _PINNED if self.named is None else self.named not in makers:
            return pod.spec
        if above not in self.added:
            selector = self.world.workloads.selector_of(above, pod)
            self.added[above] = replace(self.constraint, label_selector=selector)
        if self.added[above].label_selector == LabelSelector():
            return pod.spec
        key = id(pod.spec), above
        if key not in self._specs:
            changed = _with_constraint(pod.spec, self.added[above])
            self._specs[key] = pod.spec, pod.spec if changed == pod.spec else changed
        return self._specs[key][1]

    @property
    def changed_workloads(self) -> set[WorkloadName]:
        """Workloads that had no such constraint, or another maxSkew."""
        return {workload for (_, workload), (before, after) in self._specs.items() if after is not before}

    def object(self, obj: T) -> T:
        template = KIND_OF[type(obj)].pod_template(obj)
        if template is None:
            return obj
        spec = self._spec(Pod(metadata=template.metadata, spec=template.spec), name_of(obj), obj)
        return obj if spec is template.spec else _with_template(obj, replace(template, spec=spec))

    def pod(self, pod: Pod) -> Pod:
        maker = self.world.book.owner_of(pod) or WorkloadName("Pod", pod.metadata.namespace, pod.metadata.name)
        spec = self._spec(pod, maker, pod)
        return pod if spec is pod.spec else replace(pod, spec=spec)


def spread(world: World, snapshot: Snapshot, edit: Spread, namespace: str) -> tuple[Snapshot, Sequence[str]]:
    """The snapshot of ``world`` as if its manifests had the constraint of an edit, and notes; nothing is rolled out.

    Raises UsageError for a topology key that no node has, and for a workload that is not there.
    """
    constraint = constraint_of(edit.constraint)
    assert constraint is not None
    key = full_topology_key(constraint.topology_key, snapshot.nodes)
    check_topology_keys([key], snapshot.nodes)
    named = world.resolve_name(WorkloadName(edit.kind, edit.namespace or namespace, edit.name)) if edit.kind else None
    spreader, objects = Spreading(world, replace(constraint, topology_key=key), named), snapshot.objects
    for row in KIND_OF.values():
        if row.template_path:
            objects = objects.with_all(row.cls, [*map(spreader.object, objects.get(row.cls))])
    after = replace(snapshot, pods=tuple(map(spreader.pod, snapshot.pods)), objects=objects)
    if named is not None and not spreader.added:
        raise not_found(world, named)
    changed = count_of(len(spreader.changed_workloads), "workload")
    notes = [f"{edit}: given to {changed}" if spreader.changed_workloads else Decisive(f"{edit}: changes nothing")]
    if without := [name for name, added in spreader.added.items() if added.label_selector == LabelSelector()]:
        names = some_of([f"{name.kind}/{name.name}" for name in without], _MAX_NAMED)
        notes.append(f"{edit}: no constraint for {names}: no labels to select its pods by")
    return after, notes


def _with_constraint(spec: PodSpec, added: TopologySpreadConstraint) -> PodSpec:
    """Add a constraint; an existing one with the same key and action gets its maxSkew, as the API allows only one."""
    constraints, pair = spec.topology_spread_constraints, (added.topology_key, added.when_unsatisfiable)
    changed = [
        replace(own, max_skew=added.max_skew) if (own.topology_key, own.when_unsatisfiable) == pair else own
        for own in constraints
    ]
    is_there = any((own.topology_key, own.when_unsatisfiable) == pair for own in constraints)
    return replace(spec, topology_spread_constraints=changed if is_there else [*changed, added])


def _with_template(obj: T, template: PodTemplateSpec) -> T:
    if isinstance(obj, CronJob):
        of_jobs = obj.spec.job_template
        job_template = replace(of_jobs, spec=replace(of_jobs.spec, template=template))
        return replace(obj, spec=replace(obj.spec, job_template=job_template))
    return replace(obj, spec=replace(obj.spec, template=template))  # type: ignore[attr-defined]  # other kinds have it there
