"""Names of nodes and domains in a column that is too narrow for some of them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from os.path import commonprefix

from kubespread.views.flow import flowed
from kubespread.views.layout import DIM, Line, cell, cut_middle, width_of
from kubespread.views.look import Look

CUT = "…"
_LEAST_SAVED = 6
_LEAST_NAMES = 2


def shared_suffix(names: Sequence[str]) -> str:
    """``.eu-west-1.compute.internal`` where all names end in it; empty where that would save little."""
    if len(names) < _LEAST_NAMES:
        return ""
    end = commonprefix([name[::-1] for name in names])[::-1]
    # What is left of a name has to be a name.
    _, dot, rest = end.partition(".") if end not in names else ("", "", "")
    return f"{dot}{rest}" if len(rest) >= _LEAST_SAVED else ""


def shared(names: Sequence[str]) -> tuple[str, str]:
    """What all ``names`` begin and end with, up to a dash or dot and without using up any of them."""
    suffix = shared_suffix(names)
    stems = [name.removesuffix(suffix) for name in names]
    prefix = commonprefix(stems) if len(set(stems)) > 1 else ""
    prefix = prefix[: max(prefix.rfind("-"), prefix.rfind(".")) + 1]
    return ("" if prefix in stems else prefix), suffix


def fitted(names: Sequence[str], width: int) -> list[str]:
    """The names in at most ``width`` columns each: longer ones lose their common end, and their common beginning, since
    only the rest distinguishes them. A copy is NAME-1 of a name: ``…1-164…`` has the copy ``…1-164…-1``.
    """
    if all(width_of(name) <= width for name in names):
        return list(names)
    prefix, suffix = _shared_ends(names, width)
    return [cut_middle(name, width) for name in _shortened(names, prefix, suffix)]


def told_apart(names: Sequence[str], width: int) -> list[str]:
    """The names in at most ``width`` columns each, all cut in the one place that leaves most of them apart."""
    beginnings = sorted(range(width), key=lambda beginning: abs(beginning - (width - 1) // 3))
    cuts = ([cut_middle(name, width, beginning) for name in names] for beginning in beginnings)
    best = list(names) if all(width_of(name) <= width for name in names) else next(cuts)
    for cut in cuts:
        if len(set(best)) == len(set(names)):
            break
        best = max(best, cut, key=lambda pair: len(set(pair)))
    return best


def _shared_ends(names: Sequence[str], width: int) -> tuple[str, str]:
    """What `fitted` leaves out of all ``names``, not counting the numbers of copies: their common end and, if that is
    not enough, their common beginning.
    """
    if all(width_of(name) <= width for name in names):
        return "", ""
    all_names = frozenset(names)
    prefix, suffix = shared([name for name in names if not _number(name, all_names)])
    is_enough = all(width_of(name) <= width for name in _shortened(names, "", suffix))
    return ("" if is_enough else prefix), suffix


def _shortened(names: Sequence[str], prefix: str, suffix: str) -> list[str]:
    all_names = frozenset(names)
    return [_short(name, prefix, suffix, _number(name, all_names)) for name in names]


def _number(name: str, all_names: Collection[str]) -> str:
    """``-1`` of a copy of another name, else nothing."""
    original, dash, number = name.rpartition("-")
    return f"-{number}" if dash and number.isdecimal() and original in all_names else ""


def _short(name: str, prefix: str, suffix: str, number: str) -> str:
    inner = name.removesuffix(number).removeprefix(prefix).removesuffix(suffix)
    return f"{CUT if prefix else ''}{inner}{CUT if suffix else ''}{number}"


def said_once(names: Sequence[str], shown: Sequence[str]) -> str:
    """``node names: ip-10-0-….compute.internal``: what the ``shown`` names of nodes leave out; empty if nothing."""
    if list(names) == list(shown):
        return ""
    all_names = frozenset(names)
    prefix, suffix = shared([name for name in names if not _number(name, all_names)])
    begins_short = any(name.startswith(CUT) for name in shown)
    return f"node names: {prefix if begins_short else ''}{CUT}{suffix}" if suffix or (prefix and begins_short) else ""


def legend(names: Sequence[str], shown: Sequence[str], look: Look) -> Iterator[Line]:
    """The same as a line of a screen."""
    if text := said_once(names, shown):
        yield from flowed([[cell(text, DIM)]], look)
