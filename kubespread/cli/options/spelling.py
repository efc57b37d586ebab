"""How an option is declared that takes a value."""

from __future__ import annotations

from typing import Any

import typer


def valued(*names: str, metavar: str, help: str, rich_help_panel: str | None = None) -> Any:
    """One that has no default to show."""
    return typer.Option(*names, metavar=metavar, show_default=False, help=help, rich_help_panel=rich_help_panel)
