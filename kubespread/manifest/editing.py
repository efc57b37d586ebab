"""One field of a manifest's text set or removed: the lines that say it change, and no others."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import yaml

from kubespread.manifest.writer import to_yaml

Path = Sequence[str | int]


def with_field(text: str, document: int, path: Path, value: Any, *, removes: bool = False) -> str | None:
    """``text`` with ``value`` in the field at ``path`` of a document, or without that field; what holds it is there.

    The result is read again and compared: None where it would say anything else, as with anchors, keys that are there
    twice, or text that YAML cannot read.
    """
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    # Replacing each tab by one blank keeps the places.
    spaced = text.replace("\t", " ")
    try:
        nodes = list(yaml.compose_all(spaced, Loader=loader))
        expected = [_copied(data, [len(text)]) for data in yaml.load_all(spaced, Loader=loader)]
        _set(expected[document], path, value, removes=removes)
        edited = _Editing(text, nodes[document]).edited(path, value, removes=removes)
        is_same = edited is not None and list(yaml.load_all(edited.replace("\t", " "), Loader=loader)) == expected
    except (yaml.YAMLError, RecursionError, LookupError, TypeError, ValueError):
        return None
    return edited if is_same else None


def _copied(data: Any, left: list[int]) -> Any:
    """A copy in which aliases are values of their own. Raises ValueError for more values than a text can spell out."""
    left[0] -= 1
    if left[0] < 0:
        raise ValueError("aliases of aliases")
    if isinstance(data, dict):
        return {key: _copied(value, left) for key, value in data.items()}
    return [_copied(item, left) for item in data] if isinstance(data, list) else data


def _set(data: Any, path: Path, value: Any, *, removes: bool) -> None:
    for step in path[:-1]:
        data = data[step]
    if removes:
        del data[path[-1]]
    elif isinstance(data, list) and path[-1] == len(data):
        data.append(value)
    else:
        data[path[-1]] = value


class _Editing:
    """A text and the nodes that YAML has composed of it."""

    def __init__(self, text: str, root: Any) -> None:
        self._text, self._root = text, root
        self._is_json = text.lstrip()[:1] in ("{", "[") and _is_json(text)

    def edited(self, path: Path, value: Any, *, removes: bool) -> str | None:
        parent = self._root
        for step in path[:-1]:
            parent = _node(parent, _place(parent, step))
        name, place = path[-1], _place(parent, path[-1])
        if place is None:
            return None if removes else self._with_child(parent, name, value)
        if removes and len(parent.value) == 1 and len(path) > 1:
            return self.edited(path[:-1], {} if _is_mapping(parent) else [], removes=False)
        return self._without_child(parent, place) if removes else self._with_value(parent, place, value)

    def _with_value(self, parent: Any, place: int, value: Any) -> str:
        node = _node(parent, place)
        start, end = node.start_mark.index, self._end(node)
        if _is_block(node) and isinstance(value, dict | list) and value:
            column = node.start_mark.column
            # A list may stand below its key without indentation, a mapping in its place may not.
            is_level = _is_mapping(parent) and column == parent.value[place][0].start_mark.column
            indent = 2 if is_level and isinstance(value, dict) else 0
            return self._spliced(start, end, " " * indent + self._in_block(value, column + indent))
        if _is_block(node) and _is_mapping(parent):
            # On the line of its key, where a block may stand below that.
            start = self._text.index(":", self._end(parent.value[place][0])) + 1
        # What follows a colon, or nothing.
        blank = " " if self._text[start - 1 : start] == ":" else ""
        return self._spliced(start, end, f"{blank}{self._in_line(value)}")

    def _with_child(self, parent: Any, name: str | int, value: Any) -> str:
        children = _children(parent)
        label = "" if isinstance(name, int) else f"{self._in_line(name)}: "
        if _is_block(parent):
            column, end = parent.start_mark.column, self._end(_node(parent, len(children) - 1))
            entry = [value] if isinstance(name, int) else {name: value}
            line = self._text.find("\n", end)
            at = len(self._text) if line < 0 else line
            return self._spliced(at, at, f"\n{' ' * column}{self._in_block(entry, column)}")
        inside = parent.start_mark.index + 1
        if not children:
            return self._spliced(inside, inside, f"{label}{self._in_line(value)}")
        last = self._start(parent, len(children) - 1)
        at = self._end(_node(parent, len(children) - 1))
        own_line = self._text.rfind("\n", 0, last) + 1
        is_on_own_line = not self._text[own_line:last].strip()
        between = f",\n{self._text[own_line:last]}" if is_on_own_line else ", "
        return self._spliced(at, at, f"{between}{label}{self._in_line(value)}")

    def _without_child(self, parent: Any, place: int) -> str:
        children = _children(parent)
        start, end = self._start(parent, place), self._end(_node(parent, place))
        is_last = place == len(children) - 1
        if len(children) == 1:
            return self._spliced(parent.start_mark.index, self._end(parent), "{}")
        line = self._text.rfind("\n", 0, start) + 1
        if _is_block(parent) and not self._text[line:start].strip():
            after = self._text.find("\n", end)
            return self._spliced(line, len(self._text) if after < 0 else after + 1, "")
        if not is_last:
            return self._spliced(start, self._start(parent, place + 1), "")
        return self._spliced(self._end(_node(parent, place - 1)), end, "")

    def _spliced(self, start: int, end: int, text: str) -> str:
        return self._text[:start] + text + self._text[end:]

    def _start(self, parent: Any, place: int) -> int:
        """Find the beginning of an entry, its key included."""
        entry = parent.value[place]
        index: int = (entry[0] if _is_mapping(parent) else entry).start_mark.index
        return index

    def _end(self, node: Any) -> int:
        """Find the end of what a node says: a block ends with its last entry, not with the lines behind it."""
        if _is_block(node) and node.value:
            return self._end(_node(node, len(node.value) - 1))
        start, end = node.start_mark.index, node.end_mark.index
        return int(start) + len(self._text[start:end].rstrip())

    def _in_block(self, value: Any, column: int) -> str:
        """Write ``value`` in several lines, those after the first one indented."""
        return to_yaml(value).rstrip("\n").replace("\n", f"\n{' ' * column}")

    def _in_line(self, value: Any) -> str:
        if self._is_json:
            return json.dumps(value, ensure_ascii=False)
        return to_yaml(value, in_line=True)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _is_mapping(node: Any) -> bool:
    return bool(node.id == "mapping")


def _is_block(node: Any) -> bool:
    return node.id != "scalar" and not node.flow_style


def _children(node: Any) -> list[tuple[str | int, Any]]:
    """The entries of a node by key or position; a scalar has none."""
    if node.id == "scalar":
        return []
    return [(key.value, value) for key, value in node.value] if _is_mapping(node) else [*enumerate(node.value)]


def _node(parent: Any, place: int) -> Any:
    entry = parent.value[place]
    return entry[1] if _is_mapping(parent) else entry


def _place(node: Any, step: str | int) -> Any:
    """The position of an entry, None where it is not there."""
    return next((place for place, (key, _) in enumerate(_children(node)) if key == step), None)
