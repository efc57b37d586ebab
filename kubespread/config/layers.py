"""Who decides what is set: the environment, then the project's file, then the user's."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from kubespread.config.settings import CONTEXT, KEYS, SNAPSHOT, Setting, Settings
from kubespread.errors import UsageError

PROJECT_FILE = ".kubespread.yaml"
_USER_FILE = Path("kubespread") / "config.yaml"


def settings(environment: Mapping[str, str], directory: Path) -> Settings:
    """What is set for a command that is run in ``directory``, key by key by whoever comes first.

    The cluster is one thing: a snapshot that the project names goes before the user's context too.
    Raises ManifestError with every fault of the file that is at fault, and UsageError.
    """
    decided: dict[str, Setting] = {}
    for layer in (_of_environment(environment), *_of_files(environment, directory)):
        taken = {SNAPSHOT, CONTEXT} if decided.keys() & {SNAPSHOT, CONTEXT} else set()
        decided |= {key: each for key, each in layer.items() if key not in decided and key not in taken}
    return {key: decided[key] for key in KEYS if key in decided}


def _of_environment(environment: Mapping[str, str]) -> Settings:
    found = {}
    for name, key in KEYS.items():
        if text := environment.get(key.variable, ""):
            separator = os.pathsep if key.is_path else ","
            values = tuple(filter(None, text.split(separator))) if key.is_list else (text,)
            found[name] = Setting(values, key.variable, is_from_file=False)
    if SNAPSHOT in found and CONTEXT in found:
        raise UsageError("KUBESPREAD_SNAPSHOT and KUBESPREAD_CONTEXT both name the cluster: unset one")
    return found


def _of_files(environment: Mapping[str, str], directory: Path) -> Iterator[Settings]:
    for path in (_project_file(directory), _user_file(environment)):
        if path is not None and path.is_file():
            # Imported here because most runs have no such file.
            from kubespread.config.reading import read_settings

            yield read_settings(path)


def _project_file(directory: Path) -> Path | None:
    """That of the directory, or of its nearest parent that has one, as seen from the directory."""
    files = (each / PROJECT_FILE for each in (directory, *directory.parents))
    nearest = next((file for file in files if file.is_file()), None)
    return Path(os.path.relpath(nearest, directory)) if nearest is not None else None


def _user_file(environment: Mapping[str, str]) -> Path | None:
    """``$XDG_CONFIG_HOME/kubespread/config.yaml``, or that in ``~/.config``; a relative XDG_CONFIG_HOME is ignored."""
    folder = environment.get("XDG_CONFIG_HOME") or ""
    if os.path.isabs(folder):  # noqa: PTH117 - of text that may be empty
        return Path(folder) / _USER_FILE
    home = environment.get("HOME")
    return Path(home) / ".config" / _USER_FILE if home else None
