"""Rows whose fields are their columns: an annotation says how a field is shown, and every format reads it there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Flag, StrEnum, auto
from functools import cache
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from msgspec import Struct


class Readers(Flag):
    """Readers of a column or a sheet."""

    TERMINAL = auto()
    COLUMNS = auto()
    """Scripts that read a pipe."""
    SPREADSHEET = auto()
    PAGES = auto()
    """Pages and comments, which have room."""
    WIDE = auto()
    """Pipes that ask for ``-o wide``."""
    PIPES = COLUMNS | SPREADSHEET
    RECORDS = PIPES | PAGES
    """Every reader but a terminal, which says it otherwise."""
    ALL = TERMINAL | RECORDS


class Fit(StrEnum):
    """Way to shorten the cells of a column on a terminal that is too narrow."""

    WHOLE = "whole"
    NAMES = "names"
    """Leave out words that most of its names have."""
    SENTENCE = "sentence"
    """Fold it in its place, which is the last one."""


class Col(Struct, frozen=True, kw_only=True):
    """Layout of the column of a row's field or property: all that is said of it, whatever the format.

    ``pending: Annotated[int, Col(bad=True)]``. Its docstring is what the column means: the help of its metric, and its
    row in docs/json.md.
    """

    header: str = ""
    """Header in pipes: upper case, words joined by dashes; the name of the field unless given. Terminals, spreadsheets
    and pages spell it their way.
    """
    short: str = ""
    """The header on a terminal, where the whole one is too wide for it."""
    readers: Readers = Readers.ALL
    value: Callable[[Any], Any] | None = None
    """Value that every format shows in its place: ``len`` of several things."""
    text: Callable[[Any], str] | None = None
    """Text for people, where that is not the value."""
    is_number: bool = False
    """A number that is written as a text: ``4Gi``."""
    bad: bool = False
    """True if there should be none: red where there is some, else green."""
    good: bool = False
    """The opposite."""
    hide_empty: bool = False
    """True if a terminal leaves it out where no row has anything in it."""
    fit: Fit = Fit.WHOLE
    is_command: bool = False
    """True if its cells are commands, which a page lets one copy."""
    metric: str = ""
    """Its name in Prometheus, behind that of the question; the texts of the row are its labels."""
    tile: str = ""
    """Its name above a page, with the figure of the worst row."""


class Declared(Struct, frozen=True):
    """A field or a property that is a column."""

    name: str
    col: Col
    type: Any
    is_field: bool

    @property
    def header(self) -> str:
        return self.col.header or self.name.upper().replace("_", "-")

    @property
    def is_number(self) -> bool:
        return self.col.is_number or self.col.value is len or self.type in (int, float, int | None, float | None)

    @property
    def is_label(self) -> bool:
        """True if it is a text that tells rows apart."""
        return self.is_field and (self.type is str or get_origin(self.type) is Literal)

    def value(self, row: Any) -> Any:
        value = getattr(row, self.name)
        return value if self.col.value is None else self.col.value(value)


@cache
def declared(row: type) -> Mapping[str, Declared]:
    """The columns of a type of rows, by field: its own before those of its bases, fields before properties.

    A field of a base that is declared again without a column is none.
    """
    hints = get_type_hints(row, include_extras=True)
    found = dict[str, Declared | None]()
    for cls in row.__mro__:
        own = vars(cls)
        for name in own.get("__annotations__", ()):
            found.setdefault(name, _declared(name, hints.get(name), is_field=True))
        for name, member in own.items():
            if isinstance(member, property) and "Col(" in str(member.fget.__annotations__.get("return")):
                hint = get_type_hints(member.fget, include_extras=True)["return"]
                found.setdefault(name, _declared(name, hint, is_field=False))
    return {name: each for name, each in found.items() if each is not None}


def _declared(name: str, hint: Any, *, is_field: bool) -> Declared | None:
    kind, *more = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    return next((Declared(name, col, kind, is_field) for col in more if isinstance(col, Col)), None)


@cache
def docstrings(struct: type) -> Mapping[str, str]:
    """The strings below the fields that ``struct`` itself declares, and those of its properties."""
    # Read from the source, which only metrics and documents do.
    import ast
    import inspect
    from itertools import pairwise
    from textwrap import dedent

    if struct is Struct or not issubclass(struct, Struct):
        return {}
    (parsed,) = ast.parse(dedent(inspect.getsource(struct))).body
    assert isinstance(parsed, ast.ClassDef)
    properties = {name: member.__doc__ or "" for name, member in vars(struct).items() if isinstance(member, property)}
    return properties | {
        field.target.id: below.value.value
        for field, below in pairwise(parsed.body)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant) and isinstance(below.value.value, str)
    }


def docstring(row: type, name: str) -> str:
    """Docstring of a field, from the type or the base that declares it; empty where there is none."""
    return next((docs[name] for each in row.__mro__ if name in (docs := docstrings(each))), "")
