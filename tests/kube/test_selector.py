"""Label selectors and node-selector terms: matching, emptiness, and the scheduler's words for malformed ones."""

from __future__ import annotations

import pytest

from kubespread.kube.api.core import NodeSelectorRequirement, NodeSelectorTerm
from kubespread.kube.api.meta import LabelSelector, LabelSelectorRequirement
from kubespread.kube.selector import Requirement, Selector, SelectorError, from_label_selector, parse_term, pinned_names

REQUIREMENTS: list[tuple[str, tuple[str, ...], str | None, bool]] = [
    ("In", ("a", "b"), "a", True),
    ("In", ("a",), "A", False),
    ("In", ("",), "", True),
    ("In", ("",), None, False),
    ("NotIn", ("a",), "a", False),
    ("NotIn", ("a",), "b", True),
    ("NotIn", ("a",), None, True),
    ("Exists", (), "", True),
    ("Exists", (), None, False),
    ("DoesNotExist", (), "", False),
    ("DoesNotExist", (), None, True),
    ("Gt", ("6",), "7", True),
    ("Gt", ("6",), "6", False),
    ("Gt", ("6",), "007", True),
    ("Gt", ("6",), "+7", True),
    ("Gt", ("6",), "1_0", False),
    ("Gt", ("6",), " 7", False),
    ("Gt", ("6",), "9223372036854775808", False),
    ("Gt", ("6",), None, False),
    ("Lt", ("6",), "-7", True),
    ("Lt", ("x",), "5", False),
]


@pytest.mark.parametrize(("operator", "values", "value", "expected"), REQUIREMENTS)
def test_requirement(operator: str, values: tuple[str, ...], value: str | None, expected: bool) -> None:
    assert Requirement("k", operator, values).admits(value) is expected


def test_an_absent_selector_matches_nothing_and_an_empty_one_everything() -> None:
    absent, empty = from_label_selector(None), from_label_selector(LabelSelector())
    assert (absent.matches({}), absent.is_empty, empty.matches({"a": "b"}), empty.is_empty) == (
        False,
        False,
        True,
        True,
    )


def expression(operator: str, *values: str, key: str = "app") -> LabelSelector:
    return LabelSelector(match_expressions=[LabelSelectorRequirement(key=key, operator=operator, values=list(values))])


MALFORMED = {
    "unknown operator": (expression("Foo"), '"Foo" is not a valid label selector operator'),
    "Gt is for node selectors": (expression("Gt", "1"), '"Gt" is not a valid label selector operator'),
    "In without values": (
        expression("In"),
        "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty",
    ),
    "Exists with values": (
        expression("Exists", "x", "<y>"),
        '[values: Invalid value: ["x","\\u003cy\\u003e"]: values set must be empty for exists and does not exist, '
        "values[1][app]: Invalid value: \"<y>\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
        "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation "
        "is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')]",
    ),
    "a newline at the end of a value": (
        LabelSelector(match_labels={"a": "x\n"}),
        "values[0][a]: Invalid value: \"x\\n\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
        "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation "
        "is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
    ),
}


@pytest.mark.parametrize("case", MALFORMED)
def test_malformed_label_selector(case: str) -> None:
    selector, message = MALFORMED[case]
    with pytest.raises(SelectorError) as malformed:
        from_label_selector(selector)
    assert str(malformed.value) == message


@pytest.mark.parametrize(
    ("selector", "text"),
    [
        (Selector((Requirement("app", "In", ("web",)),)), "app=web"),
        (Selector((Requirement("app", "In", ("a", "b")), Requirement("x", "DoesNotExist"))), "app in (a,b),!x"),
        (Selector((Requirement("app", "NotIn", ("a",)), Requirement("x", "Exists"))), "app!=a,x"),
        (Selector((Requirement("app", "In", ("web",)), Requirement("app", "In", ("web",)))), "app=web"),
        (Selector(), "<empty>"),
        (Selector(nothing=True), "<none>"),
    ],
)
def test_selectors_read_as_kubectl_writes_them(selector: Selector, text: str) -> None:
    assert str(selector) == text


def term(
    *expressions: tuple[str, str, list[str]], fields: list[tuple[str, str, list[str]]] | None = None
) -> NodeSelectorTerm:
    def requirements(given: list[tuple[str, str, list[str]]]) -> list[NodeSelectorRequirement]:
        return [NodeSelectorRequirement(key=key, operator=operator, values=values) for key, operator, values in given]

    return NodeSelectorTerm(match_expressions=requirements(list(expressions)), match_fields=requirements(fields or []))


TERMS = {
    "unknown operator": (
        term(("z", "Foo", [])),
        (
            '[0].matchExpressions[0].operator: Unsupported value: "Foo": supported values: "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"',
        ),
    ),
    "In without values prints a list": (
        term(("z", "In", [])),
        ("[0].matchExpressions[0].values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty",),
    ),
    "every fault of every expression": (
        term(("z", "Gt", ["x"]), ("y", "Lt", ["1", "2"])),
        (
            "[0].matchExpressions[0].values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an integer",
            "[0].matchExpressions[1].values: Invalid value: [\"1\",\"2\"]: for 'Gt', 'Lt' operators, exactly one value is required",
        ),
    ),
    "fields take one value": (
        term(fields=[("metadata.name", "In", ["a", "b"])]),
        ('[0].matchFields[0].values: Invalid value: ["a","b"]: must have one element',),
    ),
    "fields know two operators": (
        term(fields=[("metadata.name", "Exists", [])]),
        ('[0].matchFields[0].operator: Unsupported value: "Exists": supported values: "In", "NotIn"',),
    ),
}


@pytest.mark.parametrize("case", TERMS)
def test_malformed_term(case: str) -> None:
    given, faults = TERMS[case]
    parsed = parse_term(given, "[0]")
    assert (parsed.faults, parsed.can_match) == (faults, False)


def test_pinned_names_are_the_union_of_what_each_term_allows() -> None:
    name = "metadata.name"
    both = term(fields=[(name, "In", ["a", "b"]), (name, "In", ["b"])])
    assert pinned_names([both, term(fields=[(name, "In", ["c"])])]) == frozenset({"b", "c"})
    assert pinned_names([both, term()]) is None
    assert pinned_names([term(fields=[(name, "NotIn", ["a"])])]) is None
