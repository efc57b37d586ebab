"""Finds the view of an answer, which is beside its report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from kubespread.views import plain_data
from kubespread.views.view import View

if TYPE_CHECKING:
    from kubespread.questions.map.report import TopologyMap
    from kubespread.views.documents import Answer


def view_of(answer: Answer, drawn: TopologyMap | None = None) -> View:
    """What an answer says; with a map also what steps do to its nodes. A report without a view is shown as plain
    data.
    """
    reports: Sequence[Any] = answer if isinstance(answer, Sequence) else [answer]
    tell = _beside(type(reports[0]))
    view = plain_data.view(reports[0]) if tell is None else tell(reports)
    if view.frames_on is not None and drawn is not None:
        return replace(view, frames=list(view.frames_on(drawn)))
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
