"""A value is of a type that its field cannot hold.

YAML gives plain words types of their own: `yes` and `on` are booleans, `1e3` and `0x10` are numbers. An amount such as
`1GB` is not a quantity. The API server refuses to decode them.

Example:

```yaml
labels: {debug: on, build: 1e3}
```

Remedy: quote the value, or write the amount as Kubernetes does (`1G`, `1Gi`, `500m`).
"""

from __future__ import annotations

from kubespread.candidate.manifest import value_at
from kubespread.errors import Fault
from kubespread.questions.check.lint.rule import FaultRule, RefusedManifest
from kubespread.questions.check.report import Remedy, Severity

_WHOLE_NUMBER = "write {field} as a whole number, without quotes"
_WAYS = {
    "string": "quote the value of {field}",
    "int32": _WHOLE_NUMBER,
    "int64": _WHOLE_NUMBER,
    "IntOrString": _WHOLE_NUMBER,
    "bool": "write {field} as true or false, without quotes",
    "Quantity": "write {field} as an amount, such as 500m, 2 or 1Gi",
}
"""What there is to do, by the type that the API has."""


def check(fault: Fault, refused: RefusedManifest) -> Remedy | None:
    """Source: vendor/sigs.k8s.io/json/internal/golang/encoding/json/decode.go, UnmarshalTypeError"""
    if not fault.expected:
        return None
    if (way := _WAYS.get(fault.expected)) is not None:
        return Remedy(text=way.format(field=fault.field))
    return Remedy(text=_reshaped(fault.field, value_at(refused.data, fault.field), fault.expected))


def _reshaped(field: str, value: object, go_type: str) -> str:
    """Say how to make a list or a map of a value that is neither, or the other one."""
    name = field.rpartition(".")[2]
    if go_type.startswith("[]"):
        if isinstance(value, dict) and value:
            return f'a list: put "- " before {next(iter(value))}'
        return f'a list: write each value of {name} on a line of its own, after "- "'
    if isinstance(value, list):
        first = next((key for item in value if isinstance(item, dict) for key in item), "each entry")
        return f'a map, not a list: drop the "- " before {first}'
    return f"a map: write the fields of {name} as KEY: VALUE, each on a line of its own below it"


RULE = FaultRule("KS003", "retyped-scalar", Severity.ERROR, check)
