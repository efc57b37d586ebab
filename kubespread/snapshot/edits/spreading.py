"""The edit that gives workloads a topology spread constraint."""

from __future__ import annotations

import re
from typing import ClassVar

from kubespread.errors import UsageError
from kubespread.snapshot.edits.verb import Edit, Field, FieldValues, Form, Holds
from kubespread.snapshot.topology_keys import CONSTRAINT, CONSTRAINT_FORM, SOFT, constraint_of

_SPREAD = re.compile(rf"(?:(?P<workload>[^:=\s]+)=)?{CONSTRAINT.pattern}")


class Spread(Edit, frozen=True):
    """Workloads get a topology spread constraint, where they run, wait and in templates: nothing is rolled out.

    One that they have with the same topology key and action gets the maxSkew instead.
    """

    form: ClassVar = Form(
        "spread",
        f"[[NAMESPACE/]KIND/NAME=]{CONSTRAINT_FORM}",
        fields={
            "topologyKey": Field(Holds.TEXT, "a label of nodes, whose values are the domains (zone)", is_required=True),
            "maxSkew": Field(Holds.NUMBER, "by how many pods they may differ", is_required=True),
            "soft": Field(Holds.FLAG, "ScheduleAnyway instead of DoNotSchedule"),
            "workload": Field(Holds.TEXT, "[NAMESPACE/]KIND/NAME (deploy/web); all but DaemonSets if not said"),
        },
        metavar=f"[[NS/]KIND/NAME=]{CONSTRAINT_FORM}",
        option="Give every workload but DaemonSets (zone:1, karpenter.sh/capacity-type:1, hostname:1:soft), or one "
        "(deploy/web=zone:1), a topology spread constraint over its pods.",
    )
    constraint: str
    """``zone:1:soft``, as written."""
    kind: str = ""
    """``Deployment``, as Kubernetes writes it; empty for all workloads."""
    name: str = ""
    namespace: str | None = None
    """None: that of the question."""

    @classmethod
    def parsed(cls, text: str) -> FieldValues | None:
        match = _SPREAD.fullmatch(text)
        if match is None:
            return None
        fields = {"topologyKey": match["topologyKey"], "maxSkew": int(match["maxSkew"]), "soft": bool(match["soft"])}
        return {**fields, "workload": match["workload"]} if match["workload"] else fields

    @classmethod
    def of(cls, fields: FieldValues, _: str | None = "", /) -> Edit:
        # All types of the API, which no help needs.
        from kubespread.kube.owners import named
        from kubespread.kube.validation.pods import spread_faults

        text = _written(fields)
        constraint = constraint_of(text)
        if constraint is None:
            raise UsageError(f"invalid edit {cls.line(fields)!r}: {cls.form.expected}")
        if faults := list(spread_faults([constraint], "spec.topologySpreadConstraints")):
            raise UsageError(*(f"invalid edit {cls.line(fields)!r}: {fault.path}: {fault.message}" for fault in faults))
        if "workload" not in fields:
            return cls(text)
        workload = named(fields["workload"])
        return cls(text, workload.kind, workload.name, workload.namespace)

    @classmethod
    def line(cls, fields: FieldValues) -> str:
        whose = f"{fields['workload']}=" if "workload" in fields else ""
        return f"spread {whose}{_written(fields)}"

    def __str__(self) -> str:
        whose = "/".join(filter(None, (self.namespace, self.kind, self.name)))
        return f"spread {whose}={self.constraint}" if whose else f"spread {self.constraint}"


def _written(fields: FieldValues) -> str:
    return f"{fields['topologyKey']}:{fields['maxSkew']}{SOFT if fields.get('soft') else ''}"
