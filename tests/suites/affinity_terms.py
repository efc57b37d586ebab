"""Inter-pod affinity in one line a term, for the suites that ask about it."""

from __future__ import annotations

from typing import Any

Data = dict[str, Any]

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def term(topology_key: str, *expressions: tuple[str, ...], **more: Any) -> Data:
    """Each expression is a key, an operator and its values; ``more`` sets any other field."""
    return {"topologyKey": topology_key, "labelSelector": matching(*expressions), **more}


def matching(*expressions: tuple[str, ...]) -> Data:
    """A label selector of these expressions."""
    made = [
        {"key": key, "operator": operator, **({"values": list(values)} if values else {})}
        for key, operator, *values in expressions
    ]
    return {"matchExpressions": made}


def near(*terms: Data) -> Data:
    return {"podAffinity": {_REQUIRED: list(terms)}}


def away(*terms: Data) -> Data:
    return {"podAntiAffinity": {_REQUIRED: list(terms)}}


def prefers(*weighted: tuple[int, Data]) -> Data:
    return {"podAffinity": {_PREFERRED: _weighted(weighted)}}


def avoids(*weighted: tuple[int, Data]) -> Data:
    return {"podAntiAffinity": {_PREFERRED: _weighted(weighted)}}


def _weighted(weighted: tuple[tuple[int, Data], ...]) -> list[Data]:
    return [{"weight": weight, "podAffinityTerm": given} for weight, given in weighted]


def namespace(name: str, **labels: str) -> Data:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}
