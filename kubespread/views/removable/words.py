"""What holds nodes, as every format says it."""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.planner.reports.removable import Hold, NodeRemoval
from kubespread.wording import count_of, some_of

_MAX_NAMED = 3
_WORDS = {
    "controlPlane": "control plane",
    "lastOfDomain": "last of its domain",
    "localStorage": "local data",
    "noController": "no controller",
    "daemonSet": "DaemonSet",
    "budget": "budget",
    "noNode": "no other node",
    "notMade": "not made yet",
    "noRoom": "no room",
    "preempts": "preemption",
}


def word(hold: Hold) -> str:
    """The cause in a word or two."""
    return _WORDS[hold.cause]


def words(row: NodeRemoval) -> str:
    """The causes of a node, each once."""
    return ", ".join(dict.fromkeys(map(word, row.held)))


def sentence(hold: Hold, *, names_protected: bool = True) -> str:
    """``no controller: default/debug``: the cause, whom it is about, and the message where that says more.

    Without ``names_protected`` the same is said of all pods of a budget.
    """
    whom = f" {some_of(hold.pods, _MAX_NAMED)}" if hold.pods and (names_protected or hold.cause != "budget") else ""
    if hold.cause in ("localStorage", "noController"):
        return f"{word(hold)}:{whom}"
    if hold.cause == "lastOfDomain":
        return f"the last node of {hold.detail}"
    return f"{word(hold)}:{whom}{':' if whom else ''} {hold.detail}"


def consequences(row: NodeRemoval) -> Iterator[str]:
    """What comes of a node that goes, besides that its pods move."""
    yield from (f"leaves {violation}" for violation in row.violated)
    if row.until_deleted and row.alone:
        wait = "waits" if row.until_deleted == 1 else "wait"
        yield f"{count_of(row.until_deleted, 'pod')} {wait} until the Node object is deleted"
    if row.preempted:
        find = "finds" if len(row.preempted) == 1 else "find"
        yield f"preempts {some_of(row.preempted, _MAX_NAMED)}, which {find} another node"
    if row.lost:
        yield f"loses {some_of(row.lost, _MAX_NAMED)} for good"
