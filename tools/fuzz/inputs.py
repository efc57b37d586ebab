"""Every input there is, and for each the commands that read it: those of fixtures/fuzz."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import yaml

FIXTURES = Path(__file__).parents[2] / "fixtures"
FUZZ = FIXTURES / "fuzz"
RICH = FIXTURES / "cases" / "adversarial" / "base"
MANIFESTS = sorted(path.name for path in RICH.glob("*.yaml"))
_READ = yaml.load((FUZZ / "commands.yaml").read_bytes(), Loader=yaml.CSafeLoader)
COMMANDS: dict[str, list[str]] = {
    "rich.json": [f"{command} -S {{}}" for command in _READ["clusters"]],
    **{f"base/{name}": [f"{command} -S rich.json" for command in _READ["manifests"]] for name in MANIFESTS},
    **_READ["files"],
}
"""By the file that is damaged, in whose place ``{}`` stands."""
COSTLY = tuple(_READ["costly"])
WORDS: dict[str, list[str]] = _READ["words"]
VALUES: list[str] = _READ["values"]
_POD = (RICH / "pod.yaml").read_text()
TOOL_ARGUMENTS: dict[str, Any] = {**_READ["tools"], "manifest": _POD, "toManifest": _POD}


def write_all(directory: Path) -> dict[str, Any]:
    """Every file that a command names, in ``directory``; those that are damaged, as plain data."""
    shutil.copytree(FIXTURES / "options" / "files", directory, dirs_exist_ok=True)
    shutil.copytree(FUZZ / "files", directory, dirs_exist_ok=True)
    shutil.copytree(RICH, directory / "base", dirs_exist_ok=True)
    rich = json.loads((RICH / "cluster.json").read_text())
    made = {
        "rich.json": rich,
        "saved.json": {**rich, **json.loads((FUZZ / "stamp.json").read_text())},
        "node.json": next(each for each in rich["items"] if each["kind"] == "Node"),
    }
    for name, content in made.items():
        (directory / name).write_text(json.dumps(content))
    return {name: _plain(directory / name) for name in COMMANDS}


def _plain(path: Path) -> Any:
    """The documents of a manifest are a list, whatever their number."""
    documents = list(yaml.load_all(path.read_bytes(), Loader=yaml.CSafeLoader))
    return documents if path.parent.name == "base" else documents[0]


def environment(directory: Path) -> dict[str, str]:
    path = f"{directory / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return {"PATH": path, "XDG_CACHE_HOME": str(directory / "cache"), "KUBESPREAD_DEBUG": "1"}
