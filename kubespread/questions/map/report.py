"""A cluster as its topology: domains within domains, the nodes in them, and how full and how evenly used they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated

from kubespread.kube.owners import NamespacedName
from kubespread.reports.columns import Col, Readers
from kubespread.reports.parts import ClusterReport, ConstraintReport, Judgment, Report, letter
from kubespread.wording import EMPTY, count_of, short_key, some_of


class Load(Report, frozen=True, gc=False):
    """Amount of a resource that pods request where they run: of a node, or of all nodes of a domain."""

    resource: str
    """``pods`` is how many there are, of how many there may be."""
    requested: str
    """A canonical quantity, as ``allocatable`` is."""
    allocatable: str
    """A canonical quantity."""
    percent: int | None
    """Rounded down; null where nothing is allocatable."""


def _in_words(closed: Sequence[str]) -> Sequence[str]:
    """Words without blanks: ``not-ready``."""
    return [part.replace(" ", "-") for part in closed]


class MapNode(Report, frozen=True, gc=False):
    name: Annotated[str, Col(header="NODE")]
    """The node's."""
    path: tuple[str | None, ...]
    """The node's value of each of ``keys``, null where it lacks the label."""
    pods: Annotated[int, Col(header="RUNNING", readers=Readers.PIPES)]
    """Number of pods that run there, terminating ones included: they take room until they are gone."""
    marked: Annotated[tuple[NamespacedName, ...], Col(value=len, readers=Readers.PIPES)]
    """NAMESPACE/name of those that are marked; empty where none are."""
    load: tuple[Load, ...]
    """Loads in the order of `TopologyMap.resources`."""
    skew: tuple[int | None, ...]
    """Matching pods of the node's domain minus the minimum, per constraint; null without the label."""
    closed: Annotated[tuple[str, ...], Col(value=_in_words, readers=Readers.PIPES)]
    """Reasons that keep pods away in general: ``cordoned``, ``not ready``, and its taints, ``key=value:Effect``."""
    joined: bool = False
    """True if it was not there before the edits."""

    @property
    def fullest(self) -> Load | None:
        """The resource of which the largest part is requested."""
        return fullest(self.load)


class MapDomain(Report, frozen=True, gc=False):
    """A domain of one of ``keys`` within those before it; the last of ``path`` is its own value."""

    path: tuple[str | None, ...]
    """Its value of each of ``keys`` up to its own; null for nodes without the label."""
    nodes: Annotated[int, Col()]
    """Number of its nodes."""
    pods: Annotated[int, Col()]
    """Number of pods that run there."""
    marked: Annotated[int, Col()]
    """Number of them that are marked."""
    load: tuple[Load, ...]
    """Load of all its nodes, in the order of ``resources``."""


class TopologyMap(ClusterReport, frozen=True, kw_only=True):
    kind: str = "TopologyMap"
    is_yes_or_no = False
    namespace: str | None = None
    """Namespace of the workload, null where none is named."""
    workload: str | None = None
    """Kind/name of the workload."""
    selector: str | None = None
    """Selector of the marked pods, in ``namespace``; null where the workload's own are marked."""
    keys: tuple[str, ...]
    """The topology keys that nodes are grouped by, the widest first; hostnames are the nodes themselves."""
    resources: tuple[str, ...]
    """Resources whose load is told: cpu and memory, what else some pod requests, by name, and pods."""
    constraints: tuple[ConstraintReport, ...] = ()
    """The workload's, with what they count now."""
    skew: tuple[int, ...] = ()
    """Most minus least matching pods of the domains that count, per constraint."""
    domains: tuple[MapDomain, ...]
    """Domains of every key, each before those within it, by value; null, for nodes without the label, comes last."""
    nodes: tuple[MapNode, ...]
    """Nodes by domain, then by name."""
    load: tuple[Load, ...]
    """Load of all nodes."""
    pending: int
    """Number of pods that wait for a node, of any workload."""
    left: tuple[str, ...] = ()
    """Nodes that the edits took away, by name."""

    @property
    def pods(self) -> int:
        return sum(node.pods for node in self.nodes)

    @property
    def marked(self) -> int:
        return sum(len(node.marked) for node in self.nodes)

    def judged(self) -> Judgment:
        return "no" if any(map(is_violated, self.constraints, self.skew)) else "yes"

    def sentences(self) -> Iterator[str]:
        """Describe each constraint, nodes that came and went, pods that wait, and last how full everything is."""
        yield fullness(self)
        yield from evenness(self)
        joined = [node.name for node in self.nodes if node.joined]
        for names, what in ((joined, "joined"), (self.left, "deleted")):
            if names:
                yield f"{count_of(len(names), 'node')} {what}: {some_of(names, _NAMED)}"
        if self.pending:
            yield f"{count_of(self.pending, 'pod')} pending in the whole cluster"


def fullest(load: tuple[Load, ...]) -> Load | None:
    """The resource with the largest requested share, the first in case of a tie."""
    measured = [row for row in load if row.percent is not None]
    return max(measured, key=lambda row: row.percent or 0, default=None)


CLOSING = ("cordoned", "not ready")
"""States that keep pods away whatever they tolerate; anything else in `MapNode.closed` is a taint."""
JOINED = "joined"
_NAMED = 3


def evenness(report: TopologyMap) -> Iterator[str]:
    """``A zone: 5−1 = 4 > 1, most in zone-a, least in zone-c``, a sentence a constraint."""
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
    """``5−1 = 4 > 1``: pods of a domain minus the minimum, against maxSkew."""
    return f"{matching}−{matching - skew} = {against(constraint, skew)}"


def against(constraint: ConstraintReport, skew: int) -> str:
    """``4 > 1``."""
    return f"{skew} {'>' if skew > constraint.max_skew else '≤'} {constraint.max_skew}"


def fullness(report: TopologyMap) -> str:
    """Say how much of each resource is requested, and which node is fullest."""
    percents = [f"{load.resource} {load.percent}%" for load in report.load if load.percent is not None]
    first = fullest_node(report)
    busiest = f"; fullest {first.name}, {node_load(first)}" if first is not None and percent(first) else ""
    return (
        f"{count_of(len(report.nodes), 'node')}: {', '.join(percents)} requested{busiest}" if percents else "no nodes"
    )


def fullest_node(report: TopologyMap) -> MapNode | None:
    """The first of equals; None where no node has anything."""
    measured = [node for node in report.nodes if node.fullest is not None]
    return max(measured, key=percent, default=None)


def percent(node: MapNode) -> int:
    """Requested percentage of its fullest resource, 0 where it has none."""
    load = fullest(node.load)
    return 0 if load is None or load.percent is None else load.percent


def node_load(node: MapNode) -> str:
    """``cpu 62%``, of the resource that is fullest."""
    load = fullest(node.load)
    return "nothing allocatable" if load is None else f"{load.resource} {load.percent}%"


def is_violated(constraint: ConstraintReport, skew: int) -> bool:
    """True if pods are further apart than a hard constraint lets new ones be."""
    return constraint.is_hard and skew > constraint.max_skew


def is_closed(states: Sequence[str]) -> bool:
    """True if the node takes no new pods in general; one that is only tainted takes those that tolerate it."""
    return any(state in CLOSING for state in states)


def state_words(node: MapNode) -> str:
    """``cordoned``, ``not ready``, or that it is tainted; and whether an edit added it."""
    return ", ".join(_states(node))


def _states(node: MapNode) -> list[str]:
    states = [part for part in node.closed if part in CLOSING] or (["tainted"] if node.closed else [])
    return [*states, *([JOINED] if node.joined else [])]


def state_word(node: MapNode) -> str:
    """The one that matters most, where there is room for one; page.js has the same."""
    states = _states(node)
    return next((word for word in ("not ready", "cordoned", JOINED, *states) if word in states), "")


def states_in_full(node: MapNode) -> str:
    """``cordoned``, ``not ready`` and every taint; and whether an edit added it."""
    return ", ".join([*node.closed, *([JOINED] if node.joined else [])])
