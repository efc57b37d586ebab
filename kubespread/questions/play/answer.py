"""A scenario asked about: its steps played after the edits of a snapshot."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from time import monotonic
from typing import Self

import msgspec

from kubespread.errors import UsageError
from kubespread.kube.admission.defaulting import DEFAULT_NAMESPACE
from kubespread.kube.owners import Named
from kubespread.questions.autoscaling.autoscale import autoscale
from kubespread.questions.explain.question import Explain
from kubespread.questions.explain.report import ExplainReport
from kubespread.questions.play.question import Play
from kubespread.questions.play.report import PlayReport
from kubespread.questions.play.steps import Autoscale, Changes, Manifests, Playing, played
from kubespread.questions.queue.manner import check_deals, deals_worth, dealt_anew
from kubespread.questions.scene import Scene, ask
from kubespread.questions.scheduler import Scheduler
from kubespread.questions.simulate.answer import groups_of, types_of
from kubespread.questions.tasks import ALONE
from kubespread.questions.worlds import as_snapshot
from kubespread.scenario.reading import ScenarioGiven, read_scenario
from kubespread.scenario.types import Scenario, Step
from kubespread.scenario.verbs import Apply, Rollback, Rollout
from kubespread.snapshot.edits.new_nodes import AddNode
from kubespread.snapshot.edits.pods import Scale
from kubespread.snapshot.edits.verb import OfNodes, Verb, nodes_of_target
from kubespread.snapshot.snapshot import Snapshot
from kubespread.wording import count_of
from kubespread.world.events.editing import exists, not_found
from kubespread.world.events.world import World

# Mistakes in a scenario, found before anything of it is played.


def check(world: World, scenario: Scenario, changes: Changes, namespace: str) -> None:
    """Check the nodes, workloads and manifests of the steps, unless an earlier step may bring them.

    ``world`` stays as it is. Raises UsageError with a line for every step that names something missing, and
    ManifestError for the first manifest that the API server would refuse.
    """
    faults: list[str] = []
    for position, step in enumerate(scenario.steps):
        try:
            _check(world, step, scenario.steps[:position], changes, namespace)
        except UsageError as error:
            faults.append(f"step {position + 1} ({step.text}): {error}")
    try:
        _check_workloads(world, scenario.stuck, scenario.steps, namespace)
    except UsageError as error:
        faults.append(f"spec.readiness: {error}")
    if faults:
        raise UsageError(*faults)


def _check(world: World, step: Step, before: Sequence[Step], changes: Changes, namespace: str) -> None:
    action = step.action
    if not any(earlier.action is not None and earlier.action.brings_nodes for earlier in before):
        _check_nodes(world, action)
    _check_workloads(world, [*step.stuck, *step.ready, *_named(action)], before, namespace)
    if isinstance(action, Apply):
        changes.applied(world, action, namespace)
    elif isinstance(action, Rollout) and exists(world, action.workload.within(namespace)):
        changes.rolled_out(world, action, namespace)


def _check_nodes(world: World, action: Verb | None) -> None:
    nodes = world.living.nodes.objects
    if isinstance(action, AddNode):
        action.change(nodes)
    elif isinstance(action, OfNodes):
        nodes_of_target(action.target, nodes)


def _named(action: Verb | None) -> Iterator[Named]:
    if isinstance(action, Rollout | Rollback):
        yield action.workload
    elif isinstance(action, Scale):
        yield Named(action.kind, action.name, action.namespace)


def _check_workloads(world: World, workloads: Sequence[Named], before: Sequence[Step], namespace: str) -> None:
    if any(isinstance(earlier.action, Apply) for earlier in before):
        return
    for workload in workloads:
        name = workload.within(namespace)
        if not exists(world, name):
            raise not_found(world, name)


def after_steps(
    snapshot: Snapshot,
    scenario: ScenarioGiven,
    steps: int | None = None,
    scheduler: Scheduler | None = None,
    *,
    namespace: str | None = None,
) -> Snapshot:
    """The cluster as it is after so many steps of ``scenario``, by default all of them, to ask other questions about.

    ``namespace`` is that of names without one where the scenario has none. Raises what `play` raises, and
    UsageError for a number of steps that the scenario does not have.
    """
    question = Play(scenario=read_scenario(scenario), namespace=namespace)
    return _after(question, steps, snapshot, scheduler or Scheduler())


def _after(question: Play, steps: int | None, snapshot: Snapshot, scheduler: Scheduler) -> Snapshot:
    read = question.scenario
    if steps is not None and not 0 <= steps <= len(read.steps):
        raise UsageError(f"step {steps}: the scenario has {count_of(len(read.steps), 'step')}")
    first = msgspec.structs.replace(question, scenario=replace(read, steps=read.steps[:steps]), deals=1, fail_on=())
    scene = Scene(snapshot, scheduler, first)
    answer(first, scene)
    return as_snapshot(scene.world, scene.now)


def explained(question: Play, pod: str, snapshot: Snapshot, scheduler: Scheduler) -> tuple[Snapshot, ExplainReport]:
    """The cluster at one moment of the scenario, and the explanation of a pod there."""
    then = _after(question, question.at, snapshot, scheduler)
    namespace = question.namespace or question.scenario.namespace
    return then, ask(then, Explain(pods=(pod,), namespace=namespace), scheduler)


def answer(question: Play, scene: Scene) -> PlayReport:
    """Play the scenario; the scene's world is then as after the last step. Raises UsageError, ManifestError and
    SnapshotError before anything is played.
    """
    check_deals(question.deals)
    since = monotonic()
    dealing, world = _Dealing.of(question, scene), scene.world
    took = monotonic() - since
    check(world, question.scenario, dealing.playing.changes, dealing.playing.namespace)
    report, happened = played(dealing.playing, question.scenario, scene.release)
    count = deals_worth(happened) if question.deals is None else question.deals
    if scene.workers.engine and _names_files(question.scenario):
        # Which other machines do not have.
        scene = msgspec.structs.replace(scene, workers=ALONE)
    others = list(scene.tasks(dealing, range(1, count), known=_known, took=took))
    report = msgspec.structs.replace(
        report.dealt(others) if others else report,
        cluster=scene.source,
        gaps=scene.gaps(world.assumed),
        notes=(*scene.notes, *report.notes),
        unfinished=scene.unfinished("deal", count, [f"deal {number}" for number in range(len(others) + 2, count + 1)]),
    )
    return report.requiring(report.failures(question.fail_on))


class _Dealing:
    """All steps with equal pods and nodes dealt anew, by the number of the deal."""

    def __init__(self, question: Play, scene: Scene) -> None:
        scenario, now = question.scenario, scene.now
        namespace = scenario.namespace or question.namespace or scene.snapshot.origin.namespace or DEFAULT_NAMESPACE
        self._scenario, self._release = scenario, scene.release
        self.playing = Playing(
            scene.world, Manifests(now, scene.scheduler), namespace, _autoscale(now, scenario)
        )  # fmt: skip
        self._begun = scene.world.fork()
        self.assumed = scene.world.assumed

    @classmethod
    def of(cls, question: Play, scene: Scene) -> Self:
        return cls(question, scene)

    def __call__(self, deal: int) -> PlayReport:
        report, _ = played(
            msgspec.structs.replace(self.playing, world=dealt_anew(self._begun, deal)), self._scenario, self._release
        )
        return report


def _known(deal: PlayReport) -> str:
    return deal.answer[0] if deal.verdict == "no" else ""


def _names_files(scenario: Scenario) -> bool:
    return any(
        step.action.manifest is not None if isinstance(step.action, Rollout) else isinstance(step.action, Apply)
        for step in scenario.steps
    )


def _autoscale(snapshot: Snapshot, scenario: Scenario) -> Autoscale | None:
    kind = scenario.autoscaler
    if kind is None:
        return None
    groups = groups_of(snapshot, kind, scenario.node_groups)
    types = types_of(kind, scenario.instance_types)
    return lambda world: autoscale(world, groups.groups, kind, types=types, expanders=groups.expanders, searches=False)
