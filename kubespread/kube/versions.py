"""Releases of Kubernetes to behave like, 1.18 to 1.38, and the feature gates that are set on them.

Changes of a release that are not behavior are in a file in `kube/releases/`: gates and fields, and the wording of
reasons and scores. ``1.18.json`` has everything of 1.18. `make release-data` writes gates, dependencies and fields from
a Kubernetes checkout, and each file names its source. A cluster's operator may change gates.

Source of the rules: release notes and feature gate tables of the releases; gates have their defaults unless set.
Source: staging/src/k8s.io/component-base/featuregate/feature_gate.go, Set, SetFromMap, Validate
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from kubespread.errors import UsageError
from kubespread.kube.gotext import aggregate, compact_json
from kubespread.regex import regex

Release = tuple[int, int]
"""A release by its minor and its patch."""
FOLDER = Path(__file__).parent / "releases"
_FILE_NAME = regex(r"1\.(?P<minor>\d+)(?:\.(?P<patch>\d+))?\.json")


class Changes(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Changes of one release."""

    source: str
    gates: Mapping[str, str] = {}
    """Feature gates: ``on`` or ``off`` by default, ``locked on`` or ``locked off``, or ``gone``, its behavior fixed."""
    unrelated_gates: Mapping[str, str] = {}
    """Gates that affect neither placement nor any field that is read: switching one changes no answer."""
    dependencies: Mapping[str, tuple[str, ...]] = {}
    """Gates that a gate requires to be on, which components check at startup."""
    fields: Mapping[str, Mapping[str, str | None]] = {}
    """Go types of fields by API type, ``""`` if unknown, null if removed; of nodes, pod creators and types below."""
    reasons: Mapping[str, tuple[str, ...]] = {}
    """Reworded rejection reasons: earlier texts by this release's text. ``{taint}`` is the untolerated taint."""
    skipped_scores: Mapping[str, int] = {}
    """Plugins that from here on skip pods they have nothing to say about, and each node's score before."""


@cache
def all_changes() -> dict[Release, Changes]:
    """Changes of every release, the oldest first."""
    changes = {
        (int(name["minor"]), int(name["patch"] or 0)): msgspec.json.decode(file.read_bytes(), type=Changes)
        for file in FOLDER.iterdir()
        if (name := _FILE_NAME.fullmatch(file.name))
    }
    return dict(sorted(changes.items()))


def changes_to(release: Release) -> Iterator[Changes]:
    """Yield the changes up to this release, the oldest first."""
    return (changes for since, changes in all_changes().items() if since <= release)


def changes_after(release: Release) -> Iterator[Changes]:
    """Yield the changes of later releases, the newest first."""
    return (changes for since, changes in reversed(all_changes().items()) if since > release)


@cache
def older_reasons(release: Release) -> Mapping[str, tuple[str, ...]]:
    """A release's wording of reasons, by the newest one; others are worded as today."""
    worded: dict[str, tuple[str, ...]] = {}
    for changes in changes_after(release):
        for reason, texts in {**{reason: (reason,) for reason in changes.reasons}, **worded}.items():
            worded[reason] = tuple(older for text in texts for older in changes.reasons.get(text, (text,)))
    return worded


_TRUE = frozenset({"1", "t", "T", "TRUE", "true", "True"})
_FALSE = frozenset({"0", "f", "F", "FALSE", "false", "False"})

MODELLED: frozenset[str] = frozenset(msgspec.json.decode((FOLDER / "modelled.json").read_bytes()))
"""Gates that change an answer here; switching another is reported as not modeled."""


class _Gate(Struct, frozen=True):
    """A feature gate as one release has it."""

    default: bool
    locked: bool = False
    removed: bool = False
    is_related: bool = True


@cache
def _gates(release: Release) -> Mapping[str, _Gate]:
    """Gates that a release has or has removed."""
    gates: dict[str, _Gate] = {}
    for changes in changes_to(release):
        for is_related, changed in ((True, changes.gates), (False, changes.unrelated_gates)):
            for name, stage in changed.items():
                if stage == "gone":
                    gates[name] = replace(gates[name], removed=True)
                else:
                    gates[name] = _Gate(stage.endswith("on"), stage.startswith("locked"), is_related=is_related)
    return gates


@cache
def _dependencies(release: Release) -> Mapping[str, tuple[str, ...]]:
    return {gate: needed for changes in changes_to(release) for gate, needed in changes.dependencies.items()}


def gate_default(name: str, release: Release) -> bool:
    """True if an unset gate is on in a release."""
    gate = _gates(release).get(name)
    return gate is not None and gate.default


def has_gate(name: str, release: Release) -> bool:
    """True if a release has this gate, or had it and fixed its behavior."""
    return name in _gates(release)


@cache
def parse_gates(text: str, release: Release) -> Mapping[str, bool]:
    """Parse ``Name=true,Other=false`` like a component's --feature-gates, with its messages. Raises UsageError."""
    values: dict[str, bool] = {}
    for pair in filter(None, (part.strip() for part in text.split(","))):
        name, separator, setting = (part.strip() for part in pair.partition("="))
        if not separator:
            raise UsageError(f"missing bool value for {name}")
        if setting not in _TRUE | _FALSE:
            raise UsageError(
                f'invalid value of {name}={setting}, err: strconv.ParseBool: parsing "{setting}": invalid syntax'
            )
        gate, value = _gates(release).get(name), setting in _TRUE
        if gate is None or gate.removed:
            raise UsageError(f"unrecognized feature gate: {name}")
        if gate.locked and value != gate.default:
            raise UsageError(
                f"cannot set feature gate {name} to {compact_json(value)}, feature is locked to "
                f"{compact_json(gate.default)}"
            )
        values[name] = value
    if problems := list(_unmet(values, release)):
        raise UsageError(aggregate(problems))
    return {name: value for name, value in values.items() if _gates(release)[name].is_related}


def _unmet(values: Mapping[str, bool], release: Release) -> Iterator[str]:
    """Yield messages on gates that are on while a dependency is off; the components' own order is random."""
    for gate, needed in sorted(_dependencies(release).items()):
        if values.get(gate, gate_default(gate, release)) and not _gates(release)[gate].removed:
            off = [other for other in needed if not values.get(other, gate_default(other, release))]
            if off:
                yield f"{gate} is enabled, but depends on features that are disabled: [{' '.join(off)}]"


_VERSION = regex(r"v?1\.(?P<minor>\d{1,3})(?:\.(?P<patch>\d{1,4}))?(?:[-+].*)?", re.ASCII)
_LATEST_PATCH = 10_000
OLDEST, NEWEST = 18, 37
UPCOMING, MERGED_UP_TO = 38, "v1.38.0-alpha.2"
"""The release that is modeled ahead, or ``NEWEST``, and its last preview with modeled changes."""
SCORES_SINCE, RECORDED_SINCE = 24, 34
"""The first releases with modeled scores, and with recorded answers."""


class KubeVersion(Struct, frozen=True):
    """A minor of Kubernetes 1, and its patch if known; else the latest patch."""

    minor: int = NEWEST
    patch: int | None = None
    gates: tuple[tuple[str, bool], ...] = ()
    """Feature gates that are set, and their values."""

    @classmethod
    def parse(cls, text: str) -> KubeVersion:
        """Parse ``1.34``, ``1.34.1`` or ``v1.34.1-eks-1``. Raises UsageError."""
        match = _VERSION.fullmatch(text.strip())
        if match is None:
            raise UsageError(f"invalid Kubernetes version {text!r}: expected 1.X or 1.X.Y")
        minor = int(match["minor"])
        if minor < OLDEST:
            raise UsageError(
                f"kube-scheduler 1.{minor} does not spread pods: topologySpreadConstraints are on by default since "
                f"1.{OLDEST}"
            )
        if minor > UPCOMING:
            ahead = f", and what is merged of 1.{UPCOMING}" if UPCOMING > NEWEST else ""
            raise UsageError(f"kube-scheduler 1.{minor} is not modeled: versions 1.{OLDEST} to 1.{NEWEST} are{ahead}")
        return cls(minor, int(match["patch"]) if match["patch"] else None)

    @classmethod
    def of_server(cls, text: str) -> KubeVersion:
        """Version that a server reports; the oldest or newest release if it is not modeled, the newest if none."""
        minor = cls.minor_of(text)
        if minor is None:
            return cls()
        return cls.parse(text) if OLDEST <= minor <= UPCOMING else cls(min(max(minor, OLDEST), NEWEST))

    @staticmethod
    def minor_of(text: str) -> int | None:
        """Minor in ``text``, modeled or not; None without one."""
        numbers = KubeVersion.numbers_in(text)
        return numbers[0] if numbers is not None else None

    @staticmethod
    def numbers_in(text: str) -> tuple[int, int] | None:
        """Minor and patch, by default 0, in ``text``, modeled or not; None without a version."""
        match = _VERSION.fullmatch(text.strip())
        return (int(match["minor"]), int(match["patch"] or 0)) if match is not None else None

    @property
    def release(self) -> Release:
        """Minor and patch, by default the latest one."""
        return self.minor, _LATEST_PATCH if self.patch is None else self.patch

    @property
    def is_released(self) -> bool:
        """False for a preview."""
        return self.minor <= NEWEST

    def reaches(self, minor: int, patch: int = 0, *, picked: Sequence[Release] = ()) -> bool:
        """True if this version is ``1.minor.patch`` or newer, or of an older minor from a patch that the change was
        ``picked`` into.
        """
        release = self.release
        return release >= (minor, patch) or any(self.minor == pick[0] and release >= pick for pick in picked)

    def with_gates(self, text: str) -> KubeVersion:
        """The release with feature gates, ``Name=true,Other=false``. Raises UsageError."""
        return replace(self, gates=tuple(parse_gates(text, self.release).items()))

    def has(self, gate: str) -> bool:
        """True if a feature gate is on: as set, else by default of the release, even if the gate was removed."""
        return dict(self.gates).get(gate, gate_default(gate, self.release))

    def lacks(self, gate: str) -> bool:
        """True if the release has a feature gate and it is off."""
        return has_gate(gate, self.release) and not self.has(gate)

    @property
    def changed_gates(self) -> dict[str, bool]:
        """The gates that are set differently from the release's defaults."""
        return {name: value for name, value in self.gates if value != gate_default(name, self.release)}

    def __str__(self) -> str:
        return f"1.{self.minor}" if self.patch is None else f"1.{self.minor}.{self.patch}"


LATEST = KubeVersion()
