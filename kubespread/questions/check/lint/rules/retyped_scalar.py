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

from kubespread.errors import Fault
from kubespread.kube.quantity import BAD_FORMAT, BAD_SUFFIX
from kubespread.questions.check.lint.rule import FaultRule, RefusedManifest
from kubespread.questions.check.report import Remedy, Severity

_WAYS = (
    ("of type string", "quote the value of {field}"),
    ("of type int", "write {field} as a whole number, without quotes"),
    ("of type bool", "write {field} as true or false, without quotes"),
    (BAD_FORMAT, "write {field} as an amount, such as 500m, 2 or 1Gi"),
    (BAD_SUFFIX, "write {field} as an amount, such as 500m, 2 or 1Gi"),
)
"""What there is to do, by the API server's words."""


def check(fault: Fault, _refused: RefusedManifest) -> Remedy | None:
    """Source: vendor/sigs.k8s.io/json/internal/golang/encoding/json/decode.go, UnmarshalTypeError"""
    if not fault.is_undecodable:
        return None
    way = next((way for words, way in _WAYS if words in fault.message), "rewrite {field}")
    return Remedy(text=way.format(field=fault.field))


RULE = FaultRule("KS003", "retyped-scalar", Severity.ERROR, check)
