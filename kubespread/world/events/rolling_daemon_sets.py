"""A DaemonSet rolled out from one template to another: node by node, by name.

Which nodes come first is arbitrary in a cluster.

Source: pkg/controller/daemon/update.go, rollingUpdate, findUpdatedPodsOnNode, updatedDesiredNodeCounts
"""

from __future__ import annotations

from msgspec import Struct

from kubespread.controllers.daemonset import pinned_to, should_continue, should_run
from kubespread.controllers.statefulset import REVISION_LABEL
from kubespread.kube.api.core import Node, Pod
from kubespread.kube.api.workloads import DaemonSet, RollingUpdate, UpdateStrategy
from kubespread.kube.owners import WorkloadName, is_active, is_ready
from kubespread.kube.quantity import scaled
from kubespread.reports.rollout import RevisionPods, RolloutReport
from kubespread.world.events.replicas import create_copies
from kubespread.world.events.way import Way
from kubespread.world.events.world import World
from kubespread.world.store import pod_states as states
from kubespread.world.store.happenings import DELETED, REPLACED
from kubespread.world.store.pod_states import node_of

_ROLLING_UPDATE, _ON_DELETE = "RollingUpdate", "OnDelete"
_WAITS = "pods of the old revision wait for a node that its new pod cannot use"


def roll_out(world: World, name: WorkloadName, daemon_set: DaemonSet, pod: Pod) -> RolloutReport:
    """Give a DaemonSet a new template (``pod`` is an admitted pod of it, without its pin) and let its controller
    work.
    """
    world.add_objects([daemon_set])
    template = states.as_template(pod)
    nodes = (node for node in world.living.nodes.objects if should_run(template, node))
    by_name = tuple(sorted(nodes, key=lambda node: node.metadata.name))
    way = Way(world, name, _Revising(world, name, daemon_set, template, by_name))
    way.go()
    return way.report()


class _Revising(Struct, frozen=True):
    """The DaemonSet's controller."""

    world: World
    name: WorkloadName
    daemon_set: DaemonSet
    template: Pod
    nodes: tuple[Node, ...]
    """Those that its pods belong on, by name."""

    @property
    def strategy(self) -> str:
        strategy = self.daemon_set.spec.update_strategy
        return strategy.type if strategy is not None and strategy.type else _ROLLING_UPDATE

    @property
    def replicas(self) -> int:
        return len(self.nodes)

    @property
    def limits(self) -> tuple[int, int]:
        """Both percentages are rounded up."""
        strategy = self.daemon_set.spec.update_strategy or UpdateStrategy()
        rolling, nodes = strategy.rolling_update or RollingUpdate(), self.replicas
        surge = scaled(rolling.max_surge or 0, nodes, round_up=True)
        max_unavailable = 1 if rolling.max_unavailable is None else rolling.max_unavailable
        unavailable = scaled(max_unavailable, nodes, round_up=True)
        return surge, 1 if surge == unavailable == 0 else unavailable

    @property
    def pods(self) -> tuple[list[Pod], list[Pod]]:
        old, new = list[Pod](), list[Pod]()
        for pod in self.world.book.of(self.name):
            (new if self._is_new(pod) else old).append(pod)
        return old, new

    def _is_new(self, pod: Pod) -> bool:
        labels = self.template.metadata.labels
        return pod.metadata.labels.get(REVISION_LABEL) == labels.get(REVISION_LABEL)

    @property
    def desired(self) -> RevisionPods:
        old, new = (sum(map(is_active, pods)) for pods in self.pods)
        return RevisionPods(old=old, new=new)

    @property
    def kept(self) -> int:
        return 0

    @property
    def why_waiting(self) -> str:
        if self.strategy == _ON_DELETE:
            return "updateStrategy OnDelete: pods are replaced when somebody deletes them"
        return _WAITS

    def reconcile(self) -> bool:
        """Pods where there are none or must be none; once that is so, the next nodes of the update."""
        self.world.api_server.take_refused(self.name)
        by_node: dict[str, list[Pod]] = {}
        for pod in self.world.book.of(self.name):
            by_node.setdefault(node_of(pod), []).append(pod)
        return self._manage(by_node) or (self.strategy != _ON_DELETE and self._roll(by_node))

    def _manage(self, by_node: dict[str, list[Pod]]) -> bool:
        nodes = self.world.living.nodes
        daemon_nodes = {name: nodes.objects[nodes.index[name]] for name in by_node if name in nodes.index}
        astray = [
            pod
            for name, node in daemon_nodes.items()
            if not should_continue(self.template, node)
            for pod in by_node[name]
            if is_active(pod)
        ]
        missing = [node.metadata.name for node in self.nodes if node.metadata.name not in by_node]
        self._delete(astray, DELETED)
        return self._create(missing) or bool(astray)

    def _roll(self, by_node: dict[str, list[Pod]]) -> bool:
        surge, unavailable = self.limits
        active = {name: [pod for pod in pods if is_active(pod)] for name, pods in by_node.items()}
        nodes = [pods for node in self.nodes if (pods := active.get(node.metadata.name))]
        return self._with_surge(nodes, surge) if surge else self._in_place(nodes, unavailable)

    def _in_place(self, nodes: list[list[Pod]], max_unavailable: int) -> bool:
        """Old pods that are not ready go at once; of the others, as many as maxUnavailable allows."""
        old = [pods[0] for pods in nodes if not any(map(self._is_new, pods))]
        unready = [pod for pod in old if not is_ready(pod)]
        unavailable = sum(not any(map(is_ready, pods)) for pods in nodes)
        others = [pod for pod in old if is_ready(pod)]
        doomed = [*unready, *others[: max(0, max_unavailable - unavailable)]]
        self._delete(doomed, REPLACED)
        return bool(doomed)

    def _with_surge(self, nodes: list[list[Pod]], max_surge: int) -> bool:
        """New pods come beside old ones, which go once the new ones are ready."""
        both = [pods for pods in nodes if len({self._is_new(pod) for pod in pods}) > 1]
        doomed = [
            pod
            for pods in both
            if any(self._is_new(pod) and is_ready(pod) for pod in pods)
            for pod in pods
            if not self._is_new(pod)
        ]
        old = [pods[0] for pods in nodes if not any(map(self._is_new, pods))]
        unready = [node_of(pod) for pod in old if not is_ready(pod)]
        others = [node_of(pod) for pod in old if is_ready(pod)]
        chosen = [*unready, *others[: max(0, max_surge - len(both))]]
        self._delete(doomed, REPLACED)
        return self._create(chosen) or bool(doomed)

    def _delete(self, pods: list[Pod], why: str) -> None:
        self.world.delete(pods, why)
        # Their successors are made from the new template, here.
        self.world.owner(self.name).gone.clear()

    def _create(self, nodes: list[str]) -> bool:
        """Whether any pod was created."""
        owner = self.world.owner(self.name)
        return create_copies(self.world, owner, (pinned_to(self.template, node) for node in nodes)) > 0
