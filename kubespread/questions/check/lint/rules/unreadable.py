"""A file cannot be read as Kubernetes objects.

It is missing, is neither YAML nor JSON, or holds something other than objects. Nothing in it can be applied, and
nothing in it was checked. The other files are still checked.

Example:

```yaml
spec: {replicas: 3
```

Remedy: mend the line that is named. A chart or a kustomization has to be rendered first.
"""

from __future__ import annotations

from kubespread.errors import Fault
from kubespread.questions.check.lint.rule import FaultRule, RefusedManifest
from kubespread.questions.check.report import Remedy, Severity


def check(_fault: Fault, refused: RefusedManifest) -> Remedy | None:
    return None if refused.name else Remedy(text="correct the file: nothing in it was checked")


RULE = FaultRule("KS001", "unreadable", Severity.ERROR, check)
