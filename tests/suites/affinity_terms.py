"""Inter-pod affinity in one line a term, for the suites that ask about it."""

from __future__ import annotations

from typing import Any

from tests.suites.tables import NEVER, NO

Data = dict[str, Any]

AFFINITY = (NEVER, "node(s) didn't match pod affinity rules")
ANTI_AFFINITY = (NO, "node(s) didn't match pod anti-affinity rules")
EXISTING = (NO, "node(s) didn't satisfy existing pods anti-affinity rules")

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


TEAMS = [
    namespace("subteam1.team1", team="team1"),
    namespace("subteam2.team1", team="team1"),
    namespace("subteam1.team2", team="team2"),
    namespace("subteam2.team2", team="team2"),
]
"""The namespaces of the unit tables."""

BAD_VALUE = (
    'values[0][{key}]: Invalid value: "{{{{.bad-value.}}}}": a valid label must be an empty string or consist of '
    "alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue', "
    " or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
"""What the unit tables expect of the label value ``{{.bad-value.}}``, to be formatted with its key."""
