"""minDomains is set together with ScheduleAnyway.

minDomains makes a hard constraint treat the global minimum as 0 as long as there are fewer domains. A soft constraint
has no minimum, so the API server refuses the combination, and with it the whole workload.

Example:

```yaml
topologySpreadConstraints:
- maxSkew: 1
  minDomains: 3
  topologyKey: topology.kubernetes.io/zone
  whenUnsatisfiable: ScheduleAnyway
  labelSelector: {matchLabels: {app: web}}
```

Remedy: remove minDomains, or make the constraint DoNotSchedule.
"""

from __future__ import annotations

from kubespread.errors import Fault
from kubespread.kube.validation.pods import MIN_DOMAINS_IF_HARD
from kubespread.questions.check.lint.rule import FaultRule, RefusedManifest
from kubespread.questions.check.report import Remedy, Severity


def check(fault: Fault, _refused: RefusedManifest) -> Remedy | None:
    """Source: pkg/apis/core/validation/validation.go, validateMinDomains"""
    if not fault.field.endswith(".minDomains") or MIN_DOMAINS_IF_HARD not in fault.message:
        return None
    return Remedy(text="remove minDomains, or set whenUnsatisfiable: DoNotSchedule", fields={fault.field: None})


RULE = FaultRule("KS104", "soft-min-domains", Severity.ERROR, check)
