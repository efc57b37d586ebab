"""Which manifest a command is about."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kubespread.cli.output import stdin_is_piped
from kubespread.errors import UsageError

STDIN = "-"
_DEFAULT_POD = "pod.yaml"


def manifest_path(pod: str | None, sources: Sequence[str]) -> str:
    """POD, else standard input when something is piped into it and the snapshot does not want it, else pod.yaml."""
    path = _manifest_path(pod, sources)
    if [path, *sources].count(STDIN) > 1:
        raise UsageError("standard input can be read only once: POD and --snapshot both ask for it")
    return path


def _manifest_path(pod: str | None, sources: Sequence[str]) -> str:
    if pod is not None:
        return pod
    if stdin_is_piped() and STDIN not in sources:
        return STDIN
    if Path(_DEFAULT_POD).is_file():
        return _DEFAULT_POD
    raise UsageError(f"no pod given: name a manifest, pipe one in, or run where there is a {_DEFAULT_POD}")
