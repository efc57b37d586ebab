"""Who tells which kind of report: a new one is one row here and one module."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

from kubespread.questions.map.report import TopologyMap
from kubespread.views.documents import Answer
from kubespread.views.view import View


@dataclass(frozen=True, slots=True)
class Teller:
    """``module`` has ``account(report) -> View``."""

    module: str
    has_frames: bool = False
    """Whether ``module`` has ``frames(report, map)`` too: steps that only a map can tell."""


ACCOUNTS: Mapping[str, Teller] = {}
"""By the report's ``kind``; one that is not here is told by its plain data."""
_ANY = Teller("plain_data")


def view_of(answer: Answer, drawn: TopologyMap | None = None) -> View:
    """What an answer says; with a map also what steps do to its nodes."""
    reports: Sequence[Any] = answer if isinstance(answer, Sequence) else [answer]
    kind = reports[0].kind
    if kind not in ACCOUNTS and (tell := _beside(type(reports[0]))) is not None:
        seen = tell(reports)
        if seen.frames_on is not None and drawn is not None:
            return replace(seen, frames=list(seen.frames_on(drawn)))
        return seen
    teller = ACCOUNTS.get(kind, _ANY)
    module = import_module(f"kubespread.views.accounts.{teller.module}")
    account: Callable[[Any], View] = module.account
    view = account(reports[0])
    if teller.has_frames and drawn is not None:
        view = replace(view, frames=list(module.frames(reports[0], drawn)))
    return view


def _beside(report: type[Any]) -> Callable[[Sequence[Any]], View] | None:
    """The ``view`` that stands in the file of a report, or in one of that name beside it; ``view_of_several`` where a
    question has several reports.
    """
    home = import_module(report.__module__)
    if not hasattr(home, "view"):
        try:
            home = import_module(f"{report.__module__.rpartition('.')[0]}.view")
        except ModuleNotFoundError:
            return None
    if hasattr(home, "view_of_several"):
        several: Callable[[Sequence[Any]], View] = home.view_of_several
        return several
    return lambda reports: home.view(reports[0])
