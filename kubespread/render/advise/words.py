"""What does not suffice, in few words: changes of one kind together."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from kubespread.planner.reports.advise import COMBINATION, Advice, NotEnough, Suggestion

SCHEDULE_ANYWAY = "ScheduleAnyway"
"""The family of changes that relax a constraint."""


class _Kind(NamedTuple):
    """How many changes of a family are spoken of: one, or any of several."""

    one: str
    several: str


_COUNTED: Mapping[str, _Kind] = {
    "uncordon": _Kind("uncordoning the one cordoned node", "uncordoning any of {} nodes"),
    "untaint": _Kind("taking off the one taint", "taking off any of {} taints"),
    "tolerate": _Kind("{what}", "tolerating any of {} taints"),
    "wait": _Kind("{what}", "waiting for any of {} terminating pods"),
    "evict": _Kind("{what}", "evicting any of {} pods"),
    "add-node": _Kind("{what}", "more nodes like any of {}"),
}
"""Of which there may be very many, each about one node or pod."""


class _Summary(NamedTuple):
    verb: str
    noun: str


_SUMMARIES: Mapping[str, _Summary] = {
    "uncordon": _Summary("uncordon", "node"),
    "untaint": _Summary("untaint", "node"),
    "wait": _Summary("wait for", "terminating pod"),
    "evict": _Summary("evict", "pod"),
}
_OF_SEVERAL = re.compile(r" [0-9]+ nodes$")
_MORE_NODES = re.compile(r"(?P<count>[0-9]+) more like [^ ,+]+(?P<where>[^+]*)")
_IMPLIED = frozenset({"maxSkew", "policy", "minDomains"})
"""What follows from a relaxed constraint that is not enough."""


def not_enough(advice: Advice) -> Iterator[str]:
    """``relaxing B``, ``uncordoning any of 3 nodes``: only kinds of which no change suffices, and constraints."""
    sufficient = {suggestion.family for suggestion in advice.enough}
    for each in advice.not_enough:
        if each.family in _COUNTED:
            if each.family not in sufficient:
                yield _counted(each)
        elif each.family == SCHEDULE_ANYWAY:
            letters = (change.rpartition(" ")[2] for change in each.changes)
            yield f"relaxing {', '.join(letters)}"
        elif each.family not in _IMPLIED:
            yield from each.changes


def _counted(each: NotEnough) -> str:
    """Changes of several nodes at once are none of those that are counted."""
    single = [change for change in each.changes if _OF_SEVERAL.search(change) is None]
    words = _COUNTED[each.family]
    if len(single) == 1:
        return words.one.format(what=single[0])
    together = " or several together" if len(single) < len(each.changes) else ""
    return words.several.format(len(single)) + together


def untried(advice: Advice) -> str:
    """How many more changes there are, and how many several together; empty where all were tried."""
    changes = dict(advice.untried)
    together = changes.pop(COMBINATION, 0)
    listed = [f"{number:,} more of {family}" for family, number in changes.items()]
    if together:
        listed.append(f"{together:,} more combination{'' if together == 1 else 's'}")
    return f"not tried: {', '.join(listed)}" if listed else ""


def summary(suggestion: Suggestion) -> str:
    """The change in a few words, without the names of nodes and pods that its option has anyway."""
    of = f" of {len(suggestion.alternatives) + 1}" if suggestion.alternatives else ""
    words = _SUMMARIES.get(suggestion.family)
    if words is not None and len(suggestion.options) == 1:
        return f"{words.verb} 1{of} {words.noun}{'s' if of else ''}"
    match = _MORE_NODES.fullmatch(suggestion.change)
    if match is None:
        return suggestion.change
    return f"{match['count']} more node{'' if match['count'] == '1' else 's'}{match['where']}"
