"""A StatefulSet rolled out from one template to another: pod by pod, from the highest ordinal."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from kubespread.controllers.statefulset import REVISION_LABEL, Revisions, UpdateRules, max_unavailable, ordinal_of
from kubespread.kube.api.core import Pod
from kubespread.kube.api.workloads import StatefulSet
from kubespread.kube.owners import WorkloadName, is_active
from kubespread.reports.rollout import RevisionPods, RolloutReport
from kubespread.world.events import stateful_sets
from kubespread.world.events.stateful_sets import ordinals_of
from kubespread.world.events.unmade import what_is_not_up
from kubespread.world.events.way import NEVER_READY, Way
from kubespread.world.events.world import World
from kubespread.world.store import pod_states as states
from kubespread.world.store.owners import StatefulSetRollout

_ROLLING_UPDATE, _ON_DELETE = "RollingUpdate", "OnDelete"


def roll_out(world: World, name: WorkloadName, stateful_set: StatefulSet, pod: Pod) -> RolloutReport:
    """Give a StatefulSet a new template (``pod`` is an admitted pod of it) and let its controller work."""
    rollout = stateful_sets.rollout_of(world, name)
    revision = pod.metadata.labels.get(REVISION_LABEL, "")
    rollout.stateful_set = replace(stateful_set, status=rollout.stateful_set.status)
    rollout.revisions = Revisions(rollout.revisions.current, revision)
    rollout.templates[revision] = states.as_template(pod)
    world.add_objects([rollout.stateful_set])
    way = Way(world, name, _Revising(world, name, revision))
    way.go()
    return way.report()


class _Revising(Struct, frozen=True):
    """The StatefulSet's controller."""

    world: World
    name: WorkloadName
    revision: str

    @property
    def _rollout(self) -> StatefulSetRollout:
        return self.world.stateful_sets[self.name]

    @property
    def strategy(self) -> str:
        strategy = self._rollout.stateful_set.spec.update_strategy
        return strategy.type if strategy is not None and strategy.type else _ROLLING_UPDATE

    @property
    def replicas(self) -> int:
        return self.world.owner(self.name).replicas

    @property
    def limits(self) -> tuple[int, int]:
        rules = UpdateRules.of(self.world.surroundings.version)
        sized = replace(self._rollout.stateful_set.spec, replicas=self.replicas)
        return 0, max_unavailable(replace(self._rollout.stateful_set, spec=sized), rules)

    @property
    def template(self) -> Pod:
        return self._rollout.templates[self.revision]

    @property
    def pods(self) -> tuple[list[Pod], list[Pod]]:
        old, new = list[Pod](), list[Pod]()
        for pod in self.world.book.of(self.name):
            (new if pod.metadata.labels.get(REVISION_LABEL, "") == self.revision else old).append(pod)
        return old, new

    @property
    def desired(self) -> RevisionPods:
        old, new = (sum(map(is_active, pods)) for pods in self.pods)
        return RevisionPods(old=old, new=new)

    @property
    def kept(self) -> int:
        """Those below the partition that have not been replaced for another reason."""
        if self.strategy == _ON_DELETE:
            return 0
        stateful_set, (old, _) = self._rollout.stateful_set, self.pods
        strategy = stateful_set.spec.update_strategy
        rolling_update = strategy.rolling_update if strategy is not None else None
        partition = (rolling_update.partition if rolling_update is not None else None) or 0
        below = ordinals_of(self.world, self.name, min(partition, self.replicas))
        return sum(is_active(pod) and ordinal_of(pod, self.name.name) in below for pod in old)

    @property
    def why_waiting(self) -> str:
        if self.strategy == _ON_DELETE:
            return "updateStrategy OnDelete: pods are replaced when somebody deletes them"
        return what_is_not_up(self.world, self.name) or NEVER_READY

    def reconcile(self) -> bool:
        return stateful_sets.reconcile(self.world, self.name)
