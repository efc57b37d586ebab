"""Who decides what is set: the environment, then the project's file, then the user's."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from kubespread.config.settings import CONTEXT, KEYS, SNAPSHOT, Setting, Settings
from kubespread.errors import UsageError

PROJECT_FILE = ".kubespread.yaml"
NO_FILES = "KUBESPREAD_NO_CONFIG"
"""The variable that, not empty and not 0, leaves the files out."""
_USER_FILE = Path("kubespread") / "config.yaml"


def settings(environment: Mapping[str, str], *, files: bool = True) -> Settings:
    """The settings of a command that is run in the working directory; for each key the first layer wins. With ``files``
    false, or the variable for that, only the environment counts.

    The cluster is one setting: a project's snapshot also wins over the user's context.
    Raises ManifestError with every fault of the file that is at fault, and UsageError.
    """
    decided: dict[str, Setting] = {}
    reads_files = files and environment.get(NO_FILES, "") in ("", "0")
    for layer in (_of_environment(environment), *(_of_files(environment) if reads_files else ())):
        taken = {SNAPSHOT, CONTEXT} if decided.keys() & {SNAPSHOT, CONTEXT} else set()
        decided |= {key: setting for key, setting in layer.items() if key not in decided and key not in taken}
    return {key: decided[key] for key in KEYS if key in decided}


def candidates(environment: Mapping[str, str]) -> Iterator[Path]:
    """Where a file would be read if it were there, and files are not to be left out."""
    if environment.get(NO_FILES, "") in ("", "0"):
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
            settings[name] = Setting(values, key.variable, is_from_file=False)
    if SNAPSHOT in settings and CONTEXT in settings:
        raise UsageError("KUBESPREAD_SNAPSHOT and KUBESPREAD_CONTEXT both name the cluster: unset one")
    return settings


def _of_files(environment: Mapping[str, str]) -> Iterator[Settings]:
    for path in (_project_file(), _user_file(environment)):
        if path is not None and _is_file(path):
            # Imported here because most runs have no such file.
            from kubespread.config.file import read_settings

            yield read_settings(path)


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
