"""The remedies of findings as one patch of the manifests, for ``git apply``."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from kubespread.candidate.manifest import Manifest, kind_of, manifest_from_text
from kubespread.candidate.settings import Operation, diff_of, differences, operations, path_of, with_operations
from kubespread.errors import KubespreadError
from kubespread.escaping import escaped
from kubespread.manifest.objects import KubernetesObject
from kubespread.questions.check.report import Finding, Remedy, Severity
from kubespread.questions.check.rule import LastRule
from kubespread.questions.check.rules import rule_called

_CHANGED = "it changes what a remedy above changes: apply that, and check again"
_ALONE = "it was searched for without the remedies above: apply these, and check again"
_ENVIRONMENT = "what is changed stands on a line with the environment of a container, or before one"
_INFO = "only worth knowing: left as it is"


class _Patch(Struct):
    """A file and what became of it."""

    before: str
    after: str
    changed: dict[str, list[tuple[str | int, ...]]] = field(default_factory=dict)
    """By workload, the paths in it that remedies have changed."""


def patch(findings: Iterable[Finding], written: Mapping[tuple[str | None, str], Manifest], template_path: str) -> str:
    """A unified diff of the files, the remedies of the worst findings first, and last those for what the others leave;
    those that it lacks are comments above it.

    An info is no reason to change anything.
    """
    files, left = dict[str, _Patch](), list[str]()
    for finding in sorted(findings, key=lambda finding: (_is_last(finding), finding.severity.rank)):
        why = _not_applied(finding, written, template_path, files)
        if why:
            head = " ".join(filter(None, (finding.place, finding.severity, finding.code, finding.rule, finding.called)))
            left.append(f"# {escaped(head)}: {escaped(finding.remedy.text)} ({escaped(why)})\n")
    diffs = {name: diff_of(f"a/{name}", f"b/{name}", file.before, file.after) for name, file in sorted(files.items())}
    left += (f"# {escaped(name)}: not patched: {_ENVIRONMENT}\n" for name, diff in diffs.items() if diff is None)
    return "".join((*left, *filter(None, diffs.values())))


def _not_applied(
    finding: Finding, written: Mapping[tuple[str | None, str], Manifest], template_path: str, files: dict[str, _Patch]
) -> str:
    """Why the remedy is not in ``files``; empty where it is, as far as it is about the manifest."""
    remedy, workload = finding.remedy, str(finding.workload)
    manifest = written.get((finding.file, workload))
    if finding.file is None:
        return "not in a file"
    if not (remedy.settings or remedy.fields) or manifest is None:
        return _edits(remedy) or "no single change of this object"
    if finding.severity is Severity.INFO:
        return _INFO
    name = os.path.relpath(finding.file)
    file = files.get(name) or _read(name, finding.file, manifest)
    if isinstance(file, str):
        return file
    earlier = file.changed.setdefault(workload, [])
    if earlier and _is_last(finding):
        return _ALONE
    # The object that is chosen, as the text has it by now.
    place = next(place for place, item in enumerate(manifest.items) if item is manifest.chosen)
    item = manifest_from_text(manifest.file, file.after.encode(), template_path).items[place]
    try:
        changed = _operations(item, remedy)
    except KubespreadError as error:
        return _CHANGED if earlier else str(error)
    # Of a list where an item comes or is another one, all of it.
    paths = [each.path[:-1] if isinstance(each.path[-1], int) else each.path for each in changed]
    if not changed:
        return "a remedy above does that too" if earlier else "the object says so already"
    if any(path[: len(other)] == other[: len(path)] for path in paths for other in earlier):
        return _CHANGED
    after = with_operations(file.after, item, changed)
    if after is None:
        return "the text is written in a way that is not changed line by line"
    file.after = after
    earlier += paths
    files[name] = file
    return _edits(remedy)


def _is_last(finding: Finding) -> bool:
    return isinstance(rule_called(finding.code), LastRule)


def _edits(remedy: Remedy) -> str:
    """What the remedy is beside the manifest."""
    return f"in the cluster: {', '.join(remedy.edits)}" if remedy.edits else ""


def _read(name: str, path: str, manifest: Manifest) -> _Patch | str:
    """The file as it is read, or why no patch reaches it."""
    if name.startswith(os.pardir):
        return "outside of the working directory, where no patch reaches"
    text = manifest.text or b""
    try:
        # Opening a named pipe once more may block.
        is_same = manifest.text is not None and Path(path).is_file() and Path(path).read_bytes() == text
    except OSError:
        is_same = False
    shown = text.decode(errors="replace").replace("\n", "").replace("\t", "")
    if not is_same or not shown.isprintable() or not name.isprintable() or '"' in name or "\\" in name:
        return "not a file of plain text with lines that end with LF"
    return _Patch(text.decode(), text.decode())


def _operations(item: KubernetesObject, remedy: Remedy) -> Sequence[Operation]:
    """Raises KubespreadError."""
    if remedy.settings:
        return operations(item.data, kind_of(item), remedy.settings)
    changed = deepcopy(item.data)
    for path, value in remedy.fields.items():
        moved = item.template_path and path.startswith(item.template_path)
        _set(changed, path_of(f"spec.template{path.removeprefix(item.template_path)}" if moved else path), value)
    return list(differences(item.data, changed))


def _set(data: Any, path: Sequence[str | int], value: Any) -> None:
    """Objects above the field are made where they are not there."""
    for step in path[:-1]:
        if isinstance(data, dict) and data.get(step) is None:
            data[step] = {}
        data = data[step]
    if value is None:
        data.pop(path[-1], None)
    else:
        data[path[-1]] = value
