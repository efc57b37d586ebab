"""Replacement of a pool batch by batch, and remedies of a blocked upgrade: one option or edit at a time, each proven by
playing the upgrade again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from time import monotonic
from typing import NamedTuple, Self

from msgspec.structs import replace

from kubespread.controllers.outage import is_silent
from kubespread.errors import KubespreadError, UsageError
from kubespread.kube.api.cluster_objects import HorizontalPodAutoscaler
from kubespread.kube.api.core import Node, Pod
from kubespread.kube.api.kinds import POD_CREATORS
from kubespread.kube.owners import NamespacedName, WorkloadName
from kubespread.kube.taint import DrainFlags, uncordon_node
from kubespread.questions.plan import PlanRemedy, PlanReport, PlanStep
from kubespread.questions.plan.playing import played_step
from kubespread.questions.remedies.budgets import looser, settled_after
from kubespread.questions.remedies.change import Answer, Change, Goal, Ladder, QuestionEdits
from kubespread.questions.remedies.search import Attempts, smallest
from kubespread.questions.scene import Scene
from kubespread.questions.upgrade import Upgrade
from kubespread.reports.outcome import Outcome
from kubespread.snapshot.edits.new_nodes import AddNode, node_called, replacement_text
from kubespread.snapshot.edits.nodes import Uncordon
from kubespread.snapshot.edits.pods import Scale
from kubespread.snapshot.edits.registry import parse
from kubespread.snapshot.edits.verb import Edit, Target, nodes_of_target, parse_target
from kubespread.wording import some_of
from kubespread.world.events.controllers import update_daemon_pods
from kubespread.world.events.draining import delete_nodes, drain
from kubespread.world.events.world import World
from kubespread.world.reporting.difference import Difference, Trial, everything
from kubespread.world.reporting.happenings import desired_replicas, movable_workloads, unevictable_pods, workload_of
from kubespread.world.reporting.outcomes import current_troubles, outcome

_MAX_TRIED, _MAX_NAMED = 12, 3


def answer(question: Upgrade, scene: Scene) -> PlanReport:
    """Play the upgrade as requested, and if it is blocked again with each change that may help."""
    if question.surge < 0:
        raise UsageError(f"surge must be at least 0, not {question.surge}")
    if question.batch < 1:
        raise UsageError(f"batch must be at least 1, not {question.batch}")
    since = monotonic()
    through = _Passing.build(question, scene)
    took, trial = monotonic() - since, through.baseline.trial()
    before = through.baseline.world
    settled = Difference(through.baseline, before, (through.baseline.happenings,))
    start = outcome(Outcome, "before the first step", settled)
    report = replace(_play(question, trial, start), waiting=tuple(current_troubles(before)))
    if question.remedies and report.judge() == "no":
        stopping = [blocked.pod for blocked in trial.difference.blocked_pods]
        report = _with_remedies(report, through, stopping, scene, took)
    return replace(
        report,
        cluster=scene.source,
        preemption=question.preemption,
        gaps=scene.gaps(trial.world.assumed),
        notes=(*scene.notes, *through.baseline.happenings.notes),
    )


def _nodes_of(question: Upgrade, world: World) -> list[Node]:
    """The nodes to replace; an added node may be one of them."""
    return nodes_of_target(parse_target(question.nodes), world.living.nodes.objects)


def _play(question: Upgrade, trial: Trial, start: Outcome) -> PlanReport:
    """Play a step per batch, up to the first that is not done."""
    names = [node.metadata.name for node in _nodes_of(question, trial.world)]
    batches = [names[first : first + question.batch] for first in range(0, len(names), question.batch)]
    pool = UpgradePool(trial.world, names, question.surge, question.drain_flags, question.to)
    count, steps = len(trial.world.cluster), list[PlanStep]()
    for number, batch in enumerate(batches, 1):
        joined = len(pool.replaces)
        step = played_step(trial, number, _title(batch), lambda world: pool.replace_batch(world, question.batch))
        steps.append(replace(step, replaces=dict([*pool.replaces.items()][joined:])))
        if not step.is_done:
            break
    return PlanReport(
        kube_version=str(trial.world.settings.version),
        name=f"Replacing {question.nodes}",
        node_count=count,
        start=start,
        steps=tuple(steps),
        undone=tuple(map(_title, batches[len(steps) :])),
        not_modelled=Upgrade.never_modelled,
    )


def _title(batch: Sequence[str]) -> str:
    return f"replace {some_of(batch, _MAX_NAMED)}"


class _Passing(Goal):
    """An upgrade that gets through: all nodes are replaced, no budget is broken, and no additional pod is left pending.

    With each change it is played as if asked again with it.
    """

    def __init__(self, question: Upgrade, scene: Scene) -> None:
        self.question = question
        self._as_read = scene.world.fork()
        self.baseline, _ = scene.baseline()
        self.assumed = self.baseline.world.assumed

    @classmethod
    def build(cls, question: Upgrade, scene: Scene) -> Self:
        nodes_of_target(parse_target(question.nodes), scene.edited_snapshot.nodes)
        return cls(question, scene)

    def __call__(self, sizes: Sequence[Change]) -> _Search:
        """Find the smallest of ``sizes`` that suffices; each changes more than the one before."""
        trials = Attempts(self)
        least = smallest(Ladder.of_sizes(sizes), trials)
        played = tuple(change.what for change in sizes if change.key in trials.tried)
        return _Search(played) if least is None else _Search(played, least.change.what, least.answer.lost_pods)

    def ask(self, change: Change) -> Answer | None:
        # Edits come first: pending pods are placed in the edited cluster before the upgrade begins.
        baseline = settled_after(self._as_read, change) if change.edits else self.baseline
        if baseline is None:
            return None
        attempt = replace(baseline, grow=self.baseline.grow).trial()
        try:
            report = _play(replace(self.question, **dict(change.fields)), attempt, Outcome(name=""))
        except KubespreadError:
            return None
        # The edit itself may leave pods pending.
        is_worse = Difference(self.baseline, attempt.world, attempt.happened).is_worse
        return Answer(int(report.judge() == "yes" and not is_worse), lost_pods=tuple(report.lost_pods))


class _Search(NamedTuple):
    played: tuple[str, ...]
    helps: str = ""
    """Options that suffice; empty if none do."""
    lost_pods: tuple[NamespacedName, ...] = ()
    """Pods that they lose for good."""


def _with_remedies(
    report: PlanReport, through: _Passing, stopping: Sequence[Pod], scene: Scene, took: float
) -> PlanReport:
    """Add the options that get the upgrade through, each alone; preparing a trial took ``took`` seconds."""
    world, edits = through.baseline.world, scene.snapshot.edits
    nodes = world.living.nodes.objects
    decided = QuestionEdits(edits).decisions(nodes, Pod())
    trials = [
        sizes
        for sizes in _trials(through.question, world, report, stopping, edits)
        if decided.isdisjoint(QuestionEdits(sizes[0].edits).decisions(nodes, Pod()))
    ]
    first = trials[:_MAX_TRIED]
    searches = list(scene.tasks(through, first, took=took))
    return replace(
        report,
        remedies=tuple(PlanRemedy(options=search.helps, lost=search.lost_pods) for search in searches if search.helps),
        tried=tuple(options for search in searches for options in search.played),
        unfinished=scene.budget.missing("change", len(first), [least.what for least, *_ in first[len(searches) :]]),
    )


def _trials(
    question: Upgrade, world: World, report: PlanReport, stopping: Sequence[Pod], edits: Sequence[Edit]
) -> Iterator[tuple[Change, ...]]:
    """Yield changes to try, in order, each at all its sizes.

    They are flags where kubectl refuses; room where pods wait, and replicas of the ``stopping`` pods, which a budget
    does not let go, whichever is needed first; looser budgets; and nodes to uncordon.
    """
    refusal = "".join(trouble.why for trouble in report.whole.get("localStorage", "noController", "daemonSet"))
    if refusal and (flags := tuple(_flags(question, refusal))):
        yield flags
    pool = _nodes_of(question, world)
    replaced = {node.metadata.name for node in pool}
    room, replicas = _room(question, pool), _larger(world, stopping)
    # There may be very many of these.
    uncordoned = (
        _edit(Uncordon(Target(node.metadata.name)))
        for node in world.living.nodes.objects
        if node.spec.unschedulable and not is_silent(node) and node.metadata.name not in replaced
    )
    needed = (room, replicas) if report.pending or not stopping else (replicas, room)
    yield from ((change,) for change in chain(*needed))
    refused = [pod for name in replaced for pod in unevictable_pods(world, movable_workloads(world, everything), name)]
    if budgets := looser(world, edits, stopping, [*stopping, *refused]):
        yield budgets
    yield from ((change,) for change in uncordoned)


def _edit(edit: Edit) -> Change:
    return Change(edit.form.verb, f"--{edit}", 0, edits=(edit,))


def _flags(question: Upgrade, refusal: str) -> Iterator[Change]:
    """The flags that kubectl's refusal names, and then all: it may refuse other nodes for other reasons."""
    options = {
        "--ignore-daemonsets": "ignore_daemonsets",
        "--delete-emptydir-data": "delete_emptydir_data",
        "--force": "force",
    }
    unset = [option for option, field in options.items() if not getattr(question, field)]
    for flags in dict.fromkeys((tuple(option for option in unset if option in refusal), tuple(unset))):
        if flags:
            yield Change("flags", " ".join(flags), 0, fields=tuple((options[option], True) for option in flags))


def _room(question: Upgrade, pool: Sequence[Node]) -> Iterator[Change]:
    if question.batch > 1:
        yield Change("batch", "--batch 1", 0, fields=(("batch", 1),))
    surge = question.surge + 1
    yield Change("surge", f"--surge {surge}", 0, fields=(("surge", surge),))
    # A copy of a failed node would be in the same place.
    working = (node for node in pool if not is_silent(node))
    if (template := next(working, None)) is not None:
        yield _edit(AddNode(template.metadata.name))


def _larger(world: World, stopping: Sequence[Pod]) -> Iterator[Change]:
    """One more replica of each workload that a budget blocks, unless an autoscaler would remove it again."""
    for workload in dict.fromkeys(workload_of(world, pod) for pod in stopping):
        row = POD_CREATORS.get(workload.kind)
        if row is not None and row.has_replicas:
            more = desired_replicas(world, workload) + 1
            if all(more <= most for most in _autoscaled_to(world, workload)):
                yield _edit(Scale(workload.kind, workload.name, more, workload.namespace))


def _autoscaled_to(world: World, workload: WorkloadName) -> Iterator[int]:
    for autoscaler in world.workloads.objects.get(HorizontalPodAutoscaler):
        target, namespace = autoscaler.spec.scale_target_ref, autoscaler.metadata.namespace
        if WorkloadName(target.kind, namespace, target.name) == workload:
            yield autoscaler.spec.max_replicas


class UpgradePool:
    """The nodes to replace, in order, and the nodes that have joined in their place.

    The nodes of each batch are cordoned, drained with kubectl's ``flags`` and deleted. Replacements, copies with fresh
    names or what ``to`` says, join once the nodes they replace are gone, but ``surge`` of them always join before; the
    pool is larger by that number meanwhile. Pods without a node do not delay the next batch, unless a budget does.
    """

    def __init__(self, world: World, nodes: Sequence[str], surge: int, flags: DrainFlags, to: str = "") -> None:
        """Raises UsageError and ManifestError for an invalid ``to``."""
        living = world.living.nodes
        self.nodes, self.replaces = nodes, dict[str, str]()
        self._surge, self._flags, self._to = surge, flags, to
        self._joining = [_instead_of(living.objects[living.index[name]], to, living.objects) for name in nodes]
        self._deleted = 0

    def replace_batch(self, world: World, size: int) -> bool:
        """Replace the next nodes; True if they are deleted. A batch that cannot be drained is the next one again."""
        names = self.nodes[self._deleted : self._deleted + size]
        self._join(world, self._deleted + self._surge)
        if not drain(world, names, self._flags):
            return False
        world.wait()
        delete_nodes(world, names)
        world.settle()
        self._deleted += len(names)
        self._join(world, self._deleted)
        return True

    def _join(self, world: World, upto: int) -> None:
        """Add the replacements of the first ``upto`` nodes that have not joined yet, DaemonSets' pods first."""
        joined = len(self.replaces)
        if upto > joined:
            world.wait()
        for name, joining in [*zip(self.nodes, self._joining, strict=True)][joined:upto]:
            change = joining.change(world.living.nodes.objects)
            if not (self._to and self.replaces):
                for note in change.notes:
                    world.happenings.note(note)
            world.change_nodes(change)
            update_daemon_pods(world, change, {})
            self.replaces.update((node.metadata.name, name) for node in change.added)
        world.settle()


def _instead_of(node: Node, to: str, nodes: Sequence[Node]) -> AddNode:
    """Edit that adds the new node for ``node``, a copy or as in ``to``; ``nodes`` may be deleted before it joins."""
    if not to:
        return AddNode(node.metadata.name, manifest=uncordon_node(node))
    by, separator, labels = to.partition("@")
    if ":" in by or (separator and not all("=" in pair for pair in labels.split("@"))):
        raise UsageError(f"invalid --to {to!r}: expected CPUxGI, as in 8x16, or TEMPLATE, with @KEY=VALUE if needed")
    edit = parse(f"add-node {replacement_text(node, by, separator + labels)}")
    assert isinstance(edit, AddNode)
    return replace(edit, manifest=edit.manifest or uncordon_node(node_called(edit.template, nodes)))
