"""How unevenly pods are spread over the domains of a constraint."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kubespread.reports.parts import ConstraintReport
from kubespread.scheduler.cluster.labels import Counts


def skew_between(counts: Sequence[int] | Counts, *, lacks_domains: bool = False) -> int:
    """Between the domains that count, by the pods that match in each."""
    return int(np.max(counts)) - minimum(counts, lacks_domains=lacks_domains) if len(counts) else 0


def minimum(counts: Sequence[int] | Counts, *, lacks_domains: bool = False) -> int:
    """The least that a domain has; 0 where there are fewer than minDomains."""
    return 0 if lacks_domains or not len(counts) else int(np.min(counts))


def skew_of(matching: Sequence[int], constraint: ConstraintReport) -> int:
    """The same where each domain of ``constraint`` has so many."""
    counts = [count for count, domain in zip(matching, constraint.domains, strict=True) if domain.eligible_nodes]
    return skew_between(counts, lacks_domains=len(counts) < (constraint.min_domains or 1))


def skew_now(constraint: ConstraintReport) -> int:
    """The same by the pods that the constraint counts."""
    return skew_of([domain.matching for domain in constraint.domains], constraint)
