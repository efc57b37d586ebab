"""A change of a pod or of its cluster, as data: what it is called, how to reproduce it, and how much it changes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Protocol

from msgspec import Struct

from kubespread.kube.api.core import Pod
from kubespread.kube.owners import NamespacedName
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.snapshot.edits.verb import Edit


class Change(Struct, frozen=True):
    """One thing to do, or several together."""

    family: str
    """The kind of change, as in `remedies.families`."""
    what: str
    """``maxSkew 2``, ``uncordon node-7``."""
    cost: int
    """Extent of the change: what costs less is suggested first."""
    settings: tuple[str, ...] = ()
    """Fields of the pod, as ``--set`` has them."""
    edits: tuple[Edit, ...] = ()
    fields: tuple[tuple[str, Any], ...] = ()
    """Other values of fields of the question, by name."""
    pieces: tuple[Change, ...] = ()
    """The parts of a change to several nodes, one per node; or of several labels for one node, one per label."""
    phrase: str = ""
    """The phrase for such a change: ``uncordon {} nodes``; ``label n0``, which the labels follow."""
    letter: str = ""
    """The letter of the constraint it changes, if it changes one."""
    together: tuple[Change, ...] = ()
    """The parts, if it combines several changes."""
    brief: str = ""
    """Short form where names of nodes make it long: ``3 more nodes in zone a``."""

    @property
    def said(self) -> str:
        """``A maxSkew 2``: constraints by their letter."""
        return f"{self.letter} {self.what}" if self.letter else self.what

    @property
    def key(self) -> Hashable:
        """Effect of the change, whatever it is called."""
        return self.settings, self.edits, self.fields

    @property
    def parts(self) -> tuple[Change, ...]:
        """Changes it is made of, each by itself."""
        return self.together or (self,)

    @classmethod
    def of_pieces(cls, phrase: str, pieces: Sequence[Change]) -> Change:
        """One change to several nodes, or to one; several labels for one node, or one."""
        first = pieces[0]
        if len(pieces) == 1:
            return first
        edits = tuple(edit for piece in pieces for edit in piece.edits)
        if "{}" in phrase:
            what, cost = phrase.format(len(pieces)), first.cost + 10 * (len(pieces) - 1)
        else:
            what = phrase + "".join(piece.what.removeprefix(phrase) for piece in pieces)
            cost = max(piece.cost for piece in pieces)
        return cls(first.family, what, cost, edits=edits, pieces=tuple(pieces), phrase=phrase)

    def without(self, piece: Change) -> Change:
        """The change without one of its nodes or labels."""
        return self.of_pieces(self.phrase, [other for other in self.pieces if other is not piece])

    def joined(self, other: Change) -> Change:
        """Change that makes both together."""
        return Change(
            f"{self.family} + {other.family}",
            f"{self.said} + {other.said}",
            self.cost + other.cost,
            (*self.settings, *other.settings),
            (*self.edits, *other.edits),
            together=(*self.parts, *other.parts),
        )


class Ladder(Struct, frozen=True):
    """One change at several sizes, to find the smallest that suffices.

    What suffices at one size is assumed to suffice at every larger one.
    """

    family: str
    summary: str
    """The text where no size suffices: ``relaxing A``."""
    sizes: int
    at: Callable[[int], Change]
    """The change of the n-th size, 0 being the smallest."""
    letter: str = ""
    """The letter of its constraint, if it has one."""
    of_many: bool = False
    """True if several nodes are changed at once."""

    @classmethod
    def of(cls, change: Change, summary: str) -> Ladder:
        """A change of one size."""
        return cls(change.family, summary, 1, lambda _: change, change.letter)

    @classmethod
    def of_sizes(cls, sizes: Sequence[Change]) -> Ladder:
        """Changes of one kind, each larger than the one before."""
        return cls(sizes[0].family, sizes[-1].what, len(sizes), sizes.__getitem__)

    @property
    def least(self) -> Change:
        """The smallest size."""
        return self.at(0)

    @property
    def most(self) -> Change:
        """The largest size."""
        return self.at(self.sizes - 1)


class Answer(Struct, frozen=True):
    """The engine's answer after a change."""

    count: int
    """The nodes that fit the pod; for several pods, how many of them find a node; 1 for anything else that is done."""
    needed: int = 1
    """Number of them that is needed."""
    consequences: tuple[str, ...] = ()
    """Consequences for others: ``preempting shop/api-1``."""
    harm: tuple[str, ...] = ()
    """Losses of others: a change that only shifts the problem to another pod solves nothing."""
    lost: tuple[NamespacedName, ...] = ()
    """Pods lost for good, which is part of the price of the change, not harm to others."""

    @property
    def is_met(self) -> bool:
        """True if the pods in question find their nodes, whatever happens to others."""
        return self.count >= self.needed

    @property
    def suffices(self) -> bool:
        return self.is_met and not self.harm


class Goal(Protocol):
    """A question that is asked again after a change, and answered yes once the change suffices."""

    def ask(self, change: Change) -> Answer | None:
        """The answer after the change; None where the API server or a disruption budget refuses it."""

    def ask_alone(self, _change: Change) -> Answer | None:
        """The answer if no other pod waited for a node; None if none does, and where only all together matter."""
        return None


class Revised(Struct, frozen=True):
    """The pod with fields set as ``--set`` has them."""

    pod: Pod
    dressed: Callable[[Cluster], Cluster]
    """Function that adds the pod's other objects to a cluster, such as the ReplicaSet that makes it."""


Revise = Callable[[Sequence[str]], Revised | None]
"""Function that revises the pod with settings; None where the API server refuses them."""
