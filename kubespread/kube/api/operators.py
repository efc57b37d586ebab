"""Operators of which it is known whether they make pods again that are lost: a row of ``foreign.toml`` per kind."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from kubespread.kube.api.kinds import foreign


class Operator(msgspec.Struct, frozen=True, rename="kebab"):
    """An operator, and what becomes of a pod that it loses."""

    group: str
    kind: str
    source: str
    """Source that says so."""
    remakes: bool = True
    """True if it makes a pod again that it controls itself."""
    keeps_name: bool = True
    """True if the pod comes back under its own name."""
    keeps_volumes: bool = True
    """True if it gets the claims back that are called like it."""
    may_switch_over: bool = False
    """True if the operator may give its role to another pod first."""
    budget: str = ""
    """The disruption budget that the operator makes."""
    acts_as: str = ""
    """The kind of Kubernetes whose controller it follows, where there is one."""

    def __str__(self) -> str:
        if not self.remakes:
            return "it makes ReplicaSets, and does not make a pod again that it controls itself"
        name = "under their own names" if self.keeps_name else "under new names"
        role = "; that it may switch over to another pod first is not simulated" if self.may_switch_over else ""
        return f"its operator makes lost pods again, {name}{role}"


ROWS = msgspec.convert(foreign()["operators"], tuple[Operator, ...])

OPERATORS: Mapping[tuple[str, str], Operator] = {(row.group, row.kind): row for row in ROWS}
