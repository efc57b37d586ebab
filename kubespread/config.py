"""Settings of the command line from the environment, then from the project's file, whose faults are named by line."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec import Struct

from kubespread.errors import Fault, ManifestError, UsageError
from kubespread.manifest.objects import read_documents
from kubespread.manifest.text import STDIN, FieldLines, faults_of, read_file
from kubespread.wording import describe

SNAPSHOT, CONTEXT, OUTPUT = "snapshot", "context", "output"


class Key(Struct, frozen=True):
    """One thing that may be set."""

    parameter: str
    """The commands' parameter it is the value of, where nothing is typed for it."""
    is_path: bool = False
    is_list: bool = False
    is_flag: bool = False
    decides: bool = True
    """True if answers depend on it, and not only how they are made and written."""

    @property
    def variable(self) -> str:
        """The environment's name for it."""
        return f"KUBESPREAD_{self.parameter.upper()}"

    @property
    def expectation(self) -> str:
        if self.is_flag:
            return "true or false"
        # Without quotes 1.30 is the number 1.3.
        return "a string or a list of them" if self.is_list else "a string in quotes"


KEYS: Mapping[str, Key] = {
    SNAPSHOT: Key("snapshot", is_path=True, is_list=True),
    CONTEXT: Key("context"),
    "schedulerConfig": Key("scheduler_config", is_path=True),
    "kubeVersion": Key("kube_version"),
    OUTPUT: Key("output", decides=False),
    "podNodeSelector": Key("pod_node_selector", is_flag=True),
    "extendedResourceToleration": Key("extended_resource_toleration", is_flag=True),
    "ignore": Key("ignore", is_list=True),
}
"""Keys by the name they have in a file."""


class Setting(Struct, frozen=True):
    """Values of one key, and where they are set."""

    values: tuple[str, ...]
    origin: str
    """``.kubespread.yaml:3``, or the name of a variable."""
    is_from_file: bool = True

    @property
    def text(self) -> str:
        return ", ".join(self.values)


Settings = Mapping[str, Setting]
"""Settings by key, those that are set."""


_MAX_BYTES = 2**20
BOTH = "snapshot and context both name the cluster: leave one out"


def read_settings(path: Path) -> Settings:
    """Read the settings of a file. Paths in it are relative to it. Raises ManifestError with every fault."""
    shown = str(path)
    text = read_file(shown, _MAX_BYTES)
    with faults_of(shown):
        documents = read_documents(text)
    if not documents:
        return {}
    if len(documents) > 1 or not isinstance(documents[0], Mapping):
        description = f"{len(documents)} documents" if len(documents) > 1 else describe(documents[0])
        raise ManifestError(shown, [Fault(f"expected an object with {', '.join(KEYS)}, found {description}")])
    lines, found, faults = FieldLines(text), dict[str, Setting](), list[Fault]()
    for name, value in documents[0].items():
        line = lines.line(0, str(name))
        try:
            if value is not None:
                values = _values(str(name), value, path.parent)
                found[str(name)] = Setting(values, f"{shown}:{line or 1}")
        except UsageError as error:
            faults.append(Fault(str(error), str(name), line))
    if {SNAPSHOT, CONTEXT} <= found.keys():
        faults.append(Fault(BOTH, CONTEXT, lines.line(0, CONTEXT)))
    if faults:
        raise ManifestError(shown, sorted(faults, key=lambda fault: fault.line or 0))
    return found


def _values(name: str, value: Any, directory: Path) -> tuple[str, ...]:
    """Read the values of a key of a file in ``directory``. Raises UsageError."""
    key = KEYS.get(name)
    if key is None:
        raise UsageError(_unknown_key(name))
    if key.is_flag and isinstance(value, bool):
        return ("true" if value else "false",)
    values = value if isinstance(value, list) and key.is_list else [value]
    for item in values:
        if not isinstance(item, str) or not item or key.is_flag:
            raise UsageError(f"expected {key.expectation}, found {describe(item) if item != '' else 'an empty one'}")
    if name == "kubeVersion":
        from kubespread.kube.versions import KubeVersion

        KubeVersion.parse(value)
    return tuple(_path(item, directory) for item in values) if key.is_path else tuple(values)


def _unknown_key(name: str) -> str:
    from kubespread.kube.api.unknown_fields import did_you_mean, near_miss

    meant = near_miss(name, KEYS)
    return f"unknown key{did_you_mean(meant)}" if meant else f"unknown key; there are {', '.join(KEYS)}"


def _path(text: str, directory: Path) -> str:
    """Relative to the file's ``directory``, which is not named where it is the working one. Raises UsageError."""
    if text == STDIN:
        raise UsageError("standard input is for the command line to name: expected a path")
    if "\0" in text:
        raise UsageError("expected a path, found a NUL character in it")
    try:
        return str(directory / Path(text).expanduser())
    except RuntimeError:
        raise UsageError(f"no home directory is known for {Path(text).parts[0]}") from None


PROJECT_FILE = ".kubespread.yaml"
CONFIG = "KUBESPREAD_CONFIG"
"""The variable that names the only file to read; empty: none."""


def settings(environment: Mapping[str, str], *, files: bool = True) -> Settings:
    """The settings of a command that is run in the working directory: those of the environment, and with ``files``
    those that only the file has. The cluster is one setting: either names it alone.

    Raises ManifestError with every fault of the file, and UsageError.
    """
    decided = dict(_of_environment(environment))
    taken = {SNAPSHOT, CONTEXT} if decided.keys() & {SNAPSHOT, CONTEXT} else set()
    of_file = _of_file(environment) if files else {}
    decided |= {key: setting for key, setting in of_file.items() if key not in decided and key not in taken}
    return {key: decided[key] for key in KEYS if key in decided}


def candidates(environment: Mapping[str, str]) -> Iterator[Path]:
    """Yield the paths where the file would be, the first that is there counts: one that is named, else one in the
    working directory or the nearest of its parents.
    """
    if (named := environment.get(CONFIG)) is not None:
        yield from [Path(named)] if named else ()
        return
    # A directory that was deleted has no parents.
    with suppress(FileNotFoundError):
        directory = Path.cwd()
        yield from (folder / PROJECT_FILE for folder in (directory, *directory.parents))


def _of_environment(environment: Mapping[str, str]) -> Settings:
    settings = {}
    for name, key in KEYS.items():
        if text := environment.get(key.variable, ""):
            separator = os.pathsep if key.is_path else ","
            values = tuple(filter(None, text.split(separator))) if key.is_list else (text,)
            if key.is_flag and text not in ("true", "false"):
                raise UsageError(f"{key.variable}: expected {key.expectation}, found {text!r}")
            settings[name] = Setting(values, key.variable, is_from_file=False)
    if SNAPSHOT in settings and CONTEXT in settings:
        raise UsageError("KUBESPREAD_SNAPSHOT and KUBESPREAD_CONTEXT both name the cluster: unset one")
    return settings


def _of_file(environment: Mapping[str, str]) -> Settings:
    if named := environment.get(CONFIG):
        return read_settings(Path(named))
    nearest = next(filter(_is_file, candidates(environment)), None)
    return {} if nearest is None else read_settings(Path(os.path.relpath(nearest)))


def _is_file(path: Path) -> bool:
    """True if the file is there; one that may not be accessed counts as missing."""
    with suppress(OSError):
        return path.is_file()
    return False
