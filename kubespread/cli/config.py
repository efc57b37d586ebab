"""``kubespread config view``: what is set, and where."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from kubespread.cli.exitcodes import ExitCode
from kubespread.cli.stdout import emit
from kubespread.config.layers import settings
from kubespread.config.settings import KEYS


class Action(StrEnum):
    VIEW = "view"


def config(
    _action: Annotated[Action, typer.Argument(metavar="view", help="Show every setting and where it comes from.")],
) -> int:
    """Show what the environment and configuration files set: the snapshot, the release, the output and more.

    Options go before the environment, that before .kubespread.yaml in this directory or its nearest parent that has
    one, and that before $XDG_CONFIG_HOME/kubespread/config.yaml.

    \b
    Examples:
      kubespread config view
      KUBESPREAD_KUBE_VERSION=1.34 kubespread config view
    """
    from kubespread.render.aligned import aligned

    found = settings(os.environ, Path.cwd())
    rows = [
        [name, found[name].text, found[name].origin] if name in found else [name, "<none>", f"({key.variable})"]
        for name, key in KEYS.items()
    ]
    emit(aligned([["KEY", "VALUE", "FROM"], *rows]))
    return ExitCode.YES
