"""Finds the view of an answer, which is beside its report.

A report without its own view: its fields as tables.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from kubespread.reports.parts import Report
from kubespread.views.sheet import Row, Table
from kubespread.views.view import View, beside

if TYPE_CHECKING:
    from kubespread.questions.map.report import TopologyMap
    from kubespread.views.documents import Answer

_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_TOLD = frozenset({"apiVersion", "kind", "kubeVersion", "notes", "gaps", "notModelled", "admission"})


def plain_data(report: Report) -> View:
    plain = report.to_dict()
    fields = {name: value for name, value in plain.items() if name not in _TOLD}
    lists = {name: value for name, value in fields.items() if _is_rows(value)}
    figures = {name: value for name, value in fields.items() if name not in lists and value not in (None, [], {})}
    version = plain.get("kubeVersion")
    return View(
        title=_words(str(plain.get("kind", type(report).__name__))),
        provenance=f"kube-scheduler v{version}" if version else "",
        answer=[f"{_words(name)}: {len(rows)}" for name, rows in lists.items()],
        tables=[
            Table("Figures", ("What", "Value"), [Row([_words(name), _text(value)]) for name, value in figures.items()]),
            *(_table(name, rows) for name, rows in lists.items()),
        ],
        beside=beside([report]),
    )


def _is_rows(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, Mapping) for item in value)


def _table(name: str, rows: list[dict[str, Any]]) -> Table:
    columns = list(dict.fromkeys(key for row in rows for key in row))
    cells = [Row([_text(row.get(column)) for column in columns]) for row in rows]
    return Table(_words(name), [_words(column) for column in columns], cells)


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(item, str | int) for item in value):
        return ", ".join(map(str, value))
    return json.dumps(value, ensure_ascii=False)


def _words(name: str) -> str:
    """``notMadeAgain`` as ``Not made again``."""
    return _HUMP.sub(" ", name).capitalize()


def view_of(answer: Answer, drawn: TopologyMap | None = None) -> View:
    """What an answer says; with a map also what steps do to its nodes. A report without a view is shown as plain
    data.
    """
    reports: Sequence[Any] = answer if isinstance(answer, Sequence) else [answer]
    tell = _beside(type(reports[0]))
    view = plain_data(reports[0]) if tell is None else tell(reports)
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
