"""-w: the same question again and again, redrawn in place on a terminal, one line a change in a pipe."""

from __future__ import annotations

import datetime
import gc
import io
import os
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kubespread.cli.command import Typed, flag
from kubespread.cli.field import DEFAULT_POD, is_piped
from kubespread.cli.options import sources_of
from kubespread.cli.parsing import STDIN, readers, texts_of
from kubespread.cli.streams import complain, emit, stdout_is_terminal
from kubespread.errors import KubespreadError, UsageError

_FILE_INTERVAL, _CLUSTER_INTERVAL = 0.5, 30.0
_ERROR = "error: "
_READABLE = 180
_CLEAR, _HOME, _CLEAR_LINE, _CLEAR_BELOW = "\x1b[2J", "\x1b[H", "\x1b[K", "\x1b[J"


WATCH = flag(
    "-w",
    "--watch",
    help="Ask again whenever a file changes, or every 30 s of a running cluster. Redraws; a pipe gets one line per "
    "change.",
    panel="Output",
)


@dataclass(frozen=True, slots=True)
class _Answer:
    """Output of a command, and its exit code."""

    out: str
    err: str
    code: int

    error: str = ""
    """Error message, instead of an answer."""


def watched(run: Callable[[Typed], int], typed: Typed) -> int:
    """Run a command, again and again where its options ask for that."""
    if not typed["watch"] or typed.again is None:
        return run(typed)
    _refuse_stdin(typed)
    in_lines = not stdout_is_terminal() and typed["output"] is None
    question = _Question(run, typed.again, in_lines=in_lines)
    show = _show_line if in_lines else _show
    return _watch(question, show, _wakes(question))


class _Question:
    """A command line that is parsed again each time, since configuration files may have changed."""

    def __init__(self, run: Callable[[Typed], int], again: Callable[[], Typed], *, in_lines: bool) -> None:
        self._run, self._again = run, again
        # Everything a line could be made from.
        self._changed = {"output": "json"} if in_lines else {}
        self._files: list[Path] = []
        self._patterns: Sequence[str] = ()
        """Patterns of a fleet, which stand for more files once there are more."""
        self.written = _last_written(())
        """Times at which the files were last written, if that was looked at."""
        self.is_about_files = False
        """True if its cluster was read from files."""

    @property
    def files(self) -> list[Path]:
        """Files that the last answer depended on."""
        from kubespread.questions.fleet import matching

        return [*self._files, *(Path(path) for pattern in self._patterns for path in matching(pattern))]

    def ask(self) -> int:
        typed = self._again()
        fleet = None if "snapshot" in typed.values else typed.before
        self._files = [*_files_read(typed)]
        self._patterns = () if fleet is None else fleet["snapshot"]
        self.written = _last_written(self.files)
        self.is_about_files = bool(typed["snapshot"]) if fleet is None else not fleet["contexts"]
        return self._run(typed.having(**self._changed))


def _refuse_stdin(typed: Typed) -> None:
    """Raise UsageError if standard input would have to be read repeatedly."""
    sources = sources_of(typed)
    named = [text for name in ("pod", "filename") for text in texts_of(typed.get(name))]
    others = [typed.get(name) for name in ("scheduler_config", "node_groups", "instance_types", "prices")]
    is_default = "pod" in typed.values and not named
    if (is_default and is_piped(sources)) or STDIN in (*named, *others, *sources):
        raise UsageError("standard input can be read only once: --watch needs files or a running cluster")


def _watch(question: _Question, show: Callable[[_Answer | None, _Answer], None], wakes: Iterable[None]) -> int:
    """Ask, and again at every wake, until interrupted. Errors of the first time are raised."""
    answer = _answer_of(question.ask)
    show(None, answer)
    try:
        for _ in wakes:
            before = answer
            # The process otherwise never looks for garbage in circles.
            gc.collect()
            try:
                answer = _answer_of(question.ask)
            except KubespreadError as error:
                answer = replace(before, error=f"{_ERROR}{error}")
            show(before, answer)
    except KeyboardInterrupt:
        pass
    return answer.code


def _answer_of(ask: Callable[[], int]) -> _Answer:
    out, err = _Capture(is_terminal=stdout_is_terminal()), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = ask()
    return _Answer(out.getvalue(), err.getvalue(), code)


class _Capture(io.StringIO):
    """Text that is laid out for standard output."""

    def __init__(self, *, is_terminal: bool) -> None:
        super().__init__()
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        return self._is_terminal


def _show_line(before: _Answer | None, answer: _Answer) -> None:
    line = _line(answer)
    if before is None or _line(before) != line:
        now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        emit(f"{now} {line}\n")


def _line(answer: _Answer) -> str:
    """The conclusion for every workload."""
    import json

    if answer.error:
        return " ".join(answer.error.split("\n"))
    plain = json.loads(answer.out)
    if plain["kind"] == "FleetReport":
        # Of a fleet that stays as it is as a whole, another cluster may be the one that fails.
        failing = [cluster for cluster in plain["clusters"] if cluster["passes"] != "yes"]
        says = (_called(cluster["name"], cluster["error"] or cluster["headline"]) for cluster in failing)
        return _in_a_line([*plain["answer"], *says])
    reports = plain.get("items", [plain])
    return "; ".join(
        f"{_subject(report) if len(reports) > 1 else ''}{_in_a_line(report['answer'])}" for report in reports
    )


def _called(cluster: str, text: str) -> str:
    """Put the cluster's name before the text, unless a fault of its file has it already."""
    text = " ".join(text.split())
    return text if text.startswith(cluster) else f"{cluster}: {text}"


def _in_a_line(answer: Sequence[str]) -> str:
    """The answer itself, and as many sentences more as one can read in a line."""
    first, *others = answer
    for other in others:
        if len(first) + len(other) > _READABLE:
            break
        first = f"{first}; {other}"
    return first


def _subject(report: Mapping[str, Any]) -> str:
    """Name the workload that the report is about, among several."""
    return f"{report['pod']['namespace']}/{report['workload'] or 'Pod/' + report['pod']['name']}: "


def _show(before: _Answer | None, answer: _Answer) -> None:
    """The whole answer: replacing the last one, or below it in a pipe."""
    if not stdout_is_terminal():
        if answer.error:
            complain(answer.error.removeprefix(_ERROR))
        elif before is None or before.out != answer.out:
            emit(answer.out)
        return
    lines = [*answer.out.splitlines(), *answer.err.splitlines(), *answer.error.splitlines()]
    room = shutil.get_terminal_size().lines - 2
    if len(lines) > room:
        lines = [*lines[: room - 1], f"… {len(lines) - room + 1} lines more …"]
    now = datetime.datetime.now().astimezone().strftime("%H:%M:%S")
    lines.append(f"{now} · watching, Ctrl-C ends it")
    start = _CLEAR + _HOME if before is None else _HOME
    emit(start + "".join(f"{line}{_CLEAR_LINE}\n" for line in lines) + _CLEAR_BELOW)


def _wakes(question: _Question) -> Iterator[None]:
    """Whenever a file changes that the last answer depended on, of a running cluster every few seconds."""
    while True:
        time.sleep(_FILE_INTERVAL if question.is_about_files else _CLUSTER_INTERVAL)
        written = _last_written(question.files)
        if not question.is_about_files or written != question.written:
            question.written = written
            yield


def _files_read(typed: Typed) -> Iterator[Path]:
    """The files that a parsed command reads, a directory standing for its content; some may be missing.

    Raises UsageError and ManifestError for invalid edits.
    """
    from kubespread.config import candidates
    from kubespread.snapshot.edits.new_nodes import AddNode

    named = [text for name in readers(typed.parameters) for text in texts_of(typed.get(name))]
    yield from map(Path, (*named, DEFAULT_POD))
    for edit in map(AddNode.read, texts_of(typed.get("add_node"))):
        if isinstance(edit, AddNode) and edit.manifest is not None:
            yield Path(edit.template)
    yield from candidates(os.environ)


def _last_written(paths: Iterable[Path]) -> set[tuple[str, int, int]]:
    """Find the time at which each file was last written, and its size, those below directories too; what is not there
    has neither.
    """
    status = set()
    for path in paths:
        for file in [*path.rglob("*")] if path.is_dir() else [path]:
            try:
                status.add((str(file), file.stat().st_mtime_ns, file.stat().st_size))
            except OSError:
                continue
    return status
