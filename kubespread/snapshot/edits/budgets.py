"""The edit of a PodDisruptionBudget: changed, made for a workload, or removed."""

from __future__ import annotations

import re
from typing import ClassVar

from kubespread.errors import UsageError
from kubespread.kube.name_rules import dns_label_faults, subdomain_faults
from kubespread.snapshot.edits.verb import Edit, Form

MAX_UNAVAILABLE, MIN_AVAILABLE = "maxUnavailable", "minAvailable"
_NONE = "none"
_BUDGET = re.compile(
    rf"(?P<budget>(?:[^/:=\s]+/){{0,2}}[^/:=\s]+):(?:(?P<field>{MAX_UNAVAILABLE}|{MIN_AVAILABLE})=(?P<value>[0-9]{{1,9}}%?)|{_NONE})"
)


class SetBudget(Edit, frozen=True):
    """A disruption budget gets another limit, is made for a workload that has none, or is removed."""

    form: ClassVar = Form(
        "budget",
        "[NAMESPACE/]NAME:FIELD=VALUE",
        "[NAMESPACE/]NAME:maxUnavailable=VALUE, :minAvailable=VALUE or :none, NAME a budget or a workload "
        "(deploy/web), VALUE a number from 0 or a percentage",
        metavar="[NS/]NAME:FIELD=VALUE",
        option="Set maxUnavailable or minAvailable of a budget (web:maxUnavailable=1), or make one for a workload "
        "(deploy/web:minAvailable=50%); NAME:none removes it.",
    )
    name: str
    """Name of the budget, or of the workload."""
    kind: str = ""
    """Kind of the workload, ``Deployment``; empty where the budget is named."""
    field: str = ""
    """``maxUnavailable`` or ``minAvailable``; empty: it is removed."""
    value: int | str = ""
    namespace: str | None = None
    """None: that of the question."""

    @classmethod
    def parsed(cls, text: str, _: str | None, /) -> Edit | None:
        # All types of the API, which no help needs.
        from kubespread.kube.api.kinds import kind_called
        from kubespread.kube.owners import named

        match = _BUDGET.fullmatch(text)
        if match is None:
            return None
        field, value = match["field"] or "", match["value"] or ""
        limit = int(value) if value.isdigit() else value
        whose, _slash, name = match["budget"].rpartition("/")
        if "/" in whose or kind_called(whose) is not None:
            workload = named(match["budget"])
            return cls(workload.name, workload.kind, field, limit, workload.namespace)
        if faults := [*subdomain_faults(name), *(dns_label_faults(whose) if whose else ())]:
            raise UsageError(f"invalid edit {f'budget {text}'!r}: {faults[0]}")
        return cls(name, "", field, limit, whose or None)

    def __str__(self) -> str:
        whose = "/".join(filter(None, (self.namespace, self.kind, self.name)))
        return f"budget {whose}:{f'{self.field}={self.value}' if self.field else _NONE}"
