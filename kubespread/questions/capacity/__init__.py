"""Room left on the nodes of a cluster, and how many pods of one size fit there.

Amounts are canonical quantities as text: ``1500m``, ``512Mi``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Annotated, Literal

from kubespread.kube.quantity import Quantity, parse, shorten
from kubespread.questions.question import Option, Question
from kubespread.reports.columns import Col, Fit, Readers
from kubespread.reports.parts import ClusterReport, Judgment, Report
from kubespread.wording import EMPTY, count_of, counted_in, verb_of

StrandedBy = Literal["cordoned", "tainted", "pods", "resource", "remainder", "rejected"]


def is_state(cause: StrandedBy, *, tolerable: bool) -> bool:
    """True if the cause is a node's state, cordoned, failed or not ready, which no size of pods changes."""
    return cause == "cordoned" or (cause == "tainted" and not tolerable)


def _percent(share: float | None) -> str | None:
    """``42%``, rounded down: a node that is not quite full must not be called full."""
    return None if share is None else f"{int(share)}%"


def _domain(value: str | None) -> str | None:
    return None if value is None else value or EMPTY


class ResourceAmounts(Report, frozen=True, gc=False):
    """Allocatable and requested amount of a resource."""

    resource: Annotated[str, Col(fit=Fit.NAMES)]
    """Name of the resource in Kubernetes; ``pods`` counts pods against the kubelet's limit."""
    allocatable: Annotated[str, Col(value=shorten, is_number=True)]
    """Allocatable amount of all the nodes."""
    requested: Annotated[str, Col(value=partial(shorten, up=True), is_number=True)]
    """Amount that pods request, as NodeResourcesFit counts: with init containers, pod-level resources, overhead."""
    utilization: Annotated[float | None, Col(header="USED", value=_percent)]
    """Requested amount in percent of the allocatable one, to one decimal; null if nothing is allocatable."""
    free: Annotated[str, Col(value=shorten, is_number=True)]
    """Sum over the nodes that have any left; overcommitment of one node is not subtracted from another."""


class Stranded(Report, frozen=True):
    """Free amount of a resource on nodes where pods cannot use it."""

    cause: StrandedBy
    """Reason pods cannot use the amount.

    ``pods``: the node allows no more pods. ``resource``: too little of another resource is left. ``remainder``: too
    little of this one is left for one more pod. ``rejected``: another filter rejects the node.
    """
    detail: str
    """Taint, other resource or filter's reason; else empty."""
    nodes: int
    """Number of these nodes."""
    amount: str
    """Free amount on them."""
    tolerable: bool = False
    """True if pods that tolerate the nodes' taints could use it: never for taints that describe a node's state, or on
    nodes that are not ready.
    """

    def __str__(self) -> str:
        """``4 on 2 cordoned nodes``, ``4 on 2 nodes reserved by taint spot=true``."""
        amount, nodes = shorten(self.amount), count_of(self.nodes, "node")
        if self.tolerable:
            return f"{amount} on {nodes} reserved by taint {self.detail}"
        match self.cause:
            case "cordoned":
                return f"{amount} on {count_of(self.nodes, 'cordoned node')}"
            case "tainted":
                return f"{amount} on {nodes} tainted {self.detail}"
            case "pods":
                return f"{amount} on {nodes} without a free pod slot"
            case "resource":
                return f"{amount} on {nodes} with too little {self.detail} left"
            case "remainder":
                return f"{amount} on {nodes} in pieces too small for one more pod"
        return f"{amount} on {nodes}: {self.detail}"


class ResourceCapacity(ResourceAmounts, frozen=True, gc=False):
    usable: Annotated[str, Col(value=shorten, is_number=True)]
    """Free amount that is not stranded; with a request, the amount that the fitting pods would take."""
    stranded: tuple[Stranded, ...]
    """The largest amount first."""

    @property
    def free_on_open_nodes(self) -> Quantity:
        """Free amount on nodes that are not cordoned, failed or not ready."""
        parts = (part for part in self.stranded if not is_state(part.cause, tolerable=part.tolerable))
        return sum((parse(part.amount) for part in parts), parse(self.usable))

    @property
    def why_stranded(self) -> Annotated[str, Col(header="STRANDED", readers=Readers.RECORDS)]:
        """Nodes where it is stranded, and why."""
        return ", ".join(map(str, self.stranded))


class DomainCapacity(Report, frozen=True):
    """Nodes that share one value of a topology key."""

    domain: Annotated[str | None, Col(value=_domain, fit=Fit.NAMES)]
    """Value of the topology key; null for nodes without the label."""
    nodes: Annotated[int, Col()]
    """Number of nodes in the domain."""
    fits: Annotated[int | None, Col(good=True)]
    """Number of requested pods that fit; null without a request."""
    resources: tuple[ResourceAmounts, ...]
    """Resources in the order of the report's ``resources``."""


class NodeCapacity(Report, frozen=True):
    node: Annotated[str, Col(fit=Fit.NAMES)]
    domain: Annotated[str | None, Col(value=_domain)]
    """Value of ``topologyKey``; null without the label."""
    fits: Annotated[int | None, Col(good=True)]
    """Number of requested pods that fit, placed one after another; null without a request."""
    why: Annotated[tuple[str, ...], Col(value=", ".join, fit=Fit.SENTENCE, hide_empty=True)]
    """Reasons no pod, or no further pod, fits: short resources, or other rejections."""
    resources: tuple[ResourceAmounts, ...]
    """Resources in the order of the report's ``resources``."""

    @property
    def fullness(self) -> float:
        """Requested percentage of the scarcest resource."""
        return max((resource.utilization or 0 for resource in self.resources), default=0)


class CapacityReport(ClusterReport, frozen=True, kw_only=True):
    kind: str = "CapacityReport"
    scheduler_name: str
    request: dict[str, str] | None
    """Resources that each counted pod requests; null without a request."""
    tolerated: tuple[str, ...] = ()
    """Additional taints that the pods tolerate, KEY[=VALUE][:EFFECT]."""
    topology_key: str | None
    """Topology key of the domains; null if no node is in one."""
    nodes: int
    fits: Annotated[int | None, Col(metric="fitting_pods")]
    """Number of requested pods that fit together; null without a request."""
    most_on_one_node: dict[str, str] | None = None
    """Most free of each requested resource on a node not cordoned or failed; null without a request or such a node."""
    conclusion: str | None = None
    """Sentence on the one cause that keeps the pods off all nodes, if none fits; null if there are several causes."""
    resources: tuple[ResourceCapacity, ...]
    """cpu, memory and pods first, then other resources of the nodes, by name."""
    domains: tuple[DomainCapacity, ...]
    """Domains by value; nodes in none come last."""
    node_rows: tuple[NodeCapacity, ...]
    """Nodes in the cluster's order."""

    def judge(self) -> Judgment:
        return "no" if self.fits == 0 else "yes"

    def sentences(self) -> Iterator[str]:
        if self.request is None or self.fits is None:
            usable = (f"{row.resource} {shorten(row.usable)} of {shorten(row.free)} free" for row in self.resources[:2])
            yield f"usable: {', '.join(usable)}"
        else:
            pods = f"{count_of(self.fits, 'pod')} of {request_text(self.request)} {verb_of(self.fits, 'fit')}"
            yield f"{pods}{_place_text(self) if self.fits else ''}"
            if self.fits == 0:
                short = list(_short_of(self))
                yield from short
                if not short and self.conclusion is not None:
                    yield self.conclusion
        for row in self.resources:
            if row.stranded and ("/" in row.resource or row.resource in ("cpu", "memory", *(self.request or ()))):
                yield f"{row.resource} stranded: {row.why_stranded}"


_MAX_NAMED = 6
_NONE = "<none>"


def _short_of(report: CapacityReport) -> Iterator[str]:
    """Name the resources that no open node has enough of: too few in all, too small machines, or fragmented ones."""
    resources = {resource.resource: resource for resource in report.resources}
    for name, most in (report.most_on_one_node or {}).items():
        requested, left = parse((report.request or {})[name]), resources[name].free_on_open_nodes
        rows = (row for node in report.node_rows for row in node.resources if row.resource == name)
        largest = max((row.allocatable for row in rows), key=lambda text: parse(text).nano, default="0")
        if parse(largest).nano < requested.nano:
            yield f"no node has that much {name}: {shorten(largest)} at most"
        elif left.nano < requested.nano:
            yield f"{name} is short: {shorten(str(left))} left in all"
        elif parse(most).nano < requested.nano:
            yield f"{name} is fragmented: {shorten(str(left))} left in all, {shorten(most)} at most on one node"


def _place_text(report: CapacityReport) -> str:
    if not report.domains:
        return ""
    fits = [(_NONE if row.domain is None else row.domain or '""', row.fits or 0) for row in report.domains]
    if len(fits) <= _MAX_NAMED:
        return f": {', '.join(counted_in(domain, f'{count:,}') for domain, count in fits)}"
    fewest, most = min(fits, key=lambda pair: pair[1]), max(fits, key=lambda pair: pair[1])
    return f": from {fewest[1]:,} in {fewest[0]} to {most[1]:,} in {most[0]}"


def request_text(requests: Mapping[str, str]) -> str:
    """``cpu 2, memory 4Gi``, rounded up."""
    return ", ".join(f"{name} {shorten(amount, up=True)}" for name, amount in requests.items())


class Capacity(Question[CapacityReport], frozen=True, kw_only=True):
    """Show free resources of nodes, how much of them no pod can use and why, and how many pods of one size fit.

    Requests are those that kube-scheduler counts, including init containers, pod-level resources and overhead. With
    --request, copies of a pod without labels or constraints are placed until no more fit; the rest is stranded for
    them. Without it, no size is guessed: only what no pod could use is stranded. For replicas of a workload, use
    simulate --replicas max.

    \b
    Examples:
      kubespread capacity
      kubespread capacity --request cpu=2,memory=4Gi --by zone
      kubespread capacity --request cpu=8,nvidia.com/gpu=1 --tolerate nvidia.com/gpu -S cluster.json.gz
      kubespread capacity --request cpu=2 --fail zone=a
    """

    name = "capacity"
    summary = "Show what nodes have free, and how many pods fit."
    yes, no = "some pod fits, or none is asked about", "none fits"
    never_modelled = ("quotas and limit ranges: counts are what nodes hold, not what a namespace may have",)
    outputs = {
        "table": "tables",
        "name": "prints the nodes with room, the emptiest first",
        "csv": "has a row per node",
        "prometheus": "",
    }
    by_place = "request"

    request: Annotated[
        str | None,
        Option(
            "Count pods that each request this much (cpu=2,memory=4Gi,nvidia.com/gpu=1).", metavar="RESOURCE=AMOUNT,..."
        ),
    ] = None
    tolerate: Annotated[tuple[str, ...], Option("Taint that the pods tolerate.", metavar="KEY[=VALUE][:EFFECT]")] = ()
    by: Annotated[
        str | None, Option("Topology key of the domains to total (default: zone, if nodes have one).", metavar="KEY")
    ] = None
