"""Requests of pods and of what makes them, multiplied where they are: nothing is rolled out."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TypeVar

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from kubespread.kube.api.core import Pod, PodTemplateSpec
from kubespread.kube.api.kinds import KEPT
from kubespread.kube.api.meta import ApiObject
from kubespread.kube.api.workloads import CronJob, Job, ReplicaSet
from kubespread.kube.owners import WorkloadName, controller_of
from kubespread.kube.scaled_requests import Scaling
from kubespread.wording import count_of, some_of
from kubespread.world.store.pod_book import key_of
from kubespread.world.store.store import Store
from kubespread.world.store.waiting import Waiting

_MAX_NAMED = 3
T = TypeVar("T", bound=ApiObject)


def scale_requests(world: Store, factor: Fraction, name: WorkloadName | None) -> bool:
    """Multiply what pods of a workload request, or all pods, whether they run, wait or are still to be made; whether
    there was anything to multiply.
    """
    scaling, names = Scaling(factor), None if name is None else _with_makers(world, name)

    def is_meant(maker: WorkloadName | None) -> bool:
        return names is None or maker in names

    def is_meant_pod(pod: Pod) -> bool:
        return is_meant(world.book.owner_of(pod)) or is_meant(WorkloadName("Pod", *key_of(pod)))

    objects, changed = world.objects, list[ApiObject]()
    for row in KEPT.values():
        if row.template_path:
            scaled = {
                id(obj): _with_template(obj, template, scaling)
                for obj in objects.of(row.cls)
                if is_meant(_name_of(obj)) and (template := row.pod_template(obj)) is not None
            }
            changed += scaled.values()
            objects = objects.with_all(row.cls, (scaled.get(id(obj), obj) for obj in objects.of(row.cls)))
    if changed:
        world.use_objects(objects, changed)
    pods = [pod for pod in world.book if is_meant_pod(pod)]
    by_key = {key_of(pod): scaling.pod(pod) for pod in pods}
    world.change_requests((pod, by_key[key_of(pod)]) for pod in pods)
    templates = _Templates(scaling)
    _scale_makers(world, templates, is_meant)
    for key, waiting in world.queue.waiting.items():
        if key in by_key:
            world.queue.waiting[key] = Waiting(by_key[key], templates.pod(waiting.template))
    world.queue.start_anew()
    if scaling.raises_limits:
        world.happenings.note("limits that would be less than the requests are raised to them")
    if factor > 1 and (short := _overcommitted(world)):
        have = "has" if len(short) == 1 else "have"
        nodes = f"{count_of(len(short), 'node')} {have} less than the pods there request"
        world.happenings.note(f"{nodes}: {some_of(short, _MAX_NAMED)}")
    return bool(changed or pods)


def _overcommitted(world: Store) -> list[str]:
    """The nodes whose pods request more cpu or memory than there is."""
    nodes, requested = world.cluster.nodes, world.cluster.running.taken.requested
    over = np.zeros(len(nodes), dtype=np.bool_)
    for name in nodes.allocatable.keys() & requested.keys() & {"cpu", "memory"}:
        over |= requested[name] > nodes.allocatable[name]
    return [nodes.names[place] for place in np.flatnonzero(over)]


class _Templates(Struct):
    """Scales what is not there, or waits, and keeps what several share one object."""

    scaling: Scaling
    _done: dict[int, tuple[Pod, Pod]] = field(default_factory=dict)

    def pod(self, pod: Pod) -> Pod:
        if id(pod) not in self._done:
            self._done[id(pod)] = pod, self.scaling.pod(pod)
        return self._done[id(pod)][1]

    def if_known(self, pod: Pod | None) -> Pod | None:
        return None if pod is None else self.pod(pod)

    def object(self, obj: T) -> T:
        template = KEPT[type(obj)].pod_template(obj)
        return obj if template is None else _with_template(obj, template, self.scaling)


def _scale_makers(world: Store, templates: _Templates, is_meant: Callable[[WorkloadName], bool]) -> None:
    """What controllers know of the pods that they make."""
    for owner in world.owners.values():
        if is_meant(owner.name):
            owner.template = templates.if_known(owner.template)
            owner.gone = [*map(templates.pod, owner.gone)]
    for name, rollout in world.rollouts.items():
        if is_meant(name):
            rollout.deployment = templates.object(rollout.deployment)
            rollout.replica_sets = [*map(templates.object, rollout.replica_sets)]
            rollout.template = templates.if_known(rollout.template)
    for name, stateful in world.stateful_sets.items():
        if is_meant(name):
            stateful.stateful_set = templates.object(stateful.stateful_set)
            stateful.templates = {revision: templates.pod(pod) for revision, pod in stateful.templates.items()}
            stateful.by_ordinal = {ordinal: templates.pod(pod) for ordinal, pod in stateful.by_ordinal.items()}
    for name, refused in world.api_server.refused.items():
        if is_meant(name):
            refused.pods = [(templates.pod(pod), templates.pod(template)) for pod, template in refused.pods]
            refused.may_retry = True


def _with_makers(world: Store, name: WorkloadName) -> set[WorkloadName]:
    """A workload, and what makes its pods for it."""
    makers = {
        _name_of(obj)
        for cls in (ReplicaSet, Job)
        for obj in world.objects.of(cls)
        if (owner := controller_of(obj)) is not None
        and WorkloadName(owner.kind, obj.metadata.namespace, owner.name) == name
    }
    return {name, *makers, *world.owners_below(name)}


def _name_of(obj: ApiObject) -> WorkloadName:
    return WorkloadName(type(obj).__name__, obj.metadata.namespace, obj.metadata.name)


def _with_template(obj: T, template: PodTemplateSpec, scaling: Scaling) -> T:
    after = replace(template, spec=scaling.spec(template.spec))
    if isinstance(obj, CronJob):
        of_jobs = obj.spec.job_template
        job_template = replace(of_jobs, spec=replace(of_jobs.spec, template=after))
        return replace(obj, spec=replace(obj.spec, job_template=job_template))
    return replace(obj, spec=replace(obj.spec, template=after))  # type: ignore[attr-defined]  # other kinds have it there
