"""The hard constraints: a node passes when matching + self - global minimum <= maxSkew for every one of them.

Source: pkg/scheduler/framework/plugins/podtopologyspread/filtering.go, calPreFilterState, Filter, minMatchNum,
    updateWithPod
Source: pkg/scheduler/framework/plugins/podtopologyspread/common.go, countPodsMatchSelector, matchNodeInclusionPolicies
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from kubespread.kube.api.core import Pod
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.cluster.labels import Mask, Positions, distinct
from kubespread.scheduler.plugin import Code, Status, Verdicts
from kubespread.scheduler.plugins.podtopologyspread.constraints import (
    Constraint,
    CountedConstraint,
    NodeInclusion,
    has_all_keys,
    pretended_kinds,
)

CONSTRAINTS_NOT_MATCHED = Status(Code.UNSCHEDULABLE, ("node(s) didn't match pod topology spread constraints",))
LABEL_MISSING = Status(
    Code.UNRESOLVABLE, ("node(s) didn't match pod topology spread constraints (missing required label)",)
)
# What the scheduler takes the minimum of no domains to be: no skew can exceed it.
NO_DOMAINS = 2**31 - 1
_SKEWED, _MISSING = 1, 2


class SpreadRules(Struct, frozen=True):
    """How a release counts and judges."""

    empty_selector_counts: bool = False
    """Up to 1.26 the selector ``{}`` counts all pods of the namespace, later none, and since 1.38 all again."""
    counts_tainted_domains: bool = False
    """Proposed: domains that only nodeTaintsPolicy leaves out count towards minDomains."""
    counts_ineligible_nodes: bool = False
    """From 1.19 to 1.23 pods on any node count towards a domain that an eligible node makes."""
    passes_without_domains: bool = False
    """Up to 1.19 every node passes when no constraint has a domain."""
    missing_label_is_resolvable: bool = False
    """Up to 1.18 a missing label is judged like too much skew."""
    compares_tolerations: bool = False
    """Whether tolerations with the operators Gt and Lt count for nodeTaintsPolicy."""
    derives_selectors_otherwise: bool = False
    """Up to 1.21 default constraints derive their selector in another way, which is not modeled."""


class HardConstraint(CountedConstraint):
    """One DoNotSchedule constraint and the pods it counts."""

    def __init__(
        self,
        cluster: Cluster,
        constraint: Constraint,
        eligible: Mask,
        namespace: str,
        rules: SpreadRules,
        *,
        tainted: Mask | None = None,
    ) -> None:
        """``tainted`` are nodes that only their taints make ineligible, where their domains count all the same."""
        column = cluster.nodes.label(constraint.topology_key)
        self.is_domain: Mask = np.zeros(len(column.values), dtype=np.bool_)
        self.is_domain[column.codes[eligible]] = True
        self._domains = int(np.count_nonzero(self.is_domain))
        self._all_domains = self._domains if tainted is None else len(distinct(column.codes[eligible | tainted]))
        """How many domains minDomains is compared with."""
        any_eligible = rules.counts_ineligible_nodes and self._domains > 0
        self._pretends_kind = pretended_kinds(cluster, constraint, namespace)
        super().__init__(
            cluster,
            constraint,
            namespace,
            eligible=eligible,
            counts_on=self.is_domain[column.codes] & column.present if any_eligible else eligible,
            domain=column.codes,
            domains=len(column.values),
        )

    def pretend(self, kind: int, node: int, by: int) -> None:
        """A dry run adds or takes away a pod without asking whether it was counted."""
        if self.eligible[node] and self._pretends_kind[kind]:
            self.add_one(node, by)

    @property
    def lacks_domains(self) -> bool:
        """Whether there are fewer domains than minDomains."""
        return self._all_domains < (1 if self.constraint.min_domains is None else self.constraint.min_domains)

    @property
    def global_minimum(self) -> int:
        """The least count among the domains; 0 as soon as there are fewer domains than minDomains."""
        if self.lacks_domains:
            return 0
        if self._domains and self._domains == len(self.counts):
            return int(self.counts.min())
        return int(self.counts[self.is_domain].min()) if self._domains else NO_DOMAINS

    def judged(self, nodes: Positions | None) -> NDArray[np.int32]:
        """Per node 0 where the constraint holds, _SKEWED or _MISSING; each domain is judged once."""
        # The last entry is for nodes without the key, which ABSENT indexes.
        verdicts = np.full(len(self.counts) + 1, _MISSING, dtype=np.int32)
        verdicts[:-1] = _SKEWED * (
            self.counts > self.constraint.max_skew + self.global_minimum - self.constraint.self_match
        )
        return verdicts.take(self.column.codes if nodes is None else self.column.codes[nodes])


def hard_constraints(
    cluster: Cluster, pod: Pod, constraints: Sequence[Constraint], inclusion: NodeInclusion, rules: SpreadRules
) -> list[HardConstraint]:
    """Every hard constraint; a node lacking any of their keys is eligible for none of them."""
    all_keys = has_all_keys(cluster.nodes, constraints)
    namespace = pod.metadata.namespace
    return [
        HardConstraint(
            cluster,
            constraint,
            all_keys & inclusion.of(constraint),
            namespace,
            rules,
            tainted=all_keys & inclusion.left_out_for_taints(constraint) if rules.counts_tainted_domains else None,
        )
        for constraint in constraints
    ]


def judge(constraints: Sequence[HardConstraint], rules: SpreadRules, nodes: Positions | None = None) -> Verdicts:
    """The first constraint a node fails decides; within one, a missing label comes before the skew."""
    missing = Status(Code.UNSCHEDULABLE, LABEL_MISSING.reasons) if rules.missing_label_is_resolvable else LABEL_MISSING
    table = (CONSTRAINTS_NOT_MATCHED, missing)
    if rules.passes_without_domains and not any(counted.is_domain.any() for counted in constraints):
        size = len(constraints[0].column.codes) if nodes is None else len(nodes)
        return Verdicts(np.zeros(size, dtype=np.int32), table)
    first, *others = (counted.judged(nodes) for counted in constraints)
    for row in others:
        first = np.where(first, first, row)
    return Verdicts(first, table)
