"""-w: the same question again and again, redrawn in place on a terminal, one line a change in a pipe."""

from __future__ import annotations

import datetime
import gc
import inspect
import io
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kubespread.cli.options.cluster import parse_duration
from kubespread.cli.options.watching import WatchOptions
from kubespread.cli.pod import STDIN, is_piped
from kubespread.cli.stderr import complain
from kubespread.cli.stdout import emit, stdout_is_terminal
from kubespread.cli.watched_files import files_read, last_written
from kubespread.errors import KubespreadError, UsageError

if TYPE_CHECKING:
    from kubespread.cli.options.cluster import ClusterOptions

_FILE_INTERVAL = 0.5
_ERROR = "error: "
_READABLE = 160
_CLEAR, _HOME, _CLEAR_LINE, _CLEAR_BELOW = "\x1b[2J", "\x1b[H", "\x1b[K", "\x1b[J"


@dataclass(frozen=True, slots=True)
class _Answer:
    """What a command wrote, and its exit code."""

    out: str
    err: str
    code: int

    error: str = ""
    """What went wrong, in the place of an answer."""


def watchable(command: Callable[..., int]) -> Callable[..., int]:
    """``command`` with the options of `WatchOptions`; it is run again and again where these ask for it."""

    @wraps(command)
    def watched(*, watching: WatchOptions, **values: Any) -> int:
        if not watching.watch or watching.parsed_again is None:
            return command(**values)
        source: ClusterOptions = values["source"]
        _refuse_stdin(values, source)
        shows_lines = not stdout_is_terminal() and values["answer"].output is None
        question = _Question(watching.parsed_again, in_lines=shows_lines)
        interval = parse_duration(watching.watch_interval)
        show = _show_line if shows_lines else _show
        return _watch(question.ask, show, _wakes(question, interval))

    signature = inspect.signature(command)
    added = inspect.Parameter("watching", inspect.Parameter.KEYWORD_ONLY)
    watched.__signature__ = signature.replace(parameters=[*signature.parameters.values(), added])  # type: ignore[attr-defined]  # read by `grouped`
    watched.__annotations__ = {**command.__annotations__, "watching": WatchOptions}
    return watched


class _Question:
    """A command line that is parsed anew each time, since configuration files have a say in it."""

    def __init__(self, parsed: Callable[[], Any], *, in_lines: bool) -> None:
        self._parsed = parsed
        # All that a line could be made of.
        self._changed = {"watch": False, **({"output": "json"} if in_lines else {})}
        self.files: list[Path] = []
        """What the last answer depended on."""
        self.written = last_written(())
        """And when that was written, as far as it was looked at."""
        self.is_about_files = False
        """Whether its cluster was read from files."""

    def ask(self) -> int:
        context = self._parsed()
        self.files = [*files_read(context.params)]
        self.written = last_written(self.files)
        self.is_about_files = bool(context.params["snapshot"])
        code: int = context.command.callback(**context.params | self._changed)
        return code


def _refuse_stdin(values: Mapping[str, Any], source: ClusterOptions) -> None:
    """Raise UsageError where standard input is to be read again and again."""
    # A question's options are one group; other commands have theirs apart.
    groups = [values[name] for name in ("asked", "workload", "placing") if values.get(name) is not None]
    files = [getattr(group, name, None) or () for group in groups for name in ("pod", "filename", "kustomize")]
    named = [*(values.get("pod") or ()), *(file for some in files for file in some)]
    others = [values["scheduling"].scheduler_config, *(getattr(group, "node_groups", None) for group in groups)]
    takes_pods = "pod" in values or any(hasattr(group, "pod") for group in groups)
    if (takes_pods and not named and is_piped(source.sources)) or STDIN in (*named, *others, *source.sources):
        raise UsageError("standard input can be read only once: --watch needs files or a running cluster")


def _watch(ask: Callable[[], int], show: Callable[[_Answer | None, _Answer], None], wakes: Iterable[None]) -> int:
    """Ask, and at every wake again, until somebody interrupts. What goes wrong the first time raises."""
    answer = _asked(ask)
    show(None, answer)
    try:
        for _ in wakes:
            before = answer
            # The process otherwise never looks for garbage in circles.
            gc.collect()
            try:
                answer = _asked(ask)
            except KubespreadError as error:
                answer = replace(before, error=f"{_ERROR}{error}")
            show(before, answer)
    except KeyboardInterrupt:
        pass
    return answer.code


def _asked(ask: Callable[[], int]) -> _Answer:
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
    """What comes of it all, of every workload."""
    import json

    if answer.error:
        return " ".join(answer.error.split("\n"))
    plain = json.loads(answer.out)
    reports = plain.get("items", [plain])
    return "; ".join(
        f"{_whose(report) if len(reports) > 1 else ''}{_in_a_line(report['answer'])}" for report in reports
    )


def _in_a_line(answer: Sequence[str]) -> str:
    """The answer itself, and as many sentences more as one can read in a line."""
    said, *others = answer
    for each in others:
        if len(said) + len(each) > _READABLE:
            break
        said = f"{said}; {each}"
    return said


def _whose(report: Mapping[str, Any]) -> str:
    """Of several workloads which one."""
    return f"{report['pod']['namespace']}/{report['workload'] or 'Pod/' + report['pod']['name']}: "


def _show(before: _Answer | None, answer: _Answer) -> None:
    """The whole answer: in the place of the last one, or below it in a pipe."""
    if not stdout_is_terminal():
        if answer.error:
            complain(answer.error.removeprefix(_ERROR))
        elif before is None or before.out != answer.out:
            emit(answer.out)
        return
    lines = [*answer.out.splitlines(), *answer.err.splitlines(), *answer.error.splitlines()]
    room = shutil.get_terminal_size().lines - 2
    if len(lines) > room:
        # The last line is the answer.
        lines = [*lines[: room - 2], f"… {len(lines) - room + 1} lines more …", lines[-1]]
    now = datetime.datetime.now().astimezone().strftime("%H:%M:%S")
    lines.append(f"{now} · watching, Ctrl-C ends it")
    start = _CLEAR + _HOME if before is None else _HOME
    emit(start + "".join(f"{line}{_CLEAR_LINE}\n" for line in lines) + _CLEAR_BELOW)


def _wakes(question: _Question, interval: float) -> Iterator[None]:
    """Whenever a file changes that the last answer depended on, of a running cluster every ``interval`` seconds."""
    while True:
        time.sleep(_FILE_INTERVAL if question.is_about_files else interval)
        written = last_written(question.files)
        if not question.is_about_files or written != question.written:
            question.written = written
            yield
