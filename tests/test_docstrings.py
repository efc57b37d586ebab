"""A docstring begins with an imperative verb, or with the noun that is returned or held."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise

from tests.cli.support import ROOT

NO_SUBJECT = frozenset(
    ("What", "Whether", "How", "Of", "Those", "Where", "Which", "Why", "Who", "Whose", "When", "That")
)
"""Words after which one has to read the body to learn the noun."""


def docstrings(tree: ast.Module) -> Iterator[ast.Constant]:
    """The strings that begin modules, classes and functions, and those below assignments."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        for before, each in pairwise([node, *node.body]):
            is_below = before is node or isinstance(before, ast.Assign | ast.AnnAssign)
            if is_below and isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant):
                yield each.value


def test_a_docstring_begins_with_a_verb_or_a_noun() -> None:
    bad = [
        f"{path.relative_to(ROOT)}:{each.lineno}: {each.value.split()[0]}"
        for path in sorted((ROOT / "kubespread").rglob("*.py"))
        for each in docstrings(ast.parse(path.read_text()))
        if isinstance(each.value, str) and each.value.split()[0].strip("`,.:") in NO_SUBJECT
    ]
    assert bad == []
