"""A docstring is one short clause that begins with an imperative verb, or with the noun that is returned or held."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise

from tests.cli.support import ROOT

NO_SUBJECT = frozenset(
    ("What", "Whether", "How", "Of", "Those", "Where", "Which", "Why", "Who", "Whose", "When", "That")
)
"""Words after which one has to read the body to learn the noun."""

_RELATIVE = re.compile(r"\b(what(?!-if)|whose|those|of which|of whom|tells?|told|asked about|is none)\b", re.IGNORECASE)
"""Relative clauses and participles in the place of a noun."""
LONGEST = 140
"""Most characters of the first paragraph of a class or function, in which it is said what that is."""


def docstrings() -> Iterator[tuple[str, str]]:
    """The strings that begin modules, classes and functions, and those below assignments; with file and line."""
    for path in sorted((ROOT / "kubespread").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            for before, each in pairwise([node, *node.body]):
                is_below = before is node or isinstance(before, ast.Assign | ast.AnnAssign)
                if is_below and isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant):
                    text = each.value.value
                    if isinstance(text, str):
                        yield f"{path.relative_to(ROOT)}:{each.lineno}", text


def summary(text: str) -> str:
    """The first paragraph, on one line."""
    return " ".join(text.split("\n\n")[0].split())


DOCSTRINGS = list(docstrings())


def test_a_docstring_begins_with_a_verb_or_a_noun() -> None:
    assert [
        f"{place}: {text.split()[0]}" for place, text in DOCSTRINGS if text.split()[0].strip("`,.:") in NO_SUBJECT
    ] == []


def test_a_docstring_says_the_noun_instead_of_a_relative_clause() -> None:
    assert [
        f"{place}: {relative[0]}" for place, text in DOCSTRINGS if (relative := _RELATIVE.search(summary(text)))
    ] == []


def test_the_first_paragraph_of_a_docstring_is_short() -> None:
    of_modules = {place for place, _ in DOCSTRINGS if place.endswith(":1")}
    assert [
        f"{place}: {summary(text)}"
        for place, text in DOCSTRINGS
        if place not in of_modules and len(summary(text)) > LONGEST
    ] == []
