"""A Deployment rolled out from one template to another, pass by pass, and what can be said of the way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from kubespread.controllers.deployment import TEMPLATE_HASH
from kubespread.controllers.replica_counts import limits, strategy_of
from kubespread.controllers.revisions import new_replica_set
from kubespread.kube.api.core import Pod
from kubespread.kube.api.workloads import Deployment, ReplicaSet
from kubespread.kube.owners import WorkloadName
from kubespread.kube.pod_status import is_active, is_ready
from kubespread.planner.reports.parts import ConstraintReport
from kubespread.planner.reports.rollout import (
    DomainRevisions,
    KeyRevisions,
    RevisionPods,
    RevisionSkew,
    RolloutPass,
    RolloutReport,
)
from kubespread.planner.skew import skew_now, skew_of
from kubespread.planner.world import deployments
from kubespread.planner.world.deployments import Rollout, name_of
from kubespread.planner.world.scheduling import schedule
from kubespread.planner.world.spread import constraints_on, per_domain
from kubespread.planner.world.world import BELOW, World

NEVER_READY = "new pods never become ready"
_MAX_PASSES = 10_000


@dataclass(frozen=True, slots=True)
class NewTemplate:
    """What a Deployment is to make from now on."""

    deployment: Deployment
    """With the new template."""
    pod: Pod
    """A pod of it, admitted."""
    new_hash: str
    """What its pod-template-hash is."""


def roll_out(world: World, name: WorkloadName, new: NewTemplate) -> RolloutReport:
    """Give the Deployment ``name`` another template and let its controller work until it is done or waits for ever."""
    counterfactual = _with_match_label_keys(new)
    other = world.fork() if counterfactual is not None else None
    report = _rolled_out(world, name, new)
    if other is None or counterfactual is None:
        return report
    return replace(report, with_match_label_keys=_rolled_out(other, name, counterfactual).final)


def _rolled_out(world: World, name: WorkloadName, new: NewTemplate) -> RolloutReport:
    known = world.rollouts.get(name) or deployments.rollout_of_cluster(world, name)
    world.rollouts[name] = Rollout(new.deployment, known.replica_sets, new.pod, new.new_hash)
    world.add_objects([new.deployment])
    way = _Way(world, name, new.pod)
    way.go()
    return way.report()


def _with_match_label_keys(new: NewTemplate) -> NewTemplate | None:
    """The same with constraints that count their own revision only; None where that changes nothing."""
    constraints = new.pod.spec.topology_spread_constraints
    if all(TEMPLATE_HASH in each.match_label_keys for each in constraints):
        return None
    counting = [
        replace(each, match_label_keys=list(dict.fromkeys([*each.match_label_keys, TEMPLATE_HASH])))
        for each in constraints
    ]
    return NewTemplate(
        new.deployment,
        replace(new.pod, spec=replace(new.pod.spec, topology_spread_constraints=counting)),
        new.new_hash,
    )


@dataclass(slots=True)
class _Way:
    """A rollout while it goes on."""

    world: World
    name: WorkloadName
    pod: Pod
    passes: list[RolloutPass] = field(default_factory=list)
    fewest_ready: int = 0
    worst: dict[int, RevisionSkew] = field(default_factory=dict)

    def go(self) -> None:
        world = self.world
        self.fewest_ready = sum(map(is_ready, self._pods(self._replica_sets)))
        wrote = True
        while wrote and len(self.passes) < _MAX_PASSES:
            before = [each.spec.replicas for each in self._replica_sets]
            wrote = deployments.reconcile(world, self.name)
            while world.reconcile(BELOW):
                pass
            self.fewest_ready = min(self.fewest_ready, sum(map(is_ready, self._pods(self._replica_sets))))
            while schedule(world) or world.reconcile(BELOW):
                pass
            if before != [each.spec.replicas for each in self._replica_sets]:
                self._note_pass()
        world.settle()

    @property
    def _rollout(self) -> Rollout:
        return self.world.rollouts[self.name]

    @property
    def _replica_sets(self) -> Sequence[ReplicaSet]:
        return self._rollout.replica_sets

    @property
    def _new(self) -> list[ReplicaSet]:
        new = new_replica_set(self._rollout.deployment, self._replica_sets)
        return [] if new is None else [new]

    @property
    def _old(self) -> list[ReplicaSet]:
        return [each for each in self._replica_sets if each not in self._new]

    def _pods(self, replica_sets: Sequence[ReplicaSet]) -> list[Pod]:
        pods = (pod for each in replica_sets for pod in self.world.book.of(name_of(each)))
        return [pod for pod in pods if is_active(pod)]

    def _both(self, count: Callable[[Sequence[ReplicaSet]], int]) -> RevisionPods:
        return RevisionPods(old=count(self._old), new=count(self._new))

    def _note_pass(self) -> None:
        constraints = self._constraints()
        rows = []
        for place, constraint in enumerate(constraints):
            skew = skew_now(constraint)
            domains = self._domains(constraint)
            rows.append(KeyRevisions(topology_key=constraint.topology_key, domains=domains, skew=skew))
            if place not in self.worst or skew > self.worst[place].skew:
                self.worst[place] = _revision_skew(constraint, skew, domains)
        self.passes.append(
            RolloutPass(
                number=len(self.passes) + 1,
                wanted=self._both(lambda sets: sum(each.spec.replicas or 0 for each in sets)),
                running=self._both(lambda sets: sum(bool(pod.spec.node_name) for pod in self._pods(sets))),
                ready=self._both(lambda sets: sum(map(is_ready, self._pods(sets)))),
                constraints=tuple(rows),
            )
        )

    def _constraints(self) -> list[ConstraintReport]:
        pod = self._template()
        return constraints_on(self.world.cluster, pod, self.world.surroundings.scheduler_of)

    def _template(self) -> Pod:
        """The new pod as the new ReplicaSet makes it."""
        new = self._new
        return deployments.owned_by(self.pod, new[0]) if new else self.pod

    def _domains(self, constraint: ConstraintReport) -> tuple[DomainRevisions, ...]:
        key = constraint.topology_key
        old = per_domain(self.world.cluster, key, self._pods(self._old))
        new = per_domain(self.world.cluster, key, self._pods(self._new))
        values = [domain.value for domain in constraint.domains]
        return tuple(DomainRevisions(value=each, old=old.get(each, 0), new=new.get(each, 0)) for each in values)

    def report(self) -> RolloutReport:
        """How it went, as things stand now."""
        deployment = self._rollout.deployment
        constraints = self._constraints()
        surge, unavailable = limits(deployment)
        new = self._pods(self._new)
        replicas = 1 if deployment.spec.replicas is None else deployment.spec.replicas
        owners = [name_of(each) for each in self._new]
        waiting = [each for each in self.world.waiting if self.world.book.owner_of(each.pod) in owners]
        complete = not self._pods(self._old) and sum(map(is_ready, new)) == replicas
        return RolloutReport(
            workload=f"{self.name.namespace}/{self.name.kind}/{self.name.name}",
            strategy=strategy_of(deployment),
            replicas=replicas,
            max_surge=surge,
            max_unavailable=unavailable,
            passes=tuple(self.passes),
            complete=complete,
            wedged_on=None if complete else (self.world.message(waiting[0]) if waiting else NEVER_READY),
            pending=len(waiting),
            fewest_ready=self.fewest_ready,
            worst_skew=tuple(self.worst.values()),
            final=tuple(self._final(constraint) for constraint in constraints),
            with_match_label_keys=None,
            constraints=tuple(constraints),
        )

    def _final(self, constraint: ConstraintReport) -> RevisionSkew:
        domains = self._domains(constraint)
        return _revision_skew(constraint, skew_of([each.new for each in domains], constraint), domains)


def _revision_skew(constraint: ConstraintReport, skew: int, domains: tuple[DomainRevisions, ...]) -> RevisionSkew:
    return RevisionSkew(
        topology_key=constraint.topology_key,
        max_skew=constraint.max_skew,
        when_unsatisfiable=constraint.when_unsatisfiable,
        skew=skew,
        domains=domains,
    )
