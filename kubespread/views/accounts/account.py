"""What a report says, apart from how it is laid out: a page and a comment in a pull request are made of the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum


class Tone(StrEnum):
    """How good something is; every place that colors it says it in words too."""

    PLAIN = ""
    GOOD = "good"
    WARN = "warn"
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class Row:
    cells: Sequence[str]
    tone: Tone = Tone.PLAIN


@dataclass(frozen=True, slots=True)
class Table:
    caption: str
    header: Sequence[str]
    rows: Sequence[Row]
    is_detail: bool = False
    """Whether it stands below what answers the question."""


@dataclass(frozen=True, slots=True)
class Bar:
    """The matching pods of one domain."""

    name: str
    before: int
    after: int
    said: str = ""
    """What they come to: ``3+1−1 = 3 > 1``."""
    tone: Tone = Tone.PLAIN


@dataclass(frozen=True, slots=True)
class Bars:
    """One constraint, a bar a domain."""

    title: str
    bars: Sequence[Bar]
    limit: int | None = None
    """As many pods as a domain may have, the next one included: minimum + maxSkew; None for what is not limited."""


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """What is said of single nodes."""

    header: Sequence[str]
    rows: Mapping[str, Row]
    """By the name of the node."""
    verdicts: Mapping[str, str] = field(default_factory=dict)
    """Of each node in a few words."""
    colors: str = ""
    """What the tones of nodes mean; empty where they have none."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One step: the pods of the nodes where that changed, and the nodes that went or came."""

    label: str
    text: str
    pods: Mapping[str, int] = field(default_factory=dict)
    gone: Sequence[str] = ()
    joined: Sequence[str] = ()
    states: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """What keeps pods away from the nodes where that changed: ``cordoned``, ``not ready``."""
    old: Mapping[str, int] = field(default_factory=dict)
    """How many of ``pods`` are of the old template, where a rollout replaces them."""


@dataclass(frozen=True, slots=True)
class Account:
    title: str
    provenance: str
    answer: Sequence[str]
    """The first one is the answer, the others are what it rests on."""
    tone: Tone = Tone.PLAIN
    bars: Sequence[Bars] = ()
    tables: Sequence[Table] = ()
    nodes: NodeFacts | None = None
    before: Mapping[str, int] | None = None
    """The pods of each node before the first frame; None: those that the map marks."""
    is_rollout: bool = False
    """Whether those are of an old template, and frames tell old pods from new ones."""
    frames: Sequence[Frame] = ()
    opens_at_end: bool = True
    """Whether the last frame is what comes of it all, and the one to see first."""
    beside: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Notes, gaps and what is not modeled, by heading."""


def source(cluster_phrase: str, kube_version: str, *more: str) -> str:
    """Where an answer comes from, in one line."""
    return " · ".join(part for part in (cluster_phrase, f"kube-scheduler v{kube_version}", *more) if part)
