"""The single file as a program of Windows, since what krew links there ends in .exe: pip's launcher with it behind.

``python packaging/krew/windows.py kubespread.pyz kubectl-kubespread.exe``, on Windows, where the file was made.
"""

from __future__ import annotations

import sys
from pathlib import Path

from pip._vendor import distlib

_LAUNCHER = Path(distlib.__file__).parent / "t64.exe"
_SHEBANG = b"#!/usr/bin/env python\r\n"
"""Looked up on the PATH; the single file says so where that is another release than its own."""


def program(single_file: bytes) -> bytes:
    _, _, archive = single_file.partition(b"\n")
    return _LAUNCHER.read_bytes() + _SHEBANG + archive


if __name__ == "__main__":
    Path(sys.argv[2]).write_bytes(program(Path(sys.argv[1]).read_bytes()))
