"""``kubespread config view``: what is set, and where."""

from __future__ import annotations

import os
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from kubespread.cli.exitcodes import ExitCode
from kubespread.cli.streams import emit
from kubespread.config.layers import KEYS, settings

if TYPE_CHECKING:
    from kubespread.reports.parts import Configuration


class Action(StrEnum):
    VIEW = "view"


class Output(StrEnum):
    PLAIN = "plain"
    JSON = "json"
    YAML = "yaml"


def config(
    _action: Annotated[Action, typer.Argument(metavar="view", help="Show every setting and where it comes from.")],
    *,
    output: Annotated[
        Output, typer.Option("-o", "--output", case_sensitive=False, help="Output format; ignores the configured one.")
    ] = Output.PLAIN,
    no_config: Annotated[bool, typer.Option("--no-config", help="Read no configuration files.")] = False,
) -> int:
    """Show what the environment and configuration files set: the snapshot, the release, the output and more.

    Options override the environment, which overrides .kubespread.yaml in this directory or the nearest parent that has
    one, which overrides $XDG_CONFIG_HOME/kubespread/config.yaml. With --no-config, which every question accepts, or
    KUBESPREAD_NO_CONFIG=1, no file is read.

    \b
    Examples:
      kubespread config view
      KUBESPREAD_KUBE_VERSION=1.34 kubespread config view
      kubespread config view -o json | jq -r '.keys[] | select(.key == "snapshot").values[]'
    """
    from kubespread.views.look import Look

    report = _configuration(files=not no_config)
    if output is Output.PLAIN:
        emit(_columns(report))
    elif output is Output.JSON:
        from kubespread.views.as_json import write

        emit(write(report, Look()))
    else:
        from kubespread.views.as_yaml import write

        emit(write(report, Look()))
    return ExitCode.YES


def _configuration(*, files: bool) -> Configuration:
    from kubespread.reports.parts import Configuration, ConfiguredKey

    decided = settings(os.environ, files=files)
    return Configuration(
        keys=tuple(
            ConfiguredKey(
                key=name,
                variable=key.variable,
                values=decided[name].values if name in decided else (),
                origin=decided[name].origin if name in decided else None,
            )
            for name, key in KEYS.items()
        )
    )


def _columns(report: Configuration) -> str:
    from kubespread.views.aligned import NONE, aligned

    rows = [
        [key.key, NONE, f"({key.variable})"] if key.origin is None else [key.key, ", ".join(key.values), key.origin]
        for key in report.keys
    ]
    return aligned([["KEY", "VALUE", "FROM"], *rows])
