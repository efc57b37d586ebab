"""A scenario asked about: its steps played after the edits of a snapshot."""

from __future__ import annotations

from dataclasses import replace

import msgspec

from kubespread.errors import UsageError
from kubespread.kube.admission.defaulting import DEFAULT_NAMESPACE
from kubespread.questions.autoscaling.autoscale import autoscale
from kubespread.questions.explain.answer import explain
from kubespread.questions.play.checking import check
from kubespread.questions.play.manifests import Manifests
from kubespread.questions.play.question import Play
from kubespread.questions.play.report import PlayReport
from kubespread.questions.play.steps import Autoscale, Playing, played
from kubespread.questions.question import Instead, asks
from kubespread.questions.queue.deals import check_deals
from kubespread.questions.scene import Scene, ask
from kubespread.questions.scheduler import Scheduler
from kubespread.questions.simulate.autoscaling import groups_of
from kubespread.questions.worlds import as_snapshot
from kubespread.scenario.reading import ScenarioGiven, read_scenario
from kubespread.scenario.types import Scenario
from kubespread.snapshot.snapshot import Snapshot
from kubespread.wording import count_of


@asks(Play)
def play(
    snapshot: Snapshot,
    scenario: ScenarioGiven,
    scheduler: Scheduler | None = None,
    *,
    namespace: str | None = None,
    deals: int | None = None,
) -> PlayReport:
    """What becomes of the cluster when the steps of ``scenario`` happen one after another.

    A scenario is a path, the text of a file, plain data or a `Scenario`. What names nothing of the cluster is found
    before anything is played; what goes wrong on the way is said of its step. Where controllers delete some of several
    equal pods it is chance which; fewer than 8 deals are played where very many pods move.

    Raises ManifestError, SnapshotError and UsageError.
    """
    return ask(snapshot, Play(scenario=read_scenario(scenario), namespace=namespace, deals=deals), scheduler)


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


def explained(question: Play, pod: str, snapshot: Snapshot, scheduler: Scheduler) -> Instead:
    """The explanation of a pod at one moment of the scenario."""
    then = _after(question, question.at, snapshot, scheduler)
    namespace = question.namespace or question.scenario.namespace
    return Instead("explain", then, explain(then, pod, scheduler, namespace=namespace))


def answer(question: Play, scene: Scene) -> PlayReport:
    """Play the scenario; the scene's world is then as after the last step. Raises UsageError, ManifestError and
    SnapshotError before anything is played.
    """
    check_deals(question.deals)
    scenario, now, world = question.scenario, scene.now, scene.world
    namespace = scenario.namespace or question.namespace or scene.snapshot.origin.namespace or DEFAULT_NAMESPACE
    manifests = Manifests(now, scene.scheduler)
    check(world, scenario, manifests, namespace)
    report = played(
        Playing(world, manifests, namespace, _autoscale(now, scenario)), scenario, scene.release, question.deals
    )
    report = msgspec.structs.replace(
        report, cluster=scene.source, gaps=scene.gaps(report.gaps), notes=(*scene.notes, *report.notes)
    )
    return report.requiring(report.failures(question.fail_on))


def _autoscale(snapshot: Snapshot, scenario: Scenario) -> Autoscale | None:
    kind = scenario.autoscaler
    if kind is None:
        return None
    groups = groups_of(snapshot, kind, scenario.node_groups)
    return lambda world: autoscale(world, groups, kind, searches=False)
