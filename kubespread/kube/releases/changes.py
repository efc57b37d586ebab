"""What each release of Kubernetes changes, where it is no behavior: gates and fields, and how reasons and scores read.

A file of this folder holds what one release changes; ``1.18.json`` holds all that 1.18 has. `make release-data` writes
gates, dependencies and fields from a Kubernetes checkout, and each file names what it was made from.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import msgspec

Release = tuple[int, int]
"""A release by its minor and its patch."""
FOLDER = Path(__file__).parent
_NAME = re.compile(r"1\.(?P<minor>\d+)(?:\.(?P<patch>\d+))?\.json")


class Changes(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What one release changes."""

    source: str
    """What it was read from."""
    gates: Mapping[str, str] = {}
    """Feature gates: ``on`` or ``off`` by default, ``locked on`` or ``locked off``, or ``gone``, its behavior fixed."""
    unrelated_gates: Mapping[str, str] = {}
    """Those that affect neither the placement of pods nor what is read of them: switching one changes no answer."""
    dependencies: Mapping[str, tuple[str, ...]] = {}
    """What a gate needs to be on with it, which components check at startup."""
    fields: Mapping[str, Mapping[str, str | None]] = {}
    """By type of the API, its fields: the type of each or of its list's elements, ``""`` where nothing is known of what
    stands there, null for a field that is gone. Of nodes, of the kinds that create pods, and of all types below them.
    """
    reasons: Mapping[str, tuple[str, ...]] = {}
    """Why a node is rejected, in the words of this release, and what the releases before say instead. ``{taint}`` is
    the one that is not tolerated.
    """
    skipped_scores: Mapping[str, int] = {}
    """Plugins that from here on leave a pod unscored that they have nothing to say about, and what each node of it
    scored before.
    """


@cache
def all_changes() -> dict[Release, Changes]:
    """What every release changes, the oldest first."""
    found = {
        (int(name["minor"]), int(name["patch"] or 0)): msgspec.json.decode(file.read_bytes(), type=Changes)
        for file in FOLDER.iterdir()
        if (name := _NAME.fullmatch(file.name))
    }
    return dict(sorted(found.items()))


def changes_to(release: Release) -> Iterator[Changes]:
    """What led from release to release up to this one, the oldest first."""
    return (changes for since, changes in all_changes().items() if since <= release)


def changes_after(release: Release) -> Iterator[Changes]:
    """What the releases after this one have changed, the newest first."""
    return (changes for since, changes in reversed(all_changes().items()) if since > release)


@cache
def older_reasons(release: Release) -> Mapping[str, tuple[str, ...]]:
    """A release's own wording of reasons, by that of the newest; others are worded as today."""
    worded: dict[str, tuple[str, ...]] = {}
    for changes in changes_after(release):
        for reason, texts in {**{reason: (reason,) for reason in changes.reasons}, **worded}.items():
            worded[reason] = tuple(older for text in texts for older in changes.reasons.get(text, (text,)))
    return worded
