"""What the files of `kubespread/kube/releases/` say, gate by gate and field by field: the other way to read them.

``history.txt`` holds the same, written by ``python -m tools.releases``. Whoever changes a value in one place alone is
told which.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from kubespread.kube.versions import Changes, Release

HISTORY = Path(__file__).with_name("history.txt")
_FIELD = re.compile(r"\w+\.\w+")


def histories(releases: Mapping[Release, Changes]) -> dict[str, str]:
    """By gate, what a gate needs, field, reason and score: in which releases it became what.

    Fields that have always been the same are left out: the newest release's are compared with the Kubernetes client's.
    """
    found: dict[str, str] = {}
    for name, text in _entries(releases):
        found[name] = f"{found[name]}, {text}" if name in found else text
    oldest = _release(next(iter(releases)))
    return {
        name: text
        for name, text in sorted(found.items())
        if not _FIELD.fullmatch(name) or "," in text or f"{oldest} " not in text
    }


def _entries(releases: Mapping[Release, Changes]) -> Iterator[tuple[str, str]]:
    for since, changes in releases.items():
        release = _release(since)
        for name, stage in changes.gates.items():
            yield name, f"{release} {stage}"
        for name, stage in changes.unrelated_gates.items():
            yield f"{name} (unrelated)", f"{release} {stage}"
        for name, others in changes.dependencies.items():
            yield f"{name} needs", f"{release} {' and '.join(others) or 'nothing'}"
        for cls, fields in changes.fields.items():
            for field, below in fields.items():
                yield f"{cls}.{field}", f"{release} {'gone' if below is None else below or 'unknown'}"
        for reason, texts in changes.reasons.items():
            yield f'reason "{reason}"', f"{release} instead of {' and '.join(texts)}"
        for plugin, score in changes.skipped_scores.items():
            yield f"score of {plugin} where it has nothing to say", f"{release} none instead of {score}"


def _release(release: Release) -> str:
    minor, patch = release
    return f"1.{minor}.{patch}" if patch else f"1.{minor}"


def text_of(histories: Mapping[str, str]) -> str:
    return "".join(f"{name}: {text}\n" for name, text in histories.items())


def kept() -> dict[str, str]:
    """What ``history.txt`` says."""
    return dict(line.split(": ", 1) for line in HISTORY.read_text().splitlines())
