"""Changes that would make a pod fit, each proven by asking again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kubespread.reports.parts import Report
from kubespread.wording import count_of, some_of

COMBINATION = "combination"
"""Family of untried combinations."""


class Suggestion(Report, frozen=True):
    """A change, or several together, with which the pod fits or all the pods find a node."""

    change: str
    """``A maxSkew 2``, ``uncordon node-7``: constraints by letter."""
    family: str
    """Kind of change; kinds of several joined by `` + ``."""
    options: tuple[str, ...]
    """Options that make the change on the command line: ``--set maxSkew[zone]=2``."""
    nodes: int | None
    """Number of nodes that fit after the change; null for several pods."""
    placed: int | None
    """Number of pods with a node after the change; null for one pod."""
    consequences: tuple[str, ...] = ()
    """Consequences for other pods."""
    notes: tuple[str, ...] = ()
    """Notes on how long the change helps, and on disruption budgets and priorities."""
    alternatives: tuple[str, ...] = ()
    """Options for other changes of the same kind that also suffice."""
    commands: tuple[str, ...] = ()
    """kubectl commands that make the change in the cluster, or print the manifest with it."""
    constraints: tuple[str, ...] = ()
    """Letters of the changed constraints."""
    brief: str = ""
    """Short form of the change: ``3 more nodes in zone a``, without names of new nodes."""

    @property
    def options_text(self) -> str:
        """Its options, ``set maxSkew[zone]=2`` for fields of the pod: not every command has ``--set``."""
        return " ".join(option.removeprefix("--") if option.startswith("--set ") else option for option in self.options)


class NotEnough(Report, frozen=True):
    """Changes of one kind that do not suffice alone, whatever their size."""

    family: str
    changes: tuple[str, ...]
    """``relaxing A``."""
    constraints: tuple[str, ...] = ()
    """Letters of the constraints."""
    together: tuple[str, ...] = ()


class Costly(Report, frozen=True):
    """Changes of one kind that suffice alone, but at other pods' cost."""

    family: str
    changes: tuple[str, ...]
    """``evicting shop/web-0``."""
    harm: tuple[str, ...]
    """Cost of the first change: ``shop/web-3 would be pending``, ``shop/tool would be lost for good``."""
    together: tuple[str, ...] = ()


class Advice(Report, frozen=True):
    """Tried changes, by whether they suffice."""

    families: tuple[str, ...]
    """Kinds of possible changes, tried or not."""
    enough: tuple[Suggestion, ...]
    """Single changes, the least drastic first; combinations only if no single change suffices."""
    not_enough: tuple[NotEnough, ...]
    """Changes that do not suffice."""
    costly: tuple[Costly, ...] = ()
    """Changes that suffice only at other pods' cost."""
    tried: int = 0
    """Number of changes tried, counting sizes and combinations."""
    untried: dict[str, int] = {}
    """Number of changes not tried, by family; ``combination`` for several together."""


SCHEDULE_ANYWAY = "ScheduleAnyway"
"""The family of changes that relax a constraint."""


_COUNTED: Mapping[str, str] = {
    "uncordon": "uncordoning any of {} nodes",
    "label": "labeling any of {} nodes",
    "untaint": "taking off any of {} taints",
    "tolerate": "tolerating any of {} taints",
    "wait": "waiting for any of {} terminating pods",
    "evict": "evicting any of {} pods",
    "add-node": "more nodes like any of {}",
}
"""Families that may have very many changes, each of one node or pod."""

_IMPLIED = frozenset({"maxSkew", "policy", "minDomains"})
"""Kinds of changes that cannot suffice where relaxing the whole constraint does not."""


def not_enough(advice: Advice) -> Iterator[str]:
    """Yield ``relaxing B``, ``uncordoning any of 3 nodes``: constraints, and kinds without a sufficient change."""
    sufficient = {suggestion.family for suggestion in advice.enough}
    harmful = {changes.family for changes in advice.costly}
    for changes in advice.not_enough:
        if changes.family in _COUNTED:
            if changes.family not in sufficient:
                phrase = _COUNTED[changes.family]
                if changes.family in harmful:
                    phrase = f"{phrase.partition('{}')[0]}{{}} others"
                yield _count_text(changes, phrase)
        elif changes.family == SCHEDULE_ANYWAY:
            yield f"relaxing {', '.join(changes.constraints)}"
        elif changes.family not in _IMPLIED:
            yield from changes.changes


def costly(advice: Advice) -> Iterator[str]:
    """Yield ``evicting any of 2 pods (shop/web-3 would be pending)``, for kinds without a sufficient change."""
    sufficient = {suggestion.family for suggestion in advice.enough}
    for changes in advice.costly:
        if changes.family not in sufficient:
            phrase = _COUNTED.get(changes.family)
            text = ", ".join(changes.changes) if phrase is None else _count_text(changes, phrase)
            yield f"{text} ({some_of(changes.harm, 1)})"


def _count_text(changes: NotEnough | Costly, phrase: str) -> str:
    """The one change, or the phrase for their number, not counting changes of several nodes at once."""
    single = [change for change in changes.changes if change not in changes.together]
    if len(single) < 2:
        return (single or changes.changes)[0]
    return phrase.format(len(single)) + (" or several together" if changes.together else "")


def untried_note(advice: Advice) -> str:
    """Note on the number of untried changes and combinations; empty if all were tried."""
    changes = dict(advice.untried)
    together = changes.pop(COMBINATION, 0)
    listed = [f"{number:,} more of {family}" for family, number in changes.items()]
    if together:
        listed.append(count_of(together, "more combination"))
    return f"not tried: {', '.join(listed)}" if listed else ""
