"""Requirements on labels, selectors of several, and both as people type them: ``app=web,tier in (a,b),!canary``.

Node selectors: ORed terms of requirements on a node's labels and its name.

Source: staging/src/k8s.io/apimachinery/pkg/labels/selector.go, Parse, NewRequirement, Matches
Source: staging/src/k8s.io/apimachinery/pkg/apis/meta/v1/helpers.go, LabelSelectorAsSelector
Source: staging/src/k8s.io/component-helpers/scheduling/corev1/nodeaffinity/nodeaffinity.go, NewNodeSelector, Match,
    isEmptyNodeSelectorTerm
Source: staging/src/k8s.io/component-helpers/scheduling/corev1/nodeaffinity/nodeaffinity.go,
    nodeSelectorRequirementsAsSelector
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct

from kubespread.kube.api.core import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, Pod
from kubespread.kube.api.meta import LabelSelector
from kubespread.kube.gotext import compact_json, parse_int64, quote, quoted_list
from kubespread.kube.name_rules import label_key_faults, label_value_faults
from kubespread.regex import regex

LABEL_SELECTOR_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist")


class SelectorError(ValueError):
    """A requirement that the scheduler cannot parse; the message is the scheduler's."""


class Requirement(Struct, frozen=True):
    """One condition on one key. ``Gt`` and ``Lt`` belong to node selectors only."""

    key: str
    operator: str
    values: tuple[str, ...] = ()

    def admits(self, value: str | None) -> bool:
        """True if ``value`` of the key (None: absent) satisfies the requirement."""
        return _OPERATORS[self.operator](value, self.values)

    def matches(self, labels: Mapping[str, str]) -> bool:
        return self.admits(labels.get(self.key))

    def faults(self, prefix: str = "", *, absent_values: str = "null") -> list[str]:
        """Faults of the requirement, in the scheduler's words, with paths below ``prefix``."""
        printed = compact_json(self.values) if self.values else absent_values
        messages = []
        if wrong := label_key_faults(self.key):
            messages.append(f"{prefix}key: Invalid value: {quote(self.key)}: {'; '.join(wrong)}")
        if self.operator in ("In", "NotIn") and not self.values:
            messages.append(
                f"{prefix}values: Invalid value: {printed}: for 'in', 'notin' operators, values set can't be empty"
            )
        if self.operator in ("Exists", "DoesNotExist") and self.values:
            messages.append(
                f"{prefix}values: Invalid value: {printed}: values set must be empty for exists and does not exist"
            )
        if self.operator in ("Gt", "Lt"):
            if len(self.values) != 1:
                messages.append(
                    f"{prefix}values: Invalid value: {printed}: for 'Gt', 'Lt' operators, exactly one value is required"
                )
            for position, value in enumerate(self.values):
                if parse_int64(value) is None:
                    reason = "for 'Gt', 'Lt' operators, the value must be an integer"
                    messages.append(f"{prefix}values[{position}]: Invalid value: {quote(value)}: {reason}")
        for position, value in enumerate(self.values):
            if wrong := label_value_faults(value):
                messages.append(
                    f"{prefix}values[{position}][{self.key}]: Invalid value: {quote(value)}: {'; '.join(wrong)}"
                )
        return messages


def _compare(holds: Callable[[int, int], bool]) -> Callable[[str | None, tuple[str, ...]], bool]:
    def admits(value: str | None, values: tuple[str, ...]) -> bool:
        if value is None:
            return False
        left, right = parse_int64(value), parse_int64(values[0])
        return left is not None and right is not None and holds(left, right)

    return admits


_OPERATORS: Mapping[str, Callable[[str | None, tuple[str, ...]], bool]] = {
    "In": lambda value, values: value is not None and value in values,
    "NotIn": lambda value, values: value is None or value not in values,
    "Exists": lambda value, values: value is not None,
    "DoesNotExist": lambda value, values: value is None,
    "Gt": _compare(lambda left, right: left > right),
    "Lt": _compare(lambda left, right: left < right),
}


class Selector(Struct, frozen=True):
    """Requirements that must all hold; without any it matches everything, unless ``nothing`` is set."""

    requirements: tuple[Requirement, ...] = ()
    nothing: bool = False

    @property
    def is_empty(self) -> bool:
        """True without requirements; the selector of nothing is not empty."""
        return not self.requirements and not self.nothing

    def matches(self, labels: Mapping[str, str]) -> bool:
        return not self.nothing and all(requirement.matches(labels) for requirement in self.requirements)

    def and_also(self, *requirements: Requirement) -> Selector:
        return Selector(self.requirements + requirements, self.nothing)

    def __str__(self) -> str:
        """kubectl's notation (``app=web,tier in (a,b)``)."""
        if self.nothing:
            return "<none>"
        # matchLabels and matchLabelKeys may both ask for the same.
        return ",".join(dict.fromkeys(map(_notation, self.requirements))) or "<empty>"


NOTHING = Selector(nothing=True)


def from_map(labels: Mapping[str, str]) -> Selector:
    """Selector that requires every entry of ``labels``; never validated, as in Kubernetes."""
    return Selector(tuple(Requirement(key, "In", (value,)) for key, value in sorted(labels.items())))


def from_label_selector(selector: LabelSelector | None) -> Selector:
    """Selector; an absent one matches nothing, an empty one everything. Raises SelectorError at the first fault."""
    if selector is None:
        return NOTHING
    requirements = list(from_map(selector.match_labels).requirements)
    for expression in selector.match_expressions:
        if expression.operator not in LABEL_SELECTOR_OPERATORS:
            raise SelectorError(f"{quote(expression.operator)} is not a valid label selector operator")
        requirements.append(Requirement(expression.key, expression.operator, tuple(expression.values)))
    for requirement in requirements:
        if faults := requirement.faults():
            raise SelectorError(faults[0] if len(faults) == 1 else f"[{', '.join(faults)}]")
    return Selector(tuple(requirements))


def _notation(requirement: Requirement) -> str:
    key, values = requirement.key, requirement.values
    match requirement.operator:
        case "In":
            return f"{key}={values[0]}" if len(values) == 1 else f"{key} in ({','.join(values)})"
        case "NotIn":
            return f"{key}!={values[0]}" if len(values) == 1 else f"{key} notin ({','.join(values)})"
        case "Exists":
            return key
        case "DoesNotExist":
            return f"!{key}"
    return f"{key} {requirement.operator} {','.join(values)}"


_COMMA = regex(r",(?![^()]*\))")
_EXISTS = regex(r"(?P<absent>!?)\s*(?P<key>[^\s=!<>(),]+)")
_EQUALS = regex(r"(?P<key>[^\s=!<>(),]+)\s*(?P<operator>==?|!=)\s*(?P<value>[^\s=!<>(),]*)")
_IN = regex(r"(?P<key>[^\s=!<>(),]+)\s+(?P<operator>in|notin)\s*\((?P<values>[^()]*)\)")
_COMPARES = regex(r"(?P<key>[^\s=!<>(),]+)\s*(?P<operator>[<>])\s*(?P<value>[^\s=!<>(),]+)")


def parse_selector(text: str) -> Selector:
    """Parse a selector; an empty text matches everything. Raises SelectorError."""
    return Selector(tuple(_requirements(text)) if text.strip() else ())


def _requirements(text: str) -> Iterator[Requirement]:
    for part in _COMMA.split(text):
        requirement = _requirement(part.strip())
        if requirement is None:
            raise SelectorError(f"expected KEY=VALUE, KEY!=VALUE, KEY in (A,B), KEY or !KEY, found {part.strip()!r}")
        if faults := requirement.faults():
            raise SelectorError(faults[0])
        yield requirement


def _requirement(text: str) -> Requirement | None:
    if match := _EXISTS.fullmatch(text):
        return Requirement(match["key"], "DoesNotExist" if match["absent"] else "Exists")
    if match := _EQUALS.fullmatch(text):
        return Requirement(match["key"], "NotIn" if match["operator"] == "!=" else "In", (match["value"],))
    if match := _IN.fullmatch(text):
        values = tuple(value.strip() for value in match["values"].split(","))
        return Requirement(match["key"], "In" if match["operator"] == "in" else "NotIn", values)
    if match := _COMPARES.fullmatch(text):
        return Requirement(match["key"], "Gt" if match["operator"] == ">" else "Lt", (match["value"],))
    return None


NODE_NAME_FIELD = "metadata.name"
OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")
_FIELD_OPERATORS = ("In", "NotIn")


class Term(Struct, frozen=True):
    """A parsed term of a node selector. With ``faults`` or without any condition it matches no node."""

    labels: tuple[Requirement, ...]
    fields: tuple[Requirement, ...]
    faults: tuple[str, ...] = ()

    @property
    def can_match(self) -> bool:
        return not self.faults and bool(self.labels or self.fields)

    def matches(self, labels: Mapping[str, str], name: str) -> bool:
        """True if a node with these labels and this name meets every condition."""
        # The only field is the node's name; any other reads as empty.
        return (
            self.can_match
            and all(requirement.matches(labels) for requirement in self.labels)
            and all(field.admits(name if field.key == NODE_NAME_FIELD else "") for field in self.fields)
        )


def required_node_selector(pod: Pod) -> NodeSelector | None:
    affinity = pod.spec.affinity
    node_affinity = affinity.node_affinity if affinity is not None else None
    return node_affinity.required_during_scheduling_ignored_during_execution if node_affinity is not None else None


def parse_term(term: NodeSelectorTerm, prefix: str = "") -> Term:
    """Parse a term, with all its faults, in the scheduler's words, with paths below ``prefix``."""
    faults: list[str] = []
    labels, fields = [], []
    for position, expression in enumerate(term.match_expressions):
        path = f"{prefix}.matchExpressions[{position}]"
        requirement = _node_requirement(expression)
        if expression.operator not in OPERATORS:
            faults.append(_unsupported_operator(path, expression.operator, OPERATORS))
        else:
            faults += requirement.faults(f"{path}.", absent_values="[]")
            labels.append(requirement)
    for position, expression in enumerate(term.match_fields):
        path = f"{prefix}.matchFields[{position}]"
        if expression.operator not in _FIELD_OPERATORS:
            faults.append(_unsupported_operator(path, expression.operator, _FIELD_OPERATORS))
        elif len(expression.values) != 1:
            faults.append(f"{path}.values: Invalid value: {compact_json(expression.values)}: must have one element")
        else:
            fields.append(_node_requirement(expression))
    return Term(tuple(labels), tuple(fields), tuple(faults))


def pinned_names(terms: Sequence[NodeSelectorTerm]) -> frozenset[str] | None:
    """Node names that ``metadata.name In`` limits the terms to; None if a term may match anywhere.

    Validity is not checked and an empty term counts as one that may match anywhere, as in NodeAffinity's PreFilter.
    """
    names: frozenset[str] = frozenset()
    for term in terms:
        pinned: frozenset[str] | None = None
        for field in term.match_fields:
            if field.key == NODE_NAME_FIELD and field.operator == "In":
                values = frozenset(field.values)
                pinned = values if pinned is None else pinned & values
        if pinned is None:
            return None
        names |= pinned
    return names


def _node_requirement(expression: NodeSelectorRequirement) -> Requirement:
    return Requirement(expression.key, expression.operator, tuple(expression.values))


def _unsupported_operator(path: str, operator: str, supported: tuple[str, ...]) -> str:
    return f"{path}.operator: Unsupported value: {compact_json(operator)}: supported values: {quoted_list(supported)}"
