"""Whose pods are asked about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer


@dataclass(frozen=True, slots=True)
class PendingOptions:
    """Whose pods are asked about."""

    namespace: Annotated[
        str | None,
        typer.Option(
            "-n",
            "--namespace",
            metavar="NAME",
            show_default=False,
            help="Namespace of the pods (default: that of the context, or default).",
        ),
    ] = None
    all_namespaces: Annotated[
        bool, typer.Option("-A", "--all-namespaces", help="Ask about the pods of all namespaces.")
    ] = False
    selector: Annotated[
        str | None,
        typer.Option(
            "-l",
            "--selector",
            metavar="LABELS",
            show_default=False,
            help="Ask about the pods of workloads with these labels (app=web,tier!=db).",
        ),
    ] = None
