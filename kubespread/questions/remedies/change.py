"""A change of a pod or of its cluster, as data: what it is called, how to reproduce it, and how much it changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from kubespread.kube.api.core import Pod
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.snapshot.edits.verb import Edit

_MOST_TOGETHER = 100


@dataclass(frozen=True, slots=True)
class Change:
    """One thing to do, or several together."""

    family: str
    """What kind of change it is, of `remedies.families`."""
    what: str
    """``maxSkew 2``, ``uncordon node-7``."""
    cost: int
    """How much it changes: what costs less is suggested first."""
    settings: tuple[str, ...] = ()
    """Fields of the pod, as ``--set`` has them."""
    edits: tuple[Edit, ...] = ()
    """What is done to the cluster."""
    pieces: tuple[Change, ...] = ()
    """Of one that is done to several nodes: what is done to each; of several labels for one node: each of them."""
    phrase: str = ""
    """Of such a one: ``uncordon {} nodes``; ``label n0``, which the labels follow."""
    letter: str = ""
    """Of a change of one constraint: that of the constraint."""
    together: tuple[Change, ...] = ()
    """Of several changes at once: each of them."""
    brief: str = ""
    """Where names of nodes make it long: ``3 more nodes in zone a``."""

    @property
    def said(self) -> str:
        """``A maxSkew 2``: constraints by their letter."""
        return f"{self.letter} {self.what}" if self.letter else self.what

    @property
    def parts(self) -> tuple[Change, ...]:
        """Each by itself."""
        return self.together or (self,)

    @classmethod
    def of_pieces(cls, phrase: str, pieces: Sequence[Change]) -> Change:
        """The same done to several nodes, or to one; several labels for one node, or one."""
        first = pieces[0]
        if len(pieces) == 1:
            return first
        edits = tuple(edit for piece in pieces for edit in piece.edits)
        if "{}" in phrase:
            what, cost = phrase.format(len(pieces)), first.cost + 10 * (len(pieces) - 1)
        else:
            what = phrase + "".join(piece.what.removeprefix(phrase) for piece in pieces)
            cost = max(piece.cost for piece in pieces)
        return cls(first.family, what, cost, (), edits, tuple(pieces), phrase)

    def without(self, piece: Change) -> Change:
        """The same done to one node, or with one label, fewer."""
        return self.of_pieces(self.phrase, [other for other in self.pieces if other is not piece])

    def joined(self, other: Change) -> Change:
        """Both together."""
        return Change(
            f"{self.family} + {other.family}",
            f"{self.said} + {other.said}",
            self.cost + other.cost,
            (*self.settings, *other.settings),
            (*self.edits, *other.edits),
            together=(*self.parts, *other.parts),
        )


@dataclass(frozen=True, slots=True)
class Ladder:
    """The same change at several sizes, of which the smallest that suffices is looked for.

    What suffices at one size is taken to suffice at every larger one.
    """

    family: str
    summary: str
    """What is said of it where no size suffices: ``relaxing A``."""
    sizes: int
    at: Callable[[int], Change]
    """The change of the size at a place, 0 being the least."""
    letter: str = ""
    """That of the constraint it is about, where it is about one."""
    of_many: bool = False
    """Whether several nodes are changed at once."""

    @classmethod
    def of(cls, change: Change, summary: str) -> Ladder:
        """A change of one size."""
        return cls(change.family, summary, 1, lambda _: change, change.letter)

    @classmethod
    def of_several(cls, phrase: str, changes: Sequence[Change], summary: str) -> Iterator[Ladder]:
        """The same done to two nodes, to three ...; none where there is one."""
        most = min(len(changes), _MOST_TOGETHER) - 1
        if most > 0:
            family = changes[0].family
            yield cls(family, summary, most, lambda place: Change.of_pieces(phrase, changes[: place + 2]), of_many=True)

    @property
    def least(self) -> Change:
        """The smallest size."""
        return self.at(0)

    @property
    def most(self) -> Change:
        """The largest size."""
        return self.at(self.sizes - 1)


@dataclass(frozen=True, slots=True)
class Answer:
    """What the engine says once a change is made."""

    count: int
    """The nodes that fit the pod; where several pods are asked about, how many of them find a node."""
    wanted: int = 1
    """How many it takes."""
    consequences: tuple[str, ...] = ()
    """What becomes of others: ``preempting shop/api-1``."""
    harm: tuple[str, ...] = ()
    """What others lose by it: a change that moves the gap to somebody else closes none."""

    @property
    def is_met(self) -> bool:
        """Whether those who are asked about find their nodes, whatever becomes of others."""
        return self.count >= self.wanted

    @property
    def suffices(self) -> bool:
        return self.is_met and not self.harm


class Asker(Protocol):
    """Whoever makes a change and asks the engine again."""

    def ask(self, change: Change) -> Answer | None:
        """None: the change is refused, by the API server or by a disruption budget."""

    def ask_alone(self, change: Change) -> Answer | None:
        """The same if no other pod waited for a node; None also where none does."""

    @property
    def effort(self) -> float:
        """What was spent on all that was asked so far, in milliseconds or so: told by what was done, not by a clock."""


@dataclass(frozen=True, slots=True)
class Revised:
    """The pod with fields set as ``--set`` has them."""

    pod: Pod
    dressed: Callable[[Cluster], Cluster]
    """A cluster with what the pod brings along, such as the ReplicaSet that makes it."""


Revise = Callable[[Sequence[str]], Revised | None]
"""None: the API server refuses what is set."""
