"""The edit of a PodDisruptionBudget: changed, made for a workload, or removed."""

from __future__ import annotations

import re
from typing import ClassVar

from kubespread.errors import UsageError
from kubespread.kube.name_rules import dns_label_faults, subdomain_faults
from kubespread.snapshot.edits.verb import Edit, Field, FieldValues, Form, Holds

MAX_UNAVAILABLE, MIN_AVAILABLE = "maxUnavailable", "minAvailable"
_NONE = "none"
_WHOSE = re.compile(r"(?:[^/:=\s]+/){0,2}[^/:=\s]+")
_BUDGET = re.compile(
    rf"(?P<budget>{_WHOSE.pattern}):(?:(?P<field>{MAX_UNAVAILABLE}|{MIN_AVAILABLE})=(?P<value>\S+)|{_NONE})"
)
_VALUE = re.compile(r"[0-9]{1,9}%?")


class SetBudget(Edit, frozen=True):
    """A disruption budget gets another limit, is made for a workload that has none, or is removed."""

    form: ClassVar = Form(
        "budget",
        "[NAMESPACE/]NAME:FIELD=VALUE",
        "[NAMESPACE/]NAME:maxUnavailable=VALUE, :minAvailable=VALUE or :none, NAME a budget or a workload "
        "(deploy/web), VALUE a number from 0 or a percentage",
        fields={
            "budget": Field(Holds.TEXT, "its name, or its workload (deploy/web)", is_required=True),
            MAX_UNAVAILABLE: Field(Holds.AMOUNT, "how many pods may be unavailable: 1 or 25%"),
            MIN_AVAILABLE: Field(Holds.AMOUNT, "how many pods stay available: 2 or 75%"),
            _NONE: Field(Holds.FLAG, "it is removed"),
        },
        metavar="[NS/]NAME:FIELD=VALUE",
        option="Set maxUnavailable or minAvailable of a budget (web:maxUnavailable=1), or make one for a workload "
        "(deploy/web:minAvailable=50%); NAME:none removes it.",
    )
    name: str
    """That of the budget, or of the workload."""
    kind: str = ""
    """That of the workload, ``Deployment``; empty where the budget is named."""
    field: str = ""
    """``maxUnavailable`` or ``minAvailable``; empty: it is removed."""
    value: int | str = ""
    namespace: str | None = None
    """None: that of the question."""

    @classmethod
    def parsed(cls, text: str) -> FieldValues | None:
        match = _BUDGET.fullmatch(text)
        if match is None:
            return None
        return {"budget": match["budget"], **({match["field"]: match["value"]} if match["field"] else {_NONE: True})}

    @classmethod
    def of(cls, fields: FieldValues, _: str | None = "", /) -> Edit:
        # All types of the API, which no help needs.
        from kubespread.kube.api.kinds import kind_called
        from kubespread.kube.owners import named

        text, is_removed = str(fields["budget"]), bool(fields.get(_NONE))
        limits = {key: str(fields[key]) for key in (MAX_UNAVAILABLE, MIN_AVAILABLE) if key in fields}
        ((field, value),) = limits.items() if len(limits) == 1 else [("", "")]
        if _WHOSE.fullmatch(text) is None or len(limits) != (not is_removed) or (value and not _VALUE.fullmatch(value)):
            raise UsageError(f"invalid edit {cls.line(fields)!r}: {cls.form.expected}")
        limit = int(value) if value.isdigit() else value
        whose, _, name = text.rpartition("/")
        if "/" in whose or kind_called(whose) is not None:
            workload = named(text)
            return cls(workload.name, workload.kind, field, limit, workload.namespace)
        if faults := [*subdomain_faults(name), *(dns_label_faults(whose) if whose else ())]:
            raise UsageError(f"invalid edit {cls.line(fields)!r}: {faults[0]}")
        return cls(name, "", field, limit, whose or None)

    @classmethod
    def line(cls, fields: FieldValues) -> str:
        limit = next((f"{key}={fields[key]}" for key in (MAX_UNAVAILABLE, MIN_AVAILABLE) if key in fields), _NONE)
        return f"budget {fields['budget']}:{limit}"

    def __str__(self) -> str:
        whose = "/".join(filter(None, (self.namespace, self.kind, self.name)))
        return f"budget {whose}:{f'{self.field}={self.value}' if self.field else _NONE}"
