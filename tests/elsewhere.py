"""The program in a process of its own, without modules and functions that other platforms do not have."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Collection
from pathlib import Path

from tests.cli.support import ROOT, Result, environment

_START = """
import errno, importlib, os, runpy, signal, subprocess, sys, threading

MODULES, FUNCTIONS, FAILING = {modules!r}, {functions!r}, {failing!r}

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name in MODULES or name.partition(".")[0] in MODULES:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

def fails(*arguments, **named):
    raise OSError(errno.ENOSYS, "Function not implemented")

sys.meta_path.insert(0, Missing())
for name in [name for name in sys.modules if name.partition(".")[0] in MODULES]:
    del sys.modules[name]
for name in (*FUNCTIONS, *FAILING):
    place, _, function = name.rpartition(".")
    first, *others = place.split(".")
    holder = importlib.import_module(first)
    for other in others:
        holder = getattr(holder, other)
    if hasattr(holder, function):
        setattr(holder, function, fails) if name in FAILING else delattr(holder, function)
runpy.run_module("kubespread", run_name="__main__", alter_sys=True)
"""


class Platform:
    """``modules`` and ``functions`` are not there; those that are ``failing`` raise OSError."""

    def __init__(
        self, modules: Collection[str], functions: Collection[str] = (), failing: Collection[str] = ()
    ) -> None:
        self._start = _START.format(modules=set(modules), functions=tuple(functions), failing=tuple(failing))

    def run(self, *arguments: str | Path) -> Result:
        done = subprocess.run(
            [sys.executable, "-c", self._start, *map(str, arguments)],
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
            env=environment(PYTHONPATH=os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])),
            stdin=subprocess.DEVNULL,
        )
        return Result(done.returncode, done.stdout, done.stderr)
