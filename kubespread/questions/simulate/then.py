"""A workload that is applied, and the steps after it: the scenario that ``simulate --then`` stands for."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from kubespread.candidate.candidate import Surroundings, from_manifest
from kubespread.candidate.settings import parse_settings
from kubespread.candidate.sources import PodGiven, Reference, Source, read_sources
from kubespread.kube.admission.defaulting import DEFAULT_NAMESPACE
from kubespread.kube.owners import Named, WorkloadName
from kubespread.manifest.text import STDIN
from kubespread.questions.editing import edited
from kubespread.questions.plan.question import Play
from kubespread.questions.plan.report import PlayReport
from kubespread.questions.scene import Scene, checked_timeout
from kubespread.questions.scheduler import Scheduler
from kubespread.questions.simulate.question import Simulate
from kubespread.questions.tasks import Workers
from kubespread.scenario.reading import Scenario, Step, parse_then
from kubespread.scenario.verbs import Apply
from kubespread.snapshot.snapshot import Snapshot


def simulate_then(
    snapshot: Snapshot,
    pods: Sequence[PodGiven],
    steps: Sequence[str],
    scheduler: Scheduler | None = None,
    *,
    replicas: int | None = None,
    name: str | None = None,
    namespace: str | None = None,
    recursive: bool = False,
    set: Sequence[str] = (),
    preemption: bool = True,
    deals: int | None = None,
    jobs: int | None = 1,
    timeout: float | None = None,
) -> PlayReport:
    """What becomes of a workload that is applied, when ``steps`` happen after it.

    ``scale=2``, ``rollout`` and ``rollback`` are about that workload; every other step is written as an edit is, a
    blank or an equals sign behind its verb: ``fail=zone=a``.

    - ``replicas``: desired replicas when it is applied (default: the workload's own number).
    - ``name``: the workload to use when there are several: NAME, Kind/NAME or NAMESPACE/Kind/NAME.
    - ``namespace``: the namespace to use when the manifest sets none.
    - ``recursive``: read directories with those below them.
    - ``set``: fields to change before it is admitted: ``maxSkew[zone]=2``, ``cpu=500m``.
    - ``preemption``: pods evict others of lower priority, as kube-scheduler does.
    - ``deals``, ``jobs``, ``timeout``: how often it is played, by how many processes and how long, as of `play`.

    Raises ManifestError, SnapshotError and UsageError.
    """
    question = Simulate(
        pods=tuple(pods),
        then=tuple(steps),
        replicas=replicas,
        named=name,
        namespace=namespace,
        recursive=recursive,
        settings=tuple(set),
        preemption=preemption,
        deals=deals,
    )
    scene = Scene(snapshot, scheduler or Scheduler(), question, workers=Workers(jobs), timeout=checked_timeout(timeout))
    return scene.in_the_end(lambda: played(question, scene))


def played(question: Simulate, scene: Scene) -> PlayReport:
    """Apply the workload, and play the steps after it."""
    snapshot, choosing = scene.snapshot, question.choosing
    before, _ = edited(snapshot, scene.scheduler, question.namespace, preempts=question.preemption)
    default = question.namespace or snapshot.origin.namespace or DEFAULT_NAMESPACE
    read = read_sources(question.pods, before, choosing, default)
    if read.errors:
        raise read.errors[0]
    source = read.chosen(choosing, default)[0]
    name = _name_of(source, before, scene.scheduler, question, default)
    manifests = [pod for pod in question.pods if pod != STDIN]
    if len(manifests) < len(question.pods):
        # Standard input was read just now, and cannot be read again.
        items = [item.data for manifest in read.manifests for item in manifest.items]
        manifests = [{"apiVersion": "v1", "kind": "List", "items": items}]
    workload = Named(name.kind, name.name, name.namespace if name.namespace != default else None)
    replicas = "" if question.desired is None else f" --replicas {question.desired}"
    chosen = None if isinstance(source, Reference) else name
    first = Step(f"apply {workload}{replicas}", Apply(tuple(manifests), question.settings, question.desired, chosen))
    scenario = Scenario(
        (first, *(parse_then(text, workload) for text in question.then)), preemption=question.preemption
    )
    play = Play(scenario=scenario, namespace=default, deals=question.deals, fail_on=question.fail_on)
    return play.answered(replace(scene, question=play)).revised(workload=name)


def _name_of(
    source: Source, snapshot: Snapshot, scheduler: Scheduler, question: Simulate, namespace: str
) -> WorkloadName:
    if isinstance(source, Reference):
        return WorkloadName(source.kind.kind, source.namespace or namespace, source.name)
    surroundings = Surroundings(
        snapshot.objects,
        scheduler.release(snapshot.origin.release),
        question.named,
        question.namespace,
        namespace,
        scheduler.admission_plugins(resource_quota=False),
        parse_settings(question.settings),
    )
    made = from_manifest(source, surroundings)
    return made.workload or WorkloadName("Pod", made.pod.metadata.namespace, made.pod.metadata.name)
