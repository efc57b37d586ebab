"""What a rule finds. The engine adds whose it is, where it stands and its code."""

from __future__ import annotations

from msgspec import Struct

from kubespread.questions.check.lint.trial import Mended
from kubespread.questions.check.report import Remedy, Severity


class RuleFinding(Struct, frozen=True, kw_only=True):
    field: str
    """The path from the object on, which need not be there: the nearest field above it is where people are sent."""
    message: str
    """What will happen, in numbers where there are any."""
    remedy: Remedy
    proven: bool = False
    """Whether the numbers come from running the engine on the cluster."""
    mended: Mended | None = None
    """The remedy as a change of the pod, where it is one that was tried."""
    severity: Severity | None = None
    """Where it is not that of the rule."""
    revives: bool = False
    """Whether the remedy makes a constraint count that counted nothing, so that its other faults show."""
