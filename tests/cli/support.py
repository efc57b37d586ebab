"""Running the program: inside the test's process, and as its users do."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, NamedTuple

import pytest
from jsonschema import Draft202012Validator

from kubespread import redaction
from kubespread.cli.main import main
from kubespread.questions import scheduler as deciding

ROOT = Path(__file__).parents[2]
FIXTURES = ROOT / "fixtures"
PROGRAM = Path(sys.executable).parent / "kubespread"
POD = str(FIXTURES / "manifests" / "two-constraints.yaml")
CLUSTER = str(FIXTURES / "clusters" / "docs-4-nodes.yaml")
SIMULATE_SCHEMA = Draft202012Validator(json.loads((ROOT / "docs" / "schema" / "simulate-report.json").read_text()))
COMPARE_SCHEMA = Draft202012Validator(json.loads((ROOT / "docs" / "schema" / "compare-report.json").read_text()))
SCHEMA = Draft202012Validator(json.loads((ROOT / "docs" / "schema" / "explain-report.json").read_text()))

PROXY_VARIABLES = tuple(
    spelled for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY") for spelled in (name, name.lower())
)
_MEDDLING_VARIABLES = (
    "NO_COLOR",
    "FORCE_COLOR",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "PY_COLORS",
    "GITHUB_ACTIONS",
    "COLUMNS",
    "LINES",
    "PYTHONUNBUFFERED",
    "KUBESPREAD_SNAPSHOT",
    "KUBECONFIG",
    "KUBERNETES_SERVICE_HOST",
    *PROXY_VARIABLES,
)


class Result(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def report(self) -> dict[str, Any]:
        """Standard output as an ExplainReport that satisfies the published schema."""
        return self.report_of(SCHEMA)

    def report_of(self, schema: Draft202012Validator) -> dict[str, Any]:
        """Standard output as a report that satisfies ``schema``."""
        report = json.loads(self.out)
        schema.validate(report)
        assert isinstance(report, dict)
        return report


def environment(**more: str) -> dict[str, str]:
    """This process's environment without what would change colors, widths, or the cluster that is asked."""
    clean = {name: value for name, value in os.environ.items() if name not in _MEDDLING_VARIABLES}
    return {**clean, "TERM": "xterm", "HOME": "/nonexistent", "SOURCE_DATE_EPOCH": "1700000000", **more}


def run(
    *arguments: str | Path,
    stdin: bytes | None = None,
    cwd: Path | None = None,
    env: dict[str, str] | None = None,
    terminal: int | None = None,
    rows: int = 1000,
) -> Result:
    """``kubespread ARGUMENTS`` inside this process, which spares the start of one; else the same as `run_process`.

    What happens at the end of a process does not happen here. ``terminal`` is the width of the terminal that shows
    standard output, and ``rows`` its height; without it that goes into a pipe.
    """
    width = {} if terminal is None else {"COLUMNS": str(terminal), "LINES": str(rows)}
    with (
        pytest.MonkeyPatch.context() as patch,
        Path(os.devnull).open() if stdin is None else _piped(stdin) as standard_input,
        Stream(is_terminal=terminal is not None) as out,
        Stream() as err,
    ):
        patch.setattr(sys, "argv", ["kubespread", *map(str, arguments)])
        for name, stream in {"stdin": standard_input, "stdout": out, "stderr": err}.items():
            patch.setattr(sys, name, stream)
        _set_environment(patch, environment(**width, **(env or {})))
        if cwd is not None:
            patch.chdir(cwd)
        _forget_earlier_runs(patch)
        patch.setattr("kubespread.cli.main._heed", lambda _numbers, _handler: None)
        with pytest.raises(SystemExit) as ended:
            main()
        return Result(int(ended.value.code or 0), out.content(), err.content())


def _piped(content: bytes) -> IO[str]:
    """Standard input that somebody else writes: a pipe, which cannot be read twice."""
    reader, writer = os.pipe()

    def write() -> None:
        with suppress(BrokenPipeError), open(writer, "wb") as file:  # noqa: PTH123 - a descriptor, not a path
            file.write(content)

    threading.Thread(target=write).start()
    return open(reader, encoding="utf-8")  # noqa: PTH123 - as above


class Stream(io.TextIOWrapper):
    """A standard stream over a real file, since the program also asks for its descriptor."""

    def __init__(self, *, is_terminal: bool = False) -> None:
        super().__init__(tempfile.TemporaryFile(), encoding="utf-8", newline="")  # noqa: SIM115 - closed by the stream
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        return self._is_terminal

    def content(self) -> str:
        self.seek(0)
        return self.read()


def _set_environment(patch: pytest.MonkeyPatch, variables: dict[str, str]) -> None:
    for name in os.environ.keys() - variables.keys():
        patch.delenv(name)
    for name, value in variables.items():
        patch.setenv(name, value)


def _forget_earlier_runs(patch: pytest.MonkeyPatch) -> None:
    """What a process remembers until its end must not reach from one run into the next."""
    patch.setattr(redaction, "_remembered", {})
    deciding._stdin_text.cache_clear()


def run_process(
    *arguments: str | Path, stdin: bytes | None = None, cwd: Path | None = None, env: dict[str, str] | None = None
) -> Result:
    """``kubespread ARGUMENTS`` as its user runs it; without ``stdin`` standard input is /dev/null."""
    done = subprocess.run(
        [str(PROGRAM), *map(str, arguments)],
        input=stdin,
        stdin=subprocess.DEVNULL if stdin is None else None,
        capture_output=True,
        cwd=cwd,
        env=environment(**(env or {})),
        timeout=60,
        check=False,
    )
    return Result(done.returncode, done.stdout.decode(), done.stderr.decode())


@contextmanager
def started(*command: str | Path, **more: Any) -> Iterator[subprocess.Popen[bytes]]:
    """A process that hears every signal, and is killed at the end; ``more`` is for Popen.

    What a script starts in the background ignores interrupts, and what nohup starts the end of its terminal; so would
    all that the tests start there.
    """
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    given = {**streams, "env": environment(), "preexec_fn": _hear_every_signal, **more}
    with subprocess.Popen(list(map(str, command)), **given) as process:
        try:
            yield process
        finally:
            process.kill()


def children_of(process: int) -> list[int]:
    listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(process)], capture_output=True, text=True, check=False)
    return [int(pid) for pid in listed.stdout.split()]


def _hear_every_signal() -> None:
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


def shown_on(terminal: int) -> bytes:
    """What is written to the other end of a terminal until its last writer is gone."""
    shown = b""
    try:
        while chunk := os.read(terminal, 65536):
            shown += chunk
    except OSError:
        # Linux reports the end of a terminal's last writer as an error.
        pass
    return shown


def shell(command: str, cwd: Path | None = None) -> Result:
    """A line of bash in which ``kubespread`` is the program under test; pipelines fail with their last failing part."""
    env = environment(PATH=f"{PROGRAM.parent}{os.pathsep}{os.environ['PATH']}", POD=POD, CLUSTER=CLUSTER)
    done = subprocess.run(
        ["bash", "-c", command],
        capture_output=True,
        stdin=subprocess.DEVNULL,
        cwd=cwd,
        env=env,
        timeout=60,
        check=False,
    )
    return Result(done.returncode, done.stdout.decode(), done.stderr.decode())
