"""Profiles that switch off an extension point of a plugin whose Filter, Score or Reserve reads what that one leaves.

Some plugins do without. The others end every scheduling cycle that reaches them in an error, and such a profile
places no pod.

Source of the rules: the plugins of kube-scheduler 1.36 and framework/runtime/framework.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from kubespread.scheduler.cluster.labels import Mask
from kubespread.scheduler.plugin import Verdicts


@dataclass(frozen=True, slots=True)
class FilterError:
    """What a filter plugin says on every node it is asked about."""

    text: str
    rejects_before: frozenset[str] = frozenset()
    """Reasons that it finds before it fails: a node with such a reason is rejected, and no error."""


@dataclass(frozen=True, slots=True)
class MissingState:
    """What goes wrong in a profile for that reason; texts are kube-scheduler's whole errors."""

    filters: Mapping[str, FilterError] = field(default_factory=dict)
    """Per filter plugin that fails."""
    scores: Mapping[str, str] = field(default_factory=dict)
    """Per score plugin that fails, in the order they are asked; the first one ends the cycle."""
    unskipped: frozenset[str] = frozenset()
    """Score plugins that cannot skip a pod, since PreScore is where they would say so."""
    reserve: str | None = None
    """Why no node can be reserved for a pod once it is chosen."""

    def filter_error(self, filters: Iterable[str], verdicts: Mapping[str, Verdicts], included: Mask) -> str | None:
        """The error that the first failing plugin of ``filters`` meets on a node that those before it let pass."""
        reached = included
        for name in filters:
            judged = verdicts.get(name)
            error = self.filters.get(name)
            if error is None:
                reached = reached if judged is None else reached & judged.passes
                continue
            # It fails on every node that it does not reject beforehand, so none gets any further.
            if judged is not None:
                before = [
                    which
                    for which, status in enumerate(judged.table, start=1)
                    if not error.rejects_before.isdisjoint(status.reasons)
                ]
                reached = reached & ~np.isin(judged.which, before)
            return error.text if reached.any() else None
        return None
