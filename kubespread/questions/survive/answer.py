"""Losing domains: each in its own copy of the cluster, as if nothing had been lost before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import combinations
from typing import Self

from msgspec import Struct
from msgspec.structs import replace

from kubespread.controllers.outage import is_silent
from kubespread.errors import UsageError
from kubespread.kube.api.core import Pod
from kubespread.kube.owners import NamespacedName, WorkloadName, is_active, is_ready
from kubespread.kube.well_known import HOSTNAME, ZONE
from kubespread.node_groups.groups import Autoscaler
from kubespread.questions.autoscaling.asked import grown, growth, with_files_read
from kubespread.questions.autoscaling.templates import Lost
from kubespread.questions.scene import Scene
from kubespread.questions.survive.question import Survive
from kubespread.questions.survive.report import DomainLoss, LostWorkload, SurviveReport, trouble_of
from kubespread.questions.workloads_asked import WorkloadsAsked
from kubespread.reports.autoscaling import AutoscalingReport
from kubespread.reports.loads import changed_loads
from kubespread.snapshot.topology_keys import check_topology_keys, full_topology_key, outside_of_domains
from kubespread.wording import EMPTY, short_key
from kubespread.world.events.draining import fail, remove_failed
from kubespread.world.events.world import World, unmade
from kubespread.world.reporting.difference import Baseline, Difference, ready_pods
from kubespread.world.reporting.happenings import (
    AskedWorkloads,
    desired_replicas,
    landed_pods,
    node_evictions,
    preempted_pods,
    unmade_pods,
)
from kubespread.world.store.happenings import LOST, Happenings
from kubespread.world.store.owners import in_order
from kubespread.world.store.waiting import Waiting

_HELD = "pods are terminating on nodes that do not answer, and only made again once they are gone"
_STAYS = "pods are not ready on nodes that do not answer, and are not evicted there"
_MOST_DOMAINS, _MOST_PAIRS = 100, 4950
_FEWER = "its controller makes no more pods"
_UNKNOWN = "whether its controller makes lost pods again is not known"


def answer(question: Survive, scene: Scene) -> SurviveReport:
    """Fail the nodes of each domain, delete their Node objects where that is asked, and place pods again."""
    question = replace(question, **with_files_read(question))
    counting = _Counting.of(question, scene)
    world, whose = counting.world, counting.whose
    if counting.is_empty:
        # Workloads of no replicas have nothing to lose; one that is named was meant to have.
        if whose.names:
            raise whose.none_found(scene.now)
        whose.check_any(world, scene.now)
    lost = list(_lost(world, question))
    losses = tuple(scene.tasks(counting, lost, question, known=_known))
    report = SurviveReport(
        kube_version=str(scene.release),
        cluster=scene.source,
        **whose.as_reported(world),
        preemption=question.preemption,
        workloads=len(counting.workloads),
        nodes=len(world.living.nodes.objects),
        pending_before=counting.baseline.pending(counting.counts),
        losses=losses,
        pairs=question.pairs,
        nodes_deleted=question.nodes_deleted,
        autoscaler=None if question.autoscaler is None else Autoscaler(question.autoscaler).full_name,
        gaps=scene.gaps(world.assumed),
        not_modelled=Survive.never_modelled,
        notes=(
            *scene.notes,
            *counting.notes,
            *outside_of_domains((domain.key for domain in lost), world.living.nodes.objects),
        ),
        unfinished=scene.unfinished("domain", len(lost), [domain.called for domain in lost[len(losses) :]]),
    )
    return report.requiring(_failures(question, report))


def _known(loss: DomainLoss) -> str:
    return trouble_of([loss], loss.trouble[0]) if loss.trouble else ""


def _failures(question: Survive, report: SurviveReport) -> Iterator[str]:
    """Failures named by ``fail_on`` that some loss causes: what the worst of these does."""
    for key in dict.fromkeys(question.fail_on):
        if (failure := report.worst(None if key == "any" else key)) is not None:
            yield f"--fail-on {key}: {failure}"


def _lost(world: World, question: Survive) -> Iterator[_Domain]:
    """The domains of all keys, or each two of one; by default zones, where no node is in one what pods are spread over
    (racks), and hosts where that is nothing else.
    """
    nodes = world.living.nodes.objects
    full = [full_topology_key(key, nodes) for key in question.keys] or _usual_keys(world)
    check_topology_keys(full, nodes)
    for key in dict.fromkeys(full):
        chosen = question.domains.get(key)
        domains = [domain for domain in _domains(world, key) if chosen is None or domain.value in chosen]
        yield from _pairs(domains) if question.pairs else domains


def _usual_keys(world: World) -> list[str]:
    nodes = world.living.nodes
    if nodes.label(ZONE).values:
        return [ZONE]
    constraints = (each for pod in world.book for each in pod.spec.topology_spread_constraints)
    keys = {constraint.topology_key for constraint in constraints} - {HOSTNAME}
    return sorted(key for key in keys if len(nodes.label(key).values) > 1) or [HOSTNAME]


def _pairs(domains: Sequence[_Domain]) -> Iterator[_Domain]:
    """Each two domains of a key as one. Raises UsageError for more of them than anyone waits for."""
    number = len(domains) * (len(domains) - 1) // 2
    if domains and not 0 < number <= _MOST_PAIRS:
        key = domains[0].key
        raise UsageError(f"--pairs takes 2 to {_MOST_DOMAINS} domains of a key, and {key} has {len(domains):,}")
    for one, other in combinations(domains, 2):
        # No label has a plus sign in it.
        yield _Domain(one.key, f"{one.value}+{other.value}", one.nodes + other.nodes)


class _Domain(Struct, frozen=True):
    """The nodes that share one value of a topology key."""

    key: str
    value: str
    nodes: tuple[str, ...]

    @property
    def called(self) -> str:
        """``zone a``; the key is left out where the value contains it."""
        key, value = short_key(self.key), self.value or EMPTY
        return value if key in value else f"{key} {value}"


def _domains(world: World, key: str) -> list[_Domain]:
    """The domains of ``key``, by value; nodes without the label are in none."""
    nodes: dict[str, list[str]] = {}
    for node in world.living.nodes.objects:
        if (value := node.metadata.labels.get(key)) is not None:
            nodes.setdefault(value, []).append(node.metadata.name)
    return [_Domain(key, value, tuple(nodes[value])) for value in sorted(nodes)]


class _Counting:
    """The pods and workloads of a world that count, and their state before any loss. All others keep running."""

    def __init__(
        self,
        baseline: Baseline,
        notes: Sequence[str],
        whose: WorkloadsAsked,
        question: Survive,
        autoscale: partial[AutoscalingReport] | None,
    ) -> None:
        """``autoscale`` adds nodes after each loss."""
        self.autoscale, self.told, self.nodes_deleted = autoscale, question.told, question.nodes_deleted
        self.whose, self.baseline, self.notes = whose, baseline, notes
        self.assumed = baseline.world.assumed
        self.counts = whose.those_in(baseline.world)
        self._asked = AskedWorkloads(baseline.world, self.counts)
        self.trial = baseline.trial(self.counts)

    @classmethod
    def of(cls, question: Survive, scene: Scene) -> Self:
        whose = question.asked_in(scene.snapshot)
        autoscale = growth(question, scene.now)
        return cls(*scene.settled("anything is lost"), whose, question, autoscale)

    @property
    def world(self) -> World:
        """The world that each domain is lost in."""
        return self.trial.world

    def __call__(self, domain: _Domain) -> DomainLoss:
        return _Loss(self, domain).report()

    def workload(self, pod: Pod) -> WorkloadName | None:
        """The workload that the pod counts for, the pod itself without a controller; None where it does not count."""
        return self._asked.of(pod)

    @property
    def workloads(self) -> set[WorkloadName]:
        """All that count."""
        book = self.baseline.world.book
        return {workload for pod in book if (workload := self.workload(pod)) and workload.kind != "Pod"}

    @property
    def is_empty(self) -> bool:
        """Whether no pod counts."""
        return all(self.workload(pod) is None for pod in self.baseline.world.book)


class _Loss:
    """One domain that is lost."""

    def __init__(self, counting: _Counting, domain: _Domain) -> None:
        self._counting, self._domain = counting, domain
        self._trial = counting.trial.fork()
        self._failed = frozenset(domain.nodes)
        pods = [pod for node in domain.nodes for pod in counting.world.book.on(node) if is_active(pod)]
        self._ready_here = Counter(counting.workload(pod) for pod in pods if is_ready(pod))
        """How many ready pods each workload has in the domain before it is lost."""

    def report(self) -> DomainLoss:
        trial, names, counting = self._trial, self._domain.nodes, self._counting
        nodes = trial.world.living.nodes
        already_lost = all(is_silent(nodes.objects[nodes.index[name]]) for name in names)
        difference = trial.during(partial(fail, names=names))
        if counting.nodes_deleted:
            difference = trial.during(partial(remove_failed, names=names))
        happened = difference.happened[-1]
        scaled = grown(counting.autoscale, trial.world, self._barred()) if difference.waiting else None
        if scaled is not None:
            difference = difference.and_then(scaled.world)
        made_room, workloads = tuple(preempted_pods(happened)), tuple(self._rows(difference))
        return DomainLoss(
            topology_key=self._domain.key,
            domain=self._domain.value,
            nodes=len(names),
            already_lost=already_lost,
            lost=self._lost(happened),
            placed=sum(counting.workload(pod) is not None for pod in happened.placed),
            pending=len(difference.waiting),
            preempted=len(made_room),
            made_room=made_room,
            not_made_again=tuple(NamespacedName.of(gone.pod) for gone in difference.lost_unasked),
            message=difference.world.message(difference.waiting[0]) if difference.waiting else None,
            short=tuple(row for row in workloads if row.why),
            not_made=tuple(unmade_pods(difference.world, difference.unmade)),
            broken_budgets=tuple(difference.broken_budgets),
            workloads=workloads,
            landed=tuple(landed_pods(trial.world, happened.placed, counting.workload)),
            loads=tuple(
                load for load in changed_loads(counting.world.cluster, trial.world.cluster) if load.node not in names
            ),
            evictions=tuple(node_evictions(happened)),
            notes=tuple(note for note in happened.notes if self._is_about(happened.owners.get(note))),
            autoscaling=None if scaled is None else scaled.report,
        )

    def _is_about(self, owner: WorkloadName | None) -> bool:
        return owner is None or self._counting.counts(self._trial.world.above(owner))

    def _barred(self) -> Lost:
        """What new nodes cannot be part of: the lost domain."""
        nodes = self._counting.world.living.nodes
        gone = [nodes.objects[nodes.index[name]] for name in self._domain.nodes if self._counting.nodes_deleted]
        return Lost({self._domain.key: {*self._domain.value.split("+")}}, gone)

    def _lost(self, happened: Happenings) -> int:
        """Count the pods that its own nodes lost, not those of nodes that failed before."""
        lost = (gone.pod for gone in happened.gone if gone.why == LOST)
        return sum(pod.spec.node_name in self._failed and self._counting.workload(pod) is not None for pod in lost)

    def _first_of_each(self, waiting: Iterable[Waiting]) -> dict[WorkloadName, Waiting]:
        """The first of the pods of each workload that counts."""
        first: dict[WorkloadName, Waiting] = {}
        for pod in waiting:
            if (workload := self._counting.workload(pod.pod)) is not None:
                first.setdefault(workload, pod)
        return first

    def _why(self, world: World, workload: WorkloadName, charged: Waiting | None, waiting: Waiting | None) -> str:
        """Why a workload is short. A pod of it may wait because of the loss, or may have waited anyway."""
        if charged is not None:
            return world.message(charged)
        owners = world.owners_below(workload)
        on_failed = [pod for owner in owners for pod in world.book.of(owner) if pod.spec.node_name in self._failed]
        if any(map(is_active, on_failed)):
            return _STAYS
        if on_failed and workload.kind == "StatefulSet":
            return _HELD
        if waiting is not None:
            return world.message(waiting)
        none, rows = _FEWER if all(map(world.is_known, owners)) else _UNKNOWN, unmade(world, owners)
        return next((f"not created: {row.message}" if row.is_refused else row.message for row in rows), none)

    def _rows(self, difference: Difference) -> Iterator[LostWorkload]:
        """The workloads that the loss touches, and those that each loss has a row for."""
        world, waiting = difference.world, self._first_of_each(difference.world.waiting)
        charged = self._first_of_each(difference.waiting)
        short = {short.workload: short for short in difference.short}
        names = dict.fromkeys((*difference.touched, *self._counting.told))
        for name in sorted((name for name in names if name.kind != "Pod"), key=in_order):
            yield LostWorkload(
                workload=name,
                wanted=desired_replicas(world, name),
                ready_before=difference.baseline.ready(name),
                ready=ready_pods(world, name),
                ready_at_first=ready_pods(self._counting.world, name) - self._ready_here[name],
                pending=difference.pending[name],
                not_made=difference.not_made[name],
                why=self._why(world, name, charged.get(name), waiting.get(name)) if name in short else "",
                controller_unknown=name in short and short[name].controller_unknown,
            )
