"""The hard constraints: a node passes when matching + self - global minimum <= maxSkew for every one of them.

Source of the rules: kube-scheduler 1.36, podtopologyspread/filtering.go.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass

import numpy as np

from kubespread.kube.objects import Pod
from kubespread.scheduler.cluster import ABSENT, Cluster, Counts, Mask
from kubespread.scheduler.plugin import Code, Status, Verdicts
from kubespread.scheduler.plugins.podtopologyspread.constraints import Constraint, NodeInclusion, count_matching, has_all_keys

CONSTRAINTS_NOT_MATCHED = Status(Code.UNSCHEDULABLE, ("node(s) didn't match pod topology spread constraints",))
LABEL_MISSING = Status(Code.UNRESOLVABLE, ("node(s) didn't match pod topology spread constraints (missing required label)",))
# What the scheduler takes the minimum of no domains to be: no skew can exceed it.
NO_DOMAINS = 2**31 - 1


@dataclass(frozen=True, slots=True)
class SpreadRules:
    """How a release counts and judges."""

    empty_selector_counts: bool = False
    """Up to 1.26 the selector ``{}`` counts all pods of the namespace, later none."""
    counts_ineligible_nodes: bool = False
    """From 1.19 to 1.23 pods on any node count towards a domain that an eligible node makes."""
    passes_without_domains: bool = False
    """Up to 1.19 every node passes when no constraint has a domain."""
    missing_label_is_resolvable: bool = False
    """Up to 1.18 a missing label is judged like too much skew."""
    compares_tolerations: bool = False
    """Whether tolerations with the operators Gt and Lt count for nodeTaintsPolicy."""


class HardConstraint:
    """One DoNotSchedule constraint counted over a cluster."""

    def __init__(self, cluster: Cluster, constraint: Constraint, eligible: Mask, matching: Counts, rules: SpreadRules) -> None:
        column = cluster.label(constraint.topology_key)
        self.constraint = constraint
        self.eligible = eligible
        """Nodes whose pods and whose domain count."""
        self.domain_of_node = column.codes
        self.domain_values = column.values
        codes = column.codes[eligible]
        self.is_domain: Mask = np.zeros(len(column.values), dtype=np.bool_)
        self.is_domain[codes] = True
        self.counts: Counts = np.zeros(len(column.values), dtype=np.int64)
        """Matching pods per value of the key; 0 for values that are not a domain."""
        counted = self.is_domain[column.codes] & column.present if rules.counts_ineligible_nodes and codes.size else eligible
        np.add.at(self.counts, column.codes[counted], matching[counted])
        self._counted = counted
        self._one_more = int(constraint.counts_pods and constraint.self_match)

    def fork(self) -> HardConstraint:
        """The same counts, to be updated apart from these."""
        fork = copy(self)
        fork.counts = self.counts.copy()
        return fork

    def placed(self, node: int) -> None:
        """One more copy of the pod on ``node``."""
        if self._counted[node]:
            self.counts[self.domain_of_node[node]] += self._one_more

    @property
    def global_minimum(self) -> int:
        """The least count among the domains; 0 as soon as there are fewer domains than minDomains."""
        domains = int(np.count_nonzero(self.is_domain))
        min_domains = 1 if self.constraint.min_domains is None else self.constraint.min_domains
        if domains < min_domains:
            return 0
        return int(self.counts[self.is_domain].min()) if domains else NO_DOMAINS

    def missing(self) -> Mask:
        missing: Mask = self.domain_of_node == ABSENT
        return missing

    def matching(self) -> Counts:
        """Matching pods in each node's domain; 0 where the node has none."""
        if not len(self.domain_values):
            return np.zeros(len(self.domain_of_node), dtype=np.int64)
        return np.where(self.missing(), 0, self.counts[self.domain_of_node])

    def failing_domains(self) -> Mask:
        """Which values of the key a node must not have; the last entry is for nodes without it, which ABSENT indexes."""
        failing = np.ones(len(self.counts) + 1, dtype=np.bool_)
        failing[:-1] = self.counts + self.constraint.self_match - self.global_minimum > self.constraint.max_skew
        return failing

    def skew(self) -> Counts:
        """What the skew of each node's domain would be with the pod in it."""
        return self.matching() + self.constraint.self_match - self.global_minimum


def count_hard(
    cluster: Cluster, pod: Pod, constraints: Sequence[Constraint], inclusion: NodeInclusion, rules: SpreadRules
) -> list[HardConstraint]:
    """Count every hard constraint; a node lacking any of their keys is eligible for none of them."""
    all_keys = has_all_keys(cluster, constraints)
    namespace = pod.metadata.namespace
    return [
        HardConstraint(cluster, constraint, all_keys & inclusion.of(constraint), count_matching(cluster, constraint, namespace), rules)
        for constraint in constraints
    ]


def rejected(constraints: Sequence[HardConstraint], rules: SpreadRules) -> Mask:
    """The nodes that `judge` rejects, each constraint judged once per domain."""
    if rules.passes_without_domains and not any(counted.is_domain.any() for counted in constraints):
        return np.zeros(len(constraints[0].eligible), dtype=np.bool_)
    failing = [counted.failing_domains()[counted.domain_of_node] for counted in constraints]
    rejects: Mask = np.logical_or.reduce(failing) if len(failing) > 1 else failing[0]
    return rejects


def judge(constraints: Sequence[HardConstraint], rules: SpreadRules) -> Verdicts:
    """The first constraint a node fails decides; within one, a missing label comes before the skew."""
    which = np.zeros(len(constraints[0].eligible), dtype=np.int32)
    missing = Status(Code.UNSCHEDULABLE, LABEL_MISSING.reasons) if rules.missing_label_is_resolvable else LABEL_MISSING
    if not (rules.passes_without_domains and not any(counted.is_domain.any() for counted in constraints)):
        for counted in reversed(constraints):
            which[counted.skew() > counted.constraint.max_skew] = 1
            which[counted.missing()] = 2
    return Verdicts(which, (CONSTRAINTS_NOT_MATCHED, missing))
