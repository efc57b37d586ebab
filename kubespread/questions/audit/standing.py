"""How workloads stand: pods that are not ready on nodes, whether that changes by itself, and who must act."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from kubespread.kube.api.core import Pod
from kubespread.kube.pod_status import is_ready
from kubespread.questions.audit.afresh import OnNodes
from kubespread.questions.audit.outlook import Outlook
from kubespread.questions.audit.report import AuditFinding, Cause, Level, RolloutUnderWay
from kubespread.questions.audit.revisions import Group, Revisions
from kubespread.wording import some_of
from kubespread.world.events.world import World
from kubespread.world.store.waiting import SchedulerOf

_MAX_NAMED = 3


class Standing(Struct, frozen=True):
    """A workload's current and desired pods."""

    group: Group
    template: Pod | None
    """The template of its next pod; None where nothing has it."""
    replicas: int
    placed: OnNodes
    going: OnNodes
    """Its terminating pods that are on nodes."""
    awaited: Sequence[Pod]
    """Those that wait for nothing but a node that kube-scheduler finds."""
    placeable: int | None
    """How many of these find one now; None without any."""
    rollout: RolloutUnderWay | None

    @classmethod
    def of(cls, world: World, group: Group, revisions: Revisions, outlook: Outlook) -> Standing:
        scheduler_of, replicas = world.surroundings.scheduler_of, group.replicas(world)
        awaited = [pod for pod in group.waiting if not pod.spec.scheduling_gates and scheduler_of(pod) is not None]
        return cls(
            group=group,
            template=revisions.template,
            replicas=replicas,
            placed=_on_nodes(world, group.pods),
            going=_on_nodes(world, group.terminating),
            awaited=awaited,
            placeable=outlook.placeable(awaited) if awaited else None,
            rollout=outlook.rollout(group, revisions, replicas),
        )

    @property
    def unready(self) -> Sequence[Pod]:
        """Pods on nodes."""
        return [pod for pod, _ in self.placed if not is_ready(pod)]

    @property
    def ready(self) -> int:
        return len(self.placed) - len(self.unready)

    @property
    def is_changing(self) -> bool:
        """Whether controllers or kube-scheduler have something to do."""
        return bool(self.awaited or self.rollout is not None or self.replicas > len(self.group.pods))


def _on_nodes(world: World, pods: Sequence[Pod]) -> OnNodes:
    index = world.living.nodes.index
    return [(pod, position) for pod in pods if (position := index.get(pod.spec.node_name)) is not None]


def missing(standing: Standing, outlook: Outlook) -> Iterator[AuditFinding]:
    """A risk where fewer pods are ready on nodes than desired."""
    rollout, group = standing.rollout, standing.group
    if rollout is not None and rollout.state == "stuck":
        yield _risk("stuckRollout", rollout.message or "")
    elif standing.awaited:
        yield _risk("pending", outlook.first_message(standing.awaited))
    if standing.replicas > len(group.pods):
        yield _risk("notCreated", next((unmade.message for unmade in outlook.unmade(group)), ""))
    if standing.unready and standing.ready < standing.replicas:
        yield _risk("notReady", some_of([pod.metadata.name for pod in standing.unready], _MAX_NAMED))


def _risk(cause: Cause, detail: str) -> AuditFinding:
    return AuditFinding(level="risk", cause=cause, topology_key=None, detail=detail)


def gated(pods: Sequence[Pod], template: Pod) -> Iterator[AuditFinding]:
    """A risk where pods wait behind scheduling gates, or the next one will; gates may also be added on creation."""
    waiting = [pod for pod in pods if not pod.spec.node_name]
    gates = {gate.name for pod in (*waiting, template) for gate in pod.spec.scheduling_gates}
    if gates:
        yield AuditFinding(level="risk", cause="gated", topology_key=None, detail=", ".join(sorted(gates)))


def scheduled_by_others(pods: Sequence[Pod], template: Pod, scheduler_of: SchedulerOf) -> Iterator[AuditFinding]:
    """Schedulers that are not modeled: a risk where pods wait for one, else the workload is not judged."""
    waiting = [pod for pod in pods if not pod.spec.node_name]
    awaited = {pod.spec.scheduler_name for pod in waiting if scheduler_of(pod) is None}
    if scheduler_of(template) is None or awaited:
        names = sorted(awaited | ({template.spec.scheduler_name} if scheduler_of(template) is None else set()))
        level: Level = "risk" if awaited else "unjudged"
        yield AuditFinding(level=level, cause="otherScheduler", topology_key=None, detail=", ".join(names))
