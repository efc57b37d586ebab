"""Changes that would make a pod fit, each proven by asking again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from kubespread.reports.parts import Report
from kubespread.wording import count_of, some_of

COMBINATION = "combination"
"""The family under which untried combinations are counted."""


class Suggestion(Report, frozen=True):
    """A change, or several together, after which the pod fits, or all pods in question find a node."""

    change: str
    """``A maxSkew 2``, ``uncordon node-7``: constraints by their letter."""
    family: str
    """Kind of change; several joined by `` + ``."""
    options: tuple[str, ...]
    """Options that reproduce it on the command line: ``--set maxSkew[zone]=2``."""
    nodes: int | None
    """Number of nodes that fit then; null for several pods."""
    placed: int | None
    """Number of the pods that find a node then; null for one pod."""
    consequences: tuple[str, ...] = ()
    """Consequences for other pods."""
    notes: tuple[str, ...] = ()
    """Notes on how long it lasts, and on what disruption budgets and priorities say of it."""
    alternatives: tuple[str, ...] = ()
    """Options for other changes of the same kind that also suffice."""
    commands: tuple[str, ...] = ()
    """kubectl commands that make the change in the cluster, or print the manifest with it."""
    constraints: tuple[str, ...] = ()
    """The constraints it changes, by their letters."""
    brief: str = ""
    """The change without the names of nodes that its options have: ``3 more nodes in zone a``."""

    @property
    def as_told(self) -> str:
        """Its options, ``set maxSkew[zone]=2`` for fields of the pod: not every command has ``--set``."""
        return " ".join(option.removeprefix("--") if option.startswith("--set ") else option for option in self.options)


class NotEnough(Report, frozen=True):
    """Changes that were tried alone, at their largest, and do not suffice."""

    family: str
    """Kind of change."""
    changes: tuple[str, ...]
    """``relaxing A``."""
    constraints: tuple[str, ...] = ()
    """The constraints they are about, by their letters."""
    together: tuple[str, ...] = ()
    """Subset of ``changes`` that are made to several nodes at once."""


class Costly(Report, frozen=True):
    """Changes that were tried alone and would do, but for what others lose by them."""

    family: str
    """Kind of change."""
    changes: tuple[str, ...]
    """``evicting shop/web-0``."""
    harm: tuple[str, ...]
    """Cost of the first of them: ``shop/web-3 would be pending``, ``shop/tool would be lost for good``."""
    together: tuple[str, ...] = ()
    """Subset of ``changes`` that are made to several nodes at once."""


class Advice(Report, frozen=True):
    """Changes that were tried, by whether they suffice."""

    families: tuple[str, ...]
    """The kinds of changes that were tried."""
    enough: tuple[Suggestion, ...]
    """Single changes, what gives a promise up last; combinations only where no single change suffices."""
    not_enough: tuple[NotEnough, ...]
    """Changes that were tried and do not suffice."""
    costly: tuple[Costly, ...] = ()
    """Changes that were tried and would do, but only at others' cost."""
    tried: int = 0
    """Number of changes tried, at each of their sizes and together."""
    untried: dict[str, int] = {}
    """Number of changes left untried, by family; ``combination`` counts several changes together."""


SCHEDULE_ANYWAY = "ScheduleAnyway"
"""The family of changes that relax a constraint."""


class _Kind(NamedTuple):
    """Phrases for a family's changes: one, or any of several."""

    one: str
    several: str


_COUNTED: Mapping[str, _Kind] = {
    "uncordon": _Kind("uncordoning the one cordoned node", "uncordoning any of {} nodes"),
    "label": _Kind("{what}", "labeling any of {} nodes"),
    "untaint": _Kind("taking off the one taint", "taking off any of {} taints"),
    "tolerate": _Kind("{what}", "tolerating any of {} taints"),
    "wait": _Kind("{what}", "waiting for any of {} terminating pods"),
    "evict": _Kind("{what}", "evicting any of {} pods"),
    "add-node": _Kind("{what}", "more nodes like any of {}"),
}
"""Families that may have very many changes, each of one node or pod."""

_IMPLIED = frozenset({"maxSkew", "policy", "minDomains"})
"""Kinds of changes that cannot suffice where relaxing the whole constraint does not."""


def not_enough(advice: Advice) -> Iterator[str]:
    """``relaxing B``, ``uncordoning any of 3 nodes``: only kinds of which no change suffices, and constraints."""
    sufficient = {suggestion.family for suggestion in advice.enough}
    for changes in advice.not_enough:
        if changes.family in _COUNTED:
            if changes.family not in sufficient:
                yield _counted(changes)
        elif changes.family == SCHEDULE_ANYWAY:
            yield f"relaxing {', '.join(changes.constraints)}"
        elif changes.family not in _IMPLIED:
            yield from changes.changes


def costly(advice: Advice) -> Iterator[str]:
    """``evicting any of 2 pods (shop/web-3 would be pending)``: only kinds of which no change suffices."""
    sufficient = {suggestion.family for suggestion in advice.enough}
    for changes in advice.costly:
        if changes.family not in sufficient:
            text = _counted(changes) if changes.family in _COUNTED else ", ".join(changes.changes)
            yield f"{text} ({some_of(changes.harm, 1)})"


def _counted(changes: NotEnough | Costly) -> str:
    """Counts the changes, without those of several nodes at once."""
    single = [change for change in changes.changes if change not in changes.together]
    words = _COUNTED[changes.family]
    if len(single) == 1:
        return words.one.format(what=single[0])
    together = " or several together" if changes.together else ""
    return words.several.format(len(single)) + together


def untried(advice: Advice) -> str:
    """Note on how many changes, and how many combinations, were not tried; empty where all were."""
    changes = dict(advice.untried)
    together = changes.pop(COMBINATION, 0)
    listed = [f"{number:,} more of {family}" for family, number in changes.items()]
    if together:
        listed.append(count_of(together, "more combination"))
    return f"not tried: {', '.join(listed)}" if listed else ""
