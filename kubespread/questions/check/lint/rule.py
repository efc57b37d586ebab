"""The interface of rules: a permanent code, a name, a severity, and a function that looks for one thing.

The documentation of a rule is the docstring of the module that its function stands in: what it finds, why it matters,
an example and the remedy.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar

from msgspec import Struct

from kubespread.errors import Fault
from kubespread.questions.check.lint.case import Case
from kubespread.questions.check.lint.trial import Mended, Refused, Trial
from kubespread.questions.check.report import Remedy, RuleReport, Severity


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


class _Rule(Struct, frozen=True):
    code: str
    name: str
    severity: Severity
    needs_cluster: ClassVar[bool] = False

    @property
    def documentation(self) -> str:
        """Markdown; the first line is its summary."""
        raise NotImplementedError

    @property
    def report(self) -> RuleReport:
        documentation = self.documentation
        summary = documentation.partition("\n")[0].rstrip(".")
        return RuleReport(
            code=self.code,
            name=self.name,
            severity=self.severity,
            needs_cluster=self.needs_cluster,
            summary=summary,
            documentation=documentation,
        )


class Rule(_Rule, frozen=True):
    """Runs on every workload. If there is a cluster, ``case.trial`` makes its numbers real."""

    check: Callable[[Case], Iterable[RuleFinding]]

    @property
    def documentation(self) -> str:
        return _documentation(self.check)


class ClusterRule(_Rule, frozen=True):
    """Asked about every workload where there is a cluster to try it on."""

    needs_cluster: ClassVar[bool] = True
    check: Callable[[Case, Trial], Iterable[RuleFinding]]

    @property
    def documentation(self) -> str:
        return _documentation(self.check)


class LastRule(_Rule, frozen=True):
    """Asked once the others are, with what they found and is not silenced; where there is a cluster."""

    needs_cluster: ClassVar[bool] = True
    check: Callable[[Case, Trial, Sequence[RuleFinding]], Iterable[RuleFinding]]

    @property
    def documentation(self) -> str:
        return _documentation(self.check)


class FaultRule(_Rule, frozen=True):
    """Asked about each fault of what is no workload yet: a file that cannot be read, an object that is refused."""

    remedy: Callable[[Fault, Refused], Remedy | None]
    """What would mend the fault; None where it is not one of the rule's."""

    @property
    def documentation(self) -> str:
        return _documentation(self.remedy)


AnyRule = Rule | ClusterRule | LastRule | FaultRule


def _documentation(function: Callable[..., object]) -> str:
    return inspect.cleandoc(sys.modules[function.__module__].__doc__ or "")
