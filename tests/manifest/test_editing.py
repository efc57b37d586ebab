"""One field of a text set or removed: it says that then, and every other line stays as it is."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from kubespread.manifest.editing import Path, with_field
from kubespread.manifest.writer import to_yaml

BLOCK = """\
a: 1  # one
list:
- x: 1
  y: [1, 2]
- z: |
    text
    more
# between
empty:
last: {p: q}  # end
"""

CASES: dict[str, tuple[str, Path, Any, str | None]] = {
    "a scalar keeps what stands behind it": (BLOCK, ["a"], 2, BLOCK.replace("a: 1 ", "a: 2 ")),
    "a value for what has none": (BLOCK, ["empty"], {"b": 1}, BLOCK.replace("empty:", "empty: {b: 1}")),
    "a new key comes after the last one": (BLOCK, ["list", 0, "w"], 3, BLOCK.replace("2]\n", "2]\n  w: 3\n")),
    "also behind a text of several lines": (BLOCK, ["list", 1, "w"], 3, BLOCK.replace("more\n", "more\n  w: 3\n")),
    "a new item": (BLOCK, ["list", 2], {"w": 3}, BLOCK.replace("more\n", "more\n- w: 3\n")),
    "a key in braces": (BLOCK, ["last", "r"], [1], BLOCK.replace("p: q", "p: q, r: [1]")),
    "an item in brackets": (BLOCK, ["list", 0, "y", 2], 3, BLOCK.replace("1, 2", "1, 2, 3")),
    "a text that YAML would retype is quoted": (BLOCK, ["a"], "1e3", BLOCK.replace("a: 1 ", 'a: "1e3" ')),
    "a mapping for a list that is not indented": ("a:\n- 1\nb: 2\n", ["a"], {"c": 1}, "a:\n  c: 1\nb: 2\n"),
    "JSON in lines of its own": (
        '{\n  "a": {\n    "b": 1\n  }\n}\n',
        ["a", "c"],
        {"d": "e"},
        '{\n  "a": {\n    "b": 1,\n    "c": {"d": "e"}\n  }\n}\n',
    ),
    "JSON in one line": ('{"a": []}', ["a", 0], "b", '{"a": ["b"]}'),
    "an alias is not changed where it stands": ("a: &x {b: 1}\nc: *x\n", ["c", "b"], 2, None),
    "nor is what aliases repeat": ("a: &x {b: 1}\nc: *x\n", ["a", "b"], 2, None),
    "a key that is there twice": ("a: 1\na: 2\n", ["a"], 3, None),
    "no YAML": ("a: [\n", ["a"], 3, None),
    "no such place": ("a: 1\n", ["b", "c"], 3, None),
    "aliases of aliases of aliases": (
        "a: &a [1,1,1,1,1,1,1,1,1]\n"
        + "".join(f"{b}: &{b} [{','.join([f'*{a}'] * 9)}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)),
        ["a", 0],
        2,
        None,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_field_is_set(case: str) -> None:
    text, path, value, expected = CASES[case]
    assert with_field(text, 0, path, value) == expected


REMOVED: dict[str, tuple[str, Path, str | None]] = {
    "a line": (BLOCK, ["a"], BLOCK.partition("\n")[2]),
    "several lines": (BLOCK, ["list"], BLOCK[:12] + BLOCK[BLOCK.index("# between") :]),
    "a key behind a dash": (BLOCK, ["list", 0, "x"], BLOCK.replace("x: 1\n  ", "")),
    "the only key behind a dash": (BLOCK, ["list", 1, "z"], BLOCK.replace("z: |\n    text\n    more", "{}")),
    "the only key in a block": ("a:\n  b:  # why\n    c: 1\nd: 2\n", ["a", "b"], "a: {}\nd: 2\n"),
    "the only key in braces": (BLOCK, ["last", "p"], BLOCK.replace("{p: q}", "{}")),
    "the first item in brackets": (BLOCK, ["list", 0, "y", 0], BLOCK.replace("1, 2", "2")),
    "the last item in brackets": (BLOCK, ["list", 0, "y", 1], BLOCK.replace("1, 2", "1")),
    "what is not there": (BLOCK, ["b"], None),
}


@pytest.mark.parametrize("case", REMOVED)
def test_a_field_is_removed(case: str) -> None:
    text, path, expected = REMOVED[case]
    assert with_field(text, 0, path, None, removes=True) == expected


def test_other_documents_stay() -> None:
    assert with_field("a: 1\n---\na: 1\n---\na: 1\n", 1, ["a"], 2) == "a: 1\n---\na: 2\n---\na: 1\n"


KEYS = st.sampled_from(["a", "b", "app.kubernetes.io/name", "no", "1"])
SCALARS = st.none() | st.booleans() | st.integers(-9, 9) | st.sampled_from(["", "x", "a: b", "# c", "1", "yes", "é\n"])
DATA = st.dictionaries(
    KEYS, st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3))
)


@settings(max_examples=150, deadline=None)
@given(data=DATA, style=st.sampled_from(["block", "flow", "json", "lines"]), draw=st.data())
def test_whatever_is_written_by_a_program_can_be_changed_anywhere(data: Any, style: str, draw: st.DataObject) -> None:
    path, above = list[str | int](), data
    while isinstance(above, dict | list) and above and draw.draw(st.booleans()):
        step = draw.draw(st.sampled_from(list(above) if isinstance(above, dict) else range(len(above))))
        path, above = [*path, step], above[step]
    if isinstance(above, dict):
        path = [*path, draw.draw(KEYS)]
    elif isinstance(above, list):
        path = [*path, draw.draw(st.integers(0, len(above)))]
    expected = parent = deepcopy(data)
    for step in path[:-1]:
        parent = parent[step]
    is_there = path[-1] in (parent if isinstance(parent, dict) else range(len(parent)))
    removes = is_there and draw.draw(st.booleans())
    value = draw.draw(SCALARS | DATA)
    if removes:
        del parent[path[-1]]
    elif isinstance(parent, list) and not is_there:
        parent.append(value)
    else:
        parent[path[-1]] = value
    text = {
        "block": lambda: to_yaml(data),
        "flow": lambda: to_yaml(data, in_line=True) + "\n",
        "json": lambda: json.dumps(data),
        "lines": lambda: json.dumps(data, indent=2),
    }[style]()
    edited = with_field(text, 0, path, value, removes=removes)
    assert edited is not None
    assert yaml.safe_load(edited) == expected
