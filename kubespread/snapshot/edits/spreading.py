"""The edit that gives workloads a topology spread constraint."""

from __future__ import annotations

import re
from typing import ClassVar

from kubespread.errors import UsageError
from kubespread.snapshot.edits.verb import Edit, Form
from kubespread.snapshot.topology_keys import CONSTRAINT, CONSTRAINT_FORM, constraint_of

_SPREAD = re.compile(rf"(?:(?P<workload>[^:=\s]+)=)?(?P<constraint>{CONSTRAINT.pattern})")


class Spread(Edit, frozen=True):
    """Workloads get a topology spread constraint, where they run, wait and in templates: nothing is rolled out.

    One that they have with the same topology key and action gets the maxSkew instead.
    """

    form: ClassVar = Form(
        "spread",
        f"[[NAMESPACE/]KIND/NAME=]{CONSTRAINT_FORM}",
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
    def parsed(cls, text: str, _: str | None, /) -> Edit | None:
        # All types of the API, which no help needs.
        from kubespread.kube.owners import named
        from kubespread.kube.validation.pods import spread_faults

        match = _SPREAD.fullmatch(text)
        constraint = None if match is None else constraint_of(match["constraint"])
        if match is None or constraint is None:
            return None
        if faults := list(spread_faults([constraint], "spec.topologySpreadConstraints")):
            raise UsageError(*(f"invalid edit {f'spread {text}'!r}: {fault.path}: {fault.message}" for fault in faults))
        if match["workload"] is None:
            return cls(match["constraint"])
        workload = named(match["workload"])
        return cls(match["constraint"], workload.kind, workload.name, workload.namespace)

    def __str__(self) -> str:
        whose = "/".join(filter(None, (self.namespace, self.kind, self.name)))
        return f"spread {whose}={self.constraint}" if whose else f"spread {self.constraint}"
