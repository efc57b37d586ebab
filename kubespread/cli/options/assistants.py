"""Which cluster assistants may ask about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from kubespread.cli.options.cluster import ClusterOptions, parse_duration
from kubespread.errors import UsageError

_STDIN = "-"


@dataclass(frozen=True, slots=True)
class AssistantsClusterOptions(ClusterOptions):
    """The files that are named, or with --live the running cluster; nothing else is ever read."""

    live: Annotated[
        bool, typer.Option("--live", help="Read the kubeconfig's running cluster (default: contact no cluster).")
    ] = False
    max_age: Annotated[
        str,
        typer.Option(
            "--max-age", metavar="TIME", help="Read the running cluster again when its data is older than this."
        ),
    ] = "1m"

    def seconds(self) -> float | None:
        """How long the cluster may be known, None forever. Raises UsageError for options that do not go together."""
        if self.live and self.sources:
            raise UsageError("--live and -S/--snapshot (or KUBESPREAD_SNAPSHOT) both name the cluster: leave one out")
        if _STDIN in self.sources:
            raise UsageError("standard input is where the assistant asks: name a file with -S/--snapshot")
        if self.live:
            return parse_duration(self.max_age)
        if not self.sources:
            named = any((self.context, self.kubeconfig, self.cluster, self.user))
            raise UsageError(
                "a running cluster is only read with --live: add it"
                if named
                else "no cluster given: name a file or directory with -S/--snapshot, or read a running one with --live"
            )
        return None
