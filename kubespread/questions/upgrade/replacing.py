"""The nodes of a pool replaced batch by batch, as managed node pools and ``kubectl drain`` do it, within budgets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from msgspec import structs

from kubespread.controllers.disruption.drain import DrainFlags
from kubespread.errors import UsageError
from kubespread.kube.api.core import Node, Pod
from kubespread.kube.owners import NamespacedName, WorkloadName
from kubespread.kube.taint import cordoned, uncordoned
from kubespread.questions.upgrade.question import Upgrade
from kubespread.questions.upgrade.report import Blocked, UpgradeReport, UpgradeStep
from kubespread.reports.happened import BlockedPod
from kubespread.snapshot.edits.new_nodes import AddNode, in_place_of, node_called
from kubespread.snapshot.edits.registry import parse
from kubespread.snapshot.edits.verb import NodeChange
from kubespread.world.events.daemon_sets import follow
from kubespread.world.events.draining import DrainRefusedError, check_drain, drain
from kubespread.world.events.world import World
from kubespread.world.reporting.happenings import gone_pods, pending_pods, unmade_pods, workload_of
from kubespread.world.reporting.missing import Missing
from kubespread.world.store.happenings import EVICTED, PREEMPTED
from kubespread.world.store.pod_book import key_of

POOL_FLAGS = DrainFlags(ignore_daemonsets=True, delete_emptydir_data=True)
"""The flags of managed node pools' drains: pods without a controller are refused, as kubectl refuses them."""


def replace_nodes(
    world: World,
    nodes: Sequence[str],
    surge: int = 0,
    batch: int = 1,
    flags: DrainFlags = POOL_FLAGS,
    missing: Missing | None = None,
    counts: Callable[[WorkloadName], bool] = lambda _: True,
    to: str = "",
) -> UpgradeReport:
    """Replace nodes by copies with fresh names, or by what ``to`` says, ``batch`` at a time and in the order given.

    The nodes of each batch are cordoned, drained with kubectl's ``flags`` and deleted. Replacements join once the nodes
    they replace are gone, but ``surge`` of them always join before; the pool is larger by that number meanwhile. Pods
    without a node do not delay the next batch, unless a budget does. It ends when an eviction is refused for good, and
    leaves ``world`` as it is then. ``missing`` (default: made from ``world``) tells what had no node before. The report
    has neither remedies nor the cluster; what waits and what is preempted or lost is told of the workloads that
    ``counts`` names. Raises UsageError and ManifestError for a ``to`` that says nothing.
    """
    pool = _Pool(world, nodes, surge, flags, missing or Missing(world), counts, to)
    steps: list[UpgradeStep] = []
    blocked: Blocked | None = None
    for start in range(0, len(nodes), batch):
        names = nodes[start : start + batch]
        step, blocked = pool.replace(names, start)
        steps.append(step)
        if blocked is not None:
            break
    charged = pool.missing.newly_waiting(world)
    unmade = [
        row for row in pool.missing.newly_unmade(world)
        if counts(world.workloads.above(row.owner, world.book.of(row.owner)))
    ]  # fmt: skip
    is_charged = {key_of(waiting.pod) for waiting in charged}
    counted = [waiting for waiting in world.waiting if counts(workload_of(world, waiting.pod))]
    return UpgradeReport(
        kube_version=str(world.surroundings.version),
        nodes=tuple(nodes),
        to=to,
        surge=surge,
        batch=batch,
        steps=tuple(steps),
        replaced=sum(len(step.nodes) for step in steps) - (len(blocked.nodes) if blocked is not None else 0),
        blocked=blocked,
        pending=tuple(pending_pods(world, (waiting for waiting in counted if key_of(waiting.pod) in is_charged))),
        not_created=tuple(unmade_pods(world, (row for row in unmade if row.is_refused))),
        not_made_yet=tuple(unmade_pods(world, (row for row in unmade if not row.is_refused))),
        pending_as_before=tuple(
            pending_pods(world, (waiting for waiting in counted if key_of(waiting.pod) not in is_charged))
        ),
        not_modelled=Upgrade.never_modelled,
        notes=tuple(pool.notes),
    )


@dataclass(slots=True)
class _Pool:
    """The nodes to replace, and those that have taken their place."""

    world: World
    nodes: Sequence[str]
    surge: int
    flags: DrainFlags
    missing: Missing
    counts: Callable[[WorkloadName], bool]
    to: str
    notes: dict[str, None] = field(default_factory=dict)
    _old: dict[str, Node] = field(init=False)
    _joining: dict[str, AddNode] = field(init=False)
    """What comes instead of each."""
    _made: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        living = self.world.living.nodes
        self._old = {name: living.objects[living.index[name]] for name in self.nodes}
        self._joining = {name: _instead_of(node, self.to, living.objects) for name, node in self._old.items()}

    def replace(self, names: Sequence[str], start: int) -> tuple[UpgradeStep, Blocked | None]:
        """One batch, beginning with the pool's node at ``start``."""
        world, happenings = self.world, self.world.happenings
        gone, placed, stuck = len(happenings.gone), len(happenings.placed), len(happenings.blocked)
        added = self._join(start + self.surge)
        before = len(added)
        cordons = {name: cordoned(self._old[name]) for name in names}
        world.change_nodes(NodeChange(replaced=cordons))
        blocked = self._drain(names, stuck)
        if blocked is None:
            world.change_nodes(NodeChange(removed=tuple(names)))
            world.settle()
            added += self._join(start + len(names))
        departed, come = happenings.gone[gone:], happenings.placed[placed:]
        step = UpgradeStep(
            nodes=tuple(names),
            added=tuple(added),
            joined_before=before,
            evicted=sum(pod.why == EVICTED for pod in departed),
            placed=len(come),
            daemons=sum(workload_of(world, pod).kind == "DaemonSet" for pod in come),
            pending=sum(map(self._counts, (waiting.pod for waiting in self.missing.newly_waiting(world)))),
            preempted=tuple(gone_pods(pod for pod in departed if pod.why == PREEMPTED and self._counts(pod.pod))),
            lost=tuple(
                NamespacedName.of(pod.pod) for pod in departed if pod.is_lost_for_good and self._counts(pod.pod)
            ),
            is_blocked=blocked is not None,
            pods=self._held([*(pod.pod for pod in departed), *come]),
        )
        return step, blocked

    def _counts(self, pod: Pod) -> bool:
        return self.counts(workload_of(self.world, pod))

    def _held(self, moved: Iterable[Pod]) -> dict[str, int]:
        """How many pods the remaining nodes of ``moved`` hold now."""
        cluster = self.world.cluster
        counts, index = cluster.running.taken.pod_count, cluster.nodes.index
        names = {pod.spec.node_name for pod in moved} & index.keys()
        return {name: int(counts[index[name]]) for name in sorted(names)}

    def _drain(self, names: Sequence[str], before: int) -> Blocked | None:
        world = self.world
        try:
            check_drain(world, names, self.flags)
        except DrainRefusedError as refused:
            return Blocked(nodes=tuple(names), refusal=str(refused), pods=(), workloads=())
        if drain(world, names, self.flags):
            return None
        stuck = world.happenings.blocked[before:]
        pods = (
            BlockedPod(
                pod=NamespacedName.of(blocked.pod),
                node=blocked.pod.spec.node_name,
                budget=blocked.budget,
                message=blocked.message,
                cause=blocked.cause,
            )
            for blocked in stuck
        )
        workloads = dict.fromkeys(workload_of(world, blocked.pod) for blocked in stuck)
        return Blocked(nodes=tuple(names), refusal=None, pods=tuple(pods), workloads=tuple(workloads))

    def _join(self, upto: int) -> list[str]:
        """Add the replacements of the first ``upto`` nodes that have not joined yet, DaemonSets' pods first."""
        added: list[str] = []
        for name in self.nodes[self._made : upto]:
            change = self._joining[name].change(self.world.living.nodes.objects)
            if not (self.to and self.notes):
                self.notes.update(dict.fromkeys(change.notes))
            self.world.change_nodes(change)
            follow(self.world, change, {})
            added += (node.metadata.name for node in change.added)
        self._made += len(added)
        self.world.settle()
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
    return structs.replace(edit, manifest=edit.manifest or uncordoned(node_called(edit.template, nodes)))
