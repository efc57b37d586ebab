"""What several reports are made of."""

from __future__ import annotations

from typing import Any

import msgspec

from kubespread.kube.well_known import DO_NOT_SCHEDULE

API_VERSION = "kubespread.dev/v1alpha1"


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


class Domain(Report, frozen=True, kw_only=False, gc=False):
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


class PreemptionReport(Report, frozen=True):
    """One preemption kube-scheduler could choose. Without a node, ``tail`` ends its message, since 1.24."""

    node: str | None
    victims: tuple[str, ...]
    violations: int
    tail: str | None
