"""Question about promises."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Annotated, Any

from kubespread.questions.question import Option, PlayedQuestion, Promises

if TYPE_CHECKING:
    from kubespread.questions.commands import Commands
    from kubespread.questions.verify.report import VerifyReport


class Verify(PlayedQuestion["VerifyReport"], frozen=True, kw_only=True):
    """Verify what is promised of workloads, in a file that is kept beside their manifests.

    Each promise says which workloads it is about, and what holds of them: survives (any zone, any node, any KEY), ready
    and back, spread, fits, rollout and drain; of the cluster, room. The answer has of each the margin, or what breaks
    it, as survive, audit, simulate, plan, removable or capacity answer. A broken one with a day in until is accepted
    until that day is over. With -f manifests are applied first.

    \b
    Examples:
      kubespread verify promises.yaml
      kubespread verify promises.yaml -f k8s/ -S cluster.json.gz
      kubespread fleet --contexts 'prod-*' verify promises.yaml
    """

    name = "verify"
    summary = "Verify promises: what survives, fits, is ready and spread."
    never_modelled = (
        "autoscalers: none adds replicas or nodes",
        "how long it takes, and in which order pods are lost and made again",
        "two promises at once: each holds by itself",
    )
    yes, no = "every promise holds, or is accepted", "some promise is broken"
    hands_out = True
    doing = "verifying promises"
    outputs = {"table": "a list"}
    by_place = "promises"

    promises: Annotated[
        Any, Promises("File of kind Promises, YAML or JSON; '-' for standard input.", metavar="PROMISES")
    ] = None
    filename: Annotated[
        tuple[str, ...],
        Option("Manifests, or directories of them, to apply before.", ("-f", "--filename"), "FILE", is_path=True),
    ] = ()
    today: datetime.date | None = None
    """The day on which it is decided what is accepted until when; None: today, in UTC."""

    def next_command(self, report: VerifyReport, _commands: Commands) -> str:
        return next((row.command for row in report.of("broken", "unknown", "accepted")), "")
