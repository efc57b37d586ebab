"""What a rule finds. The engine adds whose it is, where it stands and its code."""

from __future__ import annotations

from dataclasses import dataclass

from kubespread.planner.reports.check import Remedy, Severity


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    field: str
    """The path from the object on, which need not be there: the nearest field above it is where people are sent."""
    message: str
    """What will happen, in numbers where there are any."""
    remedy: Remedy
    proven: bool = False
    """Whether the numbers come from running the engine on the cluster."""
    severity: Severity | None = None
    """Where it is not that of the rule."""
