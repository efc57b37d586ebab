"""Rows with fields as columns: an annotation says how a field is shown, and every format reads it there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Flag, StrEnum, auto
from functools import cache
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from msgspec import Struct


class Readers(Flag):
    """Kinds of readers of a column or a sheet."""

    TERMINAL = auto()
    COLUMNS = auto()
    """Scripts that read a pipe."""
    SPREADSHEET = auto()
    PAGES = auto()
    """Pages and comments, which have room."""
    WIDE = auto()
    """Pipes with ``-o wide``."""
    PIPES = COLUMNS | SPREADSHEET
    RECORDS = PIPES | PAGES
    """All but terminals, which show the same in another column."""
    ALL = TERMINAL | RECORDS


class Fit(StrEnum):
    """Way to shorten a column on a narrow terminal."""

    WHOLE = "whole"
    NAMES = "names"
    """Drop words that most of its names share."""
    SENTENCE = "sentence"
    """Fold it; it is the last column."""


class Col(Struct, frozen=True, kw_only=True):
    """Layout of a field or property as a column, in every format.

    ``pending: Annotated[int, Col(bad=True)]``. The field's docstring is the help of its metric and its row in
    docs/json.md.
    """

    header: str = ""
    """Header in pipes: upper case, words joined by dashes; by default the name of the field. Other formats derive their
    spelling from it.
    """
    short: str = ""
    """Header on a terminal too narrow for the whole one."""
    readers: Readers = Readers.ALL
    value: Callable[[Any], Any] | None = None
    """Function that turns the field's value into the shown one: ``len`` of a list."""
    text: Callable[[Any], str] | None = None
    """Function that turns the shown value into text for people."""
    is_number: bool = False
    """True for a number written as text: ``4Gi``."""
    bad: bool = False
    """True if a value other than 0 is bad: red, else green."""
    good: bool = False
    """True if a value other than 0 is good: green, else red."""
    hide_empty: bool = False
    """True if a terminal hides the column when it is empty in all rows."""
    fit: Fit = Fit.WHOLE
    is_command: bool = False
    """True if its cells are commands, which a page offers to copy."""
    metric: str = ""
    """Name in Prometheus, after the question's; text columns of the row are labels."""
    tile: str = ""
    """Title of a tile above a page, with the figure of the worst row."""


class DeclaredColumn(Struct, frozen=True):
    """A field or property with a column."""

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
        """True if it is a text that identifies its row."""
        return self.is_field and (self.type is str or get_origin(self.type) is Literal)

    def value(self, row: Any) -> Any:
        value = getattr(row, self.name)
        return value if self.col.value is None else self.col.value(value)


@cache
def declared_columns(row: type) -> Mapping[str, DeclaredColumn]:
    """Columns of a type of rows, by field: its own before its bases', fields before properties.

    A base's field that is declared again without a column has none.
    """
    hints = get_type_hints(row, include_extras=True)
    columns = dict[str, DeclaredColumn | None]()
    for cls in row.__mro__:
        own = vars(cls)
        for name in own.get("__annotations__", ()):
            columns.setdefault(name, _declared_column(name, hints.get(name), is_field=True))
        for name, member in own.items():
            if isinstance(member, property) and "Col(" in str(member.fget.__annotations__.get("return")):
                hint = get_type_hints(member.fget, include_extras=True)["return"]
                columns.setdefault(name, _declared_column(name, hint, is_field=False))
    return {name: column for name, column in columns.items() if column is not None}


def _declared_column(name: str, hint: Any, *, is_field: bool) -> DeclaredColumn | None:
    kind, *more = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    return next((DeclaredColumn(name, col, kind, is_field) for col in more if isinstance(col, Col)), None)


@cache
def docstrings(struct: type) -> Mapping[str, str]:
    """Docstrings of the fields and properties that ``struct`` itself declares."""
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
    """Docstring of a field, from the type or the base that declares it; empty without one."""
    return next((docs[name] for cls in row.__mro__ if name in (docs := docstrings(cls))), "")
