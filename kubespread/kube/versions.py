"""Which release of Kubernetes to behave like, 1.18 to 1.38, which feature gates are set on it, and what is proposed.

Proposed semantics that no release has yet, selected by name; the first two are merged for 1.38, which has them too.

Source of the rules: release notes and feature gate tables of the releases; gates have their defaults unless set.
Source of each: the pull request or enhancement named beside it. They may change before a release has them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches

from msgspec import Struct
from msgspec.structs import replace

from kubespread.errors import UsageError
from kubespread.kube import feature_gates
from kubespread.kube.releases.changes import Release


class Proposal(Struct, frozen=True):
    """One change of behavior."""

    name: str
    source: str
    says: str
    """What is different with it."""


EMPTY_SELECTOR = Proposal(
    "empty-selector",
    "kubernetes#141340",
    "a spread constraint with the selector {} counts all pods of the namespace, not none",
)
EMPTY_BUDGET_SELECTOR = Proposal(
    "empty-budget-selector",
    "kubernetes#141785",
    "preemption honors disruption budgets with the selector {}, for pods without labels too",
)
FULLY_TAINTED_DOMAINS = Proposal(
    "fully-tainted-domains",
    "KEP-5980",
    "with nodeTaintsPolicy Honor a domain whose nodes are all tainted counts towards minDomains, not for the skew",
)
PROPOSALS: Mapping[str, Proposal] = {
    proposal.name: proposal for proposal in (EMPTY_SELECTOR, EMPTY_BUDGET_SELECTOR, FULLY_TAINTED_DOMAINS)
}


def parse(text: str) -> tuple[str, ...]:
    """``empty-selector,fully-tainted-domains`` as names, each once. Raises UsageError for one that is no proposal's."""
    chosen = tuple(dict.fromkeys(name for part in text.split(",") if (name := part.strip())))
    for name in chosen:
        if name not in PROPOSALS:
            meant = get_close_matches(name, PROPOSALS, 1)
            hint = f'; did you mean "{meant[0]}"?' if meant else f"; there are {', '.join(PROPOSALS)}"
            raise UsageError(f'no proposed semantics "{name}"{hint}')
    return chosen


def sentences_of(names: Iterable[str]) -> Iterator[str]:
    """The note in a report for each proposal it applies."""
    for name in names:
        proposal = PROPOSALS[name]
        yield f"proposed semantics {name} ({proposal.source}): {proposal.says}"


_VERSION = re.compile(r"v?1\.(?P<minor>\d{1,3})(?:\.(?P<patch>\d{1,4}))?(?:[-+].*)?", re.ASCII)
_LATEST_PATCH = 10_000
OLDEST, NEWEST = 18, 37
UPCOMING, MERGED_UP_TO = 38, "v1.38.0-alpha.2"
"""The release that is modeled ahead, ``NEWEST`` where none is, and the last of its previews whose changes are."""
SCORES_SINCE = 24


class KubeVersion(Struct, frozen=True):
    """A minor of Kubernetes 1, and its patch where it is known; without one the latest patch is meant."""

    minor: int = NEWEST
    patch: int | None = None
    gates: tuple[tuple[str, bool], ...] = ()
    """Feature gates set by name, and to what."""
    proposed: tuple[str, ...] = ()
    """The proposed semantics that are asked for, by their names."""

    @classmethod
    def parse(cls, text: str) -> KubeVersion:
        """``1.34``, ``1.34.1`` or ``v1.34.1-eks-1``. Raises UsageError."""
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
        """What a server says it is, or the modeled one nearest to it that is released; the newest when it does not
        say.
        """
        minor = cls.minor_of(text)
        if minor is None:
            return cls()
        return cls.parse(text) if OLDEST <= minor <= UPCOMING else cls(min(max(minor, OLDEST), NEWEST))

    @staticmethod
    def minor_of(text: str) -> int | None:
        """The minor that ``text`` names, modeled or not; None when it names none."""
        numbers = KubeVersion.numbers_in(text)
        return numbers[0] if numbers is not None else None

    @staticmethod
    def numbers_in(text: str) -> tuple[int, int] | None:
        """The minor and the patch that ``text`` names, modeled or not; None when it names none."""
        match = _VERSION.fullmatch(text.strip())
        return (int(match["minor"]), int(match["patch"] or 0)) if match is not None else None

    @property
    def release(self) -> Release:
        """Minor and patch, the latest one where it is not known."""
        return self.minor, _LATEST_PATCH if self.patch is None else self.patch

    @property
    def is_released(self) -> bool:
        """Whether it is no preview."""
        return self.minor <= NEWEST

    def since(self, minor: int, patch: int = 0) -> bool:
        """Whether this version is ``1.minor.patch`` or newer."""
        return self.release >= (minor, patch)

    def with_gates(self, text: str) -> KubeVersion:
        """The same release with feature gates set, ``Name=true,Other=false``. Raises UsageError."""
        return replace(self, gates=tuple(feature_gates.parse(text, self.release).items()))

    def with_proposals(self, text: str) -> KubeVersion:
        """The same release with proposed semantics on top, ``empty-selector,...``. Raises UsageError."""
        return replace(self, proposed=parse(text))

    def proposes(self, proposal: Proposal) -> bool:
        """Whether a proposed change is asked for."""
        return proposal.name in self.proposed

    def has(self, gate: str) -> bool:
        """Whether a feature gate is on: as set, else as the release has it, also where the gate itself is gone."""
        return dict(self.gates).get(gate, feature_gates.default(gate, self.release))

    def lacks(self, gate: str) -> bool:
        """Whether the release has a feature gate, and off."""
        return feature_gates.exists(gate, self.release) and not self.has(gate)

    @property
    def changed_gates(self) -> dict[str, bool]:
        """The gates that are set differently from the release's defaults."""
        return {name: value for name, value in self.gates if value != feature_gates.default(name, self.release)}

    def __str__(self) -> str:
        return f"1.{self.minor}" if self.patch is None else f"1.{self.minor}.{self.patch}"


LATEST = KubeVersion()
