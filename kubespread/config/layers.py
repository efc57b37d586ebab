"""Who decides what is set: the environment, then the project's file, then the user's.

From a configuration file to its settings: strictly, with every fault in it named by line. Every key that a
configuration may have, and what is set.
"""

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

    variable: str
    """The environment's name for it."""
    parameters: tuple[str, ...]
    """The commands' parameters it is a value of, where nothing is typed for them."""
    is_path: bool = False
    is_list: bool = False
    is_flag: bool = False
    is_personal: bool = False
    """True if a project's file may not set it: what the cluster holds is sent there."""
    decides: bool = True
    """Whether answers depend on it, and not only how they are made and written."""


KEYS: Mapping[str, Key] = {
    SNAPSHOT: Key("KUBESPREAD_SNAPSHOT", ("snapshot",), is_path=True, is_list=True),
    CONTEXT: Key("KUBESPREAD_CONTEXT", ("context",)),
    "schedulerConfig": Key("KUBESPREAD_SCHEDULER_CONFIG", ("scheduler_config",), is_path=True),
    "kubeVersion": Key("KUBESPREAD_KUBE_VERSION", ("kube_version",)),
    OUTPUT: Key("KUBESPREAD_OUTPUT", ("output",), decides=False),
    "podNodeSelector": Key("KUBESPREAD_POD_NODE_SELECTOR", ("pod_node_selector",), is_flag=True),
    "extendedResourceToleration": Key(
        "KUBESPREAD_EXTENDED_RESOURCE_TOLERATION", ("extended_resource_toleration",), is_flag=True
    ),
    "ignore": Key("KUBESPREAD_IGNORE", ("ignore",), is_list=True),
    "engine": Key("KUBESPREAD_ENGINE", ("engine",), is_personal=True, decides=False),
}
"""By the name it has in a file."""


class Setting(Struct, frozen=True):
    """What one key is set to, and where."""

    values: tuple[str, ...]
    origin: str
    """``.kubespread.yaml:3``, or the name of a variable."""
    is_from_file: bool = True

    @property
    def text(self) -> str:
        return ", ".join(self.values)


Settings = Mapping[str, Setting]
"""By key, those that are set."""


_MAX_BYTES = 2**20
BOTH = "snapshot and context both name the cluster: leave one out"


def read_settings(path: Path, *, is_personal: bool) -> Settings:
    """What the file ``path`` sets, which ``is_personal`` where it is the user's own. Paths in it are relative to it.
    Raises ManifestError with every fault.
    """
    shown = str(path)
    text = read_file(shown, _MAX_BYTES)
    with faults_of(shown):
        documents = read_documents(text)
    if not documents:
        return {}
    if len(documents) > 1 or not isinstance(documents[0], Mapping):
        description = f"{len(documents)} documents" if len(documents) > 1 else describe(documents[0])
        raise ManifestError(shown, [Fault(f"expected an object with {', '.join(KEYS)}, found {description}")])
    return _Reader(path.parent, shown, FieldLines(text), is_personal=is_personal).settings(documents[0])


class _Reader:
    def __init__(self, directory: Path, shown: str, lines: FieldLines, *, is_personal: bool) -> None:
        self._directory, self._shown, self._lines, self._is_personal = directory, shown, lines, is_personal
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
        if key.is_personal and not self._is_personal:
            self._add(name, "only your own file or the environment may set it, not a project's file")
            return None
        values = value if isinstance(value, list) and key.is_list else [value]
        if key.is_flag and isinstance(value, bool):
            values = ["true" if value else "false"]
        for item in values:
            if not isinstance(item, str) or not item or (key.is_flag and item is value):
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
    if key.is_flag:
        return "true or false"
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


PROJECT_FILE = ".kubespread.yaml"
CONFIG = "KUBESPREAD_CONFIG"
"""The variable that names the only file to read; empty: none."""
_USER_FILE = Path("kubespread") / "config.yaml"


def settings(environment: Mapping[str, str], *, files: bool = True) -> Settings:
    """The settings of a command that is run in the working directory; for each key the first layer wins. Without
    ``files`` only the environment counts.

    The cluster is one setting: a project's snapshot also wins over the user's context.
    Raises ManifestError with every fault of the file that is at fault, and UsageError.
    """
    decided: dict[str, Setting] = {}
    for layer in (_of_environment(environment), *(_of_files(environment) if files else ())):
        taken = {SNAPSHOT, CONTEXT} if decided.keys() & {SNAPSHOT, CONTEXT} else set()
        decided |= {key: setting for key, setting in layer.items() if key not in decided and key not in taken}
    return {key: decided[key] for key in KEYS if key in decided}


def candidates(environment: Mapping[str, str]) -> Iterator[Path]:
    """Where a file would be read if it were there."""
    if (named := environment.get(CONFIG)) is not None:
        yield from [Path(named)] if named else ()
        return
    directory = Path.cwd()
    yield from (folder / PROJECT_FILE for folder in (directory, *directory.parents))
    if (own := _user_file(environment)) is not None:
        yield own


def _of_environment(environment: Mapping[str, str]) -> Settings:
    settings = {}
    for name, key in KEYS.items():
        if text := environment.get(key.variable, ""):
            separator = os.pathsep if key.is_path else ","
            values = tuple(filter(None, text.split(separator))) if key.is_list else (text,)
            if key.is_flag and text not in ("true", "false"):
                raise UsageError(f"{key.variable}: expected {_expected(key)}, found {text!r}")
            settings[name] = Setting(values, key.variable, is_from_file=False)
    if SNAPSHOT in settings and CONTEXT in settings:
        raise UsageError("KUBESPREAD_SNAPSHOT and KUBESPREAD_CONTEXT both name the cluster: unset one")
    return settings


def _of_files(environment: Mapping[str, str]) -> Iterator[Settings]:
    if (named := environment.get(CONFIG)) is not None:
        if named:
            yield read_settings(Path(named), is_personal=True)
        return
    for path, is_personal in ((_project_file(), False), (_user_file(environment), True)):
        if path is not None and _is_file(path):
            yield read_settings(path, is_personal=is_personal)


def _project_file() -> Path | None:
    """That of the working directory, or of its nearest parent that has one, as seen from there; none in a directory
    that has been deleted.
    """
    try:
        directory = Path.cwd()
    except FileNotFoundError:
        return None
    files = (folder / PROJECT_FILE for folder in (directory, *directory.parents))
    nearest = next(filter(_is_file, files), None)
    return Path(os.path.relpath(nearest, directory)) if nearest is not None else None


def _is_file(path: Path) -> bool:
    """A path that may not be accessed counts as missing: the HOME of a container often belongs to another user."""
    with suppress(OSError):
        return path.is_file()
    return False


def _user_file(environment: Mapping[str, str]) -> Path | None:
    """``$XDG_CONFIG_HOME/kubespread/config.yaml``, or that in ``~/.config``; a relative XDG_CONFIG_HOME is ignored."""
    folder = environment.get("XDG_CONFIG_HOME") or ""
    if os.path.isabs(folder):  # noqa: PTH117 - of text that may be empty
        return Path(folder) / _USER_FILE
    home = environment.get("HOME")
    return Path(home) / ".config" / _USER_FILE if home else None
