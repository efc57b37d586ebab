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

from kubespread.errors import Fault
from kubespread.questions.check.lint.rule import FaultRule
from kubespread.questions.check.lint.subject import Refused
from kubespread.questions.check.report import Remedy, Severity


def remedy(fault: Fault, refused: Refused) -> Remedy | None:
    """Source: pkg/registry/core/pod/strategy.go, Validate
    Source: pkg/apis/core/validation/validation.go, ValidatePodSpec
    """
    if not refused.workload:
        return None
    return Remedy(text=f"change {fault.field}" if fault.field else "change what is refused")


RULE = FaultRule("KS002", "refused", Severity.ERROR, remedy)
