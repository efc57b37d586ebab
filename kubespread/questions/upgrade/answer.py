"""Replacing a pool as budgets allow, and what gets a failed upgrade through: one option or edit at a time, each proven
by playing the upgrade again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from time import monotonic
from typing import NamedTuple, Self

from msgspec import Struct, field
from msgspec.structs import replace

from kubespread.controllers.outage import is_silent
from kubespread.errors import KubespreadError, UsageError
from kubespread.kube.api.cluster_objects import HorizontalPodAutoscaler
from kubespread.kube.api.core import Node
from kubespread.kube.api.kinds import POD_CREATORS
from kubespread.kube.owners import NamespacedName, WorkloadName
from kubespread.kube.taint import DrainFlags
from kubespread.questions.costs import cost_change, cost_of, price_gaps
from kubespread.questions.scene import Scene
from kubespread.questions.upgrade.question import Upgrade
from kubespread.questions.upgrade.replacing import replace_nodes
from kubespread.questions.upgrade.report import UpgradeCost, UpgradeReport
from kubespread.questions.workloads_asked import WorkloadsAsked
from kubespread.reports.parts import Unfinished
from kubespread.scenario.prices import Prices, read_prices
from kubespread.snapshot.edits.new_nodes import AddNode
from kubespread.snapshot.edits.nodes import Uncordon
from kubespread.snapshot.edits.pods import Scale
from kubespread.snapshot.edits.verb import Edit, Target, nodes_of_target, parse_target
from kubespread.world.events.editing import apply
from kubespread.world.events.world import World
from kubespread.world.reporting.difference import Baseline, Difference, Trial
from kubespread.world.reporting.happenings import desired_replicas

_MAX_TRIED = 12


def answer(question: Upgrade, scene: Scene) -> UpgradeReport:
    """The upgrade played once as requested, and again with each change that may get it through."""
    if question.surge < 0:
        raise UsageError(f"surge must be at least 0, not {question.surge}")
    if question.batch < 1:
        raise UsageError(f"batch must be at least 1, not {question.batch}")
    since = monotonic()
    trying = _Trying.of(question, scene)
    took, trial = monotonic() - since, trying.trial()
    world = trial.world
    whose = question.asked_in(scene.snapshot)
    if whose.names or whose.text or whose.namespace is not None:
        whose.check_any(trying.baseline.world, scene.now)
    report = trying.manner.play(trial)
    remedies = _remedies(trying, report, scene, took) if question.remedies and report.verdict != "yes" else _Remedies()
    prices = None if question.prices is None else read_prices(question.prices)
    return replace(
        report,
        cost=None if prices is None else _cost(report, scene.now.nodes, world.living.nodes.objects, prices),
        **whose.as_reported(trying.baseline.world),
        cluster=scene.source,
        preemption=question.preemption,
        remedies=tuple(remedies.options),
        remedies_lose={option: lost for option, lost in remedies.options.items() if lost},
        remedies_tried=remedies.tried,
        remedies_untried=remedies.untried,
        gaps=(
            *scene.gaps(world.assumed),
            *(() if prices is None else price_gaps(_all_nodes(scene.now.nodes, world.living.nodes.objects), prices)),
        ),
        notes=(*scene.notes, *trying.notes, *report.notes),
        unfinished=remedies.unfinished,
    )


def _all_nodes(before: Sequence[Node], after: Sequence[Node]) -> Iterable[Node]:
    """Each once: the names of new nodes are new."""
    return {node.metadata.name: node for node in (*before, *after)}.values()


def _cost(report: UpgradeReport, before: Sequence[Node], after: Sequence[Node], prices: Prices) -> UpgradeCost:
    """What the nodes of the cluster cost, which were ``before`` and are ``after``: each has a price all the time."""
    by_name = {node.metadata.name: node for node in _all_nodes(before, after)}
    there, most = {node.metadata.name for node in before}, [cost_of(before, prices)]
    for step in report.steps:
        for coming, going in ((step.added[: step.joined_before], ()), (step.added[step.joined_before :], step.nodes)):
            there |= {*coming}
            there -= {*(() if step.is_blocked else going)}
            most.append(cost_of((by_name[name] for name in there), prices))
    change = cost_change(before, after, prices)
    return UpgradeCost(
        pricing=change.pricing, before=change.before, after=change.after, difference=change.difference,
        most=max(most, key=lambda cost: (cost.known, cost.nodes)),
    )  # fmt: skip


class Manner(Struct, frozen=True):
    """How a pool is upgraded."""

    pool: Target
    """Its nodes, by name or labels: an added node may be one of them."""
    surge: int = 0
    batch: int = 1
    flags: DrainFlags = DrainFlags()
    to: str = ""
    """What new nodes are; empty: copies."""

    def nodes(self, world: World) -> tuple[Node, ...]:
        """The nodes to replace."""
        return tuple(nodes_of_target(self.pool, world.living.nodes.objects))

    def play(self, trial: Trial) -> UpgradeReport:
        names = [node.metadata.name for node in self.nodes(trial.world)]
        return replace_nodes(trial, names, self.surge, self.batch, self.flags, self.to)


class _Remedies(Struct, frozen=True):
    """The result of the search for remedies."""

    options: dict[str, tuple[NamespacedName, ...]] = field(default_factory=dict)
    """Options that help, each with the pods it loses for good."""
    tried: int = 0
    untried: int = 0
    unfinished: Unfinished | None = None


class _Trial(Struct, frozen=True):
    """Something to try, and the options for it."""

    options: tuple[str, ...]
    manner: Manner
    edit: Edit | None = None

    def __str__(self) -> str:
        return " ".join(self.options)


class _Trying:
    """The upgrade of one pool, played with one change or another, each as if asked again with it."""

    def __init__(self, scene: Scene, manner: Manner, whose: WorkloadsAsked) -> None:
        self.manner = manner
        self._as_read = scene.world.fork()
        self.baseline, self.notes = scene.settled("any node is replaced")
        self.counts = whose.those_in(self.baseline.world)
        self.assumed = self.baseline.world.assumed

    @classmethod
    def of(cls, question: Upgrade, scene: Scene) -> Self:
        pool = parse_target(question.nodes)
        nodes_of_target(pool, scene.now.nodes)
        manner = Manner(pool, question.surge, question.batch, question.drain_flags, question.to)
        return cls(scene, manner, question.asked_in(scene.snapshot))

    def trial(self) -> Trial:
        """A fork to replace nodes in."""
        return self.baseline.trial(self.counts)

    def __call__(self, trials: Sequence[_Trial]) -> _Tried:
        """Each asks for more than the one before, and is played only where that does not suffice."""
        for played, trial in enumerate(trials, 1):
            lost = self._lost_with(trial)
            if lost is not None:
                return _Tried(played, str(trial), lost)
        return _Tried(len(trials))

    def _lost_with(self, trial: _Trial) -> tuple[NamespacedName, ...] | None:
        """The pods that are lost for good; None where nodes are left, a budget is broken or more pods are left pending
        than before, by the change itself too.
        """
        attempt = self.trial()
        try:
            if trial.edit is not None:
                # Edits come first: what waits is placed in the edited cluster, before the upgrade begins.
                other = self._as_read.fork()
                apply(other, trial.edit, "")
                attempt = Trial(Baseline.settled(other), other.fork(), self.counts)
            outcome = trial.manner.play(attempt)
        except KubespreadError:
            return None
        if outcome.verdict != "yes" or Difference(self.baseline, attempt.world, attempt.happened, self.counts).is_worse:
            return None
        return tuple(pod for step in outcome.steps for pod in step.lost)


class _Tried(NamedTuple):
    played: int
    helps: str = ""
    """The options that suffice; empty where none do."""
    lost: tuple[NamespacedName, ...] = ()


def _remedies(trying: _Trying, report: UpgradeReport, scene: Scene, took: float) -> _Remedies:
    """Options with which the upgrade in ``report`` would replace all nodes, break no budget and leave no additional pod
    pending. To get ready for that took ``took`` seconds.
    """
    trials = list(_trials(trying.baseline.world, trying.manner, report))
    asked = trials[:_MAX_TRIED]
    done = list(scene.tasks(trying, asked, known=lambda tried: tried.helps and f"helps: {tried.helps}", took=took))
    return _Remedies(
        {tried.helps: tried.lost for tried in done if tried.helps},
        sum(tried.played for tried in done),
        len(trials) - len(done),
        scene.unfinished("change", len(asked), [str(first) for first, *_ in asked[len(done) :]]),
    )


def _trials(world: World, manner: Manner, report: UpgradeReport) -> Iterator[tuple[_Trial, ...]]:
    """Trials for the obstacle: kubectl's own flags where it refuses; else room where pods wait, and replicas where a
    budget allows no eviction; the cheapest of each kind first.
    """
    if (
        report.blocked is not None
        and report.blocked.refusal is not None
        and (flags := tuple(_flags(manner, report.blocked.refusal)))
    ):
        yield flags
    room, replicas = _room(world, manner), _larger(world, manner, report)
    # There may be very many of these.
    uncordoned = (_with(manner, Uncordon(Target(node.metadata.name))) for node in _cordoned(world, manner))
    needed = (room, replicas) if report.pending or report.blocked is None else (replicas, room)
    yield from ((trial,) for trial in chain(*needed, uncordoned))


def _flags(manner: Manner, refusal: str) -> Iterator[_Trial]:
    """The flags that kubectl's refusal names, and then all: it may refuse other nodes for other reasons."""
    flags = manner.flags
    is_set = {
        "--ignore-daemonsets": flags.ignore_daemonsets,
        "--delete-emptydir-data": flags.delete_emptydir_data,
        "--force": flags.force,
    }
    unset = [option for option, is_given in is_set.items() if not is_given]
    named = [option for option in unset if option in refusal]
    for options in (named, *([unset] if unset != named else ())):
        if options:
            then = replace(
                flags,
                ignore_daemonsets=flags.ignore_daemonsets or "--ignore-daemonsets" in options,
                delete_emptydir_data=flags.delete_emptydir_data or "--delete-emptydir-data" in options,
                force=flags.force or "--force" in options,
            )
            yield _Trial(tuple(options), replace(manner, flags=then))


def _room(world: World, manner: Manner) -> Iterator[_Trial]:
    if manner.batch > 1:
        yield _Trial(("--batch 1",), replace(manner, batch=1))
    yield _Trial((f"--surge {manner.surge + 1}",), replace(manner, surge=manner.surge + 1))
    # A copy of a failed node would be in the same place.
    working = (node for node in manner.nodes(world) if not is_silent(node) and not node.spec.unschedulable)
    if (template := next(working, None)) is not None:
        yield _with(manner, AddNode(template.metadata.name))


def _with(manner: Manner, edit: Edit) -> _Trial:
    return _Trial((f"--{edit}",), manner, edit)


def _cordoned(world: World, manner: Manner) -> Iterator[Node]:
    """Nodes outside the pool that answer and are cordoned."""
    pool = {node.metadata.name for node in manner.nodes(world)}
    for node in world.living.nodes.objects:
        if node.spec.unschedulable and not is_silent(node) and node.metadata.name not in pool:
            yield node


def _larger(world: World, manner: Manner, report: UpgradeReport) -> Iterator[_Trial]:
    """One more replica of each workload that a budget blocks, unless an autoscaler would remove it again."""
    for workload in () if report.blocked is None else report.blocked.workloads:
        row = POD_CREATORS.get(workload.kind)
        if row is not None and row.has_replicas:
            more = desired_replicas(world, workload) + 1
            if all(more <= most for most in _autoscaled_to(world, workload)):
                yield _with(manner, Scale(workload.kind, workload.name, more, workload.namespace))


def _autoscaled_to(world: World, workload: WorkloadName) -> Iterator[int]:
    for autoscaler in world.workloads.objects.of(HorizontalPodAutoscaler):
        target, namespace = autoscaler.spec.scale_target_ref, autoscaler.metadata.namespace
        if WorkloadName(target.kind, namespace, target.name) == workload:
            yield autoscaler.spec.max_replicas
