"""What Windows runs, as far as that can be told elsewhere: without the functions and modules of POSIX."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.support import CLUSTER, FIXTURES, POD, run
from tests.elsewhere import Platform

WINDOWS = Platform(
    modules={"fcntl", "termios", "tty", "pty", "resource", "pwd", "grp", "readline", "curses", "syslog"},
    functions=(
        "signal.pthread_sigmask",
        "signal.SIGHUP",
        "signal.SIGPIPE",
        "signal.SIGALRM",
        "signal.SIGCHLD",
        "signal.SIGKILL",
        "signal.SIGUSR1",
        "signal.alarm",
        "signal.setitimer",
        "os.fork",
        "os.getuid",
        "os.geteuid",
        "os.getgid",
        "os.fchmod",
        "os.fchown",
        "os.chown",
        "os.mkfifo",
        "os.killpg",
        "os.setsid",
        "os.sysconf",
        "os.O_NONBLOCK",
        "os.O_NOFOLLOW",
        "os.O_TMPFILE",
        "os.O_CLOEXEC",
        "os.sched_getaffinity",
        "os.register_at_fork",
        "os.pread",
        "os.getpgid",
    ),
)
SHOP = str(FIXTURES / "clusters" / "shop.yaml")
ASKED: dict[str, tuple[str, ...]] = {
    "explain": ("explain", POD, "-S", CLUSTER),
    "simulate": ("simulate", POD, "--replicas", "6", "-S", CLUSTER),
    "report": ("report", "-S", SHOP),
    "check": ("check", POD, "-S", CLUSTER),
    "an option that is none": ("explain", POD, "-S", CLUSTER, "--no-such-option"),
    "a file that is not there": ("explain", "none.yaml", "-S", CLUSTER),
}
WHEN = re.compile(r'"time":"[^"]+"')


@pytest.mark.parametrize("question", ASKED)
def test_windows_gets_the_same_answer(question: str) -> None:
    there, here = WINDOWS.run(*ASKED[question]), run(*ASKED[question])
    # A snapshot says when it was taken.
    out = (WHEN.sub("", answer.out) for answer in (there, here))
    assert next(out) == next(out)
    assert there[::2] == here[::2]


def test_a_snapshot_is_written_and_read_back(tmp_path: Path) -> None:
    file = tmp_path / "cluster.json"
    assert WINDOWS.run("snapshot", "-S", CLUSTER, "-o", file).code == 0
    assert WINDOWS.run("explain", POD, "-q", "-o", "name", "-S", file).out == "node4\n"
