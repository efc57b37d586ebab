"""Playing of all planned changes as one scenario."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import takewhile
from os import PathLike
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from kubespread.candidate.manifest import Manifest
from kubespread.candidate.sources import read_once
from kubespread.errors import KubespreadError, UsageError
from kubespread.kube.owners import full_name
from kubespread.manifest.text import STDIN, STDIN_NAME
from kubespread.node_groups import autoscaler_of
from kubespread.questions.plan import Plan, PlanRemedy, PlanReport, before_all
from kubespread.questions.plan.playing import Steps, after_steps
from kubespread.questions.remedies.budgets import looser
from kubespread.questions.report.at_maximum import growing
from kubespread.questions.scene import Scene
from kubespread.reports.outcome import in_brief
from kubespread.scenario.reading import Scenario, Step
from kubespread.scenario.verbs import Apply
from kubespread.snapshot.edits.new_nodes import AddNode
from kubespread.snapshot.edits.pods import Scale, Spread
from kubespread.snapshot.edits.verb import Edit
from kubespread.world.reporting.difference import Baseline

_NOTHING = "nothing is planned: give manifests (-f), steps, or edits such as --drain or --hpa-max (--spread is no step)"


def answer(question: Plan, scene: Scene) -> PlanReport:
    """Play the plan, and again with relaxed budgets if they block it.

    Raises UsageError, ManifestError and SnapshotError before anything is played.
    """
    # A pipe can be read only once.
    manifests = tuple(read_once(pod) if pod == STDIN else pod for pod in question.manifests)
    question = replace(question, manifests=manifests)
    return _with_remedies(question, scene, _play(question, scene))


class _PlayedPlan(Struct, frozen=True):
    """Plan after it was played."""

    scene: Scene
    """Its world is as after the last step."""
    report: PlanReport


def _play(question: Plan, scene: Scene) -> _PlayedPlan:
    """Raises UsageError where there is nothing to play."""
    unedited = scene.move(replace(scene.snapshot, edits=before_all(scene.snapshot.edits)))
    steps = plan_steps(question, unedited, scene.snapshot.edits)
    if not steps:
        raise UsageError("no autoscaler may ask for more than its workload has" if question.hpa_max else _NOTHING)
    play = Steps(scenario_of(question, steps), question.namespace, question.runs, question.seed)
    playing = unedited.asking(play)
    return _PlayedPlan(playing, play.answer(playing))


def _with_remedies(question: Plan, scene: Scene, played: _PlayedPlan) -> PlanReport:
    """The report with the first change of budgets with which all steps get through, else the first with which they are
    done in full.
    """
    report = played.report
    refused = {trouble.subject for trouble in report.whole.get("blocked")}
    if report.judge() == "yes" or not refused:
        return report
    before = Baseline.settle(scene.move(replace(scene.snapshot, edits=before_all(scene.snapshot.edits))).world).world
    pods = {full_name(pod): pod for world in (played.scene.world, before) for pod in world.book}
    changes = looser(before, scene.snapshot.edits, [pods[pod] for pod in sorted(refused & pods.keys())])
    remedies, tried = list[PlanRemedy](), 0
    for change in changes:
        if scene.budget.is_over:
            break
        edits = (*change.edits, *scene.snapshot.edits)
        changed = scene.move(replace(scene.snapshot, edits=edits))
        with scene.budget.deadline():
            # A budget that a manifest brings is not there yet.
            with suppress(KubespreadError):
                then = _play(question, changed).report
                if then.unfinished is not None:
                    break
                if not then.blocked_steps:
                    remedies.append(PlanRemedy(options=change.what, left=in_brief(then.whole)))
            tried += 1
    untried = [change.what for change in changes[tried:]]
    return replace(
        report,
        remedies=tuple(sorted(remedies, key=lambda remedy: remedy.left != "")[:1]),
        tried=tuple(change.what for change in changes[:tried]),
        unfinished=report.unfinished or scene.budget.missing("change", len(changes), untried),
    )


def plan_steps(question: Plan, scene: Scene, edits: Sequence[Edit]) -> Sequence[Step]:
    """All steps: new nodes, manifests, edits, the given scenario, and autoscaled workloads at their maximum.

    The cluster of ``scene`` is without the edits. Raises UsageError and ManifestError.
    """
    edited = [Step(str(edit), edit) for edit in edits if not isinstance(edit, Spread)]
    steps = [*takewhile(lambda step: isinstance(step.action, AddNode), edited)]
    first = len(steps)
    if question.manifests:
        names = (_name(pod) or "manifests" for pod in question.manifests)
        steps.append(Step(f"apply {shlex.join(names)}", Apply(question.manifests)))
    steps += edited[first:]
    if question.scenario is not None:
        steps += question.scenario.steps
    if question.hpa_max:
        steps += _grow(question, scene, steps)
    return steps


def scenario_of(question: Plan, steps: Sequence[Step]) -> Scenario:
    """Scenario of the steps, with the settings of the given one; the question's autoscaler takes precedence."""
    scenario = question.scenario or Scenario((), namespace=question.namespace)
    if (autoscaler := autoscaler_of(question)) is not None:
        groups, types = question.node_groups, question.instance_types
        scenario = replace(scenario, autoscaler=autoscaler, node_groups=groups, instance_types=types)
    return replace(
        scenario, steps=tuple(steps), preemption=question.preempts, creates_namespaces=question.create_namespaces
    )


def _grow(question: Plan, scene: Scene, steps: Sequence[Step]) -> Iterator[Step]:
    """Each workload with an autoscaler that may ask for more than it has after ``steps``, at its maximum."""
    then = after_steps(
        scene.snapshot, scenario_of(question, steps), None, scene.scheduler, namespace=question.namespace
    )
    for name, _, most in growing(scene.move(then).world, lambda _: True):
        scale = Scale(name.kind, name.name, most, name.namespace)
        yield Step(str(scale), scale)


def _name(manifest: Any) -> str | None:
    """The file or directory of a manifest; None where it is in none."""
    name = manifest.file if isinstance(manifest, Manifest) else manifest
    return str(name) if isinstance(name, str | PathLike) and name not in (STDIN, STDIN_NAME) else None
