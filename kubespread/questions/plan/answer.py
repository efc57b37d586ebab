"""Plays everything that is planned as one scenario, and asks the same questions about the cluster before and after."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from kubespread.candidate.input.kustomization import Kustomization
from kubespread.candidate.input.sources import PodGiven, read_once
from kubespread.candidate.manifests.file import Manifest
from kubespread.errors import UsageError
from kubespread.kube.api.kinds import POD_CREATORS
from kubespread.kube.owners import WorkloadName
from kubespread.manifest.text import STDIN
from kubespread.manifest.writer import to_yaml
from kubespread.questions.audit.question import Audit
from kubespread.questions.audit.report import LEVELS, AuditedWorkload, AuditReport
from kubespread.questions.map.question import Map
from kubespread.questions.map.report import TopologyMap
from kubespread.questions.plan.question import Plan
from kubespread.questions.plan.report import (
    WORST_FIRST,
    Change,
    PlannedNode,
    PlannedSide,
    PlannedWorkload,
    PlanReport,
)
from kubespread.questions.play.answer import after_steps
from kubespread.questions.play.question import Play
from kubespread.questions.question import Question, asks
from kubespread.questions.resolving import given_pods
from kubespread.questions.scene import OnProgress, Scene, ask
from kubespread.questions.scheduler import Scheduler
from kubespread.questions.survive.question import Survive
from kubespread.questions.survive.report import SurviveReport
from kubespread.questions.tasks import Workers
from kubespread.questions.worlds import as_snapshot
from kubespread.reports.parts import ClusterReport
from kubespread.scenario.types import API_VERSION, KIND, Scenario, Step
from kubespread.scenario.verbs import Apply
from kubespread.snapshot.edits.new_nodes import AddNode
from kubespread.snapshot.edits.verb import Edit
from kubespread.snapshot.snapshot import Snapshot

R = TypeVar("R", bound=ClusterReport)


@asks(Plan)
def plan(
    snapshot: Snapshot,
    manifests: PodGiven | Sequence[PodGiven] = (),
    scheduler: Scheduler | None = None,
    *,
    namespace: str | None = None,
    preemption: bool = True,
    ignore_daemonsets: bool = True,
    delete_emptydir_data: bool = True,
    force: bool = False,
    jobs: int | None = 1,
    timeout: float | None = None,
    on_progress: OnProgress | None = None,
) -> PlanReport:
    """What becomes of the cluster when everything that is planned is done: the edits of ``snapshot``, and the manifests
    to apply, paths, text or plain data as `explain` takes them.

    Raises ManifestError, SnapshotError and UsageError.
    """
    question = Plan(
        manifests=tuple(given_pods(manifests)), namespace=namespace, preemption=preemption,
        ignore_daemonsets=ignore_daemonsets, delete_emptydir_data=delete_emptydir_data, force=force,
    )  # fmt: skip
    return ask(snapshot, question, scheduler, on_progress, workers=Workers(jobs), timeout=timeout)


def answer(question: Plan, scene: Scene) -> PlanReport:
    """Raises what `plan` raises, before anything is played."""
    given = dataclasses.replace(scene.snapshot, edits=())
    steps = tuple(_steps(question, scene.snapshot.edits))
    own = dataclasses.replace(scene.scheduler, kube_version=None)
    if not steps and own == scene.scheduler:
        raise UsageError("nothing is planned: give manifests (-f), edits such as --drain, or another --kube-version")
    scenario = Scenario(steps, namespace=question.namespace, preemption=question.preemption)
    playing = replace(scene, given=given).asking(
        Play(scenario=scenario, namespace=question.namespace, preemption=question.preemption), question.doing
    )
    played = playing.question.answer(playing)
    settled = after_steps(given, scenario, 0, own, namespace=question.namespace)
    asking = _Asking(question)
    asking.answers.append(played)
    before = asking.side(replace(scene, given=settled, scheduler=own), "before")
    after = asking.side(replace(scene, given=as_snapshot(playing.world, playing.now)), "after")
    names = [] if asking.missing else sorted({*before.rows, *after.rows})
    rows = [row for name in names if (row := _planned(name, before, after))]
    return PlanReport(
        kube_version=str(scene.release),
        cluster=scene.source,
        preemption=question.preemption,
        before=before.told,
        after=after.told,
        topology_key=next(
            (loss.topology_key for side in (after, before) if side.survive for loss in side.survive.losses), None
        ),
        workloads=tuple(sorted(rows, key=lambda row: WORST_FIRST.index(row.change))),
        unchanged=len(names) - len(rows),
        nodes=tuple(_nodes(before.map, after.map)),
        played=played,
        scenario=_file(question, scenario),
        gaps=asking.said("gaps"),
        not_modelled=Plan.never_modelled,
        notes=asking.said("notes"),
        unfinished=scene.unfinished("question", len(asking.asked), asking.missing),
    )


def _steps(question: Plan, edits: Sequence[Edit]) -> Iterator[Step]:
    """What is planned, one after another: manifests once the nodes that come first are there."""
    edited = [Step(str(edit), edit) for edit in edits]
    first = [*takewhile(lambda step: isinstance(step.action, AddNode), edited)]
    yield from first
    if question.manifests:
        # A pipe can be read only once.
        given = tuple(read_once(pod) if pod == STDIN else pod for pod in question.manifests)
        yield Step(_applying(question.manifests), Apply(given))
    yield from edited[len(first) :]


def _applying(manifests: Sequence[Any]) -> str:
    """``apply k8s/ --kustomize overlays/prod``."""
    built = [pod.directory for pod in manifests if isinstance(pod, Kustomization)]
    files = [
        pod.file if isinstance(pod, Manifest) else str(pod) for pod in manifests if not isinstance(pod, Kustomization)
    ]
    return Apply.line({"files": files, **({"kustomize": built} if built else {})})


def _file(question: Plan, scenario: Scenario) -> str:
    """As `play` reads it."""
    metadata = {} if question.namespace is None else {"metadata": {"namespace": question.namespace}}
    preemption = {} if question.preemption else {"preemption": False}
    spec = {"steps": [step.text for step in scenario.steps], **preemption}
    return to_yaml({"apiVersion": API_VERSION, "kind": KIND, **metadata, "spec": spec})


class _Side(Struct, frozen=True):
    """The answers about one of the two clusters; None where the time was up before one was finished."""

    release: str
    audit: AuditReport | None
    survive: SurviveReport | None
    map: TopologyMap

    @property
    def rows(self) -> dict[WorkloadName, AuditedWorkload]:
        return {} if self.audit is None else {row.workload: row for row in self.audit.workloads}

    @property
    def told(self) -> PlannedSide:
        rows = self.rows.values()
        return PlannedSide(
            kube_version=self.release,
            nodes=len(self.map.nodes),
            replicas=sum(row.replicas for row in rows),
            ready=sum(row.ready for row in rows),
            pending=self.map.pending,
            load=self.map.load,
        )

    def survives(self, name: WorkloadName) -> bool | None:
        row, creator = self.rows.get(name), POD_CREATORS.get(name.kind)
        if self.survive is None or row is None or not row.ready or creator is None or not creator.has_replicas:
            return None
        return all(short.workload != name for loss in self.survive.losses for short in loss.short)


class _Asking:
    """The questions that are asked, and what their answers say beside themselves."""

    def __init__(self, question: Plan) -> None:
        self._preemption = question.preemption
        self.answers: list[ClusterReport] = []
        self.asked: list[str] = []
        self.missing: list[str] = []

    def side(self, scene: Scene, when: str) -> _Side:
        """All that is asked of one cluster."""
        audit, survive = Audit(preemption=self._preemption), Survive(preemption=self._preemption)
        return _Side(
            str(scene.release),
            self._of(scene, audit, f"auditing the cluster {when}"),
            self._of(scene, survive, f"losing domains {when}"),
            Map().answer(scene.asking(Map(), f"mapping the cluster {when}")),
        )

    def _of(self, scene: Scene, question: Question[R], doing: str) -> R | None:
        """The answer; None where there is nothing to ask about, or the time was up before it was finished."""
        self.asked.append(doing)
        if scene.is_over:
            self.missing.append(doing)
            return None
        try:
            answer = question.answer(scene.asking(question, doing))
        except UsageError:
            # No workloads, or no nodes to lose.
            return None
        self.answers.append(answer)
        if answer.unfinished is None:
            return answer
        self.missing.append(doing)
        return None

    def said(self, name: str) -> tuple[str, ...]:
        """Gaps or notes of all answers, each once."""
        return tuple(dict.fromkeys(text for answer in self.answers for text in getattr(answer, name)))


def _planned(name: WorkloadName, before: _Side, after: _Side) -> PlannedWorkload | None:
    """What becomes of a workload; None where it stays as it is."""
    was, now = before.rows.get(name), after.rows.get(name)
    survived, survives = before.survives(name), after.survives(name)
    change: Change
    if was is None or now is None:
        change = "new" if was is None else "gone"
    else:
        pairs = (_lacking(was), _lacking(now)), (_level(was), _level(now)), (survived is False, survives is False)
        if any(old < new for old, new in pairs):
            change = "worse"
        elif any(old > new for old, new in pairs):
            change = "better"
        elif _figures(was) != _figures(now):
            change = "different"
        else:
            return None
    return PlannedWorkload(
        workload=name, change=change, before=was, after=now, survives_before=survived, survives_after=survives
    )


def _lacking(row: AuditedWorkload) -> int:
    return max(0, row.replicas - row.ready)


def _level(row: AuditedWorkload) -> int:
    return LEVELS.index(row.level)


def _figures(row: AuditedWorkload) -> object:
    """What is shown of it."""
    skews = [(constraint.topology_key, constraint.max_skew, constraint.skew) for constraint in row.constraints]
    return row.replicas, row.placed, row.ready, row.pending, row.zones, skews


def _nodes(before: TopologyMap, after: TopologyMap) -> Iterator[PlannedNode]:
    was, now = ({node.name: node for node in side.nodes} for side in (before, after))
    for name in sorted({*was, *now}):
        old, new = was.get(name), now.get(name)
        if old is None or new is None or (old.pods, old.load, old.closed) != (new.pods, new.load, new.closed):
            yield PlannedNode(name=name, before=old, after=new)
