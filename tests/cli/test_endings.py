"""Whatever comes in, it ends in time: cases that went on, or ended in a traceback."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from time import process_time, sleep
from typing import Any

import pytest

import kubespread
from kubespread.errors import UnansweredError
from tests.cli.support import FIXTURES, PROGRAM, ROOT, children_of, environment, run, started

HOSTILE = FIXTURES / "cases" / "hostile"
MILLION = HOSTILE / "11-report-replicas" / "c125.json"
_SLACK = 4.0
"""Seconds of work that a part may take once the time is up."""
_PROMISES = {
    "apiVersion": "kubespread.dev/v1alpha1",
    "kind": "Promises",
    "promises": [
        {"namespace": f"ns{number}", "survives": "any node", "fits": 3, "drain": "never blocked"}
        for number in range(250)
    ],
}
LATE: dict[str, tuple[Callable[..., Any], str]] = {
    "207: promises of 250 workloads": (
        lambda cluster, timeout: kubespread.verify(cluster, _PROMISES, timeout=timeout),
        "207-verify-suggest-timeout/n250.json.gz",
    )
}


@pytest.mark.parametrize("case", LATE)
def test_a_timeout_is_kept_in_the_middle_of_a_part(case: str) -> None:
    ask, file = LATE[case]
    cluster = kubespread.load(HOSTILE / file)
    begun = process_time()
    # A busy machine may finish nothing.
    with suppress(UnansweredError):
        answer = ask(cluster, timeout=1.0)
        assert answer.unfinished is not None
        assert answer.verdict != "yes"
    assert process_time() - begun < 1.0 + _SLACK


def test_of_an_answer_that_has_no_finished_part_in_time_that_is_said() -> None:
    steps = "{apiVersion: kubespread.dev/v1alpha1, kind: Scenario, spec: {steps: [{scale: d/deploy/w=1000000}]}}"
    with pytest.raises(UnansweredError, match=r"^not finished within 500ms$"):
        kubespread.plan(kubespread.load(MILLION), steps, timeout=0.5)
    done = run("plan", "-", "--timeout", "500ms", "-S", MILLION, stdin=steps.encode())
    assert (done.code, done.out, done.err) == (3, "", "error: not finished within 500ms\n")


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
@pytest.mark.parametrize("whom", ["itself", "its group"])
def test_206_a_signal_three_times_leaves_no_traceback(number: int, code: int, whom: str) -> None:
    command = [str(PROGRAM), "report", "-A", "-S", str(FIXTURES / "clusters" / "shop.yaml"), "--jobs", "2", "-v"]
    with started(*command, start_new_session=True) as process:
        while process.poll() is None and not children_of(process.pid):
            sleep(0.01)
        for _ in range(3):
            with suppress(ProcessLookupError):
                (os.kill if whom == "itself" else os.killpg)(process.pid, number)
            sleep(0.01)
        _, said = process.communicate(timeout=60)
    assert b"Traceback" not in said
    # It may have answered before, or have begun to listen after.
    assert process.returncode in (code, -number, 0, 1, 3)


def test_12_a_signal_on_the_way_out_leaves_no_traceback() -> None:
    script = (
        "import os, signal\n"
        "from kubespread.cli import main as cli\n"
        "cli._leave = lambda code: os.kill(os.getpid(), signal.SIGTERM) or input()\n"
        "cli.main()\n"
    )
    with started(sys.executable, "-c", script, "--version", env=environment(PYTHONPATH=str(ROOT))) as process:
        _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (143, b"")


@pytest.mark.slow
@pytest.mark.parametrize("handles", [12, 15])
def test_too_few_file_handles_for_workers_are_enough_for_one_process(handles: int) -> None:
    command = [str(PROGRAM), "survive", "-A", "--key", "hostname", "--jobs", "2", "-o", "name"]
    done = subprocess.run(
        [*command, "-S", str(FIXTURES / "clusters" / "shop.yaml")],
        capture_output=True,
        env=environment(),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (handles, handles)),
        timeout=60,
        check=False,
    )
    assert b"Traceback" not in done.stderr
    assert done.returncode != 70


def test_the_program_does_not_wait_for_workers_that_have_nothing_to_do() -> None:
    program = (
        "import sys; from kubespread.questions import tasks; tasks._PATIENCE = 3600; "
        "from kubespread.__main__ import run; sys.argv[0] = 'kubespread'; run()"
    )
    words = (
        "survive",
        "-A",
        "--key",
        "hostname",
        "--jobs",
        "2",
        "-q",
        "-o",
        "name",
        "-S",
        str(FIXTURES / "clusters" / "shop.yaml"),
    )
    command = [sys.executable, "-c", program, *words]
    done = subprocess.run(command, env=environment(), capture_output=True, timeout=600, check=False)
    assert (done.returncode in (0, 1), done.stderr) == (True, b"")
