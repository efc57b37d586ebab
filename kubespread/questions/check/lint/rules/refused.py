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
from typing import Any

from kubespread.candidate.manifest import value_at
from kubespread.errors import Fault
from kubespread.kube.api.cluster_objects import PriorityClass
from kubespread.kube.api.core import RuntimeClass
from kubespread.kube.api.unknown_fields import alternatives
from kubespread.questions.causes.bars import listed
from kubespread.questions.check.lint.rule import FaultRule, RefusedManifest
from kubespread.questions.check.report import Remedy, Severity

_WAYS = (
    (re.compile(r"Unsupported value: .*: supported values: (?P<values>.+)$"), "set {field} to one of {values}"),
    (re.compile(r"must be greater than zero$"), "set {field} to 1 or more"),
    (re.compile(r"must be greater than or equal to (?P<least>\d+)"), "set {field} to {least} or more"),
    (re.compile(r"^Required value|: Required value|^required\b"), "add {field}"),
    (re.compile(r"^expected (?P<what>.+), found "), "set {field} to {what}"),
    (re.compile(r"^(?P<why>(?:only|not) allowed .+)$"), "remove {field}: {why}"),
    (re.compile(r"must not be specified when labelSelector is not set"), "add labelSelector: {selector}"),
    (re.compile(r'Duplicate value: "\{.*(?:DoNotSchedule|ScheduleAnyway)'), "merge constraints {pair} into one"),
    (re.compile(r"Duplicate value: |^duplicate: "), "remove {field}, which is there twice"),
    (re.compile(r"unknown field "), "{misplaced}"),
    (re.compile(r"Forbidden: (?P<why>.+)$"), "remove {field}: {why}"),
    (re.compile(r"Invalid value: .*: (?P<why>[^:]+)$"), "change {field}: {why}"),
)
"""What there is to do, by the API server's words and ours."""
_MEANT = re.compile(r'did you mean "(?P<kind>[^"]+)" in "(?P<apiVersion>[^"]+)"')
_UNKNOWN = re.compile(r'unknown field "(?P<path>[^"]+)"(?:, did you mean "(?P<meant>[^"]+)")?')
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
            written = {"selector": _selector(refused.data), "pair": _pair(fault.field, refused.data)}
            known = {"field": fault.field, "misplaced": _misplaced(fault.message), **written}
            return Remedy(text=way.format(**known, **match.groupdict()))
    meant = _MEANT.search(fault.message)
    instead = meant.groupdict().get(fault.field) if meant is not None else None
    return Remedy(text=f"change {fault.field}{f' to {instead}' if instead else ''}")


def _misplaced(message: str) -> str:
    """Say what to do with a field that the API does not have there."""
    match = _UNKNOWN.search(message)
    if match is None:
        return "remove what the API does not have"
    parent, _, name = match["path"].rpartition(".")
    above, _, meant = (match["meant"] or "").rpartition(".")
    if not meant:
        return f"remove {name}: the API has no such field"
    if meant != name:
        return f"rename {name} to {meant}"
    if above.startswith(parent):
        return f"indent {name} under {above.removeprefix(parent).lstrip('.')}"
    return f"move {name} out of {parent.removeprefix(above).lstrip('.')}, beside it"


def _selector(data: Any) -> str:
    """The workload's own labels, as a labelSelector."""
    labels = value_at(data, "spec.selector.matchLabels") or value_at(data, "spec.template.metadata.labels")
    listed = ", ".join(f"{key}: {value}" for key, value in (labels or {"KEY": "VALUE"}).items())
    return f"{{matchLabels: {{{listed}}}}}"


def _pair(field: str, data: Any) -> str:
    """The positions of a constraint and of the one over the same key with the same action: ``0 and 1``."""
    path, _, position = field.rpartition("].")[0].rpartition("[")
    constraints = value_at(data, path)
    written = [each for each in constraints if isinstance(each, dict)] if isinstance(constraints, list) else []
    pairs = [(each.get("topologyKey"), each.get("whenUnsatisfiable")) for each in written]
    alike = [str(place) for place, pair in enumerate(pairs) if pairs.count(pair) > 1 and pair == pairs[int(position)]]
    return listed(alike) if alike else field


RULE = FaultRule("KS002", "refused", Severity.ERROR, check)
