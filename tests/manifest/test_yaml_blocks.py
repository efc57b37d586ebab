"""Large YAML lists are cut at their indentation: the same items, lines and faults as the parser gives."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

import kubespread
from kubespread.errors import Fault
from kubespread.manifest import objects, yaml_stream
from kubespread.manifest.text import MalformedError, Part
from kubespread.manifest.writer import to_yaml
from kubespread.manifest.yaml_stream import lone_value, yaml_list_parts, yaml_parts
from tests.builders import hard, hosts, owned_by, pod

KEYS = st.sampled_from(["name", "a", "b.c/d-e", "image", "labels", "on", "n", "b c", "f:spec", "é", "-x", "1", "<<"])
TEXTS = st.one_of(
    st.sampled_from(
        [
            "web",
            "yes",
            "08",
            "1e3",
            "a: b",
            "a #b",
            "'",
            '"',
            "-",
            "- a",
            "x" * 90 + " " + "y" * 20,
            "a\nb\n",
            "é",
            "\u2028b: 1",
        ]
    ),
    st.text("ab:- #'\"\n\t{}[]&*!|>%@,?0.1\u0085", max_size=12),
)
VALUES = st.recursive(
    st.one_of(
        TEXTS, TEXTS, st.none(), st.booleans(), st.integers(-3, 2**70), st.floats(allow_nan=False, allow_infinity=False)
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=4)),
    max_leaves=12,
)
OBJECTS = st.dictionaries(KEYS, VALUES, max_size=4).map(lambda fields: {"apiVersion": "v1", **fields})
ITEMS = st.lists(st.one_of(OBJECTS, OBJECTS, OBJECTS, OBJECTS, VALUES), max_size=4)
STYLES: list[dict[str, Any]] = [
    {},
    {"default_flow_style": None, "width": 20},
    {"default_style": '"', "width": 30},
    {"default_style": "|"},
    {"allow_unicode": True, "line_break": "\r\n"},
    {"indent": 4},
]


class Indented(yaml.SafeDumper):
    """Indents lists below their keys, as some tools do."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        return super().increase_indent(flow, False)


@st.composite
def documents(draw: st.DrawFn) -> bytes:
    """A list in one of many styles, sometimes with other documents behind it, often damaged."""
    items, more = draw(ITEMS), draw(ITEMS)
    style = draw(st.sampled_from(STYLES))
    if draw(st.booleans()):
        body = to_yaml({"items": items})
    else:
        dumper = draw(st.sampled_from([yaml.SafeDumper, Indented]))
        body = yaml.dump({"items": items}, Dumper=dumper, **style)
    head = draw(
        st.sampled_from(["apiVersion: v1\n", "apiVersion: v1\n", "", "kind: List\n", "kind: Pod\n", "a: 1\na: 1\n"])
    )
    tail = draw(st.sampled_from(["", "kind: List\n", "metadata: {}\nitems: []\n", f"---\n{to_yaml({'items': more})}"]))
    text = head + body + tail
    for _ in range(draw(st.sampled_from([0, 0, 1, 2]))):
        at = draw(st.integers(0, len(text)))
        end = draw(st.integers(at, min(len(text), at + 3)))
        damage = [
            "",
            " ",
            "\n",
            "\n  ",
            "\n- ",
            "'",
            '"',
            "&a ",
            "*a",
            "# ",
            "\t",
            ": ",
            "{",
            "]",
            "|\n",
            "\r",
            "\x01",
            "%",
        ]
        text = text[:at] + draw(st.sampled_from(damage)) + text[end:]
    return text.encode()


def read(parts: Iterable[Part]) -> list[Any]:
    """What is read, and the fault that it ends with."""
    found: list[Any] = []
    try:
        for value, line, path, owner in parts:
            plain = json.loads(value) if isinstance(value, bytes) else value
            found.append((repr(plain), line, path, None if owner is None else owner.get("kind")))
    except MalformedError as error:
        found.append(error.fault)
    return found


def in_chunks(text: bytes, size: int) -> Iterator[bytes]:
    return (text[at : at + size] for at in range(0, len(text), size))


def same(text: bytes, size: int) -> None:
    expected, found = read(yaml_parts(text)), read(yaml_list_parts(text, None))
    chunks = in_chunks(text, size)
    streamed = read(yaml_list_parts(next(chunks, b""), chunks))
    if expected and "unacceptable character" in str(expected[-1]):
        # The parser says so before it gives what stands a little before it, or finds another fault there.
        assert (found[: len(expected) - 1], found[-1]) == (expected[:-1], expected[-1])
        assert isinstance(streamed[-1], Fault)
    else:
        assert (found, streamed) == (expected, expected)


@settings(max_examples=60)
@given(documents(), st.sampled_from([7, 60, 400]))
def test_what_is_cut_is_what_the_parser_reads(text: bytes, size: int) -> None:
    with patch.object(yaml_stream, "_MAX_REMEMBERED", 200):
        same(text, size)


CLUSTER: list[Any] = json.loads(
    json.dumps(
        [
            *hosts("a", "b"),
            *(
                {
                    **pod(f"web-{number}", "n0", labels={"app": "web", "on": "y"}, constraints=[hard()]),
                    "status": {
                        "phase": "Running",
                        "podIP": f"10.0.0.{number}",
                        "message": "'it': {is} #1, \"so\"\n\n  to say\n",
                    },
                }
                for number in range(4)
            ),
        ]
    )
)
for each in CLUSTER[2:]:
    each["metadata"]["ownerReferences"] = owned_by("ReplicaSet", "web")
WRITTEN = [
    b"apiVersion: v1\n" + (to_yaml({"items": CLUSTER}) + "kind: List\nmetadata: {}\n").encode(),
    yaml.dump({"apiVersion": "v1", "items": CLUSTER, "kind": "List"}, Dumper=Indented, width=30).encode(),
]


@pytest.mark.parametrize("text", WRITTEN, ids=["as kubectl does", "indented"])
def test_the_parser_reads_only_what_was_not_seen_before(text: bytes) -> None:
    with patch.object(yaml_stream, "lone_value", side_effect=lone_value) as alone:
        parts = list(yaml_list_parts(text, None))
    assert [type(part.value) for part in parts] == [bytes] * len(CLUSTER) + [dict]
    assert [json.loads(part.value) for part in parts[:-1]] == [part.value for part in yaml_parts(text)][:-1]
    # The message, and what PyYAML indents in another way than kubectl.
    assert alone.call_count < 10
    same(text, 100)


DAMAGE = [
    "",
    " ",
    "\n",
    "\n  ",
    "\n- ",
    "'",
    '"',
    "&a ",
    "*a",
    "#",
    " #",
    "\t",
    ": ",
    "{",
    "]",
    "|\n",
    "\r",
    "- ",
    "<<",
    "%",
    "\n---\n",
]


@settings(max_examples=80)
@given(st.data(), st.sampled_from(WRITTEN))
def test_damaged_in_one_place(data: st.DataObject, text: bytes) -> None:
    at = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(at, min(len(text), at + 4)))
    same(text[:at] + data.draw(st.sampled_from(DAMAGE)).encode() + text[end:], 300)


@pytest.mark.parametrize("in_pieces", [False, True])
def test_a_fault_is_named_by_its_line(in_pieces: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "cluster.yaml"
    file.write_bytes(WRITTEN[0].replace(b"maxSkew: 1", b"maxSkew: one", 2))
    monkeypatch.setattr(objects, "_MAX_BYTES_FOR_LINES", 100 if in_pieces else 10**6)
    with patch.object(yaml_stream, "_HEAD", re.compile(rb"(?!)")):
        by_the_parser = kubespread.load(file)
    monkeypatch.setattr(objects, "_LARGE_YAML", 0)
    with patch.object(yaml_stream._Blocks, "item", autospec=True, side_effect=yaml_stream._Blocks.item) as item:
        cut = kubespread.load(file)
    assert (cut, cut.faults, item.call_count) == (by_the_parser, by_the_parser.faults, len(CLUSTER))
    line = 31 if in_pieces else 51
    assert cut.faults[0].startswith(
        f"{file}:{line}: Pod default/web-0: spec.topologySpreadConstraints[0].maxSkew: expected"
    )
