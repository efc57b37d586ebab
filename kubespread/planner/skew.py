"""How unevenly pods are spread over the domains of a constraint."""

from __future__ import annotations

from collections.abc import Sequence

from kubespread.reports.parts import ConstraintReport


def skew_of(matching: Sequence[int], constraint: ConstraintReport) -> int:
    """Between the domains that count, by the pods that match in each; with fewer than minDomains the least is 0."""
    counts = [count for count, domain in zip(matching, constraint.domains, strict=True) if domain.eligible_nodes]
    if not counts:
        return 0
    least = 0 if len(counts) < (constraint.min_domains or 1) else min(counts)
    return max(counts) - least


def skew_now(constraint: ConstraintReport) -> int:
    """The same by the pods that the constraint counts."""
    return skew_of([domain.matching for domain in constraint.domains], constraint)
