"""From a configuration file to its settings: strictly, with every fault in it named by line."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kubespread.config.settings import CONTEXT, KEYS, SNAPSHOT, Key, Setting, Settings
from kubespread.errors import Fault, ManifestError, UsageError
from kubespread.manifest.lines import FieldLines
from kubespread.manifest.objects import describe
from kubespread.manifest.parts import MalformedError
from kubespread.manifest.stream import read_documents
from kubespread.manifest.text import STDIN, read_text_bytes

_MAX_BYTES = 2**20
BOTH = "snapshot and context both name the cluster: leave one out"


def read_settings(path: Path) -> Settings:
    """What the file ``path`` sets. Paths in it are relative to it. Raises ManifestError with every fault."""
    shown = str(path)
    try:
        text = read_text_bytes(str(path), _MAX_BYTES)
        documents = read_documents(text)
    except OSError as error:
        raise ManifestError(shown, [Fault(error.strerror or str(error))]) from error
    except MalformedError as error:
        raise ManifestError(shown, [error.fault]) from error
    if not documents:
        return {}
    if len(documents) > 1 or not isinstance(documents[0], Mapping):
        description = f"{len(documents)} documents" if len(documents) > 1 else describe(documents[0])
        raise ManifestError(shown, [Fault(f"expected an object with {', '.join(KEYS)}, found {description}")])
    return _Reader(path.parent, shown, FieldLines(text)).settings(documents[0])


class _Reader:
    def __init__(self, directory: Path, shown: str, lines: FieldLines) -> None:
        self._directory, self._shown, self._lines = directory, shown, lines
        self._faults: list[Fault] = []

    def settings(self, data: Mapping[str, Any]) -> Settings:
        settings = {str(name): self._setting(str(name), value) for name, value in data.items() if value is not None}
        if SNAPSHOT in settings and CONTEXT in settings:
            self._add(CONTEXT, BOTH)
        if self._faults:
            raise ManifestError(self._shown, sorted(self._faults, key=lambda fault: fault.line or 0))
        return {name: setting for name, setting in settings.items() if setting is not None}

    def _setting(self, name: str, value: Any) -> Setting | None:
        key = KEYS.get(name)
        if key is None:
            self._add(name, _unknown(name))
            return None
        values = value if isinstance(value, list) and key.is_list else [value]
        for item in values:
            if not isinstance(item, str) or not item:
                self._add(name, f"expected {_expected(key)}, found {describe(item) if item != '' else 'an empty one'}")
                return None
        if name == "kubeVersion" and (fault := _version_fault(value)):
            self._add(name, fault)
        for item in values if key.is_path else ():
            if fault := _path_fault(item):
                self._add(name, fault)
                return None
        return Setting(
            tuple(self._path(item) for item in values) if key.is_path else tuple(values),
            f"{self._shown}:{self._lines.line(0, name) or 1}",
        )

    def _path(self, text: str) -> str:
        """Relative to the file's own directory, which is not named where it is the working directory."""
        return str(self._directory / Path(text).expanduser())

    def _add(self, name: str, message: str) -> None:
        self._faults.append(Fault(message, name, self._lines.line(0, name)))


def _expected(key: Key) -> str:
    # Without quotes 1.30 is the number 1.3.
    return "a string or a list of them" if key.is_list else "a string in quotes"


def _unknown(name: str) -> str:
    from kubespread.kube.api.unknown_fields import did_you_mean, near_miss

    meant = near_miss(name, KEYS)
    return f"unknown key{did_you_mean(meant)}" if meant else f"unknown key; there are {', '.join(KEYS)}"


def _path_fault(text: str) -> str:
    if text == STDIN:
        return "standard input is for the command line to name: expected a path"
    if "\0" in text:
        return "expected a path, found a NUL character in it"
    try:
        Path(text).expanduser()
    except RuntimeError:
        return f"no home directory is known for {Path(text).parts[0]}"
    return ""


def _version_fault(text: str) -> str:
    from kubespread.kube.versions import KubeVersion

    try:
        KubeVersion.parse(text)
    except UsageError as error:
        return str(error)
    return ""
