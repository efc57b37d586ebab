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
    """A command, of whose options each is honored or refused by name."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not self.is_asked(ctx, args):
            return super().parse_args(ctx, args)
        # The program's own help and version do without it.
        from kubespread.cli.options.files import say_what_is_waited_for
        from kubespread.cli.options.pairs import refuse_empty, refuse_pairs, refuse_undecodable

        typed = self.make_parser(ctx).parse_args([*args])[0]
        refuse_empty(ctx, typed)
        refuse_undecodable(ctx, typed)
        rest = super().parse_args(ctx, args)
        refuse_pairs(ctx)
        say_what_is_waited_for(ctx)
        return rest

    def invoke(self, ctx: Any) -> Any:
        from kubespread.cli.options.files import refuse_overwriting

        # Once all is known that is read, configured files too, and before anything is.
        refuse_overwriting(ctx)
        return super().invoke(ctx)

    def is_asked(self, ctx: Any, args: list[str]) -> bool:
        """Whether the command itself is asked for, and not its help or candidates for completion."""
        return not ctx.resilient_parsing and not {*args} & {*ctx.help_option_names}

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
