"""-w: a question asked again and again, redrawn in place on a terminal."""

from __future__ import annotations

import datetime
import gc
import io
import shutil
import time
from collections.abc import Callable, Iterable
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from kubespread.cli.command import Typed, flag
from kubespread.cli.field import DEFAULT_POD, is_piped
from kubespread.cli.options import files_read, sources_of
from kubespread.cli.parsing import STDIN, texts_of
from kubespread.cli.streams import complain, emit, say, stdout_is_terminal
from kubespread.errors import KubespreadError, UsageError

_FILE_INTERVAL, _CLUSTER_INTERVAL = 0.5, 30.0
_CLEAR, _HOME, _CLEAR_LINE, _CLEAR_BELOW = "\x1b[2J", "\x1b[H", "\x1b[K", "\x1b[J"


WATCH = flag(
    "-w",
    "--watch",
    help="Ask again whenever a file changes, or every 30 s of a running cluster. Redraws; a pipe gets what changed.",
    panel="Output",
)


class _Answer(Struct, frozen=True):
    """Output of a command, and its exit code."""

    out: str
    err: str
    code: int
    error: str = ""
    """Error message, instead of an answer."""


def watched(run: Callable[[Typed], int], typed: Typed) -> int:
    """Run a command, again and again where its options ask for that. Errors of the first time are raised."""
    if not typed["watch"] or typed.again is None:
        return run(typed)
    _refuse_stdin(typed)
    before: _Answer | None = None
    try:
        while True:
            try:
                # Configuration files may have changed.
                typed = typed if before is None or typed.again is None else typed.again()
                written = _last_written((*files_read(typed), Path(DEFAULT_POD)))
                answer = _answer_of(partial(run, typed))
            except KubespreadError as error:
                if before is None:
                    raise
                answer = replace(before, error=str(error))
            _show(before, answer)
            before = answer
            # The process otherwise never looks for garbage in circles.
            gc.collect()
            written = _changed(typed, written)
    except KeyboardInterrupt:
        if before is None:
            raise
        return before.code


def _refuse_stdin(typed: Typed) -> None:
    """Raise UsageError if standard input would have to be read repeatedly."""
    sources = sources_of(typed)
    named = [text for name in ("pod", "filename") for text in texts_of(typed.get(name))]
    others = [typed.get(name) for name in ("scheduler_config", "node_groups", "instance_types")]
    is_default = "pod" in typed.values and not named
    if (is_default and is_piped(sources)) or STDIN in (*named, *others, *sources):
        raise UsageError("standard input can be read only once: --watch needs files or a running cluster")


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


def _show(before: _Answer | None, answer: _Answer) -> None:
    """The whole answer: replacing the last one, or below it in a pipe."""
    if not stdout_is_terminal():
        if answer.error:
            complain(answer.error)
        elif answer != before:
            emit(answer.out)
            for line in answer.err.splitlines():
                say(line)
        return
    faults = [f"error: {line}" for line in answer.error.splitlines()]
    lines = [*answer.out.splitlines(), *answer.err.splitlines(), *faults]
    room = shutil.get_terminal_size().lines - 2
    if len(lines) > room:
        lines = [*lines[: room - 1], f"… {len(lines) - room + 1} lines more …"]
    now = datetime.datetime.now().astimezone().strftime("%H:%M:%S")
    lines.append(f"{now} · watching, Ctrl-C ends it")
    start = _CLEAR + _HOME if before is None else _HOME
    emit(start + "".join(f"{line}{_CLEAR_LINE}\n" for line in lines) + _CLEAR_BELOW)


def _changed(typed: Typed, written: set[tuple[str, int, int]]) -> set[tuple[str, int, int]]:
    """Wait until a file changes that the last answer depended on; for a running cluster a few seconds."""
    while True:
        time.sleep(_FILE_INTERVAL if typed["snapshot"] else _CLUSTER_INTERVAL)
        now = _last_written((*files_read(typed), Path(DEFAULT_POD)))
        if not typed["snapshot"] or now != written:
            return now


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
