"""Manifests as they are in a commit of the git repository that they lie in."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from msgspec import Struct

from kubespread.candidate.sources import SUFFIXES
from kubespread.errors import UsageError

_TIMEOUT = 60.0
_MAX_COMPLAINT = 300
_SETTINGS = {"GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
_FILES = ("100644", "100755")
"""The modes of regular files in a tree: what links lead to may lie anywhere."""


class EarlierManifests(Struct, frozen=True):
    """Files of a commit, written to a directory of their own."""

    commit: str
    is_common: bool
    """True if the commit is the last one that the revision and HEAD share; False if it is the revision itself."""
    paths: tuple[str, ...]
    """Requested paths that the commit has, as files and directories."""
    directory: str
    """Directory with the files."""
    _asked: dict[str, str]
    """The paths asked for, by where they are written."""

    def named(self, file: str) -> str:
        """Original name of a file in the directory."""
        written = next(path for path in self._asked if Path(file).is_relative_to(path))
        asked = self._asked[written]
        return asked if file == written else str(Path(asked) / Path(file).relative_to(written))


@contextmanager
def as_of(revision: str, paths: Sequence[str]) -> Iterator[EarlierManifests]:
    """Manifests at ``paths``, including directories, where HEAD branched off ``revision``.

    Nothing is fetched, and nothing that the repository configures is run. Raises UsageError.
    """
    first = Path(paths[0]).absolute()
    start = str(next(path for path in (first, *first.parents) if path.is_dir()))
    root = os.path.realpath(_text(start, "rev-parse", "--show-toplevel"))
    reals = [Path(os.path.realpath(path)) for path in paths]
    for path, real in zip(paths, reals, strict=True):
        if not real.is_relative_to(root):
            raise UsageError(f"--base {revision}: {path} is not in the git repository {root}")
    try:
        tip = _text(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    except UsageError:
        hint = "; a shallow clone has only the newest commits: fetch this one too" if _is_shallow(root) else ""
        raise UsageError(f"--base {revision}: no such commit in {root}{hint}") from None
    try:
        common = _text(root, "merge-base", tip, "HEAD")
    except UsageError:
        common = ""
    within = [real.relative_to(root).as_posix() for real in reals]
    narrowed = [] if "." in within else within
    listed = _git(root, "ls-tree", "-r", "-z", "--full-tree", common or tip, "--", *narrowed)
    with tempfile.TemporaryDirectory(prefix="kubespread-") as directory:
        for path, blob in _blobs(listed, within):
            file = Path(directory) / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(_git(root, "cat-file", "blob", blob))
        asked = {str(Path(directory) / path): given for path, given in zip(within, paths, strict=True)}
        there = tuple(path for path in asked if Path(path).is_file() or any(Path(path).glob("*")))
        yield EarlierManifests(common or tip, bool(common), there, directory, asked)


def _blobs(listed: bytes, named: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Path and object of each manifest in a listing: those named, and below directories those that look like one."""
    for entry in listed.split(b"\0"):
        facts, _, raw = entry.partition(b"\t")
        path = os.fsdecode(raw)
        if not path or ".." in PurePosixPath(path).parts:
            continue
        mode, kind, name = facts.decode().split()
        if kind == "blob" and mode in _FILES and (path in named or PurePosixPath(path).suffix in SUFFIXES):
            yield path, name


def _is_shallow(root: str) -> bool:
    return _text(root, "rev-parse", "--is-shallow-repository") == "true"


def _text(directory: str, *arguments: str) -> str:
    return os.fsdecode(_git(directory, *arguments)).removesuffix("\n")


def _git(directory: str, *arguments: str) -> bytes:
    """Output of git. Raises UsageError with its first line where it fails, or is not there."""
    # In a hook these name the repository of the hook.
    inherited = {name: value for name, value in os.environ.items() if name not in ("GIT_DIR", "GIT_WORK_TREE")}
    try:
        done = subprocess.run(
            ["git", "--no-replace-objects", "--literal-pathspecs", "-C", directory, *arguments],
            stdin=subprocess.DEVNULL,
            env={**inherited, **_SETTINGS},
            capture_output=True,
            timeout=_TIMEOUT,
            check=False,
        )
    except FileNotFoundError:
        raise UsageError("--base needs git on the PATH") from None
    except subprocess.TimeoutExpired:
        raise UsageError(f"--base: git {arguments[0]} took longer than {_TIMEOUT:.0f} s") from None
    if done.returncode:
        complaint = (done.stderr.decode(errors="replace").strip().splitlines() or [f"exit code {done.returncode}"])[0]
        raise UsageError(f"--base: git {arguments[0]}: {complaint[:_MAX_COMPLAINT]}")
    return done.stdout
