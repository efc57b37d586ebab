"""-w: the same question again and again, redrawn in place on a terminal, one line a change in a pipe."""

from __future__ import annotations

import datetime
import gc
import inspect
import io
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kubespread.cli.options.cluster import parse_duration
from kubespread.cli.options.watching import WatchOptions
from kubespread.cli.pod import STDIN, is_piped
from kubespread.cli.stderr import complain
from kubespread.cli.stdout import emit, stdout_is_terminal
from kubespread.errors import KubespreadError, UsageError

if TYPE_CHECKING:
    from kubespread.cli.options.cluster import ClusterOptions

_FILE_INTERVAL = 0.5
_ERROR = "error: "
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
        if not watching.watch:
            return command(**values)
        source: ClusterOptions = values["source"]
        named, takes_pods = _files_of(values), "pod" in values
        if STDIN in (*named, *source.sources) or (takes_pods and not named and is_piped(source.sources)):
            raise UsageError("standard input can be read only once: --watch needs files or a running cluster")
        interval = parse_duration(watching.watch_interval)
        shows_lines = not stdout_is_terminal() and values["answer"].output is None
        if shows_lines:
            # All that a line could be made of.
            values["answer"] = replace(values["answer"], output="json")
        files = [*named, *source.files()] if source.sources else None
        return _watch(partial(command, **values), _show_line if shows_lines else _show, _wakes(files, interval))

    signature = inspect.signature(command)
    added = inspect.Parameter("watching", inspect.Parameter.KEYWORD_ONLY)
    watched.__signature__ = signature.replace(parameters=[*signature.parameters.values(), added])  # type: ignore[attr-defined]  # read by `grouped`
    watched.__annotations__ = {**command.__annotations__, "watching": WatchOptions}
    return watched


def _files_of(values: Mapping[str, Any]) -> list[str]:
    """What a command reads besides its cluster, by its arguments: some read nothing else."""
    workload = values.get("workload")
    given = () if workload is None else (*(workload.filename or ()), *(workload.kustomize or ()))
    return [*(values.get("pod") or ()), *given]


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
    import msgspec

    from kubespread.planner.reports.audit import AuditReport
    from kubespread.planner.reports.explain import ExplainReport
    from kubespread.planner.reports.play import PlayReport
    from kubespread.planner.reports.simulate import SimulateReport
    from kubespread.render.audit.conclusion import conclusion as audited
    from kubespread.render.explain.conclusion import conclusion as explained
    from kubespread.render.explain.conclusion import summary
    from kubespread.render.play.rows import answer as played
    from kubespread.render.simulate.conclusion import conclusion as simulated

    if answer.error:
        return " ".join(answer.error.split("\n"))
    plain = msgspec.json.decode(answer.out)
    if plain["kind"] == ExplainReport.__name__:
        report = msgspec.convert(plain, ExplainReport)
        return "; ".join([summary(report), *explained(report)])
    if plain["kind"] == AuditReport.__name__:
        return "; ".join(audited(msgspec.convert(plain, AuditReport)))
    if plain["kind"] == PlayReport.__name__:
        return played(msgspec.convert(plain, PlayReport))
    reports = msgspec.convert(plain.get("items", [plain]), list[SimulateReport])
    whose = [f"{report.pod.namespace}/{report.subject}: " if len(reports) > 1 else "" for report in reports]
    return "; ".join(
        f"{prefix}{said}" for prefix, report in zip(whose, reports, strict=True) for said in simulated(report)
    )


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


def _wakes(files: Iterable[str] | None, interval: float) -> Iterator[None]:
    """Whenever one of ``files`` changes, or without files every ``interval`` seconds."""
    if files is None:
        while True:
            time.sleep(interval)
            yield
    paths = [Path(file) for file in files]
    known = _last_written(paths)
    while True:
        time.sleep(_FILE_INTERVAL)
        written = _last_written(paths)
        if written != known:
            known = written
            yield


def _last_written(paths: Iterable[Path]) -> list[tuple[str, int, int]]:
    """When each file was last written, those below directories too; KIND/NAME and files that are gone have no time."""
    status = []
    for path in paths:
        for file in [*path.rglob("*")] if path.is_dir() else [path]:
            try:
                status.append((str(file), file.stat().st_mtime_ns, file.stat().st_size))
            except OSError:
                continue
    return status
