"""Commands about a cluster that are no questions: ``snapshot``, ``mcp`` and ``serve``."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from kubespread.cli import options
from kubespread.cli.answering import source_lines
from kubespread.cli.command import Argv, Command, CommandOption, flag
from kubespread.cli.options import open_cluster
from kubespread.cli.streams import ExitCode, emit, epilog, say, stdout_is_terminal
from kubespread.errors import UsageError
from kubespread.questions.question import OptionRule

if TYPE_CHECKING:
    from kubespread.snapshot.snapshot import Snapshot


STRICT = flag("--strict", help="Exit with 3 when something could not be read.")
_STDOUT = "-"
_MCP_AGE, _PAGE_AGE = 60.0, 5.0
"""Seconds after which a running cluster is read again; large ones are read less often."""


def _mcp(typed: Argv) -> int:
    """Serve kubespread to assistants as Model Context Protocol tools, over standard input and output.

    Requires the extra kubespread[mcp]. Each command that answers a question is a tool of the same name, and returns
    what -o json prints. Tools change nothing, and read only the -S files, once, or with --live the running cluster;
    manifests are passed as text. Only these options, or KUBESPREAD_SNAPSHOT, choose the cluster.

    \b
    Examples:
      kubespread mcp -S cluster.json.gz
      kubespread mcp --live --context staging
    """
    from kubespread.assistants.server import serve
    from kubespread.questions.calls import Reading

    sources = typed.snapshots
    if typed["live"] and sources:
        raise UsageError("--live and -S/--snapshot (or KUBESPREAD_SNAPSHOT) both name the cluster: leave one out")
    if _STDOUT in sources:
        raise UsageError("standard input is where the assistant asks: name a file with -S/--snapshot")
    if not (typed["live"] or sources):
        raise UsageError(
            "no cluster given: name a file or directory with -S/--snapshot, or read a running one with --live"
        )
    reading = Reading(partial(open_cluster, typed, quiet=True), _MCP_AGE if typed["live"] else None)
    serve(reading, options.scheduler_of(typed))
    return ExitCode.YES


def _serve(typed: Argv) -> int:
    """Ask the cluster by hand, in a browser on this machine.

    Requires the extra kubespread[serve]. Prints one URL, which holds the token that every question needs, and opens it.
    The page changes constraints, replicas and nodes, shows where pods land and why not, and the command that asks the
    same. The cluster is read from -S files once; a running one is read anew and never modified. POST /ask/NAME answers
    the arguments of a tool (see mcp) as -o json does. Ctrl-C ends it.

    \b
    Examples:
      kubespread serve -S cluster.json.gz
      kubespread serve --context staging --no-browser --port 8080
    """
    from kubespread.questions.calls import Reading
    from kubespread.serving.server import serve as serve_until_interrupted

    sources = typed.snapshots
    if _STDOUT in sources:
        raise UsageError("standard input can be read only once: name a file with -S/--snapshot")
    port = int(options.number_of("--port", typed["port"], most=65535))
    reading = Reading(partial(open_cluster, typed, quiet=typed["quiet"] or not sources), None if sources else _PAGE_AGE)

    def on_ready(url: str) -> None:
        emit(f"{url}\n")
        if not typed["no_browser"]:
            import webbrowser

            webbrowser.open(url)

    with suppress(KeyboardInterrupt):
        serve_until_interrupted(reading, options.scheduler_of(typed), port, on_ready)
    return ExitCode.YES


def _snapshot(typed: Argv) -> int:
    """Save the part of a cluster that scheduling needs as one file kubectl can read.

    It contains only the fields that scheduling reads: no environment variables, arguments, Secrets or ConfigMaps, and
    only the annotations that scheduling reads. The file is replaced atomically.

    With --check nothing is saved. Its findings are also in every answer that relies on them, and make the verdict
    unknown: bound pods without their nodes, pods of one namespace only, claims without volumes, owners that are not
    there, objects of several clusters or hours, lists that were cut off, errors of kubectl.

    \b
    Examples:
      kubespread snapshot -o cluster.json.gz
      kubespread snapshot --check cluster.json --strict
      kubespread snapshot --context prod --anonymize -o prod.yaml
      kubespread snapshot -S must-gather.tar.gz -o cluster.json
    """
    from kubespread.snapshot.save import check_target

    strict, quiet = typed["strict"], typed["quiet"]
    if typed["check"] is not None:
        return _check(typed["check"], strict=strict)
    output = _target(typed["output"])
    _refuse_overwriting(output, typed)
    check_target(output)
    opened = open_cluster(typed, quiet=quiet)
    if typed["verbose"] and not quiet:
        for line in source_lines(opened):
            say(line)
    for line in _save(opened, output, typed):
        if not quiet:
            say(line)
    return ExitCode.NO_CLUSTER if opened.faults or (strict and opened.origin.gaps) else ExitCode.YES


def _save(opened: Snapshot, output: str, typed: Argv) -> Sequence[str]:
    """Write ``opened`` with its edits made, and return notes on it. Raises UsageError."""
    import kubespread
    from kubespread.snapshot.save import save

    opened, notes = kubespread.after_edits(opened.stamp(", ".join(typed.snapshots)))
    if typed["anonymize"]:
        from kubespread.snapshot.anonymize import anonymize

        opened, _ = anonymize(opened)
    save(opened, output)
    read = [] if output == _STDOUT else [f"{output}: {len(opened.nodes)} nodes, {len(opened.pods)} pods"]
    return [*notes, *(f"gap: {gap}" for gap in opened.origin.gaps), *read]


def _check(path: str, *, strict: bool) -> ExitCode:
    """Print a line for each finding about the snapshot at ``path``. Raises SnapshotError."""
    import kubespread
    from kubespread.questions.findings import findings_of

    snapshot = kubespread.load(path)
    lines = [*snapshot.faults, *(finding.text for finding in findings_of(snapshot))]
    emit("".join(f"{line}\n" for line in lines or ["nothing is in doubt"]))
    return ExitCode.NO_CLUSTER if snapshot.faults or (strict and lines) else ExitCode.YES


def _refuse_overwriting(output: str, typed: Argv) -> None:
    """Raise UsageError if the command would overwrite a file that it reads."""
    from kubespread.snapshot.edits.new_nodes import AddNode

    written = Path(output)
    templates = [edit.template for edit in options.edits_of(typed) if isinstance(edit, AddNode) and edit.manifest]
    named = (*typed.snapshots, *filter(None, [typed["kubeconfig"]]), *templates)
    # Two folders deep, which is as deep as a mistake reaches.
    read = [file for path in map(Path, named) for file in (path, *path.glob("*"), *path.glob("*/*"))]
    for file in read if output != _STDOUT and written.is_file() else ():
        if file.is_file() and file.samefile(written):
            raise UsageError(f"-o/--output {output} would overwrite {file}, which is read: name another file")


def _target(output: str | None) -> str:
    if output is None and stdout_is_terminal():
        raise UsageError("a snapshot is too long for a terminal: name a file with -o, or -o - for standard output")
    return _STDOUT if output is None else output


COMMANDS = {
    "snapshot": Command(
        "snapshot",
        _snapshot,
        (
            CommandOption(
                "-o",
                "--output",
                metavar="FILE",
                help="A .json, .json.gz or .yaml file; '-' is JSON on standard output (default, unless on a terminal).",
            ),
            flag("--anonymize", help="Replace names and label values with pseudonyms that schedule identically."),
            CommandOption(
                "--check",
                metavar="FILE",
                help="Print instead what is in doubt about FILE: what it lacks or mixes.",
                rule=OptionRule(prints="what is in doubt about that file", beside=("strict", "quiet")),
            ),
            STRICT,
            *options.CLUSTER,
            *options.CHANGES,
            *options.SPEAKING,
        ),
        summary="Save the part of a cluster that scheduling needs as one file.",
        codes=epilog("the file is written", None),
    ),
    "serve": Command(
        "serve",
        _serve,
        (
            CommandOption("--port", metavar="N", default="0", help="Port (default: a free one)."),
            flag("--no-browser", help="Print the URL only, and open nothing."),
            *options.SCHEDULING,
            *options.CLUSTER,
            *options.SPEAKING,
        ),
        summary="Ask the cluster by hand, in a browser.",
        codes=epilog("it was ended with Ctrl-C", None),
    ),
    "mcp": Command(
        "mcp",
        _mcp,
        (
            *options.SCHEDULING,
            *options.CLUSTER,
            flag(
                "--live",
                help="Read the kubeconfig's running cluster (default: contact no cluster).",
                panel="Cluster",
                rule=options.RUNNING,
            ),
        ),
        summary="Serve the questions to assistants (MCP).",
        codes=epilog("the client disconnected", None),
    ),
}
