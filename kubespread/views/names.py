"""Names of nodes and domains in a column that is too narrow for some of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from math import log
from os.path import commonprefix

from kubespread.views.layout import DIM, Line, cell, cut_middle, flowed, width_of
from kubespread.views.look import Look

CUT = "…"
_SEPARATORS = "-./"
_DIGITS = 6
_WORDS = re.compile(r"[^-./]+|[-./]")
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
    return told_apart(_shortened(names, prefix, suffix), width)


def told_apart(names: Sequence[str], width: int) -> list[str]:
    """The names in at most ``width`` columns each, the longer ones without those words in a row that most names have;
    two names become one only where no words are left to tell them apart.
    """
    kinds = list(dict.fromkeys(names))
    if all(width_of(name) <= width for name in kinds):
        return list(names)
    words = {name: _WORDS.findall(name) for name in kinds}
    counts = Counter(word for parts in words.values() for word in {*parts})
    weights = {word: log(len(kinds) / number) for word, number in counts.items()}
    shown = {name: name for name in kinds if width_of(name) <= width}
    taken = {*shown}
    for name in kinds:
        if name not in shown:
            cuts = _without_words(words[name], weights, width)
            shown[name] = next((cut for cut in cuts if cut not in taken), "")
            taken.add(shown[name])
    rest = [name for name in kinds if not shown[name]]
    shown.update(zip(rest, _cut_alike(rest, width), strict=True))
    return [shown[name] for name in names]


def _without_words(parts: Sequence[str], weights: Mapping[str, float], width: int) -> list[str]:
    """The name without some of its ``parts`` in a row, in every way that fits, the best first: what it loses is in
    most names, at neither end, and as little as that.
    """
    total = sum(map(width_of, parts))
    found = list[tuple[float, bool, int, str]]()
    for start in range(len(parts)):
        lost, weight = 0, 0.0
        for end in range(start + 1, len(parts) + (start > 0)):
            word = parts[end - 1]
            lost += width_of(word)
            weight += 0 if word in _SEPARATORS else weights[word]
            if lost > 1 and total - lost + 1 <= width:
                is_end = start == 0 or end == len(parts)
                cut = f"{''.join(parts[:start])}{CUT}{''.join(parts[end:])}"
                found.append((round(weight, _DIGITS), is_end, lost, cut))
    return [cut for *_, cut in sorted(found)]


def _cut_alike(names: Sequence[str], width: int) -> list[str]:
    """All cut in the one place that leaves most of them apart."""
    beginnings = sorted(range(width), key=lambda beginning: abs(beginning - (width - 1) // 3))
    cuts = ([cut_middle(name, width, beginning) for name in names] for beginning in beginnings)
    best = next(cuts)
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
