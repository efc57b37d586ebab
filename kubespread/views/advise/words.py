"""A change in few words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from kubespread.planner.reports.advise import Suggestion


class _Summary(NamedTuple):
    verb: str
    noun: str


_SUMMARIES: Mapping[str, _Summary] = {
    "uncordon": _Summary("uncordon", "node"),
    "untaint": _Summary("untaint", "node"),
    "wait": _Summary("wait for", "terminating pod"),
    "evict": _Summary("evict", "pod"),
}
_MORE_NODES = re.compile(r"(?P<count>[0-9]+) more like [^ ,+]+(?P<where>[^+]*)")


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
