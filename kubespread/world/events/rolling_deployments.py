"""A Deployment rolled out from one template to another."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from kubespread.controllers.deployment import TEMPLATE_HASH, limits, new_replica_set, replicas_of, strategy_of
from kubespread.kube.api.core import Pod
from kubespread.kube.api.workloads import Deployment, ReplicaSet
from kubespread.kube.owners import WorkloadName
from kubespread.reports.rollout import RevisionPods, RolloutReport
from kubespread.world.events import deployments
from kubespread.world.events.deployments import name_of, owned_by
from kubespread.world.events.way import NEVER_READY, Way
from kubespread.world.events.world import World
from kubespread.world.store.owners import Rollout

_PAUSED = "the Deployment is paused"


class NewTemplate(Struct, frozen=True):
    """What a Deployment is to make from now on."""

    deployment: Deployment
    """With the new template."""
    pod: Pod
    """A pod of it, admitted."""
    new_hash: str
    """What its pod-template-hash is."""


def roll_out(world: World, name: WorkloadName, new: NewTemplate) -> RolloutReport:
    """`rolled_out`, and beside it how the same ends where each constraint counts its own revision only."""
    counterfactual = _with_match_label_keys(new)
    other = world.fork() if counterfactual is not None else None
    report = rolled_out(world, name, new)
    if other is None or counterfactual is None:
        return report
    return replace(report, with_match_label_keys=rolled_out(other, name, counterfactual).final)


def rolled_out(world: World, name: WorkloadName, new: NewTemplate) -> RolloutReport:
    """Give the Deployment ``name`` another template and let its controller work until it is done or waits forever."""
    rollout = world.rollouts.get(name) or deployments.rollout_of_cluster(world, name)
    world.rollouts[name] = Rollout(new.deployment, rollout.replica_sets, new.pod, new.new_hash)
    world.add_objects([new.deployment])
    again = new_replica_set(new.deployment, rollout.replica_sets)
    if again is not None:
        # A template that the Deployment had before: its ReplicaSet is there already.
        world.owner(name_of(again)).template = owned_by(new.pod, again)
    way = Way(world, name, _Revising(world, name))
    way.go()
    return way.report()


def _with_match_label_keys(new: NewTemplate) -> NewTemplate | None:
    """The same with constraints that count their own revision only; None where that changes nothing."""
    constraints = new.pod.spec.topology_spread_constraints
    if all(TEMPLATE_HASH in constraint.match_label_keys for constraint in constraints):
        return None
    counting = [
        replace(constraint, match_label_keys=list(dict.fromkeys([*constraint.match_label_keys, TEMPLATE_HASH])))
        for constraint in constraints
    ]
    return NewTemplate(
        new.deployment, replace(new.pod, spec=replace(new.pod.spec, topology_spread_constraints=counting)), new.new_hash
    )


class _Revising(Struct, frozen=True):
    """The Deployment's controller."""

    world: World
    name: WorkloadName

    @property
    def _rollout(self) -> Rollout:
        return self.world.rollouts[self.name]

    @property
    def _new(self) -> list[ReplicaSet]:
        new = new_replica_set(self._rollout.deployment, self._rollout.replica_sets)
        return [] if new is None else [new]

    @property
    def _old(self) -> list[ReplicaSet]:
        return [replica_set for replica_set in self._rollout.replica_sets if replica_set not in self._new]

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
        """The new pod as the new ReplicaSet makes it."""
        pod, new = self._rollout.template, self._new
        assert pod is not None
        return owned_by(pod, new[0]) if new else pod

    @property
    def pods(self) -> tuple[list[Pod], list[Pod]]:
        return self._pods(self._old), self._pods(self._new)

    def _pods(self, replica_sets: Sequence[ReplicaSet]) -> list[Pod]:
        return [pod for replica_set in replica_sets for pod in self.world.book.of(name_of(replica_set))]

    @property
    def desired(self) -> RevisionPods:
        return RevisionPods(old=sum(map(replicas_of, self._old)), new=sum(map(replicas_of, self._new)))

    @property
    def kept(self) -> int:
        return 0

    @property
    def why_waiting(self) -> str:
        return _PAUSED if self._rollout.deployment.spec.paused else NEVER_READY

    def reconcile(self) -> bool:
        return deployments.reconcile(self.world, self.name)
