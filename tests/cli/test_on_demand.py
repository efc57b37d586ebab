"""The command tree that builds a command when it is asked for is the one that typer would have built at once."""

from __future__ import annotations

from typing import Any

import pytest
from typer.core import TyperGroup
from typer.main import get_command, get_command_from_info

from kubespread.cli.app import app
from kubespread.cli.on_demand import command_tree
from tests.cli.support import run


def told(tree: Any) -> dict[str, str]:
    """The help of the program and of each command, in order."""
    assert isinstance(tree, TyperGroup)
    context = tree.make_context("kubespread", [], resilient_parsing=True)
    texts = {
        name: command.get_help(command.make_context(name, [], parent=context, resilient_parsing=True))
        for name, command in tree.commands.items()
    }
    return {"": tree.get_help(context), **texts}


def test_it_is_typers_tree() -> None:
    found, expected = told(command_tree(app)), told(get_command(app))
    assert list(found.items()) == list(expected.items())


def test_only_the_command_that_runs_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[str] = []

    def noted(info: Any, **how: Any) -> Any:
        built.append(info.callback.__name__)
        return get_command_from_info(info, **how)

    monkeypatch.setattr("kubespread.cli.on_demand.get_command_from_info", noted)
    assert run("rbac").code == 0
    assert built == ["rbac"]
