"""Writes what a release of Kubernetes changes, from a checkout of it: ``python -m tools.releases path/to/kubernetes``.

The release is the checkout's own minor, or ``--release 1.35.4`` for a patch that changes something. What it has is
compared with what the releases before it have according to `kubespread/kube/releases/`, and the difference is written
there; ``history.txt`` then tells it gate by gate and field by field. A gate that no release had yet counts as one that
has to do with the placement of pods: where it has not, move it to ``unrelated_gates`` by hand and run this again. What
a file says of reasons and scores is written by hand, and stays.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from kubespread.kube.api.kinds import POD_CREATORS
from kubespread.kube.versions import FOLDER, Changes, Release, all_changes
from tools.releases.histories import HISTORY, histories, text_of

Gates = Mapping[str, str]
Dependencies = Mapping[str, list[str]]
Fields = Mapping[str, Mapping[str, str]]
Value = TypeVar("Value")

_VERSION = ("staging/src/k8s.io/component-base/version/base.go", re.compile(r'DefaultKubeBinaryVersion = "1\.(\d+)"'))
_SCHEMA = "api/openapi-spec/swagger.json"
_GATES = ("pkg/features/kube_features.go", "staging/src/k8s.io/**/*_features.go")
_NAME = re.compile(r'^\t(\w+)\b[\w. ]*= *(?:featuregate\.Feature\()?"(\w+)"', re.MULTILINE)
_STAGES = re.compile(r"^\t+(?:\w+\.)?(\w+): \{((?:\s*\{Version:[^{}]*\},?)+)\s*\}", re.MULTILINE)
_STAGE = re.compile(r"\{Version:[^{}]*\}")
_NEEDED = re.compile(r"^\t(?:\w+\.)?(\w+): \{([\w., \t\n]+)\},", re.MULTILINE)
# Of a status and of managedFields nothing is known: servers write them, and newer ones write more.
_UNKNOWN_BELOW = frozenset({"status", "managedFields"})


def gates(checkout: Path) -> tuple[Gates, Dependencies]:
    """The feature gates of a checkout as its newest release has them, and what each needs."""
    files = sorted({file for pattern in _GATES for file in checkout.glob(pattern)})
    code = {file: re.sub(r"//.*", "", file.read_text()) for file in files}
    names = {name: text for content in code.values() for name, text in _NAME.findall(content)}
    stages: dict[str, str] = {}
    for file, content in code.items():
        rows = _STAGES.findall(content)
        if sum(len(_STAGE.findall(row)) for _, row in rows) != content.count("{Version: "):
            raise SystemExit(f"{file}: a feature gate is not written as expected")
        stages.update({names[name]: _stage(_STAGE.findall(row)[-1]) for name, row in rows})
    needed = {
        names[gate]: [names[other] for other in re.findall(r"(?:\w+\.)?(\w+)", others)]
        for gate, others in _NEEDED.findall(code[checkout / _GATES[0]].partition("FeatureGateDependencies = map")[2])
    }
    return stages, needed


def _stage(spec: str) -> str:
    return ("locked " if "LockToDefault: true" in spec else "") + (
        "on" if re.search(r"\bDefault: true", spec) else "off"
    )


def fields(checkout: Path) -> Fields:
    """The fields of nodes, of the kinds that create pods, and of all types below them."""
    definitions: Mapping[str, Any] = json.loads((checkout / _SCHEMA).read_text())["definitions"]
    kinds = {"Node": "v1", **{row.kind: row.api_version for row in POD_CREATORS.values()}}
    found: dict[str, dict[str, str]] = {}
    waiting = [
        name
        for name, definition in definitions.items()
        for kind in definition.get("x-kubernetes-group-version-kind", ())
        if kinds.get(kind["kind"]) == "/".join(filter(None, (kind["group"], kind["version"])))
    ]
    for name in waiting:
        properties = {
            field: value for field, value in definitions[name]["properties"].items() if field not in _UNKNOWN_BELOW
        }
        row = dict.fromkeys(definitions[name]["properties"], "")
        row = dict(sorted({**row, **{field: _type(value) for field, value in properties.items()}}.items()))
        if found.setdefault(cls := name.rpartition(".")[2], row) != row:
            raise SystemExit(f"two types are called {cls}")
        below = [_below(value) for value in properties.values()]
        waiting += [
            kind for kind in dict.fromkeys(below) if "properties" in definitions.get(kind, ()) and kind not in waiting
        ]
    return found


def _type(schema: Mapping[str, Any]) -> str:
    """Go's word for the type of a field."""
    if "$ref" in schema:
        return _below(schema).rpartition(".")[2].replace("MicroTime", "Time")
    if schema.get("type") == "array":
        return f"[]{_type(schema['items'])}"
    if "additionalProperties" in schema:
        return f"map[string]{_type(schema['additionalProperties'])}"
    kind = str(schema.get("type", ""))
    return {"integer": str(schema.get("format")), "boolean": "bool"}.get(kind, kind)


def _below(schema: Mapping[str, Any]) -> str:
    return str((schema.get("items") or schema).get("$ref", "")).removeprefix("#/definitions/")


def _before(release: Release, part: Callable[[Changes], Mapping[str, Value]]) -> dict[str, Value]:
    return {
        name: value
        for since, changes in all_changes().items()
        if since < release
        for name, value in part(changes).items()
    }


def _changed(old: Mapping[str, Value], new: Mapping[str, Value], gone: Value) -> dict[str, Value]:
    """What ``new`` has otherwise than ``old``, and as ``gone`` what it has not any more."""
    missing = {name: gone for name, value in old.items() if name not in new and value != gone}
    return {name: value for name, value in sorted({**new, **missing}.items()) if old.get(name) != value}


def changes_of(checkout: Path, release: Release) -> Iterator[tuple[str, Any]]:
    """What a checkout has otherwise than the releases before ``release``: the parts of its file."""
    old_unrelated = _before(release, lambda changes: changes.unrelated_gates)
    unrelated = {*old_unrelated, *(all_changes()[release].unrelated_gates if release in all_changes() else ())}
    old_gates = {**_before(release, lambda changes: changes.gates), **old_unrelated}
    stages, needed = gates(checkout)
    changed = _changed(old_gates, stages, "gone")
    yield "gates", {name: stage for name, stage in changed.items() if name not in unrelated}
    yield "unrelated_gates", {name: stage for name, stage in changed.items() if name in unrelated}
    old_needed = {name: list(others) for name, others in _before(release, lambda changes: changes.dependencies).items()}
    yield "dependencies", _changed(old_needed, needed, [])
    old_fields: dict[str, dict[str, str | None]] = {}
    for since, earlier in all_changes().items():
        for cls, row in earlier.fields.items() if since < release else ():
            old_fields.setdefault(cls, {}).update(row)
    new_fields: Mapping[str, Mapping[str, str | None]] = fields(checkout)
    rows = {
        cls: _changed(old_fields.get(cls, {}), new_fields.get(cls, {}), None)
        for cls in sorted({*old_fields, *new_fields})
    }
    yield "fields", {cls: row for cls, row in rows.items() if row}


def write(checkout: Path, release: str | None) -> str:
    """Write the file of a release, the checkout's own minor unless one is given; how much changes in it."""
    file, minor = _VERSION
    if not (checkout / file).exists():
        raise SystemExit(f"{checkout} is no checkout of Kubernetes: it has no {file}")
    found = minor.search((checkout / file).read_text())
    name = release or f"1.{found[1] if found else '?'}"
    if not re.fullmatch(r"1\.\d+(\.\d+)?", name):
        raise SystemExit(f"{name}: no release; write it as 1.36 or 1.36.2")
    _, number, patch = (int(part) for part in f"{name}.0".split(".")[:3])
    parts = dict(changes_of(checkout, (number, patch)))
    source = f"{_GATES[0]}, *_features.go of staging/src/k8s.io and {_SCHEMA} of Kubernetes {name}"
    file_of_release = FOLDER / f"{name}.json"
    by_hand = json.loads(file_of_release.read_text()) if file_of_release.exists() else {}
    data = {**by_hand, "source": source, **parts}
    file_of_release.write_text(json.dumps({part: value for part, value in data.items() if value}, indent=2) + "\n")
    return f"{file_of_release.name}: " + ", ".join(
        f"{len(value)} {part.replace('_', ' ')}" for part, value in parts.items()
    )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.releases")
    parser.add_argument(
        "checkout", type=Path, nargs="?", help="of Kubernetes; without one, history.txt alone is written"
    )
    parser.add_argument("--release", help="1.X or 1.X.Y instead of the checkout's own minor")
    asked = parser.parse_args(arguments)
    if asked.checkout is not None:
        print(write(asked.checkout, asked.release))
    all_changes.cache_clear()
    HISTORY.write_text(text_of(histories(all_changes())))
    print(f"{HISTORY.name} is written: git diff shows what changes")


if __name__ == "__main__":
    main()
