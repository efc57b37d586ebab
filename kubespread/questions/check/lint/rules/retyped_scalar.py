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
from kubespread.questions.check.lint.rule import FaultRule
from kubespread.questions.check.lint.subject import Refused
from kubespread.questions.check.report import Remedy, Severity


def remedy(fault: Fault, _refused: Refused) -> Remedy | None:
    """Source: vendor/sigs.k8s.io/json/internal/golang/encoding/json/decode.go, UnmarshalTypeError"""
    return Remedy(text=f"quote or rewrite the value of {fault.field}") if fault.is_undecodable else None


RULE = FaultRule("KS003", "retyped-scalar", Severity.ERROR, remedy)
