"""What kube-scheduler says of one node, and the arithmetic behind it."""

from __future__ import annotations

from collections.abc import Iterable

from kubespread.reports.parts import Report
from kubespread.scheduler.causes import Causes, CordonDetail, TaintDetail

SPREAD_PLUGIN = "PodTopologySpread"


class NodeConstraint(Report, frozen=True):
    """One constraint's arithmetic for one node: matching + selfMatch - globalMinimum = skew, against maxSkew.

    A node that lacks the topology key has no domain and no numbers.
    """

    topology_key: str
    domain: str | None
    """The node's value of the topology key."""
    matching: int | None
    """Matching pods in that domain."""
    self_match: int
    """1 where the selector matches the pod itself, else 0."""
    global_minimum: int | None
    """As the constraint has it."""
    skew: int | None
    """matching + selfMatch - globalMinimum."""
    max_skew: int
    satisfied: bool
    """Whether the skew is at most maxSkew; a soft constraint that is not only costs score."""
    reason: str | None
    """Why not, in one line; null where it is satisfied."""


class Verdict(Report, frozen=True):
    """kube-scheduler's own judgment of a node: the first plugin that rejects it."""

    code: str
    """A scheduler framework code: ``Success``, ``Unschedulable``, ``UnschedulableAndUnresolvable`` or ``Error``."""
    plugin: str | None
    """Who rejects it; null for ``Success``."""
    reasons: tuple[str, ...]
    """In kube-scheduler's words."""


class Rejection(Report, frozen=True):
    """What one filter plugin has against a node."""

    plugin: str
    """The filter plugin that rejects the node."""
    code: str
    """As that of a verdict."""
    reasons: tuple[str, ...]
    """In kube-scheduler's words."""
    details: Causes = ()
    """The data behind the reasons; empty where the plugin gives none, and PodTopologySpread's are ``constraints``."""


def without_taint_of_cordon(counting: Iterable[Rejection]) -> list[Rejection]:
    """``counting``, of one node, without that taint where the cordon is among them."""
    rejections = list(counting)
    is_cordoned = any(isinstance(detail, CordonDetail) for rejection in rejections for detail in rejection.details)
    return [rejection for rejection in rejections if not (is_cordoned and _is_of_cordon(rejection))]


def _is_of_cordon(rejection: Rejection) -> bool:
    taints = [detail for detail in rejection.details if isinstance(detail, TaintDetail)]
    return bool(taints) and len(taints) == len(rejection.details) and all(taint.is_of_cordon for taint in taints)


class ScoreDetail(Report, frozen=True):
    """How one plugin's score of one node came about: raw, brought to 0..100, times weight."""

    raw: int
    """What the plugin gave."""
    normalized: int
    """From 0 to 100, in view of the other nodes' scores."""
    weight: int
    """The profile's."""
    weighted: int
    """normalized times weight."""


class NodeReport(Report, frozen=True):
    name: str
    """The node's."""
    feasible: bool
    """Whether every filter plugin of the profile passes."""
    verdict: Verdict
    """kube-scheduler's own judgment of the node: the first plugin that rejects it."""
    rejections: tuple[Rejection, ...]
    """Of every filter plugin, not the first only; those that the profile switches off are asked too and decide
    nothing.
    """
    constraints: tuple[NodeConstraint, ...]
    """In the order of the report's ``constraints``."""
    scores: dict[str, int]
    """Weighted, by plugin; empty for a node outside scoring."""
    score_details: dict[str, ScoreDetail]
    """By plugin; empty for a node outside scoring."""
    total: int | None
    """The sum of ``scores``; null for a node outside scoring."""
    spread_scores: tuple[float | None, ...]
    """Each constraint's part of the raw spread score; null for hard constraints and unscored nodes."""
