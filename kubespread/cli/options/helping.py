"""Help that is written as answers are: to a full disk or to a reader that has gone away, it is no bug."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from kubespread.cli.stdout import emit


def _show(context: Any, _option: Any, is_asked: bool) -> None:
    if is_asked and not context.resilient_parsing:
        emit(f"{context.get_help()}\n")
        raise typer.Exit


class HelpingCommand(TyperCommand):
    """A command."""

    def get_help_option(self, ctx: Any) -> Any:
        option: Any = super().get_help_option(ctx)
        option.callback = _show
        return option


class HelpingGroup(TyperGroup):
    """All commands."""

    def get_help_option(self, ctx: Any) -> Any:
        option: Any = super().get_help_option(ctx)
        option.callback = _show
        return option
