"""Which manifest a command is about."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Sequence
from pathlib import Path

from kubespread.errors import UsageError

STDIN = "-"
_DEFAULT_POD = "pod.yaml"
_ONE_READER = "standard input can be read only once: POD and --snapshot both ask for it"


def manifest_path(pod: str | None, sources: Sequence[str]) -> str:
    """POD, else standard input when something is piped into it and the snapshot does not want it, else pod.yaml."""
    path = _manifest_path(pod, sources)
    if [path, *sources].count(STDIN) > 1:
        raise UsageError(_ONE_READER)
    return path


def manifest_paths(pods: Sequence[str], sources: Sequence[str]) -> list[str]:
    """The same for a command that takes several."""
    paths = list(pods) or [_manifest_path(None, sources)]
    if [*paths, *sources].count(STDIN) > 1:
        raise UsageError(_ONE_READER)
    return paths


def _manifest_path(pod: str | None, sources: Sequence[str]) -> str:
    if pod is not None:
        return pod
    if _stdin_is_piped() and STDIN not in sources:
        return STDIN
    if Path(_DEFAULT_POD).is_file():
        return _DEFAULT_POD
    raise UsageError(f"no pod given: name a manifest, pipe one in, or run in a directory containing {_DEFAULT_POD}")


def _stdin_is_piped() -> bool:
    """Whether someone feeds standard input: a pipe or a file, not a terminal and not /dev/null."""
    if sys.stdin is None:
        return False
    mode = os.fstat(sys.stdin.fileno()).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode) or stat.S_ISSOCK(mode)
