"""The smallest case that differs in the same way."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any

from tools.recorder.recording import answers
from tools.replay.cases import Data, Difference, Recorded
from tools.replay.families import differences

_NEEDED = (
    "apiVersion",
    "kind",
    "metadata",
    "name",
    "containers",
    "nodeName",
    "schedulerName",
    "exactly",
    "deviceClassName",
)
_TIES = ("namespace", "uid", "labels", "replicas", "selector", "template")
"""What ties a workload to its pods stays whole: without it the API server would refuse it, and anything may differ."""
_NODE_OR_NUMBER = re.compile(r"^nodes\..*?\.(?=filter|plugins|scores|total)|\d+")

Holder = dict[str, Any] | list[Any]


def shrunk(program: Path, file: str, case: Data, release: str) -> tuple[Recorded, list[Difference]]:
    """``case`` without all that it differs without, with kube-scheduler's answer, and how ours differs."""

    def asked(tried: Data) -> tuple[Recorded, list[Difference]] | None:
        try:
            (answer,) = answers(program, [tried])
        except RuntimeError:
            return None  # not a case any more
        if answer is None:
            return None
        found = Recorded(tried, answer)
        return found, list(differences(file, found, release))

    first = asked(case)
    if first is None or not first[1]:
        return Recorded(case, first[0].expect if first else {}), []
    wanted = min((_sort(found) for found in first[1]), key=_telling)
    kinds = _kinds(case)

    def still_differs(tried: Data) -> bool:
        if _kinds(tried) != kinds:
            return False
        result = asked(tried)
        return result is not None and wanted in map(_sort, result[1])

    small = copy.deepcopy(case)
    _shrink(small, lambda: still_differs(small))
    if "config" in small:
        config = json.loads(small["config"])

        def with_config() -> bool:
            small["config"] = json.dumps(config)
            return still_differs(small)

        _without(config, with_config)
        with_config()
    result = asked(small)
    assert result is not None, "it differed a moment ago"
    return result


def _sort(found: Difference) -> str:
    """What differs, whatever the node and its numbers are."""
    sort = _NODE_OR_NUMBER.sub("", found.what)
    if sort == "crash":
        return str(found.ours).strip().rpartition("\n")[2]
    if isinstance(found.recorded, list) and isinstance(found.ours, list):
        return f"{sort} {len(found.recorded) - len(found.ours)}"
    if sort.startswith("plugins."):
        return _NODE_OR_NUMBER.sub("", f"{sort} {found.recorded} {found.ours}")
    return sort


def _telling(sort: str) -> int:
    """Less for what says more: the verdict and the total follow from what a plugin says."""
    return next((i for i, begin in enumerate(("plugins.", "scores.", "filter")) if sort.startswith(begin)), 3)


def _kinds(case: Data) -> set[str]:
    """Of its objects; kubespread takes a kind of which there is none for one that could not be read."""
    return {each["kind"] for each in case.get("objects") or ()}


def _shrink(case: Data, holds: Callable[[], bool]) -> None:
    for field in ("config", "preempt") if "gang" in case else ("config", "gates", "preempt"):
        _drop(case, field, holds)
    while case.get("replicas", 0) > 1 and "gang" not in case:
        case["replicas"] -= 1
        if not holds():
            case["replicas"] += 1
            break
    lists = [things for things in case.values() if isinstance(things, list)]
    for things in (*lists, *lists):
        halve(things, holds)
    for thing in case.values():
        _without(thing, holds, () if "pod" in case else _TIES)


def _drop(holder: Holder, key: Any, holds: Callable[[], bool]) -> bool:
    """Whether the case does without it."""
    if isinstance(holder, dict) and key not in holder:
        return False
    before = copy.copy(holder)
    del holder[key]
    if holds():
        return True
    _restore(holder, before)
    return False


def _restore(holder: Holder, before: Any) -> None:
    holder.clear()
    if isinstance(holder, dict):
        holder.update(before)
    else:
        holder.extend(before)


def halve(things: Any, holds: Callable[[], bool]) -> None:
    """Without as many of them at once as possible."""
    size = len(things)
    while size:
        start = 0
        while start < len(things):
            if not _drop(things, slice(start, start + size), holds):
                start += size
        size //= 2


def _without(holder: Any, holds: Callable[[], bool], whole: Collection[str] = ()) -> None:
    """Without any field or element that is not needed, from the outside to the inside."""
    for key in list(_keys(holder)):
        if key in whole:
            continue
        if key in _NEEDED or (whole and key == "spec") or not _drop(holder, key, holds):
            _without(holder[key], holds, whole)


def _keys(holder: Any) -> Iterator[Any]:
    if isinstance(holder, dict):
        yield from list(holder)
    elif isinstance(holder, list):
        yield from reversed(range(len(holder)))
