"""How evenly placed replicas are spread over a constraint's domains, regardless of what else it counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from kubespread.questions.check.lint.trial import Placed
from kubespread.reports.skew import skew_between
from kubespread.scheduler.plugins.podtopologyspread.filtering import HardConstraint
from kubespread.scheduler.plugins.podtopologyspread.scoring import SoftConstraint


def matching_of(counted: SoftConstraint) -> Mapping[str, int]:
    """The pods that the constraint counts before the first replica comes, by domains as `own_counts` has them."""
    matching, column = counted.around(), counted.column
    nodes = np.flatnonzero(counted.eligible & column.present)
    counts = dict(zip(column.codes[nodes].tolist(), matching[nodes].tolist(), strict=True))
    return {value: counts[column.index[value]] for value in column.sorted_values if column.index[value] in counts}


def sums(first: Mapping[str, int], second: Mapping[str, int]) -> Mapping[str, int]:
    """Both together, of the same domains."""
    return {value: count + second[value] for value, count in first.items()}


def own_counts(placed: Sequence[Placed], counted: HardConstraint | SoftConstraint) -> Mapping[str, int]:
    """The replicas in each domain that has nodes the constraint counts, by name."""
    column = counted.column
    codes = set(column.codes[counted.eligible & column.present].tolist())
    present = [value for value in column.sorted_values if column.index[value] in codes]
    by_domain = [placement.by_domain(counted.constraint.topology_key) for placement in placed]
    return {value: sum(counts[value] for counts in by_domain) for value in present}


def skew_of(counts: Mapping[str, int]) -> int:
    """Between the fullest domain and the emptiest one."""
    return skew_between([*counts.values()])
