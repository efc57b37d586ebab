"""Rollouts of workloads from one template to another, pass by pass, and their reports.

A StatefulSet's pods are replaced one by one from the highest ordinal.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from kubespread.controllers.deployment import TEMPLATE_HASH, limits, new_replica_set, replicas_of, strategy_of
from kubespread.controllers.statefulset import REVISION_LABEL, Revisions, UpdateRules, max_unavailable, ordinal_of
from kubespread.kube.api.core import Pod
from kubespread.kube.api.workloads import Deployment, ReplicaSet, StatefulSet, UpdateStrategy
from kubespread.kube.owners import WorkloadName, is_active, is_ready
from kubespread.reports import rollout as reports
from kubespread.reports.parts import ConstraintReport, skew_now, skew_of
from kubespread.world.events import controllers
from kubespread.world.events.world import Unmade, World, unmade, waiting_reason
from kubespread.world.store.owners import OngoingRollout, name_of
from kubespread.world.store.pod_book import as_template, key_of
from kubespread.world.store.store import BELOW
from kubespread.world.store.waiting import Waiting, constraints_on, per_domain

_NEVER_READY = "new pods never become ready"
_MAX_PASSES = 10_000
_ON_DELETE = "OnDelete"
_Revisions = tuple[list[Pod], list[Pod]]
"""Pods of the old revisions and of the new one."""


class _Rollout(ABC):
    """One ongoing rollout; a subclass adds the parts that depend on the workload's kind."""

    def __init__(self, world: World, name: WorkloadName) -> None:
        self.world, self.name = world, name
        self._passes: list[reports.RolloutPass] = []
        self._worst: dict[int, reports.RevisionSkew] = {}

    @property
    @abstractmethod
    def strategy(self) -> str: ...

    @property
    @abstractmethod
    def replicas(self) -> int: ...

    @property
    @abstractmethod
    def limits(self) -> tuple[int, int]:
        """maxSurge and maxUnavailable, in pods."""

    @property
    @abstractmethod
    def template(self) -> Pod:
        """A pod of the new revision."""

    @abstractmethod
    def reconcile(self) -> bool:
        """Run one pass of the controller; True if it wrote anything."""

    @property
    @abstractmethod
    def pods(self) -> _Revisions:
        """Pods by revision, including terminating ones."""

    @abstractmethod
    def desired_pods(self, active: _Revisions) -> reports.RevisionPods:
        """Count the desired pods of each revision, given the ``active`` ones."""

    @property
    def kept_count(self) -> int:
        """Number of pods that keep an older revision on purpose."""
        return 0

    @property
    @abstractmethod
    def why_waiting(self) -> str:
        """Reason why it stops although all its pods exist and are ready."""

    def report(self) -> reports.RolloutReport:
        """Run until the controller has nothing left to do, or waits for something that never comes."""
        world = self.world
        fewest_ready = _ready(self._active_pods)
        wrote, before = True, self._state(self._active)
        for _ in range(_MAX_PASSES):
            if not wrote:
                break
            wrote = self.reconcile()
            while world.reconcile(BELOW - {self.name.kind}):
                pass
            fewest_ready = min(fewest_ready, _ready(self._active_pods))
            while controllers.schedule(world) or world.reconcile(BELOW - {self.name.kind}):
                # Once what waited runs, the controller may go on.
                wrote = True
            active = self._active
            after = self._state(active)
            if after != before:
                self._note_pass(active)
            before, wrote = after, wrote or world.end_terminating()
        world.settle()
        return self.final_report(fewest_ready)

    @property
    def _active_pods(self) -> list[Pod]:
        old, new = self._active
        return [*old, *new]

    @property
    def _active(self) -> _Revisions:
        old, new = self.pods
        return list(filter(is_active, old)), list(filter(is_active, new))

    def _state(self, active: _Revisions) -> tuple[reports.RevisionPods, reports.RevisionPods]:
        old, new = active
        return self.desired_pods(active), reports.RevisionPods(old=len(old), new=len(new))

    def _note_pass(self, active: _Revisions) -> None:
        old, new = active
        rows = []
        for place, constraint in enumerate(self._constraints()):
            skew, domains = skew_now(constraint), self._domains(constraint, active)
            rows.append(reports.KeyRevisions(topology_key=constraint.topology_key, domains=domains, skew=skew))
            if place not in self._worst or skew > self._worst[place].skew:
                self._worst[place] = _revision_skew(constraint, skew, domains)
        self._passes.append(
            reports.RolloutPass(
                number=len(self._passes) + 1,
                wanted=self.desired_pods(active),
                running=reports.RevisionPods(old=_running(old), new=_running(new)),
                ready=reports.RevisionPods(old=_ready(old), new=_ready(new)),
                constraints=tuple(rows),
            )
        )

    def _constraints(self) -> list[ConstraintReport]:
        return constraints_on(self.world.cluster, self.template, self.world.settings.scheduler_of)

    def _domains(self, constraint: ConstraintReport, active: _Revisions) -> tuple[reports.DomainRevisions, ...]:
        key = constraint.topology_key
        old, new = (per_domain(self.world.cluster, key, pods) for pods in active)
        values = [domain.value for domain in constraint.domains]
        return tuple(
            reports.DomainRevisions(value=value, old=old.get(value, 0), new=new.get(value, 0)) for value in values
        )

    def final_report(self, fewest_ready: int) -> reports.RolloutReport:
        """Report how it went, as things stand now."""
        constraints, (surge, unavailable), (old, new) = self._constraints(), self.limits, self._active
        unplaced = {key_of(pod) for pod in new if not pod.spec.node_name}
        waiting = [waiting_pod for waiting_pod in self.world.waiting if key_of(waiting_pod.pod) in unplaced]
        # Refusals of its own pods: a Deployment's are created by its ReplicaSets.
        above, book = self.world.workloads.top_owner, self.world.book
        refused = [
            row
            for row in unmade(self.world)
            if row.is_refused and above(row.owner, book.pods_of(row.owner)) == self.name
        ]
        is_revised = len(old) == self.kept_count and len(new) == self.replicas - self.kept_count
        complete = is_revised and _ready([*old, *new]) == self.replicas
        final = ((constraint, self._domains(constraint, (old, new))) for constraint in constraints)
        return reports.RolloutReport(
            workload=self.name,
            strategy=self.strategy,
            replicas=self.replicas,
            max_surge=surge,
            max_unavailable=unavailable,
            passes=tuple(self._passes),
            complete=complete,
            wedged_on=None if complete else self._why_wedged(new, waiting, refused),
            pending=len(waiting),
            not_created=sum(row.count for row in refused),
            kept=self.kept_count,
            fewest_ready=fewest_ready,
            worst_skew=tuple(self._worst.values()),
            final=tuple(
                _revision_skew(constraint, skew_of([domain.new for domain in domains], constraint), domains)
                for constraint, domains in final
            ),
            with_match_label_keys=None,
            constraints=tuple(constraints),
        )

    def _why_wedged(self, new: Sequence[Pod], waiting: Sequence[Waiting], refused: Sequence[Unmade]) -> str:
        if waiting:
            return self.world.message(waiting[0])
        if refused:
            return refused[0].message
        return self.why_waiting if all(map(is_ready, new)) else _NEVER_READY


def _ready(pods: Iterable[Pod]) -> int:
    return sum(map(is_ready, pods))


def _running(pods: Iterable[Pod]) -> int:
    return sum(bool(pod.spec.node_name) for pod in pods)


def _revision_skew(
    constraint: ConstraintReport, skew: int, domains: tuple[reports.DomainRevisions, ...]
) -> reports.RevisionSkew:
    return reports.RevisionSkew(
        topology_key=constraint.topology_key,
        max_skew=constraint.max_skew,
        when_unsatisfiable=constraint.when_unsatisfiable,
        skew=skew,
        domains=domains,
    )


class NewTemplate(Struct, frozen=True):
    deployment: Deployment
    """Deployment with the new template."""
    pod: Pod
    """Admitted pod of the template."""
    new_hash: str
    """Its pod-template-hash."""


def roll_out_deployment(world: World, name: WorkloadName, new: NewTemplate) -> reports.RolloutReport:
    """Roll out as `run_rollout` does; also the final skew if each constraint counted its own revision only."""
    counterfactual = _with_match_label_keys(new)
    if counterfactual is None:
        return run_rollout(world, name, new)
    other = world.fork()
    report = run_rollout(world, name, new)
    return replace(report, with_match_label_keys=run_rollout(other, name, counterfactual).final)


def run_rollout(world: World, name: WorkloadName, new: NewTemplate) -> reports.RolloutReport:
    """Give a Deployment another template and let its controller work until it completes or waits forever."""
    rollout = world.rollouts.get(name) or controllers.rollout_of_cluster(world, name)
    world.rollouts[name] = OngoingRollout(new.deployment, rollout.replica_sets, new.pod, new.new_hash)
    world.add_objects([new.deployment])
    again = new_replica_set(new.deployment, rollout.replica_sets)
    if again is not None:
        # A template that the Deployment had before: its ReplicaSet is there already.
        world.owner(name_of(again)).template = controllers.owned_by(new.pod, again)
    return _DeploymentRollout(world, name).report()


def resumed_report(world: World, stopped: reports.RolloutReport) -> reports.RolloutReport:
    """Report on a stopped rollout after its controller has continued; meanwhile no more pods were unavailable than its
    strategy allows.
    """
    name = stopped.workload
    way: _Rollout | None = None
    if name in world.rollouts:
        way = _DeploymentRollout(world, name)
    elif name in world.stateful_sets:
        rollout = world.stateful_sets[name]
        template = rollout.templates[rollout.revisions.update]
        way = _StatefulSetRollout(world, name, template, rollout.stateful_set.spec.update_strategy)
    if way is None or stopped.complete:
        return stopped
    now = way.final_report(min(stopped.fewest_ready, max(0, stopped.replicas - stopped.max_unavailable)))
    return replace(now, passes=stopped.passes, worst_skew=stopped.worst_skew)


def _with_match_label_keys(new: NewTemplate) -> NewTemplate | None:
    """The template with constraints that count their own revision only; None where that changes nothing."""
    constraints = new.pod.spec.topology_spread_constraints
    if all(TEMPLATE_HASH in constraint.match_label_keys for constraint in constraints):
        return None
    counting = [
        replace(constraint, match_label_keys=list(dict.fromkeys([*constraint.match_label_keys, TEMPLATE_HASH])))
        for constraint in constraints
    ]
    spec = replace(new.pod.spec, topology_spread_constraints=counting)
    return replace(new, pod=replace(new.pod, spec=spec))


class _DeploymentRollout(_Rollout):
    @property
    def _rollout(self) -> OngoingRollout:
        return self.world.rollouts[self.name]

    @property
    def _replica_sets(self) -> tuple[list[ReplicaSet], list[ReplicaSet]]:
        """Old ReplicaSets, and the new one if it exists."""
        new = new_replica_set(self._rollout.deployment, self._rollout.replica_sets)
        old = [replica_set for replica_set in self._rollout.replica_sets if replica_set != new]
        return old, [] if new is None else [new]

    @property
    def strategy(self) -> str:
        return strategy_of(self._rollout.deployment)

    @property
    def replicas(self) -> int:
        return replicas_of(self._rollout.deployment)

    @property
    def limits(self) -> tuple[int, int]:
        return limits(self._rollout.deployment)

    @property
    def template(self) -> Pod:
        """The new pod as the new ReplicaSet creates it."""
        pod, (_, new) = self._rollout.template, self._replica_sets
        assert pod is not None
        return controllers.owned_by(pod, new[0]) if new else pod

    @property
    def pods(self) -> _Revisions:
        old, new = (
            [pod for replica_set in replica_sets for pod in self.world.book.pods_of(name_of(replica_set))]
            for replica_sets in self._replica_sets
        )
        return old, new

    def desired_pods(self, active: _Revisions) -> reports.RevisionPods:
        old, new = self._replica_sets
        return reports.RevisionPods(old=sum(map(replicas_of, old)), new=sum(map(replicas_of, new)))

    @property
    def why_waiting(self) -> str:
        return "the Deployment is paused" if self._rollout.deployment.spec.paused else _NEVER_READY

    def reconcile(self) -> bool:
        return controllers.reconcile_deployment(self.world, self.name)


def roll_out_stateful_set(
    world: World, name: WorkloadName, stateful_set: StatefulSet, pod: Pod
) -> reports.RolloutReport:
    """Give a StatefulSet a new template, with ``pod`` as an admitted pod of it, and let its controller work."""
    rollout = controllers.rollout_of_stateful_set(world, name)
    revision, template = pod.metadata.labels.get(REVISION_LABEL, ""), as_template(pod)
    rollout.stateful_set = replace(stateful_set, status=rollout.stateful_set.status)
    rollout.revisions = Revisions(rollout.revisions.current, revision)
    rollout.templates[revision] = template
    world.add_objects([rollout.stateful_set])
    return _StatefulSetRollout(world, name, template, stateful_set.spec.update_strategy).report()


class _StatefulSetRollout(_Rollout):
    """Rollout of a StatefulSet: a label of each pod names its revision."""

    def __init__(self, world: World, name: WorkloadName, template: Pod, strategy: UpdateStrategy | None) -> None:
        super().__init__(world, name)
        self._template, self._strategy = template, strategy or UpdateStrategy()
        self._revision = template.metadata.labels.get(REVISION_LABEL, "")

    @property
    def strategy(self) -> str:
        return self._strategy.type or "RollingUpdate"

    @property
    def template(self) -> Pod:
        return self._template

    @property
    def pods(self) -> _Revisions:
        old, new = list[Pod](), list[Pod]()
        for pod in self.world.book.pods_of(self.name):
            (new if self._is_new(pod) else old).append(pod)
        return old, new

    def _is_new(self, pod: Pod) -> bool:
        return pod.metadata.labels.get(REVISION_LABEL, "") == self._revision

    def desired_pods(self, active: _Revisions) -> reports.RevisionPods:
        old, new = active
        return reports.RevisionPods(old=len(old), new=len(new))

    @property
    def why_waiting(self) -> str:
        if self.strategy == _ON_DELETE:
            return "updateStrategy OnDelete: pods are replaced when somebody deletes them"
        return waiting_reason(self.world, self.name) or _NEVER_READY

    @property
    def _stateful_set(self) -> StatefulSet:
        return self.world.stateful_sets[self.name].stateful_set

    @property
    def replicas(self) -> int:
        return self.world.owner(self.name).replicas

    @property
    def limits(self) -> tuple[int, int]:
        rules = UpdateRules.from_version(self.world.settings.version)
        sized = replace(self._stateful_set.spec, replicas=self.replicas)
        return 0, max_unavailable(replace(self._stateful_set, spec=sized), rules)

    @property
    def kept_count(self) -> int:
        """Number of pods below the partition that have not been replaced for another reason."""
        if self.strategy == _ON_DELETE:
            return 0
        rolling_update, (old, _) = self._strategy.rolling_update, self.pods
        partition = (rolling_update.partition if rolling_update is not None else None) or 0
        below = controllers.ordinals_of(self.world, self.name, min(partition, self.replicas))
        return sum(is_active(pod) and ordinal_of(pod, self.name.name) in below for pod in old)

    def reconcile(self) -> bool:
        return controllers.reconcile_stateful_set(self.world, self.name)
