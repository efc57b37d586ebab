"""Files that a command reads and writes: no file is both, under any name; named pipes are mentioned."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any

from kubespread.cli.options.pairs import READERS, spelled, texts_of
from kubespread.cli.streams import say
from kubespread.config.layers import candidates
from kubespread.errors import UsageError

WRITTEN = ("html", "write_baseline", "map_file")
"""What names a file that is written, by the names of the parameters; ``-o`` of ``snapshot`` does too."""
_READ_AS_DIRECTORIES = (*READERS, "kustomize")
_FILE = "FILE"
_ENDS_OF_PATHS = (":", "@")
"""What may follow the path of a file in a word: ``node.yaml:3@zone=a``."""
_PIPES_OF_SHELLS = ("/dev/", "/proc/")
"""Where ``<(command)`` has its pipes, to which the command writes."""

_Identity = tuple[int, int]
"""Device and inode: a link is the file that it leads to."""


def refuse_overwriting(context: Any) -> None:
    """Raise UsageError where a parsed command would write over what it reads, or write one file twice."""
    written = {
        spelled(param): str(context.params[param.name]) for param in context.command.params if _is_written(param)
    }
    written = {name: path for name, path in written.items() if path not in ("None", "-")}
    if not written:
        return
    seen: dict[Path, str] = {}
    for name, path in written.items():
        other = seen.setdefault(Path(os.path.realpath(path)), name)
        if other != name:
            raise UsageError(f"{other} and {name} name the same file")
    inputs = dict(_inputs(context))
    for name, path in written.items():
        identity = _identity(Path(path))
        if identity in inputs:
            raise UsageError(f"{name} {path} would overwrite {inputs[identity]}, which is read: name another file")


def _is_written(parameter: Any) -> bool:
    return parameter.name in WRITTEN or (parameter.name == "output" and parameter.metavar == _FILE)


def _inputs(context: Any) -> Iterator[tuple[_Identity, str]]:
    """Every file that a word of the command, the environment or a configuration file names, and those in directories
    that are read.
    """
    for parameter in context.command.params:
        if not _is_written(parameter):
            for text in texts_of(context.params.get(parameter.name)):
                yield from _files(text)
                if parameter.name in _READ_AS_DIRECTORIES:
                    yield from _in_directory(Path(text))
    # Of a fleet the clusters stand before the question, as patterns.
    for pattern in texts_of(context.parent.params.get("snapshot")) if context.parent is not None else ():
        from kubespread.questions.fleet.clusters import matching

        for found in matching(pattern):
            yield from _files(found)
            yield from _in_directory(Path(found))
    for text in os.environ.get("KUBECONFIG", "").split(os.pathsep):
        yield from _files(text)
    for path in (*candidates(os.environ), Path("~/.kube/config")):
        yield from _files(os.path.expanduser(path))  # noqa: PTH111 - keeps the ~ if there is no home
    if (standard_input := _stdin()) is not None:
        yield standard_input, "standard input"


def _files(text: str) -> Iterator[tuple[_Identity, str]]:
    for end in ("", *_ENDS_OF_PATHS):
        path = Path(text.partition(end)[0] if end else text)
        if (identity := _identity(path)) is not None:
            yield identity, str(path)


def _in_directory(directory: Path) -> Iterator[tuple[_Identity, str]]:
    """The files in a directory and its direct subdirectories, which is as deep as a mistake reaches."""
    with suppress(OSError, ValueError):
        for path in chain(directory.glob("*"), directory.glob("*/*")) if directory.is_dir() else ():
            if (identity := _identity(path)) is not None:
                yield identity, str(path)


def _identity(path: Path) -> _Identity | None:
    """That of a file that is there; None for pipes and devices, which are not overwritten."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None


def _stdin() -> _Identity | None:
    try:
        status = os.fstat(0)
    except OSError:
        return None
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None


def say_what_is_waited_for(context: Any) -> None:
    """A line for each named pipe that a parsed command reads."""
    if context.params.get("quiet"):
        return
    for name in (*READERS, "kubeconfig"):
        for path in texts_of(context.params.get(name)):
            if not path.startswith(_PIPES_OF_SHELLS) and _is_pipe(path):
                say(f"reading {path}, a named pipe: waiting for what is written to it")


def _is_pipe(path: str) -> bool:
    try:
        return Path(path).is_fifo()
    except (OSError, ValueError):
        return False
