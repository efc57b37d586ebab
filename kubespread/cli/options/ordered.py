"""Commands that know in which order their options were typed, and what is set for those that were not.

Typer hands out the values of each option together.
"""

from __future__ import annotations

from typing import Any

from kubespread.cli.configured import configure, settle
from kubespread.cli.options.helping import HelpingCommand

TYPED_ORDER = "typed_order"


class OrderedCommand(HelpingCommand):
    """Hands the names of its options to the command as ``typed_order``, each as often as it was typed, and shows them
    under the headings of their panels, which typer's plain help leaves out.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        words = [*args]
        values, _, typed = self.make_parser(ctx).parse_args([*args])
        # Help is there whatever a configuration file holds.
        found = configure(ctx, files="no_config" not in values) if self.is_asked(ctx, args) else {}
        rest = super().parse_args(ctx, args)
        settle(ctx, found)
        ctx.params[TYPED_ORDER] = tuple(str(parameter.name) for parameter in typed)
        if "watch" in ctx.params:
            ctx.params["parsed_again"] = lambda: self.make_context(ctx.info_name, [*words], parent=ctx.parent)
        return rest

    def format_options(self, ctx: Any, formatter: Any) -> None:
        panels: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                is_argument = parameter.param_type_name == "argument"
                heading = getattr(parameter, "rich_help_panel", None) or ("Arguments" if is_argument else "Options")
                panels.setdefault(heading, []).append(record)
        for heading, records in panels.items():
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)
