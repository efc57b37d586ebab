"""Whether a node takes pods and how it came, in words."""

from __future__ import annotations

from collections.abc import Sequence

from kubespread.planner.reports.topology_map import MapNode

CLOSING = ("cordoned", "not ready")
"""What keeps pods away whatever they tolerate; anything else in `MapNode.closed` is a taint."""
JOINED = "joined"


def is_closed(states: Sequence[str]) -> bool:
    """Whether the node takes no new pods in general; one that is only tainted takes those that tolerate it."""
    return any(state in CLOSING for state in states)


def state_words(node: MapNode) -> str:
    """``cordoned``, ``not ready``, or that it is tainted; and whether an edit added it."""
    states = [part for part in node.closed if part in CLOSING] or (["tainted"] if node.closed else [])
    return ", ".join([*states, *([JOINED] if node.joined else [])])


def state_word(node: MapNode) -> str:
    """The one that matters most, where there is room for one; page.js has the same."""
    words = state_words(node).split(", ")
    return next((word for word in ("not ready", "cordoned", JOINED) if word in words), words[0])


def states_in_full(node: MapNode) -> str:
    """The same with every taint."""
    return ", ".join([*node.closed, *([JOINED] if node.joined else [])])
