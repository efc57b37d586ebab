"""What several reports are made of."""

from __future__ import annotations

from typing import Any

import msgspec

from kubespread.kube.well_known import DO_NOT_SCHEDULE

API_VERSION = "kubespread.dev/v1alpha1"
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def letter(position: int) -> str:
    """A, B, C ... for the constraints of a report, C27 and on past the alphabet."""
    return _LETTERS[position] if position < len(_LETTERS) else f"C{position + 1}"


class Report(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """Base of all reports and of their parts."""

    def to_dict(self) -> dict[str, Any]:
        """Exactly what ``-o json`` prints."""
        plain = msgspec.json.decode(msgspec.json.encode(self))
        assert isinstance(plain, dict)
        return plain


class PodReference(Report, frozen=True):
    namespace: str
    name: str


class ClusterReference(Report, frozen=True):
    """Which cluster an answer is about, as far as its source says."""

    context: str | None = None
    server: str | None = None
    snapshot: str | None = None
    """The files it was read from; null for a running cluster."""
    time: str | None = None
    """When the cluster was read, RFC 3339."""
    age_seconds: int | None = None
    """How long before the answer that was."""
    server_version: str | None = None


class CountedPod(Report, frozen=True):
    """A pod that a constraint's selector matches, in a domain where pods count. A terminating one is not counted."""

    namespace: str
    name: str
    owner: str | None
    """Kind/name of its controller."""
    node: str
    terminating: bool


class Domain(Report, frozen=True, kw_only=False, gc=False):
    """One value of a topology key. ``matching`` counts pods on eligible nodes only."""

    value: str
    matching: int
    nodes: int
    eligible_nodes: int
    pods: tuple[CountedPod, ...] | None = None
    """The pods behind ``matching``, by node and name, and those that match and are terminating; only when asked for."""


class DomainChange(Report, frozen=True, kw_only=False, gc=False):
    """Matching pods of one domain, before and after what is asked about."""

    value: str
    before: int
    after: int


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


class PreemptionReport(Report, frozen=True):
    """One preemption kube-scheduler could choose.

    ``tail`` is what its message ends with: without a node since 1.24, with one since 1.37.
    """

    node: str | None
    victims: tuple[str, ...]
    violations: int
    tail: str | None
