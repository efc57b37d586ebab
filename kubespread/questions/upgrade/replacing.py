"""The nodes of a pool replaced batch by batch, as managed node pools and ``kubectl drain`` do it, within budgets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from msgspec import structs

from kubespread.errors import UsageError
from kubespread.kube.api.core import Node, Pod
from kubespread.kube.owners import NamespacedName
from kubespread.kube.taint import DrainFlags, uncordoned
from kubespread.questions.upgrade.question import Upgrade
from kubespread.questions.upgrade.report import Blocked, UpgradeReport, UpgradeStep
from kubespread.snapshot.edits.new_nodes import AddNode, in_place_of, node_called
from kubespread.snapshot.edits.registry import parse
from kubespread.world.events.controllers import follow
from kubespread.world.events.draining import delete_nodes, drain
from kubespread.world.reporting.difference import Trial
from kubespread.world.reporting.happenings import blocked_pods, gone_pods, pending_pods, unmade_pods, workload_of
from kubespread.world.store import happenings
from kubespread.world.store.happenings import EVICTED, PREEMPTED, RefusedDrain
from kubespread.world.store.pod_book import key_of


def replace_nodes(
    trial: Trial, nodes: Sequence[str], surge: int, batch: int, flags: DrainFlags, to: str = ""
) -> UpgradeReport:
    """Replace nodes by copies with fresh names, or by what ``to`` says, ``batch`` at a time and in the order given.

    The nodes of each batch are cordoned, drained with kubectl's ``flags`` and deleted. Replacements join once the nodes
    they replace are gone, but ``surge`` of them always join before; the pool is larger by that number meanwhile. Pods
    without a node do not delay the next batch, unless a budget does. It ends when an eviction is refused for good, and
    leaves the world as it is then. The report has neither remedies nor the cluster; what waits and what is preempted or
    lost is told of the workloads that count in ``trial``. Raises UsageError and ManifestError for a ``to`` that says
    nothing.
    """
    pool = _Pool(trial, nodes, surge, flags, to)
    steps: list[UpgradeStep] = []
    blocked: Blocked | None = None
    for start in range(0, len(nodes), batch):
        names = nodes[start : start + batch]
        step, blocked = pool.replace(names, start)
        steps.append(step)
        if blocked is not None:
            break
    difference, world = trial.difference, trial.world
    is_charged = {key_of(waiting.pod) for waiting in difference.waiting}
    as_before = (
        waiting for waiting in world.waiting
        if key_of(waiting.pod) not in is_charged and trial.counts(workload_of(world, waiting.pod))
    )  # fmt: skip
    return UpgradeReport(
        kube_version=str(world.surroundings.version),
        nodes=tuple(nodes),
        to=to,
        surge=surge,
        batch=batch,
        steps=tuple(steps),
        replaced=sum(len(step.nodes) for step in steps) - (len(blocked.nodes) if blocked is not None else 0),
        blocked=blocked,
        pending_before=trial.baseline.pending(trial.counts),
        pending=tuple(pending_pods(world, difference.waiting)),
        not_created=tuple(unmade_pods(world, (row for row in difference.unmade if row.is_refused))),
        not_made_yet=tuple(unmade_pods(world, (row for row in difference.unmade if not row.is_refused))),
        short=tuple(difference.short),
        pending_as_before=tuple(pending_pods(world, as_before)),
        not_modelled=Upgrade.never_modelled,
        notes=tuple(pool.notes),
    )


@dataclass(slots=True)
class _Pool:
    """The nodes to replace, and those that have taken their place."""

    trial: Trial
    nodes: Sequence[str]
    surge: int
    flags: DrainFlags
    to: str
    notes: dict[str, None] = field(default_factory=dict)
    _old: dict[str, Node] = field(init=False)
    _joining: dict[str, AddNode] = field(init=False)
    """What comes instead of each."""
    _made: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        living = self.trial.world.living.nodes
        self._old = {name: living.objects[living.index[name]] for name in self.nodes}
        self._joining = {name: _instead_of(node, self.to, living.objects) for name, node in self._old.items()}

    def replace(self, names: Sequence[str], start: int) -> tuple[UpgradeStep, Blocked | None]:
        """One batch, beginning with the pool's node at ``start``."""
        world, happenings = self.trial.world, self.trial.world.happenings
        gone, placed = len(happenings.gone), len(happenings.placed)
        stuck, refused = len(happenings.blocked), len(happenings.refused)
        added = self._join(start + self.surge)
        before, blocked = len(added), None
        if drain(world, names, self.flags):
            world.wait()
            delete_nodes(world, names)
            world.settle()
            added += self._join(start + len(names))
        else:
            blocked = self._blocked(names, happenings.refused[refused:], happenings.blocked[stuck:])
        departed, come = happenings.gone[gone:], happenings.placed[placed:]
        step = UpgradeStep(
            nodes=tuple(names),
            added=tuple(added),
            joined_before=before,
            evicted=sum(pod.why == EVICTED for pod in departed),
            placed=len(come),
            daemons=sum(workload_of(world, pod).kind == "DaemonSet" for pod in come),
            pending=len(self.trial.difference.waiting),
            preempted=tuple(gone_pods(pod for pod in departed if pod.why == PREEMPTED and self._counts(pod.pod))),
            lost=tuple(
                NamespacedName.of(pod.pod) for pod in departed if pod.is_lost_for_good and self._counts(pod.pod)
            ),
            is_blocked=blocked is not None,
            pods=self._held([*(pod.pod for pod in departed), *come]),
        )
        return step, blocked

    def _counts(self, pod: Pod) -> bool:
        return self.trial.counts(workload_of(self.trial.world, pod))

    def _held(self, moved: Iterable[Pod]) -> dict[str, int]:
        """How many pods the remaining nodes of ``moved`` hold now."""
        cluster = self.trial.world.cluster
        counts, index = cluster.running.taken.pod_count, cluster.nodes.index
        names = {pod.spec.node_name for pod in moved} & index.keys()
        return {name: int(counts[index[name]]) for name in sorted(names)}

    def _blocked(
        self, names: Sequence[str], refused: Sequence[RefusedDrain], stuck: Sequence[happenings.Blocked]
    ) -> Blocked:
        """The batch that does not go: pods keep it, or kubectl refuses it."""
        return Blocked(
            nodes=tuple(names),
            refusal="; ".join(map(str, refused)) or None,
            pods=tuple(blocked_pods(stuck)),
            workloads=tuple(dict.fromkeys(workload_of(self.trial.world, blocked.pod) for blocked in stuck)),
        )

    def _join(self, upto: int) -> list[str]:
        """Add the replacements of the first ``upto`` nodes that have not joined yet, DaemonSets' pods first."""
        world, added = self.trial.world, list[str]()
        if upto > self._made:
            world.wait()
        for name in self.nodes[self._made : upto]:
            change = self._joining[name].change(world.living.nodes.objects)
            if not (self.to and self.notes):
                self.notes.update(dict.fromkeys(change.notes))
            world.change_nodes(change)
            follow(world, change, {})
            added += (node.metadata.name for node in change.added)
        self._made += len(added)
        world.settle()
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
