"""What a cluster makes of losing one domain after another: each on a cluster of its own, as nothing was lost before."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from kubespread.kube.api.core import Pod
from kubespread.kube.owners import WorkloadName
from kubespread.kube.pod_status import is_active, is_ready
from kubespread.kube.well_known import HOSTNAME, ZONE
from kubespread.planner.reports.survive import DomainLoss, ShortWorkload
from kubespread.planner.world.asked import AskedWorkloads
from kubespread.planner.world.failing import fail, remove_failed
from kubespread.planner.world.happenings import LOST, PREEMPTED
from kubespread.planner.world.owners import in_order
from kubespread.planner.world.pod_book import key_of
from kubespread.planner.world.reporting import name_of, workload_text
from kubespread.planner.world.waiting import Waiting
from kubespread.planner.world.world import World

NOT_MODELLED = (
    "how long it takes: pods on silent nodes are deleted after about 6 minutes, at a limited rate per zone",
    "autoscalers: no replicas and no nodes are added",
)
_HELD = "pods are terminating on nodes that do not answer, and only made again once they are gone"
_STAYS = "pods are not ready on nodes that do not answer, and are not evicted there"
_FEWER = "its controller makes no more pods"


@dataclass(frozen=True, slots=True)
class Domain:
    """The nodes that share one value of a topology key."""

    key: str
    value: str
    nodes: tuple[str, ...]


def domains(world: World, key: str) -> list[Domain]:
    """Those of ``key``, by value; nodes without the label are in none."""
    nodes: dict[str, list[str]] = {}
    for node in world.living.nodes.objects:
        if (value := node.metadata.labels.get(key)) is not None:
            nodes.setdefault(value, []).append(node.metadata.name)
    return [Domain(key, value, tuple(nodes[value])) for value in sorted(nodes)]


def default_key(world: World) -> str:
    """The zone's, else the host's where no node is in a zone."""
    has_zones = any(ZONE in node.metadata.labels for node in world.living.nodes.objects)
    return ZONE if has_zones else HOSTNAME


def losses(question: Question, lost: Iterable[Domain]) -> Iterator[DomainLoss]:
    """What losing each of some domains does to the workloads that are asked about, one after another and each alone."""
    for domain in lost:
        yield _Loss(question, domain).report()


class Question:
    """Which pods and workloads of a world count, and how things stand before anything is lost. All others live on."""

    def __init__(self, world: World, is_asked: Callable[[WorkloadName], bool]) -> None:
        """``world`` is settled, and stays as it is."""
        self.world = world
        self._asked = AskedWorkloads(world, is_asked)
        self._before = {key_of(each.pod) for each in world.waiting}

    def workload(self, pod: Pod) -> WorkloadName | None:
        """What the pod counts for, the pod itself where nothing controls it; None where it does not count."""
        return self._asked.of(pod)

    def is_new(self, pod: Pod) -> bool:
        """Whether the pod counts and did not wait before."""
        return key_of(pod) not in self._before and self.workload(pod) is not None

    @property
    def workloads(self) -> set[WorkloadName]:
        """All that count."""
        return {workload for pod in self.world.book if (workload := self.workload(pod)) and workload.kind != "Pod"}

    @property
    def is_empty(self) -> bool:
        """Whether no pod counts."""
        return all(self.workload(pod) is None for pod in self.world.book)

    @property
    def pending(self) -> int:
        """How many pods that count wait before."""
        return sum(self.workload(each.pod) is not None for each in self.world.waiting)


class _Loss:
    """One domain that is lost."""

    def __init__(self, question: Question, domain: Domain) -> None:
        self._question, self._domain = question, domain
        self._base, self._world = question.world, question.world.fork()
        self._failed = frozenset(domain.nodes)
        pods = [pod for node in domain.nodes for pod in self._base.book.on(node) if is_active(pod)]
        self._touched = self._workloads(pods)
        for owner in (owner for workload in self._touched for owner in self._base.owners_below(workload)):
            # Asked as long as all its pods are there, which is what some of its numbers are made of.
            self._base.owner(owner)
            self._world.owner(owner)

    def _workloads(self, pods: Iterable[Pod]) -> dict[WorkloadName, None]:
        """Of those pods that count, but for pods by themselves."""
        found = (self._question.workload(pod) for pod in pods)
        return dict.fromkeys(each for each in found if each is not None and each.kind != "Pod")

    def report(self) -> DomainLoss:
        world, names = self._world, self._domain.nodes
        fail(world, names)
        happened = world.happenings
        pending = self._pending()
        placed = sum(map(self._question.is_new, happened.placed))
        messages = {workload: world.message(waiting) for waiting, workload in self._first(pending)}
        preempted = self._gone(PREEMPTED)
        self._touched |= self._workloads(preempted)
        ready = {workload: _ready(world, workload) for workload in sorted(self._touched, key=in_order)}
        reasons = {workload: self._why(workload, messages) for workload in ready}
        notes = tuple(happened.notes)
        remove_failed(world, names)
        return DomainLoss(
            topology_key=self._domain.key,
            domain=self._domain.value,
            nodes=len(names),
            lost=len(self._gone(LOST)),
            placed=placed,
            pending=len(pending),
            pending_after_removal=len(self._pending()),
            preempted=len(preempted),
            not_made_again=tuple(
                name_of(gone.pod) for gone in happened.lost_for_good() if self._question.workload(gone.pod) is not None
            ),
            message=next(iter(messages.values()), None),
            short=tuple(self._short(ready, reasons)),
            notes=notes,
        )

    def _gone(self, why: str) -> list[Pod]:
        gone = (each.pod for each in self._world.happenings.gone if each.why == why)
        return [pod for pod in gone if self._question.workload(pod) is not None]

    def _pending(self) -> list[Waiting]:
        return [each for each in self._world.waiting if self._question.is_new(each.pod)]

    def _first(self, pending: Iterable[Waiting]) -> Iterator[tuple[Waiting, WorkloadName]]:
        """The first of the pending pods of each workload."""
        seen: set[WorkloadName] = set()
        for each in pending:
            workload = self._question.workload(each.pod)
            if workload is not None and workload not in seen:
                seen.add(workload)
                yield each, workload

    def _why(self, workload: WorkloadName, messages: Mapping[WorkloadName, str]) -> str:
        """Why a workload is short, if it is, while its nodes are still there."""
        if workload in messages:
            return messages[workload]
        pods = (pod for owner in self._world.owners_below(workload) for pod in self._world.book.of(owner))
        on_failed = [pod for pod in pods if pod.spec.node_name in self._failed]
        if any(map(is_active, on_failed)):
            return _STAYS
        return _HELD if on_failed and workload.kind == "StatefulSet" else _FEWER

    def _short(self, ready: Mapping[WorkloadName, int], reasons: Mapping[WorkloadName, str]) -> Iterator[ShortWorkload]:
        for workload, there in ready.items():
            wanted = sum(self._base.owner(owner).replicas for owner in self._base.owners_below(workload))
            if there < wanted and there < _ready(self._base, workload):
                yield ShortWorkload(
                    workload=workload_text(workload),
                    wanted=wanted,
                    ready=there,
                    ready_after_removal=_ready(self._world, workload),
                    why=reasons[workload],
                )


def _ready(world: World, workload: WorkloadName) -> int:
    pods = (pod for owner in world.owners_below(workload) for pod in world.book.of(owner))
    return sum(is_active(pod) and is_ready(pod) for pod in pods)
