"""Each statement of Kubernetes' documents on topology spread is what the command beside it shows."""

from __future__ import annotations

import shlex

import pytest

from docs.generators.topology_spread import Statement, sections
from tests.cli.support import ROOT, run

STATEMENTS = {statement.holds: statement for section in sections() for statement in section.statements}


@pytest.mark.parametrize("statement", STATEMENTS.values(), ids=STATEMENTS)
def test_the_command_shows_what_is_stated(statement: Statement) -> None:
    result = run(*shlex.split(statement.command), "-q", cwd=ROOT)
    shown = " ".join((result.out + result.err).split())
    assert (result.code, [line for line in statement.says if line not in shown]) == (statement.code, []), shown


def test_each_statement_is_said_once() -> None:
    assert len(STATEMENTS) == sum(len(section.statements) for section in sections())
