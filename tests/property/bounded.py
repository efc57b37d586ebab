"""The program in a process of its own with little time and memory, which does not cost the imports of a new one."""

from __future__ import annotations

import multiprocessing
import os
import resource
import sys
from pathlib import Path

from tests.cli.support import environment

CPU_SECONDS = 20
MEMORY_BYTES = 3 * 2**29

_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(
    [
        "kubespread.cli.asking",
        "kubespread.questions.explain.answer",
        "kubespread.questions.editing",
        "kubespread.questions.simulate.answer",
    ]
)


def run_bounded(directory: Path, *arguments: str | Path) -> tuple[int, str, str]:
    """The exit code, standard output and standard error of ``kubespread ARGUMENTS``, kept in ``directory`` meanwhile."""
    out, err = directory / "bounded.out", directory / "bounded.err"
    process = _FORKS.Process(target=_main, args=(list(map(str, arguments)), str(out), str(err)))
    process.start()
    process.join(60)
    assert process.exitcode is not None, "it does not end"
    return process.exitcode, out.read_text(), err.read_text()


def _main(arguments: list[str], out: str, err: str) -> None:
    for path, number in ((os.devnull, 0), (out, 1), (err, 2)):
        os.dup2(os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC), number)
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")  # noqa: SIM115 - the process's own
    os.environ.clear()
    os.environ.update(environment(OPENBLAS_NUM_THREADS="1"))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    from kubespread.cli.main import main

    sys.argv = ["kubespread", *arguments]
    main()
