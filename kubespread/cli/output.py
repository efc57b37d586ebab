"""Standard output for the answer, standard error for everything else."""

from __future__ import annotations

import os
import shutil
import stat
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

import typer

from kubespread.cli.exitcodes import ExitCode
from kubespread.cli.stderr import say
from kubespread.errors import UsageError

if TYPE_CHECKING:
    from kubespread.planner.reports.explain import ExplainReport
    from kubespread.planner.reports.simulate import SimulateReport
    from kubespread.snapshot.snapshot import Snapshot

_UNICODE_TO_ASCII = str.maketrans({"≤": "<=", "−": "-", "·": "|", "…": "...", "→": "->", "▒": "=", "█": "#"})


def emit(text: str) -> None:
    """Write the answer. A reader that goes away (``| head -1``) ends the program quietly."""
    if sys.stdout is None:
        raise UsageError("standard output is closed")
    encoding = sys.stdout.encoding or "utf-8"
    if not encoding.lower().startswith("utf"):
        text = text.translate(_UNICODE_TO_ASCII).encode(encoding, "replace").decode(encoding)
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise typer.Exit(ExitCode.BROKEN_PIPE) from None
    except OSError as error:
        raise UsageError(f"standard output: {error.strerror}") from error


def note(text: str) -> None:
    """Say something beside the answer."""
    say(text)


def wants_color(choice: str, environment: Mapping[str, str], *, is_terminal: bool) -> bool:
    """--color, then NO_COLOR, then FORCE_COLOR and CLICOLOR_FORCE, then CLICOLOR and TERM, then the terminal."""
    if choice != "auto":
        return choice == "always"
    if environment.get("NO_COLOR"):
        return False
    if any(environment.get(name, "") not in ("", "0") for name in ("FORCE_COLOR", "CLICOLOR_FORCE")):
        return True
    if environment.get("CLICOLOR") == "0" or environment.get("TERM") == "dumb":
        return False
    return is_terminal


def stdin_is_piped() -> bool:
    """Whether someone feeds standard input: a pipe or a file, not a terminal and not /dev/null."""
    if sys.stdin is None:
        return False
    mode = os.fstat(sys.stdin.fileno()).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode) or stat.S_ISSOCK(mode)


def stdout_is_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()


def terminal_width() -> int:
    return shutil.get_terminal_size().columns


def environment() -> Mapping[str, str]:
    return os.environ


def note_source(cluster: Snapshot, report: ExplainReport | SimulateReport) -> None:
    """Where the cluster comes from and what is asked of it, for -v."""
    skipped = ", ".join(f"{count} {kind}" for kind, count in sorted(cluster.skipped.items())) or "none"
    origin = cluster.origin
    known = {
        "from": origin.source,
        "taken": origin.time,
        "server": origin.server_version,
        "resourceVersion": origin.resource_version,
    }
    if any(known.values()):
        note(", ".join(f"{name} {value}" for name, value in known.items() if value))
    note(f"read {len(cluster.nodes)} nodes, {len(cluster.pods)} pods; ignored (not read by scheduling): {skipped}")
    note(f"profile {report.scheduler_name}, kube-scheduler v{report.kube_version}")


def note_beside(report: ExplainReport | SimulateReport, whose: str = "") -> None:
    """What belongs to an answer and does not fit into its columns; each line begins with ``whose`` answer it is."""
    said_beside = {
        "note": report.notes,
        "admission": report.admission,
        "gap": report.gaps,
        "not modelled": report.not_modelled,
    }
    for prefix, texts in said_beside.items():
        for text in texts:
            note(f"{whose}{prefix}: {text}")
