"""Workloads whose pods one constraint counts together."""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.kube.api.core import TopologySpreadConstraint
from kubespread.questions.check.lint.case import Case, Declared
from kubespread.questions.check.lint.subject import Subject


def counted_together(case: Case) -> Iterator[tuple[Declared, Iterator[Subject]]]:
    """Constraints of the workload's own that count its pods, each with the other workloads whose pods it counts too."""
    if case.subject.object is None or case.subject.is_daemon:
        return
    for declared in case.own:
        if declared.constraint.self_match and declared.constraint.counts_pods:
            yield declared, case.company.counted_beside(case.subject, declared.constraint.selector)


def declares_alike(other: Subject, declared: Declared) -> bool:
    """Whether pods of ``other`` have a constraint with the same terms, regardless of its selector."""
    terms = _terms(declared.written)
    return any(_terms(constraint) == terms for constraint in other.pod.spec.topology_spread_constraints)


def over_the_same(other: Subject, declared: Declared) -> TopologySpreadConstraint | None:
    """The first constraint of ``other`` over the same topology key."""
    key = declared.constraint.topology_key
    return next(
        (constraint for constraint in other.pod.spec.topology_spread_constraints if constraint.topology_key == key),
        None,
    )


def _terms(constraint: TopologySpreadConstraint) -> tuple[object, ...]:
    return (
        constraint.topology_key,
        constraint.max_skew,
        constraint.when_unsatisfiable,
        constraint.min_domains,
        constraint.node_affinity_policy or "Honor",
        constraint.node_taints_policy or "Ignore",
    )
