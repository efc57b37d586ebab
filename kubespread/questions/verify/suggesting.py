"""Promises that hold: the least that could be promised of everything is verified, and how far it is surpassed is what
can be promised.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import floor
from typing import Any

from kubespread.kube.owners import Named, WorkloadName
from kubespread.questions.verify.report import VerifiedClause
from kubespread.scenario.promises import HPA_MAX, KIND, NEVER_BLOCKED, REPLICAS
from kubespread.scenario.types import API_VERSION

MOST_LOST = 200
"""Of how many domains it is looked for what survives each of them."""
_SHARES = ("cpu", "memory")
Data = dict[str, Any]


def of_data(promises: Sequence[Data]) -> Data:
    """A file with these promises."""
    return {"apiVersion": API_VERSION, "kind": KIND, "promises": [*promises]}


def probes(workloads: Sequence[WorkloadName], losable: Sequence[str]) -> Data:
    """The least that could be promised of each, by itself where something else would hide it; ``losable`` is what may
    be lost.
    """
    promises: list[Data] = []
    for workload in workloads:
        whose = {"workload": str(Named(workload.kind, workload.name, workload.namespace))}
        for key in losable:
            loss = {**whose, "survives": f"any {key}"}
            promises += [{**loss, "ready": 0, "back": "while silent"}, {**loss, "back": "nodes deleted"}]
        spread = {"spread": {"zone": 0}} if "zone" in losable else {}
        rest = {"fits": HPA_MAX, "rollout": 0, "drain": NEVER_BLOCKED}
        promises += [{**whose, **spread, **rest}, {**whose, "fits": REPLICAS}]
    return of_data([*promises, {"cluster": True, "room": dict.fromkeys(_SHARES, "0%")}])


def suggestions(given: Sequence[Data], rows: Sequence[VerifiedClause]) -> Iterator[Data]:
    """What can be promised, of what became of the probes that were ``given``."""
    by_probe: dict[int, list[VerifiedClause]] = {}
    for row in rows:
        by_probe.setdefault(row.promise, []).append(row)
    merged: dict[tuple[str, str], Data] = {}
    for number, probe in enumerate(given, 1):
        key = probe.get("workload", ""), probe.get("survives", "")
        fields = merged.setdefault(key, {})
        for row in by_probe.get(number, ()):
            for name, value in _promised(row, probe).items():
                # Of room there is a row for each resource.
                fields[name] = {**fields.get(name, {}), **value} if isinstance(value, dict) else fields.get(name, value)
    for (workload, survives), fields in merged.items():
        if fields:
            whose = {"workload": workload} if workload else {"cluster": True}
            yield {**whose, **({"survives": survives} if survives else {}), **fields}


def _promised(row: VerifiedClause, probe: Mapping[str, Any]) -> Data:
    """The field that can be promised; none where nothing can."""
    margin = floor(row.margin or 0)
    match row.clause:
        case "ready" | "rollout":
            return {row.clause: margin} if row.state == "held" and margin > 0 else {}
        case "spread":
            return {"spread": {"zone": -margin}} if row.state != "unknown" else {}
        case "room":
            resource = row.promised.partition(" ")[0]
            return {"room": {resource: f"{margin}%"}} if row.state == "held" and margin > 0 else {}
        case _:
            return {row.clause: probe[row.clause]} if row.state == "held" else {}
