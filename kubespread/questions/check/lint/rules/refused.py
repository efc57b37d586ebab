"""The API server would refuse the object.

Validation and admission have the last word before anything is stored. The message is the API server's own; `kubectl
apply` would show it, one deployment too late. Fields unknown to the API are refused by kubectl itself.

A patch (of one of Kubernetes' own kinds, with neither a selector nor images, or with `$patch`) is refused for what it
says, not for what it lacks. The same goes for an object of an unknown kind, whose controller completes the pod
template.

Example:

```yaml
topologySpreadConstraints:
- maxSkew: 0
  topologyKey: topology.kubernetes.io/zone
  whenUnsatisfiable: DoNotSchedule
```

Remedy: change the field that is named.
"""

from __future__ import annotations

import re

from kubespread.errors import Fault
from kubespread.questions.check.lint.rule import FaultRule, RefusedManifest
from kubespread.questions.check.report import Remedy, Severity

_WAYS = (
    (re.compile(r"Unsupported value: .*: supported values: (?P<values>.+)$"), "set {field} to one of {values}"),
    (re.compile(r"must be greater than zero$"), "set {field} to 1 or more"),
    (re.compile(r"must be greater than or equal to (?P<least>\d+)"), "set {field} to {least} or more"),
    (re.compile(r"^Required value|: Required value"), "add {field}"),
    (re.compile(r"Duplicate value: "), "remove {field}, which is there twice"),
    (re.compile(r"unknown field "), "rename or remove {field}"),
)
"""What there is to do, by the API server's words."""


def check(fault: Fault, refused: RefusedManifest) -> Remedy | None:
    """Source: pkg/registry/core/pod/strategy.go, Validate
    Source: pkg/apis/core/validation/validation.go, ValidatePodSpec
    """
    if not refused.name:
        return None
    if not fault.field:
        return Remedy(text="change what is refused")
    for words, way in _WAYS:
        if match := words.search(fault.message):
            return Remedy(text=way.format(field=fault.field, **match.groupdict()))
    return Remedy(text=f"change {fault.field}")


RULE = FaultRule("KS002", "refused", Severity.ERROR, check)
