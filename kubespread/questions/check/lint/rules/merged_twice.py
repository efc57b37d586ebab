"""A key is in matchLabelKeys and in the selector too.

The API server adds to the selector of a new pod what its matchLabelKeys ask for, and refuses a key that is already
there. A pod copied from a cluster has both: what was merged into its selector when it was created, and the keys
themselves. A Deployment with such a template may be accepted while each of its pods is refused.

Example:

```yaml
labelSelector:
  matchLabels: {app: web}
  matchExpressions: [{key: pod-template-hash, operator: In, values: [5d59d67564]}]
matchLabelKeys: [pod-template-hash]
```

Remedy: take the key out of the selector.
"""

from __future__ import annotations

from kubespread.errors import Fault
from kubespread.questions.check.lint.rule import FaultRule, RefusedManifest
from kubespread.questions.check.report import Remedy, Severity

_SAID = "exists in both matchLabelKeys and labelSelector"


def check(fault: Fault, _refused: RefusedManifest) -> Remedy | None:
    """Source: pkg/registry/core/pod/strategy.go, applyLabelKeysToLabelSelector
    Source: pkg/apis/core/validation/validation.go, ValidateMatchLabelKeysInTopologySpread
    """
    if "topologySpreadConstraints" not in fault.field or _SAID not in fault.message:
        return None
    return Remedy(text="take the key out of the labelSelector: matchLabelKeys adds it")


RULE = FaultRule("KS107", "merged-twice", Severity.ERROR, check)
