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
from collections.abc import Mapping

from kubespread.errors import Fault
from kubespread.kube.api.cluster_objects import PriorityClass
from kubespread.kube.api.core import RuntimeClass
from kubespread.kube.api.unknown_fields import alternatives
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
_NAMED: Mapping[type[PriorityClass] | type[RuntimeClass], tuple[re.Pattern[str], str]] = {
    PriorityClass: (re.compile(r"no PriorityClass with name (?P<name>\S+) was found"), "priorityClassName"),
    RuntimeClass: (re.compile(r'RuntimeClass "(?P<name>[^"]+)" not found'), "runtimeClassName"),
}
"""What the API server says of a class that is not there, and the field that names it."""


def check(fault: Fault, refused: RefusedManifest) -> Remedy | None:
    """Source: pkg/registry/core/pod/strategy.go, Validate
    Source: pkg/apis/core/validation/validation.go, ValidatePodSpec
    """
    if not refused.name:
        return None
    for cls, (words, field) in _NAMED.items():
        if match := words.search(fault.message):
            names = [obj.metadata.name for obj in refused.objects.of(cls)]
            return Remedy(text=f"change {field}{alternatives(match['name'], names)}")
    if not fault.field:
        return Remedy(text="change what is refused")
    for words, way in _WAYS:
        if match := words.search(fault.message):
            return Remedy(text=way.format(field=fault.field, **match.groupdict()))
    return Remedy(text=f"change {fault.field}")


RULE = FaultRule("KS002", "refused", Severity.ERROR, check)
