"""Screens, docstrings and names use the words of docs/glossary.md, and none of those that it rules out."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.support import ROOT
from tests.test_docstrings import DOCSTRINGS
from tests.test_names import FILES, definitions, variables

_ROW = re.compile(r"^\| (?P<word>[^|]+) \| [^|]+ \| [^|]+ \| (?P<ruled_out>[^|]+) \|$", re.MULTILINE)
GLOSSARY = (ROOT / "docs" / "glossary.md").read_text()
RULED_OUT = {
    synonym.lower(): row["word"]
    for row in _ROW.finditer(GLOSSARY)
    for synonym in re.findall(r"`([^`]+)`", row["ruled_out"])
}
"""By each synonym, the word to use."""
_ANY = re.compile(rf"\b(?:{'|'.join(map(re.escape, RULED_OUT))})(?!\w)", re.IGNORECASE)
ROOMS = ("views", "reports", "questions")
DESCHEDULERS = frozenset(("WITHOUT_PDB", "ignore_pods_without_pdb"))
"""Words of the descheduler's policies."""
SCREENS = sorted((ROOT / "tests" / "views" / "screens").iterdir())


def strings(path: Path) -> Iterator[tuple[int, str]]:
    """What a module's strings say, f-strings with a blank for each value; docstrings are read by those who build, but
    for those of questions, which are help.
    """
    tree = ast.parse(path.read_text())
    silent = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and path.name != "question.py"
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts = (str(part.value) if isinstance(part, ast.Constant) else "1" for part in node.values)
            yield node.lineno, "".join(parts)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in silent:
            yield node.lineno, node.value


def test_no_word_is_ruled_out_that_is_used() -> None:
    words = {word.lower() for row in _ROW.finditer(GLOSSARY) for word in re.split(r"[,;] | \.\.\. ", row["word"])}
    assert len(RULED_OUT) > 30
    assert not words & {synonym.lower() for synonym in RULED_OUT}


@pytest.mark.parametrize("room", ROOMS)
def test_no_string_of_a_screen_has_another_word(room: str) -> None:
    used = [
        f"{path.relative_to(ROOT)}:{line}: {match[0]}: say {RULED_OUT[match[0].lower()]}"
        for path in sorted((ROOT / "kubespread" / room).rglob("*.py"))
        for line, text in strings(path)
        for match in _ANY.finditer(text)
    ]
    assert used == []


def test_no_docstring_has_another_word() -> None:
    assert [f"{place}: {match[0]}" for place, text in DOCSTRINGS for match in _ANY.finditer(text)] == []


def test_no_name_has_another_word() -> None:
    used = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in FILES
        for name in (*variables(path), *(node.name for node in definitions(path)))
        if _ANY.search(name.replace("_", " ")) and name not in DESCHEDULERS
    ]
    assert used == []


def test_no_kept_screen_has_another_word() -> None:
    used = [
        f"{path.name}: {match[0]}" for path in SCREENS if path.is_file() for match in _ANY.finditer(path.read_text())
    ]
    assert used == []
