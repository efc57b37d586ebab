"""A cluster as its topology: domains within domains, the nodes in them, and how full and how evenly used they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated

from kubespread.kube.owners import NamespacedName
from kubespread.reports.columns import Col, Readers
from kubespread.reports.parts import ClusterReport, ConstraintReport, Judgment, Report, letter
from kubespread.wording import EMPTY, count_of, short_key, some_of


class Load(Report, frozen=True, gc=False):
    """Allocatable and requested amount of a resource on a node, or on all nodes of a domain."""

    resource: str
    """Name of the resource; ``pods`` counts pods."""
    requested: str
    """A canonical quantity, as ``allocatable`` is."""
    allocatable: str
    """A canonical quantity."""
    percent: int | None
    """Rounded down; null if nothing is allocatable."""


def _in_words(closed: Sequence[str]) -> Sequence[str]:
    """Words without blanks: ``not-ready``."""
    return [part.replace(" ", "-") for part in closed]


class MapNode(Report, frozen=True, gc=False):
    name: Annotated[str, Col(header="NODE")]
    """Name of the node."""
    path: tuple[str | None, ...]
    """The node's value of each of ``keys``; null without the label."""
    pods: Annotated[int, Col(header="RUNNING", readers=Readers.PIPES)]
    """Number of pods on the node, including terminating ones, which take room until they are gone."""
    marked: Annotated[tuple[NamespacedName, ...], Col(value=len, readers=Readers.PIPES)]
    """NAMESPACE/name of the marked pods."""
    load: tuple[Load, ...]
    """Loads in the order of `TopologyMap.resources`."""
    skew: tuple[int | None, ...]
    """Matching pods of the node's domain minus the minimum, per constraint; null outside the domains that count."""
    closed: Annotated[tuple[str, ...], Col(value=_in_words, readers=Readers.PIPES)]
    """Reasons the node keeps pods away: ``cordoned``, ``not ready``, and taints, ``key=value:Effect``."""
    joined: bool = False
    """True if an edit added the node."""

    @property
    def fullest(self) -> Load | None:
        """The resource with the largest requested share."""
        return fullest(self.load)


class MapDomain(Report, frozen=True, gc=False):
    """A domain of one of ``keys``, within domains of the keys before; the last of ``path`` is its own value."""

    path: tuple[str | None, ...]
    """Its value of each of ``keys`` up to its own; null for nodes without the label."""
    nodes: Annotated[int, Col()]
    """Number of nodes in the domain."""
    pods: Annotated[int, Col()]
    """Number of pods that run there."""
    marked: Annotated[int, Col()]
    """Number of marked pods."""
    load: tuple[Load, ...]
    """Load of all its nodes, in the order of ``resources``."""


class TopologyMap(ClusterReport, frozen=True, kw_only=True):
    kind: str = "TopologyMap"
    is_yes_or_no = False
    namespace: str | None = None
    """Namespace of the workload; null without one."""
    workload: str | None = None
    """Kind/name of the workload."""
    selector: str | None = None
    """Selector of the marked pods; null for a workload's own pods, and if no pods are marked."""
    keys: tuple[str, ...]
    """Topology keys that nodes are grouped by, the widest first; the hostname is the node itself."""
    resources: tuple[str, ...]
    """Resources of every ``load``: cpu and memory, others that pods request, by name, and pods."""
    constraints: tuple[ConstraintReport, ...] = ()
    """Constraints of the workload, with their current counts."""
    skew: tuple[int, ...] = ()
    """Most minus fewest matching pods of the domains that count, per constraint."""
    domains: tuple[MapDomain, ...]
    """Domains of every key, each before the domains within it, by value; null, for nodes without the label, is last."""
    nodes: tuple[MapNode, ...]
    """Nodes by domain, then by name."""
    load: tuple[Load, ...]
    """Load of all nodes."""
    pending: int
    """Number of pending pods, of any workload."""
    left: tuple[str, ...] = ()
    """Nodes that edits removed, by name."""

    @property
    def pods(self) -> int:
        return sum(node.pods for node in self.nodes)

    @property
    def marked_count(self) -> int:
        return sum(len(node.marked) for node in self.nodes)

    def judge(self) -> Judgment:
        return "no" if any(map(is_violated, self.constraints, self.skew)) else "yes"

    def sentences(self) -> Iterator[str]:
        """Yield sentences on each constraint, added and removed nodes, pending pods and the load."""
        yield fullness(self)
        yield from evenness(self)
        joined = [node.name for node in self.nodes if node.joined]
        for names, what in ((joined, "joined"), (self.left, "deleted")):
            if names:
                yield f"{count_of(len(names), 'node')} {what}: {some_of(names, _NAMED)}"
        if self.pending:
            yield f"{count_of(self.pending, 'pod')} pending in the whole cluster"


def fullest(load: tuple[Load, ...]) -> Load | None:
    """The resource with the largest requested share; of a tie, the first."""
    measured = [row for row in load if row.percent is not None]
    return max(measured, key=lambda row: row.percent or 0, default=None)


CLOSING = ("cordoned", "not ready")
"""States that keep pods away whatever they tolerate; anything else in `MapNode.closed` is a taint."""
JOINED = "joined"
_NAMED = 3


def evenness(report: TopologyMap) -> Iterator[str]:
    """Yield ``A zone: 5−1 = 4 > 1, most in zone-a, least in zone-c`` for each constraint."""
    for place, (constraint, skew) in enumerate(zip(report.constraints, report.skew, strict=True)):
        key = f"{short_key(constraint.topology_key)}{'' if constraint.is_hard else ' (soft)'}"
        counted = [domain for domain in constraint.domains if domain.eligible_nodes]
        if not counted:
            yield f"{letter(place)} {key}: no domain counts"
            continue
        most = max(counted, key=lambda domain: domain.matching)
        least = min(counted, key=lambda domain: domain.matching)
        ends = f", most in {most.value or EMPTY}, least in {least.value or EMPTY}" if most is not least else ""
        # With fewer domains than minDomains the least is 0, whatever the emptiest domain holds.
        yield f"{letter(place)} {key}: {difference(constraint, most.matching, skew)}{ends}"


def difference(constraint: ConstraintReport, matching: int, skew: int) -> str:
    """``5−1 = 4 > 1``: matching pods minus the minimum, against maxSkew."""
    return f"{matching}−{matching - skew} = {skew_text(constraint, skew)}"


def skew_text(constraint: ConstraintReport, skew: int) -> str:
    """``4 > 1``: skew against maxSkew."""
    return f"{skew} {'>' if skew > constraint.max_skew else '≤'} {constraint.max_skew}"


def fullness(report: TopologyMap) -> str:
    """Sentence on how much of each resource is requested, and which node is fullest."""
    percents = [f"{load.resource} {load.percent}%" for load in report.load if load.percent is not None]
    first = fullest_node(report)
    busiest = f"; fullest {first.name}, {node_load(first)}" if first is not None and percent(first) else ""
    return (
        f"{count_of(len(report.nodes), 'node')}: {', '.join(percents)} requested{busiest}" if percents else "no nodes"
    )


def fullest_node(report: TopologyMap) -> MapNode | None:
    """The first of the fullest nodes; None if no node has anything."""
    measured = [node for node in report.nodes if node.fullest is not None]
    return max(measured, key=percent, default=None)


def percent(node: MapNode) -> int:
    """Requested percentage of the node's fullest resource; 0 without any."""
    load = fullest(node.load)
    return 0 if load is None or load.percent is None else load.percent


def node_load(node: MapNode) -> str:
    """``cpu 62%``, for the node's fullest resource."""
    load = fullest(node.load)
    return "nothing allocatable" if load is None else f"{load.resource} {load.percent}%"


def is_violated(constraint: ConstraintReport, skew: int) -> bool:
    """True if the skew is larger than a hard constraint allows."""
    return constraint.is_hard and skew > constraint.max_skew


def is_closed(states: Sequence[str]) -> bool:
    """True if the node takes no new pods, whatever they tolerate."""
    return any(state in CLOSING for state in states)


def state_words(node: MapNode) -> str:
    """``cordoned``, ``not ready`` or ``tainted``, and whether an edit added the node."""
    return ", ".join(_states(node))


def _states(node: MapNode) -> list[str]:
    states = [part for part in node.closed if part in CLOSING] or (["tainted"] if node.closed else [])
    return [*states, *([JOINED] if node.joined else [])]


def state_word(node: MapNode) -> str:
    """The state that matters most; page.js has the same."""
    states = _states(node)
    return next((word for word in ("not ready", "cordoned", JOINED, *states) if word in states), "")


def states_in_full(node: MapNode) -> str:
    """``cordoned``, ``not ready`` and every taint; and whether an edit added it."""
    return ", ".join([*node.closed, *([JOINED] if node.joined else [])])
