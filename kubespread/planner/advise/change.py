"""A change of a pod or of its cluster, as data: what it is called, how to reproduce it, and how much it changes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from kubespread.snapshot.edits.types import Edit


@dataclass(frozen=True, slots=True)
class Change:
    """One thing to do, or several together."""

    family: str
    """What kind of change it is, of `planner.advise.families`."""
    said: str
    """``A maxSkew 2``: constraints by their letter."""
    cost: int
    """How much it changes: what costs less is suggested first."""
    settings: tuple[str, ...] = ()
    """Fields of the pod, as ``--set`` has them."""
    edits: tuple[Edit, ...] = ()
    """What is done to the cluster."""

    def joined(self, other: Change) -> Change:
        """Both together."""
        return Change(
            f"{self.family} + {other.family}",
            f"{self.said} + {other.said}",
            self.cost + other.cost,
            (*self.settings, *other.settings),
            (*self.edits, *other.edits),
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
    subject: str = ""
    """The letter of the constraint it is about, where it is about one."""
    can_help: bool = True
    """False: what rejects the pod elsewhere rejects it on every node, whatever the size."""

    @classmethod
    def of(cls, change: Change, summary: str, subject: str = "", *, can_help: bool = True) -> Ladder:
        """A change of one size."""
        return cls(change.family, summary, 1, lambda _: change, subject, can_help)

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
    """What becomes of others."""

    @property
    def suffices(self) -> bool:
        return self.count >= self.wanted


class Asker(Protocol):
    """Whoever makes a change and asks the engine again."""

    def ask(self, change: Change) -> Answer | None:
        """None: the change is refused, by the API server or by a disruption budget."""
