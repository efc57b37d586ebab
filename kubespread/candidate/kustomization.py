"""A kustomization, built by kustomize or kubectl, whichever is on the PATH."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

from kubespread.errors import Fault, ManifestError, UsageError
from kubespread.manifest.objects import read_documents
from kubespread.manifest.text import MAX_MANIFEST_BYTES, MalformedError, read_file

FILES = ("kustomization.yaml", "kustomization.yml", "Kustomization")
_TOOLS = (("kustomize", "build"), ("kubectl", "kustomize"))
_TIMEOUT = 60.0
_MAX_COMPLAINT = 2000


class Kustomization(Struct, frozen=True):
    """A directory with a kustomization."""

    directory: str

    def command(self) -> list[str]:
        """What builds it. Raises UsageError where nothing can, ManifestError where it is no kustomization."""
        if not any((Path(self.directory) / name).is_file() for name in FILES):
            raise ManifestError(self.directory, [Fault(f"no {FILES[0]} in this directory")])
        for program, verb in _TOOLS:
            if (path := shutil.which(program)) is not None:
                # A name that begins with a dash is no option.
                return [path, verb, str(Path(self.directory).absolute())]
        raise UsageError("-k needs kustomize or kubectl on the PATH")

    def paths(self) -> Iterator[Path]:
        """The paths that its own files name, followed through other kustomizations."""
        waiting, seen = [Path(self.directory)], set[str]()
        while waiting:
            directory = waiting.pop()
            real = os.path.realpath(directory)
            if real in seen:
                continue
            seen.add(real)
            yield directory
            for text in _texts_in([_document(directory / name) for name in FILES]):
                path = directory / text
                if _exists(path):
                    waiting += [path] if path.is_dir() else []
                    yield path

    def build(self) -> bytes:
        """Its manifests as text. Raises ManifestError when the tool fails, takes too long or writes too much."""
        with tempfile.TemporaryFile() as complaints:
            process = subprocess.Popen(
                self.command(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=complaints
            )
            output = process.stdout
            assert output is not None
            timer = threading.Timer(_TIMEOUT, process.kill)
            timer.start()
            try:
                text: bytes = output.read(MAX_MANIFEST_BYTES + 1)
                is_too_long = len(text) > MAX_MANIFEST_BYTES
                if is_too_long:
                    process.kill()
                code = process.wait()
                is_late = not timer.is_alive()
            finally:
                timer.cancel()
                process.kill()
                output.close()
            complaints.seek(0)
            complaint = " ".join(complaints.read(_MAX_COMPLAINT).decode(errors="replace").split())
        if is_too_long:
            raise self._failed(f"more than {MAX_MANIFEST_BYTES // 2**20} MiB of text")
        if is_late:
            raise self._failed(f"took longer than {_TIMEOUT:.0f} s")
        if code != 0:
            raise self._failed(complaint or f"exit code {code}")
        return text

    def _failed(self, why: str) -> ManifestError:
        program, verb, _ = self.command()
        return ManifestError(self.directory, [Fault(f"{Path(program).name} {verb}: {why}")])


def _document(path: Path) -> Any:
    """What the file holds; None for one that is not there, or that kustomize will complain of."""
    try:
        return read_documents(read_file(str(path)))
    except (ManifestError, MalformedError):
        return None


def _texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for child in value.values() if isinstance(value, dict) else value:
            yield from _texts_in(child)


def _exists(path: Path) -> bool:
    """A text may be anything, also what is no path at all."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False
