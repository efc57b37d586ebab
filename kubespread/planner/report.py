"""The answers as plain values: what the library returns, what -o json prints, what the renderers draw.

Field names are the JSON contract ``kubespread.dev/v1alpha1``, published in docs/schema; changes only ever add.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from kubespread.errors import UsageError
from kubespread.kube.well_known import DO_NOT_SCHEDULE

API_VERSION = "kubespread.dev/v1alpha1"


class Report(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """Base of all parts of a report."""


class PodReference(Report, frozen=True):
    namespace: str
    name: str


class Domain(Report, frozen=True, kw_only=False):
    """One value of a topology key. ``matching`` counts pods on eligible nodes only."""

    value: str
    matching: int
    nodes: int
    eligible_nodes: int


class ConstraintReport(Report, frozen=True):
    """One constraint in force for the pod, its defaults filled in."""

    topology_key: str
    when_unsatisfiable: str
    max_skew: int
    min_domains: int | None
    selector: str
    node_affinity_policy: str
    node_taints_policy: str
    source: str
    self_match: int
    global_minimum: int | None
    domains: tuple[Domain, ...]

    @property
    def is_hard(self) -> bool:
        return self.when_unsatisfiable == DO_NOT_SCHEDULE


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
    """kube-scheduler's own judgement of a node: the first plugin that rejects it."""

    code: str
    plugin: str | None
    reasons: tuple[str, ...]


class Rejection(Report, frozen=True):
    plugin: str
    code: str
    reasons: tuple[str, ...]


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


class PreemptionReport(Report, frozen=True):
    """One preemption kube-scheduler could choose. Without a node, ``tail`` is the text it appends to its message, since
    1.24.
    """

    node: str | None
    victims: tuple[str, ...]
    violations: int
    tail: str | None


class ExplainReport(Report, frozen=True, kw_only=True):
    api_version: str = API_VERSION
    kind: str = "ExplainReport"
    kube_version: str
    scheduler_name: str
    pod: PodReference
    schedulable: bool = False
    message: str | None = None
    feasible: tuple[str, ...] = ()
    constraints: tuple[ConstraintReport, ...] = ()
    filter_plugins: tuple[str, ...] = ()
    """The filter plugins that judged this pod, in the profile's order; those it gives nothing to judge are skipped."""
    nodes: tuple[NodeReport, ...] = ()
    sampling: int | None = None
    """How many feasible nodes kube-scheduler would have looked for before it scored; null when it looks at all of them.
    """
    nominated: str | None = None
    """The node an earlier preemption reserved for the pod and which it takes without looking further; ``nodes`` answers
    as if not.
    """
    gaps: tuple[str, ...]
    not_modelled: tuple[str, ...]
    preemption: PreemptionReport | None = None
    """Only when asked for, and only when no node fits."""
    admission: tuple[str, ...] = ()
    """What the cluster's admission plugins would change in the pod, with the objects the snapshot holds."""
    notes: tuple[str, ...]
    """What was filled in on the way from the manifest to the pod."""

    def sorted_by(self, key: str) -> ExplainReport:
        """The same report with its nodes ordered by ``score`` (best first), ``name`` or ``skew`` (smallest first)."""
        return msgspec.structs.replace(self, nodes=tuple(sorted(self.nodes, key=_NODE_ORDERS[key])))

    def with_gaps(self, missing: Iterable[str]) -> ExplainReport:
        """The same answer, with what its source lacked named first."""
        return msgspec.structs.replace(self, gaps=tuple(dict.fromkeys((*missing, *self.gaps))))

    def only(self, names: Iterable[str]) -> ExplainReport:
        """The same report about some of its nodes. Raises UsageError for a node that is not there."""
        wanted = dict.fromkeys(names)
        known = {node.name for node in self.nodes}
        if missing := [name for name in wanted if name not in known]:
            raise UsageError(f"no node {', '.join(map(repr, missing))} in the cluster")
        return msgspec.structs.replace(self, nodes=tuple(node for node in self.nodes if node.name in wanted))

    def to_dict(self) -> dict[str, Any]:
        """Exactly what ``-o json`` prints."""
        plain = msgspec.json.decode(msgspec.json.encode(self))
        assert isinstance(plain, dict)
        return plain


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
