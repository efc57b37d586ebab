"""What kube-scheduler would decide for one pod, node by node."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from kubespread.errors import UsageError
from kubespread.kube.api.unknown_fields import alternatives
from kubespread.kube.gotext import quote
from kubespread.planner.reports.advise import Advice
from kubespread.planner.reports.details import Detail
from kubespread.planner.reports.parts import (
    API_VERSION,
    ClusterReference,
    ConstraintReport,
    PodReference,
    PreemptionReport,
    Report,
)


class NodeConstraint(Report, frozen=True):
    """One constraint's arithmetic for one node: matching + selfMatch - globalMinimum = skew, against maxSkew.

    A node that lacks the topology key has no domain and no numbers.
    """

    topology_key: str
    domain: str | None
    matching: int | None
    self_match: int
    global_minimum: int | None
    skew: int | None
    max_skew: int
    satisfied: bool
    reason: str | None


class Verdict(Report, frozen=True):
    """kube-scheduler's own judgment of a node: the first plugin that rejects it."""

    code: str
    plugin: str | None
    reasons: tuple[str, ...]


class Rejection(Report, frozen=True):
    plugin: str
    code: str
    reasons: tuple[str, ...]
    details: tuple[Detail, ...] = ()
    """The data behind the reasons; empty where the plugin gives none, and PodTopologySpread's are ``constraints``."""


class ScoreDetail(Report, frozen=True):
    """How one plugin's score of one node came about: raw, brought to 0..100, times weight."""

    raw: int
    normalized: int
    weight: int
    weighted: int


class NodeReport(Report, frozen=True):
    name: str
    feasible: bool
    verdict: Verdict
    rejections: tuple[Rejection, ...]
    constraints: tuple[NodeConstraint, ...]
    scores: dict[str, int]
    """Weighted, by plugin; empty for a node outside scoring."""
    score_details: dict[str, ScoreDetail]
    total: int | None
    spread_scores: tuple[float | None, ...]
    """Each constraint's part of the raw spread score; null for hard constraints and unscored nodes."""


class ExplainReport(Report, frozen=True, kw_only=True):
    api_version: str = API_VERSION
    kind: str = "ExplainReport"
    kube_version: str
    scheduler_name: str
    cluster: ClusterReference | None = None
    pod: PodReference
    schedulable: bool = False
    message: str | None = None
    conclusion: str | None = None
    """What bars a pod that fits nowhere, when one thing does."""
    feasible: tuple[str, ...] = ()
    constraints: tuple[ConstraintReport, ...] = ()
    filter_plugins: tuple[str, ...] = ()
    """The filter plugins that judged this pod, in the profile's order; those it gives nothing to judge are skipped."""
    nodes: tuple[NodeReport, ...] = ()
    sampling: int | None = None
    """How many feasible nodes kube-scheduler would have stopped at before scoring; null when it looks at all nodes."""
    nominated: str | None = None
    """The node an earlier preemption reserved, taken without looking further; ``nodes`` answers as if not."""
    gaps: tuple[str, ...]
    not_modelled: tuple[str, ...]
    preemption: PreemptionReport | None = None
    """Only when asked for, and only when no node fits."""
    advice: Advice | None = None
    """Which of the pod's own constraints, changed alone, lets a pod in that fits nowhere; null without such a
    constraint. Nothing else is tried.
    """
    admission: tuple[str, ...] = ()
    """What the cluster's admission plugins would change in the pod, with the objects the snapshot holds."""
    notes: tuple[str, ...]
    """What was filled in on the way from the manifest to the pod."""

    def sorted_by(self, key: str) -> ExplainReport:
        """The same report with its nodes ordered by ``score`` (best first), ``name`` or ``skew`` (smallest first)."""
        return msgspec.structs.replace(self, nodes=tuple(sorted(self.nodes, key=_NODE_ORDERS[key])))

    def about(self, cluster: ClusterReference) -> ExplainReport:
        """The same answer, with the cluster it is about."""
        return msgspec.structs.replace(self, cluster=cluster)

    def with_gaps(self, missing: Iterable[str]) -> ExplainReport:
        """The same answer, with what its source lacked named first."""
        return msgspec.structs.replace(self, gaps=tuple(dict.fromkeys((*missing, *self.gaps))))

    def only(self, names: Iterable[str]) -> ExplainReport:
        """The same report about some of its nodes. Raises UsageError for a node that is not there."""
        asked = dict.fromkeys(names)
        known = {node.name for node in self.nodes}
        if missing := [name for name in asked if name not in known]:
            raise UsageError(*(f"nodes {quote(name)} not found{alternatives(name, known)}" for name in missing))
        return msgspec.structs.replace(self, nodes=tuple(node for node in self.nodes if node.name in asked))


def _by_score(node: NodeReport) -> tuple[Any, ...]:
    """Nodes that fail come last, the one nearest to fitting first."""
    failing = sum(not constraint.satisfied for constraint in node.constraints)
    return (not node.feasible, -(node.total or 0), len(node.rejections), failing, node.name)


def _by_skew(node: NodeReport) -> tuple[Any, ...]:
    """By the first constraint's skew, then the next; a node without the domain comes last."""
    return (*((constraint.skew is None, constraint.skew or 0) for constraint in node.constraints), node.name)


_NODE_ORDERS: Mapping[str, Callable[[NodeReport], tuple[Any, ...]]] = {
    "score": _by_score,
    "name": lambda node: (node.name,),
    "skew": _by_skew,
}
