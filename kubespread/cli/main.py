"""The entry point: runs the commands and turns every error into one line and an exit code."""

from __future__ import annotations

import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from types import FrameType
from typing import NoReturn

from kubespread.cli.streams import ExitCode, complain
from kubespread.errors import KubespreadError, SnapshotError, UnansweredError

PLUGIN_PREFIX = "kubectl-"
# A terminal that is closed hangs up; Windows has none that does.
ENDING = [signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]
_OF_SIGNAL = 128
"""Summand of the exit code of a program that a signal ended, beside its number."""
COMPLETE_VARIABLE = "_KUBESPREAD_COMPLETE"
"""Variable that the shells' completion scripts set, to the name of their shell, to ask for candidates."""


def main() -> NoReturn:
    """Run ``kubespread`` with the process's arguments and exit."""
    debug = os.environ.get("KUBESPREAD_DEBUG", "") not in ("", "0")
    # Nothing here multiplies matrices, and the threads that numpy keeps for it take as long to start as numpy itself.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    code: int
    try:
        _heed(ENDING, _end)
        code = _run()
    except SystemExit as ended:
        code = int(ended.code or ExitCode.YES)
    except KubespreadError as error:
        complain(str(error))
        code = ExitCode.NO_CLUSTER if isinstance(error, SnapshotError | UnansweredError) else ExitCode.BAD_INPUT
    except KeyboardInterrupt:
        code = ExitCode.INTERRUPTED
    except BrokenPipeError:
        code = ExitCode.BROKEN_PIPE
    except OSError as error:
        # Looking for a file may fail like reading it: its name is too long, its directory another user's or gone.
        code = ExitCode.BAD_INPUT
        if error.filename is not None:
            complain(f"{os.fsdecode(error.filename)}: {error.strerror}")
        elif isinstance(error, FileNotFoundError):
            # Nothing but looking for it fails without a name.
            complain("the current directory was deleted: change to another one")
        else:
            _report_bug(error, in_full=debug)
            code = ExitCode.BUG
    except Exception as error:  # noqa: BLE001 - the last resort: a bug ends with one line and its own exit code
        _report_bug(error, in_full=debug)
        code = ExitCode.BUG
    # What is left to do on the way out is not worth a traceback.
    _heed((signal.SIGINT, *ENDING), lambda number, _: os._exit(_OF_SIGNAL + number))
    if code == ExitCode.INTERRUPTED:
        complain("interrupted")
    _leave(code)


def _heed(numbers: Iterable[int], handler: Callable[[int, FrameType | None], object]) -> None:
    """Handle signals, except ignored ones, as under nohup."""
    for number in numbers:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)


def _end(number: int, _frame: FrameType | None) -> NoReturn:
    """End as after an interrupt; a second signal does not disturb the cleanup."""
    _heed(ENDING, lambda *_: None)
    # Threads that hand work to processes may miss them now, as intended: no reason for a traceback.
    threading.excepthook = lambda _: None
    warnings.simplefilter("ignore")
    raise SystemExit(_OF_SIGNAL + number)


def _run() -> int:
    # Imported here so that an interrupt while the imports run is handled like any other.
    if COMPLETE_VARIABLE in os.environ:
        from kubespread.cli.completing import answer

        sys.stdout.write(answer(os.environ[COMPLETE_VARIABLE], sys.argv[1:], os.environ))
        return ExitCode.YES
    from typer import Abort, TyperException

    from kubespread.cli.commands import app

    try:
        result = app(prog_name=program_name(), standalone_mode=False)
    except Abort:
        return ExitCode.INTERRUPTED
    except TyperException as error:
        message = getattr(error, "format_message", error.__str__)()
        context = getattr(error, "ctx", None)
        command = context.command_path if context is not None else program_name()
        complain(f"{' '.join(message.split())} (see '{command} --help')")
        return ExitCode.BAD_INPUT
    return int(result or ExitCode.YES)


def program_name() -> str:
    """Name of the program in usage texts: ``kubectl kubespread`` when kubectl ran us as its plugin."""
    name = Path(sys.argv[0]).stem
    return f"kubectl {name.removeprefix(PLUGIN_PREFIX)}" if name.startswith(PLUGIN_PREFIX) else "kubespread"


def _report_bug(error: Exception, *, in_full: bool) -> None:
    """One line, or the whole traceback; neither may hold a credential, and a bug may quote anything."""
    import traceback

    from kubespread.redaction import mask

    if in_full:
        complain(mask("".join(traceback.format_exception(error))))
    hint = "" if in_full else " (run again with KUBESPREAD_DEBUG=1)"
    complain(f"this is a bug in kubespread: {type(error).__name__}: {mask(' '.join(str(error).split()))}{hint}")


def _leave(code: int) -> NoReturn:
    """Flush standard output and exit; a failure must not make Python complain on its way out."""
    is_lost = code == ExitCode.BROKEN_PIPE
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as error:
        is_lost = True
        if isinstance(error, BrokenPipeError):
            code = ExitCode.BROKEN_PIPE
        elif code != ExitCode.BAD_INPUT:
            complain(f"standard output: {error.strerror}")
            code = ExitCode.BAD_INPUT
    if is_lost:
        # Python flushes once more on exit, and replaces the exit code when that fails.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(int(code))
