"""Rules for manifests that cannot be read, and for objects that the API server refuses."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from kubespread.candidate.manifest import value_at
from kubespread.errors import Fault
from kubespread.kube.api.cluster_objects import PriorityClass
from kubespread.kube.api.core import RuntimeClass
from kubespread.kube.api.unknown_fields import alternatives
from kubespread.kube.validation.pods import MIN_DOMAINS_IF_HARD
from kubespread.questions.causes.bars import join_phrases
from kubespread.questions.check import Remedy, Severity
from kubespread.questions.check.rule import Case, ClusterRule, FaultRule, RefusedManifest, RuleFinding
from kubespread.questions.check.trial import ReplicaTrial
from kubespread.regex import regex


class Unreadable(FaultRule, code="KS001", name="unreadable", severity=Severity.ERROR):
    """A file cannot be read as Kubernetes objects.

    It is missing, is neither YAML nor JSON, or holds something other than objects. Nothing in it can be applied, and
    nothing in it was checked. The other files are still checked.

    Example:

    ```yaml
    spec: {replicas: 3
    ```

    Remedy: mend the line that is named. A chart or a kustomization has to be rendered first.
    """

    def check(self, fault: Fault, refused: RefusedManifest) -> Remedy | None:
        return None if refused.name else Remedy(text="correct the file: nothing in it was checked")


_WAYS = (
    (regex(r"Unsupported value: .*: supported values: (?P<values>.+)$"), "set {field} to one of {values}"),
    (regex(r"must be greater than zero$"), "set {field} to 1 or more"),
    (regex(r"must be greater than or equal to (?P<least>\d+)"), "set {field} to {least} or more"),
    (regex(r"^Required value|: Required value|^required\b"), "add {field}"),
    (regex(r"^expected (?P<what>.+), found "), "set {field} to {what}"),
    (regex(r"^(?P<why>(?:only|not) allowed .+)$"), "remove {field}: {why}"),
    (regex(re.escape(MIN_DOMAINS_IF_HARD)), "remove minDomains, or set whenUnsatisfiable: DoNotSchedule"),
    (
        regex("exists in both matchLabelKeys and labelSelector"),
        "take the key out of the labelSelector: matchLabelKeys adds it",
    ),
    (regex(r"must not be specified when labelSelector is not set"), "add labelSelector: {selector}"),
    (regex(r'Duplicate value: "\{.*(?:DoNotSchedule|ScheduleAnyway)'), "merge constraints {pair} into one"),
    (regex(r"Duplicate value: |^duplicate: "), "remove {field}, which is there twice"),
    (regex(r"unknown field "), "{misplaced}"),
    (regex(r"Forbidden: (?P<why>.+)$"), "remove {field}: {why}"),
    (regex(r"Invalid value: .*: (?P<why>[^:]+)$"), "change {field}: {why}"),
)
"""Remedies by patterns of messages, the API server's and ours."""
_SUGGESTED_KIND = regex(r'did you mean "(?P<kind>[^"]+)" in "(?P<apiVersion>[^"]+)"')
_UNKNOWN = regex(r'unknown field "(?P<path>[^"]+)"(?:, did you mean "(?P<suggestion>[^"]+)")?')
_NAMED: Mapping[type[PriorityClass] | type[RuntimeClass], tuple[re.Pattern[str], str]] = {
    PriorityClass: (regex(r"no PriorityClass with name (?P<name>\S+) was found"), "priorityClassName"),
    RuntimeClass: (regex(r'RuntimeClass "(?P<name>[^"]+)" not found'), "runtimeClassName"),
}
"""Pattern of the API server's message for a class that is not there, and the field that names it."""


class RefusedObject(FaultRule, code="KS002", name="refused", severity=Severity.ERROR):
    """The API server would refuse the object.

    Validation and admission have the last word before anything is stored. The message is the API server's own; `kubectl
    apply` would show it, one deployment too late. Fields unknown to the API are refused by kubectl itself.

    A patch (of one of Kubernetes' own kinds, with neither a selector nor images, or with `$patch`) is refused for what
    it says, not for what it lacks. The same goes for an object of an unknown kind, whose controller completes the pod
    template.

    YAML gives plain words types of their own, which a field may not hold: `yes` and `on` are booleans, `1e3` and `0x10`
    are numbers. An amount such as `1GB` is not a quantity.

    Example: `maxSkew: 0`, `labels: {debug: on, build: 1e3}`, or `minDomains: 3` beside `whenUnsatisfiable:
    ScheduleAnyway`.

    Remedy: change the field that is named; quote a value that has to be a text.
    """

    def check(self, fault: Fault, refused: RefusedManifest) -> Remedy | None:
        """Remedy by the type that the API expects, by a class that is missing, or by the words of the message.

        Source: pkg/registry/core/pod/strategy.go, Validate
        Source: pkg/apis/core/validation/validation.go, ValidatePodSpec, ValidateMatchLabelKeysInTopologySpread
        Source: vendor/sigs.k8s.io/json/internal/golang/encoding/json/decode.go, UnmarshalTypeError
        """
        if fault.expected:
            way = _TYPED.get(fault.expected)
            written = value_at(refused.data, fault.field)
            return Remedy(text=way.format(field=fault.field) if way else _reshape(fault.field, written, fault.expected))
        if not refused.name:
            return None
        for cls, (words, field) in _NAMED.items():
            if match := words.search(fault.message):
                names = [obj.metadata.name for obj in refused.objects.get(cls)]
                return Remedy(text=f"change {field}{alternatives(match['name'], names)}")
        if not fault.field:
            return Remedy(text="change what is refused")
        for words, way in _WAYS:
            if match := words.search(fault.message):
                phrases = {
                    "field": fault.field,
                    "misplaced": _misplaced_advice(fault.message),
                    "selector": _selector(refused.data),
                    "pair": _pair(fault.field, refused.data),
                }
                return Remedy(text=way.format(**phrases, **match.groupdict()))
        suggestion = _SUGGESTED_KIND.search(fault.message)
        instead = suggestion.groupdict().get(fault.field) if suggestion is not None else None
        return Remedy(text=f"change {fault.field}{f' to {instead}' if instead else ''}")


def _misplaced_advice(message: str) -> str:
    """Advise on a field that the API does not have there."""
    match = _UNKNOWN.search(message)
    if match is None:
        return "remove what the API does not have"
    parent, _, name = match["path"].rpartition(".")
    above, _, suggestion = (match["suggestion"] or "").rpartition(".")
    if not suggestion:
        return f"remove {name}: the API has no such field"
    if suggestion != name:
        return f"rename {name} to {suggestion}"
    if above.startswith(parent):
        return f"indent {name} under {above.removeprefix(parent).lstrip('.')}"
    return f"move {name} out of {parent.removeprefix(above).lstrip('.')}, beside it"


def _selector(data: Any) -> str:
    """The workload's own labels, as a labelSelector."""
    values = (value_at(data, path) for path in ("spec.selector.matchLabels", "spec.template.metadata.labels"))
    labels = next((value for value in values if isinstance(value, dict) and value), {"KEY": "VALUE"})
    listed = ", ".join(f"{key}: {value}" for key, value in labels.items())
    return f"{{matchLabels: {{{listed}}}}}"


def _pair(field: str, data: Any) -> str:
    """The positions of a constraint and of the one over the same key with the same action: ``0 and 1``."""
    path, _, position = field.rpartition("].")[0].rpartition("[")
    constraints = value_at(data, path)
    written = [value for value in constraints if isinstance(value, dict)] if isinstance(constraints, list) else []
    pairs = [(constraint.get("topologyKey"), constraint.get("whenUnsatisfiable")) for constraint in written]
    alike = [str(place) for place, pair in enumerate(pairs) if pairs.count(pair) > 1 and pair == pairs[int(position)]]
    return join_phrases(alike) if alike else field


_WHOLE_NUMBER = "write {field} as a whole number, without quotes"
_TYPED = {
    "string": "quote the value of {field}",
    "int32": _WHOLE_NUMBER,
    "int64": _WHOLE_NUMBER,
    "IntOrString": _WHOLE_NUMBER,
    "bool": "write {field} as true or false, without quotes",
    "Quantity": "write {field} as an amount, such as 500m, 2 or 1Gi",
}
"""Remedies by the type that the API has."""


def _reshape(field: str, value: object, go_type: str) -> str:
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


class AbsentNamespace(ClusterRule, code="KS306", name="absent-namespace", severity=Severity.WARNING):
    """The namespace of the workload is not in the cluster.

    The API server refuses every object of a namespace that is not there. It may be made before the manifests are
    applied; a name that is mistyped is noticed only then. A Namespace among the manifests counts as being there.

    Example: a cluster with a namespace `shop`.

    ```yaml
    kind: Deployment
    metadata: {name: web, namespace: shopp}
    ```

    Remedy: the namespace that was meant, or a manifest of the Namespace beside the others.
    """

    def check(self, case: Case, trial: ReplicaTrial) -> Iterator[RuleFinding]:
        """Source: staging/src/k8s.io/apiserver/pkg/admission/plugin/namespace/lifecycle/admission.go, Admit"""
        if missing := case.subject.missing_namespace:
            remedy = Remedy(text="name the namespace that was meant, or apply a manifest of the Namespace too")
            yield RuleFinding("metadata.namespace", missing, remedy)


RULES = (Unreadable(), RefusedObject(), AbsentNamespace())
