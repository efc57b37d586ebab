"""A cluster as its topology: domains within domains, the nodes in them, and how full and how evenly used they are."""

from __future__ import annotations

from kubespread.planner.reports.parts import API_VERSION, ClusterReference, ConstraintReport, Report


class Load(Report, frozen=True, gc=False):
    """How much of a resource pods request where they run: of a node, or of all nodes of a domain."""

    resource: str
    """``pods`` is how many there are, of how many there may be."""
    requested: str
    """A canonical quantity, as ``allocatable`` is."""
    allocatable: str
    """A canonical quantity."""
    percent: int | None
    """Rounded down; null where nothing is allocatable."""


class MapNode(Report, frozen=True, gc=False):
    name: str
    """The node's."""
    path: tuple[str | None, ...]
    """The node's value of each of ``keys``, null where it lacks the label."""
    pods: int
    """How many run there, terminating ones included: they take room until they are gone."""
    marked: tuple[str, ...]
    """NAMESPACE/name of those that are asked about; empty where none are."""
    load: tuple[Load, ...]
    """In the order of `TopologyMap.resources`."""
    skew: tuple[int | None, ...]
    """Per constraint the matching pods of the node's domain minus the minimum; null without the label."""
    closed: tuple[str, ...]
    """What keeps pods away in general: ``cordoned``, ``not ready``, and its taints, ``key=value:Effect``."""
    joined: bool = False
    """Whether it was not there before the edits."""

    @property
    def fullest(self) -> Load | None:
        """The resource of which the largest part is requested."""
        return fullest(self.load)


class MapDomain(Report, frozen=True, gc=False):
    """A domain of one of ``keys`` within those before it; the last of ``path`` is its own value."""

    path: tuple[str | None, ...]
    """Its value of each of ``keys`` up to its own; null for nodes without the label."""
    nodes: int
    """How many are in it."""
    pods: int
    """How many run there."""
    marked: int
    """How many of them are asked about."""
    load: tuple[Load, ...]
    """Of all its nodes, in the order of ``resources``."""


class TopologyMap(Report, frozen=True, kw_only=True):
    api_version: str = API_VERSION
    kind: str = "TopologyMap"
    kube_version: str
    cluster: ClusterReference | None = None
    namespace: str | None = None
    """That of the workload, null where none is asked about."""
    workload: str | None = None
    """Kind/name of what is asked about."""
    selector: str | None = None
    """What is marked: pods of ``namespace`` that this selects, the workload's own where it is null."""
    keys: tuple[str, ...]
    """The topology keys that nodes are grouped by, the widest first; hostnames are the nodes themselves."""
    resources: tuple[str, ...]
    """Whose load is told: cpu and memory, what else some pod requests, by name, and pods."""
    constraints: tuple[ConstraintReport, ...] = ()
    """The workload's, with what they count now."""
    skew: tuple[int, ...] = ()
    """Per constraint, most minus least matching pods of the domains that count."""
    domains: tuple[MapDomain, ...]
    """Of every key, each before those within it, by value; null, for nodes without the label, comes last."""
    nodes: tuple[MapNode, ...]
    """By domain, then by name."""
    load: tuple[Load, ...]
    """Of all nodes."""
    pending: int
    """How many pods wait for a node, whoever made them."""
    left: tuple[str, ...] = ()
    """Nodes that the edits took away, by name."""
    gaps: tuple[str, ...] = ()
    not_modelled: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def pods(self) -> int:
        return sum(node.pods for node in self.nodes)

    @property
    def marked(self) -> int:
        return sum(len(node.marked) for node in self.nodes)


def fullest(load: tuple[Load, ...]) -> Load | None:
    """The resource with the largest requested share, the first in case of a tie."""
    known = [each for each in load if each.percent is not None]
    return max(known, key=lambda each: each.percent or 0, default=None)
