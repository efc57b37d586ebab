"""Short names for kube-scheduler's reasons: ``cordoned`` for ``node(s) were unschedulable``."""

from __future__ import annotations

from functools import cache

from msgspec import Struct

from kubespread.regex import regex


class ReasonWords(Struct, frozen=True):
    """Words for a reason nodes fail: a short name, and phrases for one node and for several."""

    short: str
    of_one: str
    of_many: str
    is_state: bool = False
    """True for a state of nodes, as opposed to something they have or lack."""

    @property
    def lacks_room(self) -> bool:
        """True if the pod would fit with more room."""
        return self.is_resource or self.of_one.startswith("has no room")

    @property
    def is_resource(self) -> bool:
        """True if nodes have too little of the resource that ``short`` names."""
        return self.of_one.startswith(_TOO_LITTLE)

    def said_of(self, count: int) -> str:
        """``is cordoned``, ``are cordoned``."""
        verb = ("is " if count == 1 else "are ") if self.is_state else ""
        return f"{verb}{self.brief_of(count)}"

    def brief_of(self, count: int) -> str:
        """``cordoned``."""
        return self.of_one if count == 1 else self.of_many


def _adjective(short: str) -> ReasonWords:
    return ReasonWords(short, short, short, is_state=True)


def _lacking(short: str, thing: str = "") -> ReasonWords:
    return ReasonWords(short, f"lacks {thing or short}", f"lack {thing or short}")


def _failing(short: str, rule: str = "") -> ReasonWords:
    return ReasonWords(short, f"fails {rule or short}", f"fail {rule or short}")


_TAINT = ReasonWords("tainted", "has a taint the pod does not tolerate", "have taints the pod does not tolerate")

# The first whose text the reason begins with; reasons of older releases included.
_WORDS: tuple[tuple[str, ReasonWords], ...] = (
    ("node(s) were unschedulable", _adjective("cordoned")),
    ("node(s) had untolerated taint", _TAINT),
    ("node(s) had taint", _TAINT),
    ("node(s) didn't match Pod's node affinity", _failing("node affinity")),
    ("node(s) didn't match node selector", _failing("node affinity")),
    ("node(s) didn't match scheduler-enforced", _failing("enforced affinity", "the scheduler's node affinity")),
    ("node(s) didn't match the requested", _adjective("another node")),
    ("node(s) didn't match pod affinity/anti-affinity", _failing("pod affinity", "pod affinity or anti-affinity")),
    ("node(s) didn't match pod affinity rules", _failing("pod affinity")),
    ("node(s) didn't match pod anti-affinity rules", _failing("anti-affinity")),
    ("node(s) didn't satisfy existing pods anti-affinity", _failing("their anti-affinity", "others' anti-affinity")),
    ("node(s) didn't have free ports", _lacking("port", "a free host port")),
    ("node(s) didn't match PersistentVolume's", _failing("volume affinity", "a volume's node affinity")),
    ("node(s) had volume node affinity conflict", _failing("volume affinity", "a volume's node affinity")),
    ("node(s) had no available volume zone", _failing("volume zone", "a volume's zone")),
    ("node(s) didn't find available persistent volumes", _lacking("volume", "a volume to bind")),
    ("node(s) did not have enough free storage", _lacking("storage", "free storage")),
    (
        "node(s) exceed max volume count",
        ReasonWords("volume limit", "at its volume limit", "at their volume limit", is_state=True),
    ),
    ("node(s) had no available disk", _failing("disk", "a disk conflict")),
    ("node(s) unavailable due to PersistentVolumeClaim", _failing("claim in use", "a ReadWriteOncePod claim in use")),
    ("node(s) unavailable due to one or more pvc(s)", _failing("volume missing", "a claim without its volume")),
    ("node(s) didn't match Pod's required features", _lacking("features", "features the pod requires")),
    ("node(s) didn't satisfy plugin(s)", _failing("node list", "a plugin's node list")),
    ("Too many pods", ReasonWords("pods", "has no room for another pod", "have no room for another pod")),
)
_INSUFFICIENT, _TOO_LITTLE = "Insufficient ", "has too little "
_BEGINNING = regex(r"^0/\d+ nodes are available: ")


@cache
def words_of(reason: str) -> ReasonWords:
    """Words for a reason of kube-scheduler; an unknown one is its own short name."""
    if reason.startswith(_INSUFFICIENT):
        resource = reason.removeprefix(_INSUFFICIENT)
        return ReasonWords(resource, f"{_TOO_LITTLE}{resource}", f"have too little {resource}")
    matching = (words for start, words in _WORDS if reason.startswith(start))
    return next(matching, ReasonWords(reason, f"fails: {reason}", f"fail: {reason}"))


def reasons_in(message: str) -> str:
    """The reasons of kube-scheduler's message, without its beginning."""
    return _BEGINNING.sub("", message)


def short_names(reasons: tuple[str, ...]) -> list[str]:
    """Short names of kube-scheduler's reasons."""
    return list(dict.fromkeys(words_of(reason).short for reason in reasons))
