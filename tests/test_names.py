"""A function is called by a verb or by the noun it returns, a class by a noun; a condition may be a participle. A variable says
what the thing is.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.support import ROOT

FILES = sorted((ROOT / "kubespread").rglob("*.py"))
_NO_NOUN = frozenset(
    [
        "about",
        "above",
        "across",
        "afresh",
        "after",
        "again",
        "against",
        "ahead",
        "alike",
        "alone",
        "along",
        "already",
        "also",
        "always",
        "among",
        "anew",
        "apart",
        "around",
        "as",
        "aside",
        "at",
        "away",
        "before",
        "behind",
        "below",
        "beneath",
        "beside",
        "besides",
        "between",
        "beyond",
        "by",
        "down",
        "during",
        "earlier",
        "else",
        "elsewhere",
        "ever",
        "except",
        "for",
        "from",
        "here",
        "how",
        "in",
        "inside",
        "instead",
        "into",
        "later",
        "like",
        "minus",
        "near",
        "never",
        "not",
        "now",
        "of",
        "off",
        "on",
        "once",
        "only",
        "onto",
        "otherwise",
        "out",
        "outside",
        "over",
        "per",
        "plus",
        "since",
        "so",
        "still",
        "than",
        "then",
        "there",
        "through",
        "to",
        "together",
        "too",
        "toward",
        "under",
        "unlike",
        "until",
        "up",
        "upon",
        "via",
        "what",
        "when",
        "where",
        "which",
        "who",
        "whose",
        "why",
        "with",
        "within",
        "without",
        "yet",
    ]
)
"""Prepositions, adverbs and question words: one would have to read the body to learn the noun."""
_PARTICIPLE = re.compile(
    "(?!need|feed|seed|embed|speed|heed|shed|exceed|proceed|succeed)[a-z]+ed|become|begun|born|bound|broken|brought|built|"
    "chosen|come|dealt|done|drawn|driven|fallen|felt|forgotten|found|frozen|given|gone|got|grown|heard|held|hidden|kept|"
    "known|laid|left|lent|lost|made|meant|met|paid|said|seen|sent|shown|sold|spent|spoken|stood|stolen|sought|sworn|"
    "taken|taught|thought|thrown|told|torn|understood|unwritten|withheld|won|worn|woven|written"
)
MANY_THINGS = frozenset(
    [
        "asked",
        "at",
        "done",
        "each",
        "found",
        "given",
        "gone",
        "heard",
        "held",
        "kept",
        "known",
        "lost",
        "made",
        "meant",
        "said",
        "seen",
        "taken",
        "told",
        "wanted",
    ]
)
"""Words that variables had for several things each, and what stands for them: docs/glossary.md."""
_RULE = "a rule of kube/validation/rules.toml, which is read as it is called"

_FIELD = "a type of the published JSON schemas"
_LIBRARY = "a method that the documented library has had since 0.2"
ALLOWED = {
    "alone": _RULE,
    "assumed": "as the attribute of clusters and worlds that it stands for",
    "below": _RULE,
    "edited": _LIBRARY,
    "never": _RULE,
    "not": "an operator of CEL",
    "only": _LIBRARY,
    "refused": _RULE,
    "required": "field.Required of Kubernetes, and a rule of rules.toml",
    "stranded": _FIELD,
    "together": _FIELD,
    "unfinished": _FIELD,
    "untolerated": "the scheduler's own word in its messages",
    "without": _RULE,
}
"""Names that are the field's own, each with its reason."""

_API = "a type of two APIs, called so in both"
TWICE = {
    "Cluster": "a kubeconfig calls its entries so",
    "Map": "CEL calls its maps so; the other is the question",
    "NodeAffinity": "kube-scheduler calls its plugin as the API calls its field",
    "Plugin": _API,
    "PluginConfig": _API,
    "PluginSet": _API,
    "Plugins": _API,
    "Report": "the question, and what every question returns",
}
"""Classes of one name that are two things, each with its reason."""

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def definitions(path: Path) -> Iterator[Definition]:
    """Functions and classes, without columns of reports: those are called as readers of JSON and CSV know them."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, Definition) and not (
            isinstance(node, ast.FunctionDef) and node.returns is not None and "Col(" in ast.unparse(node.returns)
        ):
            yield node


def is_noun_or_verb(node: Definition) -> bool:
    """True unless the name is a preposition, an adverb or a participle; a condition may be a participle."""
    name = node.name.strip("_")
    name = name.lower() if name[1:].islower() else ""
    returns = "" if isinstance(node, ast.ClassDef) or node.returns is None else ast.unparse(node.returns)
    is_condition = returns in ("bool", "bool | None")
    return name not in _NO_NOUN and (is_condition or not _PARTICIPLE.fullmatch(name))


def is_many_things(name: str) -> bool:
    return name.strip("_").lower() in MANY_THINGS


def test_functions_and_classes_are_called_by_verbs_and_nouns() -> None:
    assert ALLOWED.keys() == {
        node.name.strip("_").lower() for path in FILES for node in definitions(path) if not is_noun_or_verb(node)
    }


def test_a_class_name_stands_for_one_thing() -> None:
    names = Counter(
        node.name
        for path in FILES
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert TWICE.keys() == {name for name, count in names.items() if count > 1}


def variables(path: Path) -> Iterator[str]:
    """Names of parameters, variables and attributes, without fields of reports: readers of JSON know those."""
    tree = ast.parse(path.read_text())
    is_published = path.name == "report.py" or "reports" in path.parts
    fields = {
        field.target
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        and (is_published or any("Report" in ast.unparse(base) for base in node.bases))
        for field in node.body
        if isinstance(field, ast.AnnAssign)
    }
    for node in ast.walk(tree):
        match node:
            case ast.arg(arg=name):
                yield name
            case ast.Name(id=name, ctx=ast.Store()) if node not in fields:
                yield name
            case ast.Attribute(attr=name, ctx=ast.Store()):
                yield name


def test_a_variable_says_what_the_thing_is() -> None:
    many = {f"{path.relative_to(ROOT)}: {name}" for path in FILES for name in variables(path) if is_many_things(name)}
    assert many == set()


@pytest.mark.parametrize(
    ("source", "is_good"),
    [
        pytest.param("def of(pod): ...", False, id="a preposition"),
        pytest.param("def _elsewhere(pod): ...", False, id="an adverb"),
        pytest.param("class Gone: ...", False, id="a participle as a class"),
        pytest.param("def judged(pod) -> Verdict: ...", False, id="a participle as a function"),
        pytest.param("def judged(pod) -> bool: ...", True, id="a participle as a condition"),
        pytest.param("def judge(pod) -> Verdict: ...", True, id="a verb"),
        pytest.param("def seed(pod) -> int: ...", True, id="a noun that ends like a participle"),
        pytest.param("def pods_on(node) -> list[Pod]: ...", True, id="a noun with a preposition"),
    ],
)
def test_which_names_are_verbs_and_nouns(source: str, is_good: bool) -> None:
    (node,) = ast.parse(source).body
    assert isinstance(node, Definition)
    assert is_noun_or_verb(node) is is_good
