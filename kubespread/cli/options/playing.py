"""What happens to a workload once it is placed: options of a scenario that are those of ``--then`` too."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

import typer

from kubespread.cli.options import spelling
from kubespread.cli.options.gangs import GangOptions
from kubespread.questions.question import options_of
from kubespread.questions.registry import question

_SAID = {each.name: option for each, _, option in options_of(question("play"))}


class FailOn(StrEnum):
    PENDING = "pending"
    BLOCKED = "blocked"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class ThenOptions(GangOptions):
    """How a workload is placed, and what happens to it then."""

    then: Annotated[
        list[str] | None,
        spelling.valued(
            "--then",
            metavar="STEP",
            help="Apply the workload to the cluster, then play this step: scale=N, rollout, rollout=MANIFEST, "
            "rollback, or an edit (fail=zone=a, 'drain NODE --ignore-daemonsets'). Repeatable, played in order.",
        ),
    ] = None
    fail_on: Annotated[list[FailOn] | None, spelling.fail_on(f"{_SAID['fail_on'].help} Repeatable.")] = None
    deals: Annotated[
        int | None, typer.Option("--deals", metavar="N", min=1, show_default=False, help=_SAID["deals"].help)
    ] = None
