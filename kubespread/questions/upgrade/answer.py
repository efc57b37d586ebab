"""Replacing a pool batch by batch, as managed node pools and ``kubectl drain`` do it, within budgets, and what gets a
failed upgrade through: one option or edit at a time, each proven by playing the upgrade again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
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
from kubespread.kube.taint import DrainFlags, uncordoned
from kubespread.questions.autoscaling.asked import growth, with_files_read
from kubespread.questions.autoscaling.templates import Lost
from kubespread.questions.costs import cost_change, cost_of, price_gaps
from kubespread.questions.remedies.asked import Asked
from kubespread.questions.remedies.budgets import looser, settled_after
from kubespread.questions.remedies.change import Answer, Change, Goal, Ladder
from kubespread.questions.remedies.search import Trials, smallest
from kubespread.questions.scene import Scene
from kubespread.questions.upgrade.question import Upgrade
from kubespread.questions.upgrade.report import Blocked, UpgradeCost, UpgradeReport, UpgradeStep
from kubespread.reports.autoscaling import AutoscalingReport
from kubespread.reports.happened import holders
from kubespread.reports.loads import changed_loads
from kubespread.scenario.prices import Prices, read_prices
from kubespread.snapshot.edits.new_nodes import AddNode, in_place_of, node_called
from kubespread.snapshot.edits.nodes import Uncordon
from kubespread.snapshot.edits.pods import Scale
from kubespread.snapshot.edits.registry import parse
from kubespread.snapshot.edits.verb import Edit, Target, nodes_of_target, parse_target
from kubespread.world.events.controllers import follow
from kubespread.world.events.draining import delete_nodes, drain
from kubespread.world.events.world import World
from kubespread.world.reporting.difference import Difference, Trial, everything
from kubespread.world.reporting.happenings import (
    blocked_pods,
    desired_replicas,
    gone_pods,
    pending_pods,
    unmade_pods,
    workload_of,
)
from kubespread.world.reporting.tight_budgets import refused_pods, tight_budgets, whose
from kubespread.world.store.happenings import EVICTED, PREEMPTED
from kubespread.world.store.pod_book import key_of

_MAX_TRIED = 12
Autoscale = partial[AutoscalingReport]


def answer(question: Upgrade, scene: Scene) -> UpgradeReport:
    """The upgrade played once as requested, and again with each change that may get it through."""
    if question.surge < 0:
        raise UsageError(f"surge must be at least 0, not {question.surge}")
    if question.batch < 1:
        raise UsageError(f"batch must be at least 1, not {question.batch}")
    question = replace(question, **with_files_read(question))
    since = monotonic()
    through = _Through.of(question, scene)
    took, trial = monotonic() - since, through.baseline.trial(through.counts)
    world = trial.world
    whose = question.asked_in(scene.snapshot)
    if whose.names or whose.text or whose.namespace is not None:
        whose.check_any(through.baseline.world, scene.now)
    tight, report = _tight(question, through), _played(question, trial, through.autoscale)
    stopping = [blocked.pod for blocked in trial.difference.blocked]
    report = report.revised(tight_budgets=tight, holders=holders(_held(question, through, stopping, world)))
    if question.remedies and report.verdict != "yes" and not (report.blocked is not None and report.blocked.is_kept):
        report = _with_remedies(report, through, stopping, scene, took)
    prices = None if question.prices is None else read_prices(question.prices)
    return report.revised(
        cost=None if prices is None else _cost(report, scene.now.nodes, world.living.nodes.objects, prices),
        **whose.as_reported(through.baseline.world),
        cluster=scene.source,
        preemption=question.preemption,
        gaps=(
            *scene.gaps(world.assumed),
            *(() if prices is None else price_gaps(_all_nodes(scene.now.nodes, world.living.nodes.objects), prices)),
        ),
        notes=(*scene.notes, *through.notes, *report.notes),
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
        pricing=change.pricing,
        before=change.before,
        after=change.after,
        difference=change.difference,
        most=max(most, key=lambda cost: (cost.known, cost.nodes)),
    )


def _nodes_of(question: Upgrade, world: World) -> list[Node]:
    """The nodes to replace; an added node may be one of them."""
    return nodes_of_target(parse_target(question.nodes), world.living.nodes.objects)


def _played(question: Upgrade, trial: Trial, autoscale: Autoscale | None) -> UpgradeReport:
    names = [node.metadata.name for node in _nodes_of(question, trial.world)]
    return replace_nodes(trial, names, question.surge, question.batch, question.drain_flags, question.to, autoscale)


class _Through(Goal):
    """An upgrade that gets through: all nodes are replaced, no budget is broken, and no additional pod is left pending.

    With each change it is played as if asked again with it.
    """

    def __init__(self, question: Upgrade, scene: Scene) -> None:
        self.question = question
        self._as_read = scene.world.fork()
        self.baseline, self.notes = scene.settled("any node is replaced")
        self.counts = question.asked_in(scene.snapshot).those_in(self.baseline.world)
        self.assumed = self.baseline.world.assumed
        self.autoscale = growth(question, scene.now)

    @classmethod
    def of(cls, question: Upgrade, scene: Scene) -> Self:
        nodes_of_target(parse_target(question.nodes), scene.now.nodes)
        return cls(question, scene)

    def __call__(self, sizes: Sequence[Change]) -> _Tried:
        """Each changes more than the one before, and is played only where that does not suffice."""
        trials = Trials(self)
        found = smallest(Ladder.of_sizes(sizes), trials)
        return _Tried(trials.count) if found is None else _Tried(trials.count, found.change.what, found.answer.lost)

    def ask(self, change: Change) -> Answer | None:
        # Edits come first: what waits is placed in the edited cluster, before the upgrade begins.
        baseline = settled_after(self._as_read, change) if change.edits else self.baseline
        if baseline is None:
            return None
        attempt = baseline.trial(self.counts)
        try:
            report = _played(replace(self.question, **dict(change.fields)), attempt, self.autoscale)
        except KubespreadError:
            return None
        # The edit itself may leave pods pending.
        is_worse = Difference(self.baseline, attempt.world, attempt.happened, self.counts).is_worse
        lost = tuple(pod for step in report.steps for pod in step.lost)
        return Answer(int(report.verdict == "yes" and not is_worse), lost=lost)


class _Tried(NamedTuple):
    played: int
    helps: str = ""
    """The options that suffice; empty where none do."""
    lost: tuple[NamespacedName, ...] = ()
    """The pods that they lose for good."""


def _with_remedies(
    report: UpgradeReport, through: _Through, stopping: Sequence[Pod], scene: Scene, took: float
) -> UpgradeReport:
    """The report with the options that get the upgrade through, each alone. To get ready for that took ``took``
    seconds.
    """
    world, edits = through.baseline.world, scene.snapshot.edits
    nodes = world.living.nodes.objects
    decided = Asked(edits).decided(nodes, Pod())
    trials = [
        sizes
        for sizes in _trials(through.question, world, report, stopping, edits)
        if decided.isdisjoint(Asked(sizes[0].edits).decided(nodes, Pod()))
    ]
    asked = trials[:_MAX_TRIED]
    done = list(
        scene.tasks(
            through, asked, through.question, known=lambda tried: tried.helps and f"helps: {tried.helps}", took=took
        )
    )
    lost = {tried.helps: tried.lost for tried in done if tried.helps}
    return report.revised(
        remedies=tuple(lost),
        remedies_lose={option: pods for option, pods in lost.items() if pods},
        remedies_tried=sum(tried.played for tried in done),
        remedies_untried=len(trials) - len(done),
        unfinished=scene.unfinished("change", len(asked), [first.what for first, *_ in asked[len(done) :]]),
    )


def _trials(
    question: Upgrade, world: World, report: UpgradeReport, stopping: Sequence[Pod], edits: Sequence[Edit]
) -> Iterator[tuple[Change, ...]]:
    """What to try for the obstacle, each at its sizes: kubectl's own flags where it refuses; else room where pods wait,
    and replicas where a budget allows no eviction, as of the ``stopping`` pods; the cheapest of each kind first.
    """
    refusal = None if report.blocked is None else report.blocked.refusal
    if refusal is not None and (flags := tuple(_flags(question, refusal))):
        yield flags
    pool = _nodes_of(question, world)
    replaced = {node.metadata.name for node in pool}
    room, replicas = _room(question, pool), _larger(world, report)
    # There may be very many of these.
    uncordoned = (
        _edit(Uncordon(Target(node.metadata.name)))
        for node in world.living.nodes.objects
        if node.spec.unschedulable and not is_silent(node) and node.metadata.name not in replaced
    )
    needed = (room, replicas) if report.pending or report.blocked is None else (replicas, room)
    yield from ((change,) for change in chain(*needed))
    held = [pod for name in replaced for pod in refused_pods(world, whose(world, everything), name)]
    if budgets := looser(world, edits, stopping, [*stopping, *held]):
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


def _tight(question: Upgrade, through: _Through) -> tuple[NamespacedName, ...]:
    """The budgets that hold pods on the nodes to replace, before anything happens."""
    world = through.baseline.world
    pool = {node.metadata.name for node in _nodes_of(question, world)}
    budgets = tight_budgets(world, whose(world, through.counts))
    return tuple(budget.name for budget in budgets if not pool.isdisjoint(budget.nodes))


def _held(
    question: Upgrade, through: _Through, stopping: Iterable[Pod], world: World
) -> Iterator[tuple[str, WorkloadName]]:
    """The nodes that budgets keep, before anything happens or where it stops, each with every workload that does."""
    before = through.baseline.world
    for node in _nodes_of(question, before):
        for pod in refused_pods(before, whose(before, through.counts), node.metadata.name):
            yield node.metadata.name, workload_of(before, pod)
    yield from ((pod.spec.node_name, workload_of(world, pod)) for pod in stopping)


def _larger(world: World, report: UpgradeReport) -> Iterator[Change]:
    """One more replica of each workload that a budget blocks, unless an autoscaler would remove it again."""
    for workload in () if report.blocked is None else report.blocked.workloads:
        row = POD_CREATORS.get(workload.kind)
        if row is not None and row.has_replicas:
            more = desired_replicas(world, workload) + 1
            if all(more <= most for most in _autoscaled_to(world, workload)):
                yield _edit(Scale(workload.kind, workload.name, more, workload.namespace))


def _autoscaled_to(world: World, workload: WorkloadName) -> Iterator[int]:
    for autoscaler in world.workloads.objects.of(HorizontalPodAutoscaler):
        target, namespace = autoscaler.spec.scale_target_ref, autoscaler.metadata.namespace
        if WorkloadName(target.kind, namespace, target.name) == workload:
            yield autoscaler.spec.max_replicas


def replace_nodes(
    trial: Trial,
    nodes: Sequence[str],
    surge: int,
    batch: int,
    flags: DrainFlags,
    to: str = "",
    autoscale: Autoscale | None = None,
) -> UpgradeReport:
    """Replace nodes by copies with fresh names, or by what ``to`` says, ``batch`` at a time and in the order given.

    The nodes of each batch are cordoned, drained with kubectl's ``flags`` and deleted. Replacements join once the nodes
    they replace are gone, but ``surge`` of them always join before; the pool is larger by that number meanwhile. Pods
    without a node do not delay the next batch, unless a budget does. It ends when an eviction is refused for good, and
    leaves the world as it is then. The report has neither remedies nor the cluster; what waits and what is preempted or
    lost is told of the workloads that count in ``trial``. Whenever pods wait ``autoscale`` adds nodes. Raises
    UsageError and ManifestError for a ``to`` that says nothing.
    """
    pool = _Pool(trial, nodes, surge, flags, to, autoscale)
    steps: list[UpgradeStep] = []
    blocked: Blocked | None = None
    for start in range(0, len(nodes), batch):
        names = nodes[start : start + batch]
        step, blocked = pool.replace(names, start)
        steps.append(step)
        if blocked is not None:
            break
    difference, world = trial.difference, trial.world
    is_charged = {key_of(waiting.pod) for waiting in difference.waiting}
    as_before = (
        waiting
        for waiting in world.waiting
        if key_of(waiting.pod) not in is_charged and trial.counts(workload_of(world, waiting.pod))
    )
    return UpgradeReport(
        kube_version=str(world.surroundings.version),
        nodes=tuple(nodes),
        to=to,
        surge=surge,
        batch=batch,
        steps=tuple(steps),
        replaced=sum(len(step.nodes) for step in steps) - (len(blocked.nodes) if blocked is not None else 0),
        blocked=blocked,
        pending_before=trial.baseline.pending(trial.counts),
        pending=tuple(pending_pods(world, difference.waiting)),
        not_created=tuple(unmade_pods(world, (row for row in difference.unmade if row.is_refused))),
        not_made_yet=tuple(unmade_pods(world, (row for row in difference.unmade if not row.is_refused))),
        short=tuple(difference.short),
        pending_as_before=tuple(pending_pods(world, as_before)),
        scaled=tuple(pool.scaled),
        not_modelled=Upgrade.never_modelled,
        notes=(*pool.notes, *dict.fromkeys(note for scaled in pool.scaled for note in scaled.notes)),
    )


@dataclass(slots=True)
class _Pool:
    """The nodes to replace, and those that have taken their place."""

    trial: Trial
    nodes: Sequence[str]
    surge: int
    flags: DrainFlags
    to: str
    autoscale: Autoscale | None
    scaled: list[AutoscalingReport] = field(default_factory=list)
    notes: dict[str, None] = field(default_factory=dict)
    _joining: dict[str, AddNode] = field(init=False)
    """What comes instead of each."""
    _old: Lost = field(init=False)
    """The nodes themselves, for templates of their groups."""
    _made: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        living = self.trial.world.living.nodes
        nodes = living.objects
        self._old = Lost({}, [nodes[living.index[name]] for name in self.nodes])
        self._joining = {name: _instead_of(nodes[living.index[name]], self.to, nodes) for name in self.nodes}

    def replace(self, names: Sequence[str], start: int) -> tuple[UpgradeStep, Blocked | None]:
        """One batch, beginning with the pool's node at ``start``."""
        world, happenings = self.trial.world, self.trial.world.happenings
        gone, placed, cluster = len(happenings.gone), len(happenings.placed), world.cluster
        stuck, refused, down = len(happenings.blocked), len(happenings.refused), len(happenings.down)
        added = self._join(start + self.surge)
        before, blocked = len(added), None
        while not (is_drained := drain(world, names, self.flags)) and (new := self._grown()):
            # A budget waits for pods that have room now.
            added += new
            del happenings.blocked[stuck:]
        if is_drained:
            world.wait()
            delete_nodes(world, names)
            world.settle()
            added += self._join(start + len(names))
            added += self._grown()
        else:
            # Pods keep the batch, or kubectl refuses it.
            blocked = Blocked(
                nodes=tuple(names),
                refusal="; ".join(map(str, happenings.refused[refused:])) or None,
                pods=tuple(blocked_pods(happenings.blocked[stuck:])),
                workloads=tuple(dict.fromkeys(workload_of(world, kept.pod) for kept in happenings.blocked[stuck:])),
            )
        departed, come = happenings.gone[gone:], happenings.placed[placed:]
        counted = [pod for pod in departed if self.trial.counts(workload_of(world, pod.pod))]
        step = UpgradeStep(
            nodes=tuple(names),
            added=tuple(added),
            joined_before=before,
            evicted=sum(pod.why == EVICTED for pod in departed),
            placed=len(come),
            daemons=sum(workload_of(world, pod).kind == "DaemonSet" for pod in come),
            pending=len(self.trial.difference.waiting),
            preempted=tuple(gone_pods(pod for pod in counted if pod.why == PREEMPTED)),
            lost=tuple(NamespacedName.of(pod.pod) for pod in counted if pod.is_lost_for_good),
            down=tuple(filter(self.trial.counts, dict.fromkeys(happenings.down[down:]))),
            is_blocked=blocked is not None,
            pods=self._held([*(pod.pod for pod in departed), *come]),
            loads=tuple(changed_loads(cluster, world.cluster)),
        )
        return step, blocked

    def _held(self, moved: Iterable[Pod]) -> dict[str, int]:
        """How many pods the remaining nodes of ``moved`` hold now."""
        cluster = self.trial.world.cluster
        counts, index = cluster.running.taken.pod_count, cluster.nodes.index
        names = {pod.spec.node_name for pod in moved} & index.keys()
        return {name: int(counts[index[name]]) for name in sorted(names)}

    def _grown(self) -> list[str]:
        """The nodes that an autoscaler adds for the pods that wait now."""
        if self.autoscale is None or not self.trial.world.waiting:
            return []
        report = self.autoscale(self.trial.world, lost=self._old)
        self.scaled.append(report)
        return [name for loop in report.loops for group in loop.added for name in group.nodes]

    def _join(self, upto: int) -> list[str]:
        """Add the replacements of the first ``upto`` nodes that have not joined yet, DaemonSets' pods first."""
        world, added = self.trial.world, list[str]()
        if upto > self._made:
            world.wait()
        for name in self.nodes[self._made : upto]:
            change = self._joining[name].change(world.living.nodes.objects)
            if not (self.to and self.notes):
                self.notes.update(dict.fromkeys(change.notes))
            world.change_nodes(change)
            follow(world, change, {})
            added += (node.metadata.name for node in change.added)
        self._made += len(added)
        world.settle()
        return added


def _instead_of(node: Node, to: str, nodes: Sequence[Node]) -> AddNode:
    """The new node for ``node``: a copy, or what ``to`` says, made of nodes that may be gone by the time it joins."""
    if not to:
        return AddNode(node.metadata.name, manifest=uncordoned(node))
    by, at, labels = to.partition("@")
    if ":" in by or (at and not all("=" in pair for pair in labels.split("@"))):
        raise UsageError(f"invalid --to {to!r}: expected CPUxGI, as in 8x16, or TEMPLATE, with @KEY=VALUE if needed")
    edit = parse(f"add-node {in_place_of(node, by, at + labels)}")
    assert isinstance(edit, AddNode)
    return replace(edit, manifest=edit.manifest or uncordoned(node_called(edit.template, nodes)))
