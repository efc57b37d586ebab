"""Items of a JSON list are read many at a time: the same items and lines, and the same faults, as one by one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kubespread.manifest import json_stream
from kubespread.manifest.text import MalformedError

KINDS = st.sampled_from(["Pod", "Node", 'a "],{" b'])
# What is inside of an item begins like an item.
ITEM = st.fixed_dictionaries(
    {"kind": KINDS}, optional={"owners": st.lists(st.fixed_dictionaries({"kind": KINDS}), max_size=3)}
)
SPACES = st.sampled_from(["", " ", "\n", "\r\n  ", "\n\n\t"])


@st.composite
def lists(draw: st.DrawFn) -> bytes:
    """A list of items, indented or not, sometimes damaged in one place."""
    others = st.one_of(st.integers(), st.lists(ITEM, max_size=2), st.none())
    items = draw(st.lists(st.one_of(ITEM, ITEM, ITEM, others), max_size=12))
    indent = draw(st.sampled_from([None, 1]))
    between = draw(SPACES) + "," + draw(SPACES)
    text = f"{draw(SPACES)}[{draw(SPACES)}{between.join(json.dumps(item, indent=indent) for item in items)}\n]"
    if draw(st.booleans()):
        at = draw(st.integers(0, len(text) - 1))
        text = text[:at] + draw(st.sampled_from(["", ",", "{", "}", "]", '"'])) + text[at + 1 :]
    return text.encode()


def read(text: bytes, size: int) -> list[Any]:
    """What is read, and the fault that it ends with."""
    chunks: Iterator[bytes] = (text[at : at + size] for at in range(0, len(text), size))
    read: list[Any] = []
    try:
        # Blanks after an item may come with it.
        read.extend((value.strip(), line) for value, line in json_stream.JsonStream(chunks).elements())
    except MalformedError as error:
        read.append(error.fault)
    return read


@settings(max_examples=100)
@given(lists(), st.sampled_from([5, 40, 10**6]), st.sampled_from([1, 4, 40]))
def test_many_at_a_time_are_the_same_as_one_by_one(text: bytes, size: int, opening: int) -> None:
    with patch.object(json_stream, "_WINDOW", 50):
        with patch.object(json_stream, "_GUESSES", 0):
            one_by_one = read(text, size)
        with patch.object(json_stream, "_OPENING", opening):
            assert read(text, size) == one_by_one


OWNER = {"apiVersion": "apps/v1", "kind": "ReplicaSet"}
POD = {"apiVersion": "v1", "kind": "Pod", "owners": [OWNER, OWNER]}
DEPLOYMENT = {"apiVersion": "apps/v1", "kind": "Deployment"}
SET = {**OWNER, "owners": [DEPLOYMENT, DEPLOYMENT]}
READ_ALONE: dict[str, tuple[list[Any], int]] = {
    # Nothing follows the last that says where it ends.
    "of one kind: the first and the last": ([POD] * 50, 2),
    "of another kind before them": ([DEPLOYMENT] * 50 + [POD] * 50, 4),
    "of two kinds in turn, one of which holds what begins like the other": ([DEPLOYMENT, SET] * 50, 3),
}


@pytest.mark.parametrize("case", READ_ALONE)
def test_the_items_of_a_window_are_read_at_once(case: str) -> None:
    items, alone = READ_ALONE[case]
    with patch.object(
        json_stream.JsonStream, "value", autospec=True, side_effect=json_stream.JsonStream.value
    ) as value:
        assert len(read(json.dumps(items).encode(), 10**6)) == len(items)
    assert value.call_count == alone
