"""Jobs: a pod that is gone is made again, under its own index where it has one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, repeat

from msgspec.structs import replace

from kubespread.controllers.job import Surplus, backoff_limit, not_modeled
from kubespread.controllers.job import reconcile as controller_pass
from kubespread.kube.api.core import Pod
from kubespread.kube.api.workloads import Job
from kubespread.kube.owners import WorkloadName, is_active
from kubespread.kube.well_known import ENDED_PHASES, JOB_COMPLETION_INDEX
from kubespread.world.events.replicas import create_copies, template_of
from kubespread.world.store import pod_states as states
from kubespread.world.store.happenings import DELETED, SCALED_DOWN
from kubespread.world.store.owners import Owner
from kubespread.world.store.store import Store


def reconcile(world: Store, name: WorkloadName) -> bool:
    """Make again what is gone, or give up: every lost pod counts as a failure of the Job.

    Losing an active pod does not change how many the Job still needs; its back-off is not simulated.
    """
    owner = world.owner(name)
    gone, owner.gone = owner.gone, []
    owner.failures += len(gone)
    refused = world.api_server.take_refused(name)
    if gone:
        _name_what_is_left_out(world, owner)
    if gone and _fails(world, owner):
        owner.has_ended = True
        world.happenings.note(f"Job/{name.name} fails: it lost more pods than its backoffLimit allows")
        world.delete([pod for pod in world.book.of(name) if is_active(pod)], DELETED)
        return True
    templates = [template for _, template in refused]
    for pod in gone:
        owner.template = states.alike(states.as_template(pod), owner.template)
        templates.append(owner.template)
    return create_copies(world, owner, templates) > 0


def bring_to_number(world: Store, name: WorkloadName) -> None:
    """Delete the pods that a Job has too many, or create those it lacks; its back-off is not waited for."""
    job, pods = world.workloads.jobs[name], world.book.of(name)
    done = controller_pass(job, [*filter(_goes_on, pods), *_uncounted(job, pods)], world.time)
    world.delete(_too_many(world, done.surplus), SCALED_DOWN)
    owner = world.owner(name)
    if done.create and (template := template_of(world, owner)) is not None:
        indexed = (_of_index(template, index) for index in done.indexes)
        create_copies(world, owner, indexed if done.indexes else repeat(template, done.create))


def _too_many(world: Store, surplus: Surplus) -> Sequence[Pod]:
    """The pods of a Job that go, of equal ones those that chance takes."""
    if not surplus.sometimes:
        return surplus.chosen
    world.happenings.by_chance = True
    drawn = len(surplus.chosen) - len(surplus.always)
    return *surplus.always, *world.surroundings.chance.pick(surplus.sometimes, drawn)


def _goes_on(pod: Pod) -> bool:
    return pod.status.phase not in ENDED_PHASES


def _uncounted(job: Job, pods: Iterable[Pod]) -> Iterator[Pod]:
    """How many ended pods the Job's status does not count yet."""
    ended = [pod for pod in pods if pod.status.phase == "Succeeded"]
    failed = [pod for pod in pods if pod.status.phase == "Failed"]
    return chain(ended[job.status.succeeded :], failed[job.status.failed :])


def _of_index(template: Pod, index: int) -> Pod:
    mark, meta = {JOB_COMPLETION_INDEX: str(index)}, template.metadata
    marked = replace(meta, labels={**meta.labels, **mark}, annotations={**meta.annotations, **mark})
    return replace(template, metadata=marked)


def _name_what_is_left_out(world: Store, owner: Owner) -> None:
    job = world.workloads.jobs.get(owner.name)
    if job is not None and (fields := not_modeled(job.spec)):
        world.happenings.note(f"Job/{owner.name.name}: {', '.join(fields)} not modeled")


def _fails(world: Store, owner: Owner) -> bool:
    """By the limit of the whole Job; rules for each index, and those of a podFailurePolicy, are not modeled."""
    world.assume(world.workloads.objects.gap(Job, "a Job is taken to make every pod again that it loses"))
    job = world.workloads.jobs.get(owner.name)
    if job is None or job.spec.pod_failure_policy is not None or job.spec.backoff_limit_per_index is not None:
        return False
    return job.status.failed + owner.failures > backoff_limit(job.spec)
