"""Plays everything that is planned as one scenario, and asks the same questions about the cluster before and after."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import takewhile
from os import PathLike
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from kubespread.candidate.kustomization import Kustomization
from kubespread.candidate.manifest import Manifest
from kubespread.candidate.sources import read_once
from kubespread.errors import UsageError
from kubespread.kube.api.core import Node
from kubespread.kube.api.kinds import POD_CREATORS
from kubespread.kube.owners import NamespacedName, WorkloadName
from kubespread.manifest.text import STDIN, STDIN_NAME
from kubespread.manifest.writer import to_yaml
from kubespread.questions.audit.question import Audit
from kubespread.questions.audit.report import LEVELS, AuditedWorkload, AuditFinding, AuditReport, sentence
from kubespread.questions.costs import cost_change, price_gaps
from kubespread.questions.map.question import Map
from kubespread.questions.map.report import TopologyMap
from kubespread.questions.plan.pools import Replacement, refuse_shared, replacement
from kubespread.questions.plan.question import Plan
from kubespread.questions.plan.report import WORST_FIRST, Change, PlannedNode, PlannedSide, PlannedWorkload, PlanReport
from kubespread.questions.play.answer import after_steps
from kubespread.questions.play.question import Play
from kubespread.questions.play.report import PlayReport
from kubespread.questions.question import Question
from kubespread.questions.removable.question import Removable
from kubespread.questions.removable.report import RemovableReport
from kubespread.questions.report.lines import growing
from kubespread.questions.scene import Scene
from kubespread.questions.survive.question import Survive
from kubespread.questions.survive.report import SurviveReport
from kubespread.questions.worlds import as_snapshot
from kubespread.reports.parts import ClusterReport
from kubespread.scenario.prices import read_prices
from kubespread.scenario.types import API_VERSION, KIND, Scenario, Step
from kubespread.scenario.verbs import Apply
from kubespread.snapshot.edits.new_nodes import AddNode
from kubespread.snapshot.edits.nodes import Cordon, DeleteNode, Drain, Fail
from kubespread.snapshot.edits.pods import DeletePods, EvictPod, Scale, ScaleRequests
from kubespread.snapshot.edits.verb import Edit, OfNodes, nodes_with
from kubespread.snapshot.snapshot import Snapshot
from kubespread.wording import short_key
from kubespread.world.events.world import World
from kubespread.world.reporting.happenings import GO_WITH_THEIR_NODES, desired_replicas

R = TypeVar("R", bound=ClusterReport)
_MOST_NODES = 100
"""How many nodes are tried to do without."""
_EXPECTED = (
    "give manifests (-f), edits such as --drain, --replace-pool or --hpa-max, or another release with --kube-version"
)


def answer(question: Plan, scene: Scene) -> PlanReport:
    """Raises what `plan` raises, before anything is played."""
    given = dataclasses.replace(scene.snapshot, edits=())
    unedited = replace(scene, given=given)
    pools = [replacement(text, given.nodes, question.drain_flags) for text in question.replace_pool]
    refuse_shared(question.replace_pool, pools)
    steps = tuple(_steps(question, unedited, scene.snapshot.edits, pools))
    own = dataclasses.replace(scene.scheduler, kube_version=None)
    if not steps and own == scene.scheduler:
        none = "no autoscaler may ask for more than its workload has"
        raise UsageError(none if question.hpa_max else f"nothing is planned: {_EXPECTED}")
    leaving = {id(step) for one in pools for step in one.leaving}
    scenario, playing, played = _played(question, unedited, steps, leaving)
    refused = None
    later = list(_reordered(steps, given.nodes))
    if played.verdict != "yes" and later != list(steps):
        other = _played(question, unedited, later, leaving)
        if other[2].verdict == "yes" and not _takes_new_nodes(other[2]):
            refused = played.answer[0]
            scenario, playing, played = other
    settled = after_steps(given, scenario, 0, own, namespace=question.namespace)
    asking = _Asking(question)
    asking.answers.append(played)
    sides = (
        replace(scene, given=settled, scheduler=own),
        replace(scene, given=as_snapshot(playing.world, playing.now)),
    )
    before = asking.side(sides[0], "before")
    after = asking.side(sides[1], "after").wanting(playing.world)
    prices = None if question.prices is None else read_prices(question.prices)
    nodes = [side.now.nodes for side in sides]
    by_name = {node.metadata.name: node for side in nodes for node in side}
    names = sorted({*before.rows, *after.rows}) if before.is_audited and after.is_audited else []
    worse = played.worse
    rows = [row for name in names if (row := _planned(name, before, after, is_worse=name in worse))]
    return PlanReport(
        kube_version=str(scene.release),
        cluster=scene.source,
        preemption=question.preemption,
        before=before.told,
        after=after.told,
        topology_key=after.lost or before.lost,
        workloads=tuple(sorted(rows, key=lambda row: WORST_FIRST.index(row.change))),
        unchanged=len(names) - len(rows),
        nodes=tuple(_nodes(before.map, after.map)),
        gone=dict(_gone(played, given)),
        played=played,
        scenario=_file(question, scenario),
        refused=refused,
        cost=None if prices is None else cost_change(nodes[0], nodes[1], prices),
        gaps=(*asking.said("gaps"), *(() if prices is None else price_gaps(by_name.values(), prices))),
        not_modelled=Plan.never_modelled,
        notes=asking.said("notes"),
        unfinished=scene.unfinished("question", len(asking.asked), asking.missing),
    )


def _played(
    question: Plan, scene: Scene, steps: Sequence[Step], leaving: Collection[int]
) -> tuple[Scenario, Scene, PlayReport]:
    """The steps played, without deleting nodes of a replaced pool whose pods cannot be evicted: those are ``leaving``,
    by their ids.
    """
    while True:
        scenario = _scenario(question, steps)
        play = Play(scenario=scenario, namespace=question.namespace, preemption=question.preemption)
        playing = scene.asking(play, question.doing)
        played = play.answer(playing)
        kept = {
            step.action.target.text for step, told in zip(steps, played.steps, strict=True)
            if id(step) in leaving and isinstance(step.action, Drain) and told.is_blocked
        }  # fmt: skip
        rest = [step for step in steps if id(step) not in leaving or not _deletes(step, kept)]
        if len(rest) == len(steps):
            return scenario, playing, played
        steps = rest


def _turn(step: Step) -> int:
    """When a step has its turn where the order given does not do: nodes come first, and go last."""
    if isinstance(step.action, AddNode):
        return 0
    return 2 if isinstance(step.action, Cordon | Drain | DeleteNode | Fail) else 1


def _reordered(steps: Sequence[Step], nodes: Sequence[Node]) -> Iterator[Step]:
    """In their turns, none past an earlier one on the same object, which it may undo."""
    objects, waiting = [_objects(step, nodes) for step in steps], list(range(len(steps)))
    while waiting:
        free = (
            number for at, number in enumerate(waiting)
            if all(objects[number].isdisjoint(objects[other]) for other in waiting[:at])
        )  # fmt: skip
        chosen = min(free, key=lambda number: (_turn(steps[number]), number))
        waiting.remove(chosen)
        yield steps[chosen]


def _objects(step: Step, nodes: Sequence[Node]) -> set[str]:
    """The nodes and workloads that a step is about, as far as they are there before the first one; manifests are about
    any workload.
    """
    match step.action:
        case OfNodes(target=target):
            if target.selector is None:
                return {f"node {target.text}"}
            return {f"node {node.metadata.name}" for node in nodes_with(target.selector, nodes)}
        case Scale() | ScaleRequests() | Apply() | DeletePods() | EvictPod():
            return {"workloads"}
    return set()


def _takes_new_nodes(played: PlayReport) -> bool:
    """Whether a step takes away what an earlier one brought, which the order given may not have meant."""
    joined = {name for step in played.steps for name in step.happened.nodes_joined}
    return any(joined & {*step.happened.nodes_left, *step.happened.node_states} for step in played.steps)


def _gone(played: PlayReport, before: Snapshot) -> Counter[str]:
    """How many pods leave their nodes, by why; those that every node has go with theirs."""
    daemons = {
        NamespacedName.of(pod) for pod in before.pods
        if any(owner.kind in GO_WITH_THEIR_NODES for owner in pod.metadata.owner_references)
    }  # fmt: skip
    gone = (pod for step in played.steps for pod in step.happened.gone if pod.node is not None)
    return Counter("with their nodes" if pod.pod in daemons else pod.why for pod in gone)


def _scenario(question: Plan, steps: Sequence[Step]) -> Scenario:
    return Scenario(tuple(steps), namespace=question.namespace, preemption=question.preemption)


def _deletes(step: Step, names: Collection[str]) -> bool:
    return isinstance(step.action, DeleteNode) and step.action.target.text in names


def _steps(question: Plan, scene: Scene, edits: Sequence[Edit], pools: Sequence[Replacement]) -> Iterator[Step]:
    """What is planned, one after another: nodes come first, then manifests, and pools that are replaced go last."""
    edited = [Step(str(edit), edit) for edit in edits]
    first = [*takewhile(lambda step: isinstance(step.action, AddNode), edited)]
    steps = [*(step for pool in pools for step in pool.joining), *first]
    if question.manifests:
        # A pipe can be read only once.
        given = tuple(read_once(pod) if pod == STDIN else pod for pod in question.manifests)
        steps.append(Step(_applying(question.manifests), Apply(given)))
    steps += edited[len(first) :]
    if question.hpa_max:
        steps += _grown(question, scene, steps)
    yield from steps
    for pool in pools:
        yield from pool.leaving


def _grown(question: Plan, scene: Scene, steps: Sequence[Step]) -> Iterator[Step]:
    """Each workload with an autoscaler that may ask for more than it has after ``steps``, at its maximum."""
    then = after_steps(scene.snapshot, _scenario(question, steps), None, scene.scheduler, namespace=question.namespace)
    for name, _, most in growing(replace(scene, given=then).world, lambda _: True):
        scale = Scale(name.kind, name.name, most, name.namespace)
        yield Step(str(scale), scale)


def _applying(manifests: Sequence[Any]) -> str:
    """``apply k8s/ --kustomize overlays/prod``."""
    built = [pod.directory for pod in manifests if isinstance(pod, Kustomization)]
    files = [_name(pod) or "manifests" for pod in manifests if not isinstance(pod, Kustomization)]
    return Apply.line({"files": files, **({"kustomize": built} if built else {})})


def _name(manifest: Any) -> str | None:
    """The file or directory of a manifest; None where it is in none."""
    name = manifest.file if isinstance(manifest, Manifest) else manifest
    return str(name) if isinstance(name, str | PathLike) and name not in (STDIN, STDIN_NAME) else None


def _file(question: Plan, scenario: Scenario) -> str:
    """As `play` reads it."""
    is_in_files = all(isinstance(pod, Kustomization) or _name(pod) for pod in question.manifests)
    if not (scenario.steps and is_in_files):
        return ""
    metadata = {} if question.namespace is None else {"metadata": {"namespace": question.namespace}}
    preemption = {} if question.preemption else {"preemption": False}
    spec = {"steps": [step.text for step in scenario.steps], **preemption}
    return to_yaml({"apiVersion": API_VERSION, "kind": KIND, **metadata, "spec": spec})


class _Side(Struct, frozen=True):
    """The answers about one of the two clusters; None where the time was up before one was finished."""

    release: str
    is_audited: bool
    """Whether that was finished; there may be nothing to audit."""
    audit: AuditReport | None
    survive: SurviveReport | None
    removable: RemovableReport | None
    map: TopologyMap

    def wanting(self, world: World) -> _Side:
        """With what unlisted controllers are to have in ``world``: a snapshot shows only the pods that are left."""
        if self.audit is None:
            return self
        rows = (
            row
            if world.makes_others(row.workload) or row.workload.kind == "Pod"
            else replace(row, replicas=desired_replicas(world, row.workload))
            for row in self.audit.workloads
        )
        return replace(self, audit=replace(self.audit, workloads=tuple(rows)))

    @property
    def rows(self) -> dict[WorkloadName, AuditedWorkload]:
        return {} if self.audit is None else {row.workload: row for row in self.audit.workloads}

    @property
    def lost(self) -> str | None:
        """The key whose domains are lost; None where none is."""
        losses = () if self.survive is None else self.survive.losses
        return losses[0].topology_key if losses else None

    @property
    def told(self) -> PlannedSide:
        rows, going = self.rows.values(), self.removable
        return PlannedSide(
            kube_version=self.release,
            nodes=len(self.map.nodes),
            replicas=sum(row.replicas for row in rows) if self.is_audited else None,
            ready=sum(row.ready for row in rows) if self.is_audited else None,
            pending=self.map.pending,
            can_go=None if going is None else len(going.together.nodes),
            not_tried=0 if going is None else len(self.map.nodes) - len(going.rows) + going.together.untried,
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
        self._question = question
        self.answers: list[ClusterReport] = []
        self.asked: list[str] = []
        self.missing: list[str] = []

    def side(self, scene: Scene, when: str) -> _Side:
        """All that is asked of one cluster."""
        asked = self._question
        audit, survive = Audit(preemption=asked.preemption), Survive(preemption=asked.preemption)
        removable = Removable(
            most=_MOST_NODES, preemption=asked.preemption, force=asked.force,
            ignore_daemonsets=asked.ignore_daemonsets, delete_emptydir_data=asked.delete_emptydir_data,
        )  # fmt: skip
        auditing = f"auditing the cluster {when}"
        audited = self._of(scene, audit, auditing)
        return _Side(
            str(scene.release),
            auditing not in self.missing,
            audited,
            self._of(scene, survive, f"losing domains {when}"),
            self._of(scene, removable, f"draining nodes {when}"),
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
        texts = (getattr(answer, f"all_{name}", getattr(answer, name)) for answer in self.answers)
        return tuple(dict.fromkeys(text for said in texts for text in said))


def _planned(name: WorkloadName, before: _Side, after: _Side, *, is_worse: bool) -> PlannedWorkload | None:
    """What becomes of a workload; None where it stays as it is."""
    was, now = before.rows.get(name), after.rows.get(name)
    # What hosts survive says nothing of zones.
    is_alike = None in (before.lost, after.lost) or before.lost == after.lost
    survived, survives = (side.survives(name) if is_alike else None for side in (before, after))
    change: Change
    why: tuple[str, ...] = ()
    if was is None or now is None:
        change = "worse" if is_worse else "new" if was is None else "gone"
    else:
        old, new = _counting(was, now), _counting(now, was)
        levels, fails = (_level(old), _level(new)), _fails(survived, survives)
        pairs = levels, fails
        why = (
            *([sentence(now, new[0]).rstrip(".")] if levels[0] < levels[1] else []),
            *([f"it no longer survives the loss of each {short_key(after.lost or '')}"] if fails == (0, 1) else []),
        )  # fmt: skip
        if is_worse:
            change = "worse"
        elif any(one < other for one, other in pairs):
            change = "riskier"
        elif was.lacking > now.lacking or any(one > other for one, other in pairs):
            change = "better"
        elif _figures(was) != _figures(now):
            change = "different"
        else:
            return None
    return PlannedWorkload(
        workload=name, change=change, before=was, after=now, survives_before=survived, survives_after=survives, why=why
    )


def _fails(survived: bool | None, survives: bool | None) -> tuple[bool, bool]:
    """Whether each side does not survive, where both are known."""
    is_known = survived is not None and survives is not None
    return is_known and not survived, is_known and not survives


def _counting(row: AuditedWorkload, other: AuditedWorkload) -> list[AuditFinding]:
    """Findings, the worst first, but what nodes that join or leave say of pods that are in one domain on both sides."""

    def is_in_one(key: str | None) -> bool:
        return all(key in side.worst_loss and not side.worst_loss[key].remaining for side in (row, other))

    return [
        finding for finding in row.findings
        if finding.constraint is not None or not is_in_one(finding.topology_key)
    ]  # fmt: skip


def _level(findings: Sequence[AuditFinding]) -> int:
    return LEVELS.index(findings[0].level) if findings else 0


def _figures(row: AuditedWorkload) -> object:
    """What is shown of it."""
    skews = [(constraint.topology_key, constraint.max_skew, constraint.skew) for constraint in row.constraints]
    return row.replicas, row.placed, row.ready, row.pending, row.zones, skews


def _nodes(before: TopologyMap, after: TopologyMap) -> Iterator[PlannedNode]:
    was, now = ({node.name: node for node in side.nodes} for side in (before, after))
    # Those that stay come last.
    for name in sorted({*was, *now}, key=lambda name: (name in was and name in now, name)):
        old, new = was.get(name), now.get(name)
        if old is None or new is None or (old.pods, old.load, old.closed) != (new.pods, new.load, new.closed):
            yield PlannedNode(name=name, before=old, after=new)
