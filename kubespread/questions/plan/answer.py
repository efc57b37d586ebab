"""Plays what is planned as one scenario, and audits the cluster before and after."""

from __future__ import annotations

import dataclasses
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import takewhile
from os import PathLike
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from kubespread.candidate.manifest import Manifest
from kubespread.candidate.sources import read_once
from kubespread.errors import KubespreadError, SnapshotError, UsageError
from kubespread.kube.owners import NamespacedName, WorkloadName, is_active
from kubespread.manifest.text import STDIN, STDIN_NAME
from kubespread.node_groups.groups import asked_autoscaler
from kubespread.questions.audit.question import Audit
from kubespread.questions.audit.report import LEVELS, AuditedWorkload, AuditFinding
from kubespread.questions.plan.playing import Steps, after_steps
from kubespread.questions.plan.question import OF_STEPS, Plan
from kubespread.questions.plan.report import Comparison, PlannedSide, PlannedWorkload, PlanRemedy, PlanReport
from kubespread.questions.remedies.budgets import looser
from kubespread.questions.report.at_maximum import growing
from kubespread.questions.resolving import cluster_of
from kubespread.questions.scene import Inquiry, Scene
from kubespread.questions.worlds import as_snapshot
from kubespread.reports.loads import amounts_of, percent_of, resources_of
from kubespread.reports.outcome import in_brief
from kubespread.scenario.reading import Scenario, Step
from kubespread.scenario.verbs import Apply
from kubespread.snapshot.edits.new_nodes import AddNode
from kubespread.snapshot.edits.pods import Scale
from kubespread.snapshot.edits.verb import Edit
from kubespread.snapshot.snapshot import Snapshot
from kubespread.world.events.world import World
from kubespread.world.reporting.difference import Baseline
from kubespread.world.reporting.happenings import GO_WITH_THEIR_NODES, desired_replicas

_EXPECTED = "give manifests (-f), steps, edits such as --drain or --hpa-max, or another --kube-version"


def answer(question: Plan, scene: Scene) -> PlanReport:
    """With the options that get it through where budgets are in the way. Raises UsageError, ManifestError and
    SnapshotError before anything is played.
    """
    # A pipe can be read only once.
    given = tuple(read_once(pod) if pod == STDIN else pod for pod in question.manifests)
    question = replace(question, manifests=given)
    played = _played(question, scene)
    report = _with_remedies(question, scene, played)
    return report if question.by_step else _compared(question, scene, replace(played, report=report))


class _Played(Struct, frozen=True):
    """Plan after it was played."""

    steps: Steps
    scene: Scene
    """Its world is as after the last step."""
    report: PlanReport


def _played(question: Plan, scene: Scene) -> _Played:
    """Raises UsageError where there is nothing to play."""
    unedited = scene.of(dataclasses.replace(scene.snapshot, edits=()))
    steps = planned(question, unedited, scene.snapshot.edits)
    if not steps and (question.by_step or scene.scheduler.kube_version is None):
        none = "no autoscaler may ask for more than its workload has"
        raise UsageError(none if question.hpa_max else f"nothing is planned: {_EXPECTED}")
    play = Steps(scenario_of(question, steps), question.namespace, question.runs, question.seed)
    playing = unedited.asking(play)
    return _Played(play, playing, play.answer(playing))


def _with_remedies(question: Plan, scene: Scene, played: _Played) -> PlanReport:
    """The report with the first change of budgets with which all steps get through, else the first with which they are
    done in full.
    """
    report = played.report
    refused = {trouble.subject for trouble in report.whole.of("blocked")}
    if report.judged() == "yes" or not refused:
        return report
    before = Baseline.settled(scene.of(dataclasses.replace(scene.snapshot, edits=())).world).world
    pods = {NamespacedName.of(pod): pod for world in (played.scene.world, before) for pod in world.book}
    changes = looser(before, scene.snapshot.edits, [pods[pod] for pod in sorted(refused & pods.keys())])
    done, tried = list[PlanRemedy](), 0
    for change in changes:
        if scene.budget.is_over:
            break
        edits = (*change.edits, *scene.snapshot.edits)
        changed = scene.of(dataclasses.replace(scene.snapshot, edits=edits))
        with scene.budget.deadline():
            # A budget that a manifest brings is not there yet.
            with suppress(KubespreadError):
                then = _played(question, changed).report
                if not then.blocked:
                    done.append(PlanRemedy(options=change.what, left=in_brief(then.whole)))
            tried += 1
    untried = [change.what for change in changes[tried:]]
    return replace(
        report,
        remedies=tuple(sorted(done, key=lambda remedy: remedy.left != "")[:1]),
        unfinished=report.unfinished or scene.budget.unfinished("change", len(changes), untried),
    )


def _compared(question: Plan, scene: Scene, played: _Played) -> PlanReport:
    given, scenario, report = dataclasses.replace(scene.snapshot, edits=()), played.steps.scenario, played.report
    own = scene.scheduler
    if own.kube_version is not None:
        # Gates are those of the release that is asked for.
        own = dataclasses.replace(own, kube_version=None, feature_gates=None)
    settled = after_steps(given, scenario, 0, own, namespace=question.namespace)
    before = _Side(question, replace(scene.of(settled), scheduler=own), "before")
    world = played.scene.world
    after = _Side(question, scene.of(as_snapshot(world, played.scene.now)), "after")
    after.want(world)
    names = sorted({*before.rows, *after.rows}) if before.is_audited and after.is_audited else []
    rows = [row for name in names if (row := _planned(name, before, after, is_worse=name in report.worse))]
    return replace(
        report,
        kube_version=str(scene.release),
        before=before.told,
        after=after.told,
        workloads=tuple(sorted(rows, key=lambda row: row.rank)),
        unchanged=len(names) - len(rows),
        gone=dict(_gone(report, given)),
        gaps=tuple(dict.fromkeys((*report.gaps, *before.said("gaps"), *after.said("gaps")))),
        not_modelled=(*report.not_modelled, *Plan.never_modelled[len(OF_STEPS) :]),
        notes=tuple(dict.fromkeys((*report.notes, *before.said("notes"), *after.said("notes")))),
        unfinished=scene.budget.unfinished(
            "question", len(before.asked) + len(after.asked), (*before.missing, *after.missing)
        )
        or report.unfinished,
    )


def _gone(played: PlanReport, before: Snapshot) -> Counter[str]:
    """Count the pods that leave their nodes, by why; those that every node has go with theirs."""
    daemons = {
        NamespacedName.of(pod)
        for pod in before.pods
        if any(owner.kind in GO_WITH_THEIR_NODES for owner in pod.metadata.owner_references)
    }
    gone = (pod for step in played.steps for pod in step.pods_gone if pod.node is not None)
    return Counter("with their nodes" if pod.pod in daemons else pod.why for pod in gone)


class _Side(Inquiry):
    """One of the two clusters, and its audited workloads: none where the time was up before, or it has none."""

    def __init__(self, question: Plan, scene: Scene, when: str) -> None:
        super().__init__(scene)
        self.rows: dict[WorkloadName, AuditedWorkload] = {}
        # No workloads, or no pods listed.
        with suppress(UsageError, SnapshotError):
            audit = self.whole(f"auditing the cluster {when}", Audit(preemption=question.makes_room))
            self.rows = {} if audit is None else {row.workload: row for row in audit.workloads}
        self.is_audited = not self.missing

    def want(self, world: World) -> None:
        """Count what unlisted controllers are to have in ``world``: a snapshot shows only the pods that are left."""
        for name, row in self.rows.items():
            if not (world.makes_others(name) or name.kind == "Pod"):
                self.rows[name] = replace(row, replicas=desired_replicas(world, name))

    @property
    def told(self) -> PlannedSide:
        rows, cluster = self.rows.values(), cluster_of(self.scene.now, self.scene.release)
        return PlannedSide(
            kube_version=str(self.scene.release),
            nodes=len(cluster),
            replicas=sum(row.replicas for row in rows) if self.is_audited else None,
            ready=sum(row.ready for row in rows) if self.is_audited else None,
            pending=sum(is_active(pod) and not pod.spec.node_name for pod in self.scene.now.pods),
            percent={
                name: percent_of(int(requested.sum()), int(allocatable.sum()))
                for name, requested, allocatable in amounts_of(cluster, resources_of(cluster))
            },
        )


def _planned(name: WorkloadName, before: _Side, after: _Side, *, is_worse: bool) -> PlannedWorkload | None:
    """Compare a workload before and after; None where it stays as it is."""
    was, now = before.rows.get(name), after.rows.get(name)
    change: Comparison
    why = ""
    if was is None or now is None:
        change = "worse" if is_worse else "new" if was is None else "gone"
    else:
        old, new = _counting(was, now), _counting(now, was)
        level_before, level = (LEVELS.index(findings[0].level) if findings else 0 for findings in (old, new))
        why = new[0].text.rstrip(".") if level_before < level else ""
        if is_worse:
            change = "worse"
        elif level_before < level:
            change = "riskier"
        elif was.lacking > now.lacking or level_before > level:
            change = "better"
        elif _figures(was) != _figures(now):
            change = "different"
        else:
            return None
    return PlannedWorkload(workload=name, change=change, before=was, after=now, why=why)


def _counting(row: AuditedWorkload, other: AuditedWorkload) -> list[AuditFinding]:
    """Findings, the worst first, but what nodes that join or leave say of pods that are in one domain on both sides."""

    def is_in_one(key: str | None) -> bool:
        return all(key in side.worst_loss and not side.worst_loss[key].remaining for side in (row, other))

    return [
        finding for finding in row.findings if finding.constraint is not None or not is_in_one(finding.topology_key)
    ]


def _figures(row: AuditedWorkload) -> object:
    """Pick the figures that are shown of a workload."""
    skews = [(constraint.topology_key, constraint.max_skew, constraint.skew) for constraint in row.constraints]
    return row.replicas, row.placed, row.ready, row.pending, row.zones, skews


def planned(question: Plan, scene: Scene, edits: Sequence[Edit]) -> Sequence[Step]:
    """Nodes come first, then manifests, edits, the scenario that is given, and autoscaled workloads at their maximum.
    The cluster of ``scene`` is without the edits. Raises UsageError and ManifestError.
    """
    edited = [Step(str(edit), edit) for edit in edits]
    steps = [*takewhile(lambda step: isinstance(step.action, AddNode), edited)]
    first = len(steps)
    if question.manifests:
        apply = Apply(question.manifests, creates_namespaces=question.create_namespaces)
        steps.append(Step(_applying(apply), apply))
    steps += edited[first:]
    if question.scenario is not None:
        steps += question.scenario.steps
    if question.hpa_max:
        steps += _grown(question, scene, steps)
    return steps


def scenario_of(question: Plan, steps: Sequence[Step]) -> Scenario:
    """The steps, with the settings of the scenario that is given; an autoscaler of the question is in place of its."""
    scenario = question.scenario or Scenario((), namespace=question.namespace)
    if (autoscaler := asked_autoscaler(question)) is not None:
        groups, types = question.node_groups, question.instance_types
        scenario = dataclasses.replace(scenario, autoscaler=autoscaler, node_groups=groups, instance_types=types)
    return dataclasses.replace(scenario, steps=tuple(steps), preemption=question.makes_room)


def _grown(question: Plan, scene: Scene, steps: Sequence[Step]) -> Iterator[Step]:
    """Each workload with an autoscaler that may ask for more than it has after ``steps``, at its maximum."""
    then = after_steps(
        scene.snapshot, scenario_of(question, steps), None, scene.scheduler, namespace=question.namespace
    )
    for name, _, most in growing(scene.of(then).world, lambda _: True):
        scale = Scale(name.kind, name.name, most, name.namespace)
        yield Step(str(scale), scale)


def _applying(apply: Apply) -> str:
    """``apply k8s/ --create-namespaces``."""
    flags = ["--create-namespaces"] if apply.creates_namespaces else []
    return f"apply {shlex.join([*(_name(pod) or 'manifests' for pod in apply.given), *flags])}"


def _name(manifest: Any) -> str | None:
    """The file or directory of a manifest; None where it is in none."""
    name = manifest.file if isinstance(manifest, Manifest) else manifest
    return str(name) if isinstance(name, str | PathLike) and name not in (STDIN, STDIN_NAME) else None
