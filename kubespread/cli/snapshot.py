"""Commands about a cluster that are no questions: ``snapshot``, ``mcp`` and ``serve``."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from kubespread.cli.answering import read_of
from kubespread.cli.cluster import open_cluster
from kubespread.cli.options.grouped import grouped
from kubespread.cli.options.groups import (
    RUNNING,
    ClusterOptions,
    EditedClusterOptions,
    SchedulerOptions,
    SpeakingOptions,
    parse_duration,
)
from kubespread.cli.options.helping import valued
from kubespread.cli.streams import ExitCode, emit, say, stdout_is_terminal
from kubespread.errors import UsageError
from kubespread.questions.question import Rule

if TYPE_CHECKING:
    from kubespread.questions.fleet.clusters import Member
    from kubespread.snapshot.snapshot import Snapshot


_WRITTEN = "what is written"
_CLUSTER = Rule(says={_WRITTEN: "the cluster"})
STRICT = Annotated[bool, typer.Option("--strict", help="Exit with 3 when something could not be read.")]
ANONYMIZE = Annotated[
    bool,
    typer.Option("--anonymize", help="Replace names and label values with pseudonyms that schedule identically."),
    _CLUSTER,
]


@dataclass(frozen=True, slots=True)
class AssistantsClusterOptions(ClusterOptions):
    """The files that are named, or with --live the running cluster; nothing else is ever read."""

    live: Annotated[
        bool,
        typer.Option("--live", help="Read the kubeconfig's running cluster (default: contact no cluster)."),
        RUNNING,
    ] = False
    kubeconfig: Annotated[
        str | None,
        valued("--kubeconfig", metavar="FILE", help="Kubeconfig, instead of KUBECONFIG."),
        Rule(needs=("live", "contexts")),
    ] = None
    fleet: Annotated[
        list[str] | None,
        typer.Option(
            "--fleet",
            metavar="PATTERN",
            show_default=False,
            help="Clusters that the tool fleet asks: files, directories and archives whose names match. Repeatable.",
        ),
    ] = None
    contexts: Annotated[
        list[str] | None,
        typer.Option(
            "--contexts",
            metavar="PATTERN",
            show_default=False,
            help="Running clusters that it asks: contexts of the kubeconfig whose names match. Repeatable.",
        ),
    ] = None
    max_age: Annotated[
        str,
        typer.Option(
            "--max-age", metavar="TIME", help="Read the running cluster again when its data is older than this."
        ),
        Rule(needs=("live",)),
    ] = "1m"

    def members(self) -> list[Member]:
        """The clusters of the fleet. Raises UsageError and ManifestError."""
        if not (self.fleet or self.contexts):
            return []
        from kubespread.questions.fleet.clusters import members_of

        return members_of(self.fleet or (), self.contexts or (), self.access(), os.environ)

    def seconds(self) -> float | None:
        """How long the cluster may be known, None forever. Raises UsageError for options that do not go together."""
        if self.live and self.sources:
            raise UsageError("--live and -S/--snapshot (or KUBESPREAD_SNAPSHOT) both name the cluster: leave one out")
        if "-" in self.sources:
            raise UsageError("standard input is where the assistant asks: name a file with -S/--snapshot")
        if self.live:
            return parse_duration(self.max_age)
        if not self.sources:
            raise UsageError(
                "no cluster given: name a file or directory with -S/--snapshot, or read a running one with --live"
            )
        return None


@grouped
def mcp(*, scheduling: SchedulerOptions, source: AssistantsClusterOptions) -> int:
    """Serve kubespread to assistants as Model Context Protocol tools, over standard input and output.

    Requires the extra kubespread[mcp]. Each command that answers a question is a tool of the same name, and returns
    what -o json prints. Tools change nothing, and read only the -S files, once, or with --live the running cluster;
    manifests are passed as text. With --fleet or --contexts, a tool asks the question of another one of many clusters,
    which are read each time. Configuration files are not read: only these options choose the cluster.

    \b
    Examples:
      kubespread mcp -S cluster.json.gz
      kubespread mcp --live --context staging
      kubespread mcp -S cluster.json.gz --fleet 'fleet/*.json.gz'
    """
    from kubespread.assistants.server import Cluster, serve

    cluster = Cluster(partial(open_cluster, source, quiet=True), source.seconds())
    serve(cluster, scheduling.scheduler(), source.members())
    return ExitCode.YES


@dataclass(frozen=True, slots=True)
class ServedClusterOptions(ClusterOptions):
    """The cluster that a browser asks about."""

    max_age: Annotated[
        str,
        typer.Option(
            "--max-age",
            metavar="TIME",
            help="Look at a running cluster again when its data is older than this; large ones are read less often.",
        ),
        RUNNING,
    ] = "5s"


@grouped
def serve(
    *,
    port: Annotated[
        int,
        typer.Option("--port", metavar="N", min=0, max=65535, show_default=False, help="Port (default: a free one)."),
    ] = 0,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Print the URL only, and open nothing.")] = False,
    scheduling: SchedulerOptions,
    source: ServedClusterOptions,
    speaking: SpeakingOptions,
) -> int:
    """Ask the cluster by hand, in a browser on this machine.

    Requires the extra kubespread[serve]. Prints one URL, which holds the token that every question needs, and opens it.
    The page changes constraints, replicas and nodes, shows where pods land and why not, and the command that asks the
    same; each other question has a form. The cluster is read from -S files once; a running one is followed and never
    modified. POST /ask/NAME answers the arguments of a tool (see mcp) as -o json does. Ctrl-C ends it.

    \b
    Examples:
      kubespread serve -S cluster.json.gz
      kubespread serve --context staging --no-browser --port 8080
    """
    from kubespread.serving.following import Followed
    from kubespread.serving.server import serve as serve_until_interrupted
    from kubespread.snapshot.live.watching import Watching

    if _STDOUT in source.sources:
        raise UsageError("standard input can be read only once: name a file with -S/--snapshot")
    is_live = not source.sources
    followed = Followed(
        partial(open_cluster, replace(source, connect=Watching(say).connect), quiet=speaking.quiet or is_live),
        parse_duration(source.max_age) if is_live else None,
    )

    def on_ready(url: str) -> None:
        emit(f"{url}\n")
        if not no_browser:
            import webbrowser

            webbrowser.open(url)

    with suppress(KeyboardInterrupt):
        serve_until_interrupted(followed, scheduling.scheduler(), port, on_ready)
    return ExitCode.YES


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
        _CLUSTER,
    ] = None,
    anonymize: ANONYMIZE = False,
    map_file: Annotated[
        str | None,
        valued(
            "--map",
            metavar="FILE",
            help="With --anonymize, write which pseudonym stands for what as JSON only you can read.",
        ),
        Rule(says=_CLUSTER.says, needs=("anonymize",)),
    ] = None,
    types: Annotated[
        bool,
        typer.Option(
            "--instance-types", help="Print the instance types that nodes have instead, as a file for --instance-types."
        ),
        Rule(says={_WRITTEN: "instance types"}),
    ] = False,
    checked: Annotated[
        str | None,
        valued("--check", metavar="FILE", help="Print instead what is in doubt about FILE: what it lacks or mixes."),
        Rule(prints="what is in doubt about that file", beside=("strict", "quiet")),
    ] = None,
    strict: STRICT = False,
    source: EditedClusterOptions,
    speaking: SpeakingOptions,
) -> int:
    """Save what scheduling needs from a cluster as one file kubectl can read.

    It contains only the fields that scheduling reads: no environment variables, arguments, Secrets or ConfigMaps, and
    only the annotations that scheduling reads. The file is replaced atomically.

    With --instance-types an entry has the label node.kubernetes.io/instance-type of its nodes as its name, the least
    that one of them offers pods, and those of their labels that are about the machine. Add the types that no node has
    yet, and prices.

    With --check nothing is saved. What it finds stands in each answer that rests on it, too, whose verdict is then
    unknown: bound pods without their nodes, pods of one namespace only, claims without volumes, owners that are not
    there, objects of several clusters or hours, lists that were cut off, errors of kubectl.

    \b
    Examples:
      kubespread snapshot -o cluster.json.gz
      kubespread snapshot --check cluster.json --strict
      kubespread snapshot --context prod --anonymize --map names.json -o prod.yaml
      kubespread snapshot -S must-gather.tar.gz -o cluster.json
      kubespread snapshot --instance-types > types.yaml
    """
    from kubespread.snapshot.save import check_folder, check_target

    if checked is not None:
        return _checked(checked, strict=strict)
    output = _STDOUT if types else _target(output)
    check_target(output)
    if map_file is not None:
        check_folder(map_file)
    opened = open_cluster(source, quiet=speaking.quiet)
    if speaking.verbose and not speaking.quiet:
        for line in read_of(opened):
            say(line)
    lines = (
        _with_types_printed(opened)
        if types
        else saved(opened, ", ".join(source.sources), output, anonymize=anonymize, map_file=map_file)
    )
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


def _with_types_printed(opened: Snapshot) -> Sequence[str]:
    """Print the instance types of the nodes; what there is to say of that. Raises UsageError."""
    import kubespread
    from kubespread.scenario.instance_types import as_text, types_of_nodes

    after, notes = kubespread.after_edits(opened)
    types, untold = types_of_nodes(after.nodes)
    if not types:
        raise UsageError("no node has the label node.kubernetes.io/instance-type, so nothing is known of any type")
    emit(as_text(types))
    return [*notes, *([f"{untold} without the label node.kubernetes.io/instance-type"] if untold else [])]


def _checked(path: str, *, strict: bool) -> ExitCode:
    """Print a line for each finding about the snapshot at ``path``. Raises SnapshotError."""
    import kubespread
    from kubespread.questions.findings import findings_of

    snapshot = kubespread.load(path)
    lines = [*snapshot.faults, *(finding.text for finding in findings_of(snapshot))]
    emit("".join(f"{line}\n" for line in lines or ["nothing is in doubt"]))
    return ExitCode.NO_CLUSTER if snapshot.faults or (strict and lines) else ExitCode.YES


def _target(output: str | None) -> str:
    if output is None and stdout_is_terminal():
        raise UsageError("a snapshot is too long for a terminal: name a file with -o, or -o - for standard output")
    return _STDOUT if output is None else output
