"""``kubespread snapshot``: what scheduling needs of a cluster, as one file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from kubespread.cli.cluster import open_cluster
from kubespread.cli.exitcodes import ExitCode
from kubespread.cli.notes import note_cluster
from kubespread.cli.options.grouped import grouped
from kubespread.cli.options.groups import EditedClusterOptions, SpeakingOptions
from kubespread.cli.options.helping import valued
from kubespread.cli.streams import say, stdout_is_terminal
from kubespread.errors import UsageError

if TYPE_CHECKING:
    from kubespread.snapshot.snapshot import Snapshot


_STDOUT = "-"


@grouped
def snapshot(
    *,
    output: Annotated[
        str | None,
        valued(
            "-o",
            "--output",
            metavar="FILE",
            help="A .json, .json.gz or .yaml file; '-' is JSON on standard output (default, unless on a terminal).",
        ),
    ] = None,
    anonymize: Annotated[
        bool,
        typer.Option("--anonymize", help="Replace names and label values with pseudonyms that schedule identically."),
    ] = False,
    map_file: Annotated[
        str | None,
        valued(
            "--map",
            metavar="FILE",
            help="With --anonymize, write which pseudonym stands for what as JSON only you can read.",
        ),
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 3 when something could not be read.")] = False,
    source: EditedClusterOptions,
    speaking: SpeakingOptions,
) -> int:
    """Save what scheduling needs from a cluster as one file kubectl can read.

    It contains only the fields that scheduling reads: no environment variables, arguments, Secrets or ConfigMaps, and
    only the annotations that scheduling reads. The file is replaced atomically.

    \b
    Examples:
      kubespread snapshot -o cluster.json.gz
      kubespread snapshot --context prod --anonymize --map names.json -o prod.yaml
      kubespread snapshot -S must-gather.tar.gz -o cluster.json
    """
    from kubespread.snapshot.save import check_folder, check_target

    output = _target(output)
    check_target(output)
    if map_file is not None:
        check_folder(map_file)
    opened = open_cluster(source, quiet=speaking.quiet)
    if speaking.verbose and not speaking.quiet:
        note_cluster(opened)
    lines = saved(opened, ", ".join(source.sources), output, anonymize=anonymize, map_file=map_file)
    for line in lines if not speaking.quiet else ():
        say(line)
    return ExitCode.NO_CLUSTER if opened.faults or (strict and opened.origin.gaps) else ExitCode.YES


def saved(
    opened: Snapshot, source: str, output: str, *, anonymize: bool = False, map_file: str | None = None
) -> Sequence[str]:
    """Write ``opened``, which was read from ``source``, with its edits made; what there is to say of that. Raises
    UsageError.
    """
    import kubespread
    from kubespread.snapshot.save import save, save_map

    opened, notes = kubespread.after_edits(opened.stamped(source))
    if anonymize:
        from kubespread.snapshot.anonymize import anonymize as pseudonymous

        opened, names = pseudonymous(opened)
        if map_file is not None:
            save_map(names, map_file)
    save(opened, output)
    read = [] if output == _STDOUT else [f"{output}: {len(opened.nodes)} nodes, {len(opened.pods)} pods"]
    return [*notes, *(f"gap: {gap}" for gap in opened.origin.gaps), *read]


def _target(output: str | None) -> str:
    if output is None and stdout_is_terminal():
        raise UsageError("a snapshot is too long for a terminal: name a file with -o, or -o - for standard output")
    return _STDOUT if output is None else output
