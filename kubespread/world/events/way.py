"""A workload on its way from one template to another, pass by pass, and what can be said of the way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Protocol

from msgspec import Struct, field

from kubespread.kube.api.core import Pod
from kubespread.kube.owners import WorkloadName, is_active, is_ready
from kubespread.reports.parts import ConstraintReport, skew_now, skew_of
from kubespread.reports.rollout import (
    DomainRevisions,
    KeyRevisions,
    NodeRevisions,
    RevisionPods,
    RevisionSkew,
    RolloutPass,
    RolloutReport,
)
from kubespread.world.events.scheduling import schedule
from kubespread.world.events.unmade import Unmade, unmade
from kubespread.world.events.world import World
from kubespread.world.store.pod_book import key_of
from kubespread.world.store.store import BELOW
from kubespread.world.store.waiting import Waiting, constraints_on, per_domain

NEVER_READY = "new pods never become ready"
_MAX_PASSES = 10_000


class Revising(Protocol):
    """The controller of one workload whose template changed."""

    @property
    def strategy(self) -> str: ...

    @property
    def replicas(self) -> int: ...

    @property
    def limits(self) -> tuple[int, int]:
        """maxSurge and maxUnavailable, in pods."""

    @property
    def template(self) -> Pod:
        """A pod of the new revision."""

    @property
    def pods(self) -> tuple[list[Pod], list[Pod]]:
        """Of the old revisions and of the new one, terminating ones too."""

    @property
    def desired(self) -> RevisionPods:
        """How many pods of each revision are desired."""

    @property
    def kept(self) -> int:
        """How many pods keep an older revision on purpose."""

    @property
    def why_waiting(self) -> str:
        """Why it stops although all its pods exist and are ready."""

    def reconcile(self) -> bool:
        """One pass; whether it did anything."""


class Way(Struct):
    """A rollout while it goes on."""

    world: World
    name: WorkloadName
    revising: Revising
    passes: list[RolloutPass] = field(default_factory=list)
    fewest_ready: int = 0
    worst: dict[int, RevisionSkew] = field(default_factory=dict)
    _start: tuple[NodeRevisions, ...] = ()
    _on_nodes: dict[str, NodeRevisions] = field(default_factory=dict)
    """As of the last pass."""

    def go(self) -> None:
        """Run until the controller has nothing left to do, or waits for something that never comes."""
        world, revising = self.world, self.revising
        self.fewest_ready = _ready(self._all)
        self._start = self._changed_nodes()
        wrote, before = True, self._state
        for _ in range(_MAX_PASSES):
            if not wrote:
                break
            wrote = revising.reconcile()
            while world.reconcile(BELOW - {self.name.kind}):
                pass
            self.fewest_ready = min(self.fewest_ready, _ready(self._all))
            while schedule(world) or world.reconcile(BELOW - {self.name.kind}):
                pass
            after = self._state
            if after != before:
                self._note_pass()
            before = after
        world.settle()

    @property
    def _all(self) -> list[Pod]:
        old, new = self._active
        return [*old, *new]

    @property
    def _active(self) -> tuple[list[Pod], list[Pod]]:
        old, new = self.revising.pods
        return list(filter(is_active, old)), list(filter(is_active, new))

    @property
    def _state(self) -> tuple[RevisionPods, RevisionPods]:
        old, new = self._active
        return self.revising.desired, RevisionPods(old=len(old), new=len(new))

    def _note_pass(self) -> None:
        old, new = self._active
        rows = []
        for place, constraint in enumerate(self._constraints()):
            skew, domains = skew_now(constraint), self._domains(constraint)
            rows.append(KeyRevisions(topology_key=constraint.topology_key, domains=domains, skew=skew))
            if place not in self.worst or skew > self.worst[place].skew:
                self.worst[place] = _revision_skew(constraint, skew, domains)
        self.passes.append(
            RolloutPass(
                number=len(self.passes) + 1,
                wanted=self.revising.desired,
                running=RevisionPods(old=_running(old), new=_running(new)),
                ready=RevisionPods(old=_ready(old), new=_ready(new)),
                constraints=tuple(rows),
                nodes=self._changed_nodes(),
            )
        )

    def _changed_nodes(self) -> tuple[NodeRevisions, ...]:
        """What the nodes hold on which that changed since this was last asked."""
        old, new = (Counter(pod.spec.node_name for pod in pods if pod.spec.node_name) for pods in self._active)
        now = {name: NodeRevisions(name=name, old=old[name], new=new[name]) for name in sorted({*old, *new})}
        emptied = (NodeRevisions(name=name, old=0, new=0) for name in self._on_nodes.keys() - now.keys())
        changed = [on_node for on_node in now.values() if self._on_nodes.get(on_node.name) != on_node]
        self._on_nodes = now
        return tuple(sorted((*changed, *emptied), key=lambda node: node.name))

    def _constraints(self) -> list[ConstraintReport]:
        world = self.world
        return constraints_on(world.cluster, self.revising.template, world.surroundings.scheduler_of)

    def _domains(self, constraint: ConstraintReport) -> tuple[DomainRevisions, ...]:
        key = constraint.topology_key
        old, new = (per_domain(self.world.cluster, key, pods) for pods in self._active)
        values = [domain.value for domain in constraint.domains]
        return tuple(DomainRevisions(value=value, old=old.get(value, 0), new=new.get(value, 0)) for value in values)

    def report(self) -> RolloutReport:
        """How it went, as things stand now."""
        constraints, revising = self._constraints(), self.revising
        surge, unavailable = revising.limits
        old, new = self._active
        unplaced = {key_of(pod) for pod in new if not pod.spec.node_name}
        waiting = [waiting_pod for waiting_pod in self.world.waiting if key_of(waiting_pod.pod) in unplaced]
        refused = [missing for missing in unmade(self.world) if missing.is_refused and self._is_below(missing.owner)]
        is_revised = len(old) == revising.kept and len(new) == revising.replicas - revising.kept
        complete = is_revised and _ready([*old, *new]) == revising.replicas
        return RolloutReport(
            workload=self.name,
            strategy=revising.strategy,
            replicas=revising.replicas,
            max_surge=surge,
            max_unavailable=unavailable,
            passes=tuple(self.passes),
            complete=complete,
            wedged_on=None if complete else self._why_wedged(new, waiting, refused),
            pending=len(waiting),
            not_created=sum(missing.count for missing in refused),
            kept=revising.kept,
            fewest_ready=self.fewest_ready,
            worst_skew=tuple(self.worst.values()),
            final=tuple(self._final(constraint) for constraint in constraints),
            with_match_label_keys=None,
            constraints=tuple(constraints),
            start=self._start,
        )

    def _is_below(self, owner: WorkloadName) -> bool:
        """Whether ``owner`` makes pods of the workload."""
        return self.world.workloads.above(owner, self.world.book.of(owner)) == self.name

    def _why_wedged(self, new: Sequence[Pod], waiting: Sequence[Waiting], refused: Sequence[Unmade]) -> str:
        if waiting:
            return self.world.message(waiting[0])
        if refused:
            return refused[0].message
        unready = [pod for pod in new if not is_ready(pod)]
        return NEVER_READY if unready else self.revising.why_waiting

    def _final(self, constraint: ConstraintReport) -> RevisionSkew:
        domains = self._domains(constraint)
        return _revision_skew(constraint, skew_of([domain.new for domain in domains], constraint), domains)


def _ready(pods: Iterable[Pod]) -> int:
    return sum(map(is_ready, pods))


def _running(pods: Iterable[Pod]) -> int:
    return sum(bool(pod.spec.node_name) for pod in pods)


def _revision_skew(constraint: ConstraintReport, skew: int, domains: tuple[DomainRevisions, ...]) -> RevisionSkew:
    return RevisionSkew(
        topology_key=constraint.topology_key,
        max_skew=constraint.max_skew,
        when_unsatisfiable=constraint.when_unsatisfiable,
        skew=skew,
        domains=domains,
    )
