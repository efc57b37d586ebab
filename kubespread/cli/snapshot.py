"""``kubespread snapshot``: what scheduling needs of a cluster, as one file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from kubespread.cli.cluster import open_cluster
from kubespread.cli.exitcodes import ExitCode
from kubespread.cli.options.answer import SpeakingOptions
from kubespread.cli.options.cluster import ClusterOptions
from kubespread.cli.options.grouped import grouped
from kubespread.cli.stderr import say

if TYPE_CHECKING:
    from kubespread.snapshot.snapshot import Snapshot


@grouped
def snapshot(
    *,
    output: Annotated[
        str,
        typer.Option(
            "-o", "--output", metavar="FILE", help="A .json, .json.gz or .yaml file; '-' is JSON on standard output."
        ),
    ] = "-",
    anonymize: Annotated[
        bool,
        typer.Option("--anonymize", help="Replace names and label values with pseudonyms that schedule identically."),
    ] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 3 when something could not be read.")] = False,
    source: ClusterOptions,
    speaking: SpeakingOptions,
) -> int:
    """Save what scheduling needs of a cluster as one file kubectl can read.

    Only the fields that scheduling reads are in it: no environment, arguments, secrets or config maps, and of
    annotations only those that scheduling reads. The file is replaced whole or not at all.

    \b
    Examples:
      kubespread snapshot -o cluster.json.gz
      kubespread snapshot --context prod --anonymize -o prod.yaml
      kubespread snapshot -S must-gather.tar.gz -o cluster.json
    """
    from kubespread.snapshot.save import check_target, save

    check_target(output)
    opened = open_cluster(source, quiet=speaking.quiet).stamped(", ".join(source.sources))
    if anonymize:
        from kubespread.snapshot.anonymize import anonymize as pseudonymous

        opened, _ = pseudonymous(opened)
    save(opened, output)
    if not speaking.quiet:
        _notes(opened, output)
    return ExitCode.NO_CLUSTER if opened.faults or (strict and opened.origin.gaps) else ExitCode.YES


def _notes(saved: Snapshot, output: str) -> None:
    for gap in saved.origin.gaps:
        say(f"gap: {gap}")
    if output != "-":
        say(f"{output}: {len(saved.nodes)} nodes, {len(saved.pods)} pods")
