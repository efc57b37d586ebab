"""Files to objects: gzip, encodings, JSON in its forms, Lists, and the line a field stands on."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path

import pytest

from kubespread.errors import ManifestError
from kubespread.manifest.objects import KubernetesObject, read_documents, read_objects
from kubespread.manifest.text import MAX_DEPTH, FieldLines, MalformedError, read_file, text_chunks

LIMIT = 2**20
TEXT = "name: é\n"
ENCODINGS = {
    "plain": TEXT.encode(),
    "byte order mark": TEXT.encode("utf-8-sig"),
    "little-endian UTF-16": TEXT.encode("utf-16"),
    "big-endian UTF-16": b"\xfe\xff" + TEXT.encode("utf-16-be"),
    "gzip": gzip.compress(TEXT.encode()),
    "gzip in two members": gzip.compress(TEXT[:3].encode()) + gzip.compress(TEXT[3:].encode()),
    "gzip with 100,000 members of nothing": gzip.compress(TEXT.encode()) + gzip.compress(b"") * 100_000,
}


def objects(text: str) -> list[KubernetesObject]:
    return list(read_objects(iter([text.encode()])))


@pytest.mark.parametrize("case", ENCODINGS)
def test_text(case: str, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(ENCODINGS[case])
    assert read_file(str(file), LIMIT).decode() == TEXT


def test_a_name_that_no_file_can_have() -> None:
    with pytest.raises(ManifestError, match="null byte"):
        read_file("/\0", LIMIT)


NOT_TEXT = {
    "NUL": (b"a\0b", "not a text file (NUL byte at offset 1): expected YAML or JSON"),
    "half a character": (b"a: \xc3", "not UTF-8 text (byte 0xc3 at offset 3): expected YAML or JSON"),
    "half a UTF-16 unit": (b"\xff\xfea", "not UTF-16 text: truncated data"),
    "half a gzip": (gzip.compress(TEXT.encode())[:-9], "gzip data ends early"),
    "a gzip bomb": (gzip.compress(b" " * (LIMIT + 1)), "more than 1 MiB of text"),
}


@pytest.mark.parametrize("case", NOT_TEXT)
def test_not_text(case: str) -> None:
    raw, message = NOT_TEXT[case]
    with pytest.raises(MalformedError) as refused:
        list(text_chunks(io.BytesIO(raw), LIMIT))
    assert str(refused.value) == message


def test_a_file_over_the_limit(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b" " * (LIMIT + 1))
    with pytest.raises(ManifestError, match="more than 1 MiB of text"):
        read_file(str(file), LIMIT)


JSON_TEXTS = {
    "one document": '{"a": 1}',
    "lines": '{"a": 1}\n{"b": 2}\n',
    "concatenated": '{"a": 1}{"b":\n2} ',
    "a YAML flow mapping": "{a: 1}",
    "YAML flow with a quoted key": '{"a": y, }',
}
JSON_VALUES = {
    "one document": [{"a": 1}],
    "lines": [{"a": 1}, {"b": 2}],
    "concatenated": [{"a": 1}, {"b": 2}],
    "a YAML flow mapping": [{"a": 1}],
    "YAML flow with a quoted key": [{"a": True}],
}


@pytest.mark.parametrize("case", JSON_TEXTS)
def test_json(case: str) -> None:
    assert read_documents(JSON_TEXTS[case].encode()) == JSON_VALUES[case]


def test_a_json_error_names_its_line() -> None:
    with pytest.raises(MalformedError) as refused:
        read_documents(b'{"a": 1,\n "b": [}\n')
    assert (refused.value.fault.line, refused.value.fault.message) == (2, "JSON syntax: invalid character")


@pytest.mark.parametrize("levels", [MAX_DEPTH + 1, 10_000, 1_000_000])
@pytest.mark.parametrize(("opening", "closing"), [(b"[", b"]"), (b'{"a":', b"}")])
def test_json_is_refused_where_yaml_would_be(levels: int, opening: bytes, closing: bytes) -> None:
    """How much the decoder itself takes is the interpreter's choice."""
    with pytest.raises(MalformedError, match=f"JSON syntax: nested deeper than {MAX_DEPTH} levels"):
        read_documents(opening * levels + b"1" + closing * levels)


def test_much_json_that_is_not_deep_is_read() -> None:
    deep = b"[" * (MAX_DEPTH - 1) + b"]" * (MAX_DEPTH - 1)
    assert len(read_documents(b'["' + b"[" * 1000 + b'",' + b"{}," * 1000 + deep + b"]")[0]) == 1002


def test_lists_give_their_items_and_typed_lists_their_kind() -> None:
    typed = {"apiVersion": "v1", "kind": "PodList", "items": [{"metadata": {"name": "p"}}]}
    nested = {
        "apiVersion": "v1",
        "kind": "List",
        "items": [typed, {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}],
    }
    found = [
        (item.kind, item.api_version, item.name, item.path) for item in objects(json.dumps(nested)) if not item.size
    ]
    assert found == [("Pod", "v1", "p", "items[0].items[0]"), ("Node", "v1", "n", "items[1]")]


def test_an_empty_list_speaks_for_itself() -> None:
    assert [item.kind for item in objects("kind: NodeList\nitems: []\n")] == ["NodeList"]


@pytest.mark.parametrize(
    "text",
    [
        '{"apiVersion": "v1", "kind": "NodeList", "items": {}}',
        '{"items": {"a": 1}, "apiVersion": "v1", "kind": "List"}',
        '{"kind": "List", "items": [{"kind": "PodList", "items": "none"}]}',
        "kind: NodeList\nitems:\n  a: 1\n",
    ],
)
def test_a_list_whose_items_are_no_list_is_not_an_empty_one(text: str) -> None:
    with pytest.raises(MalformedError, match="^items: expected a list, found "):
        objects(text)


@pytest.mark.parametrize("text", ['{"kind": "NodeList", "items": null}', "kind: NodeList\nitems:\n"])
def test_null_is_how_go_writes_an_empty_list(text: str) -> None:
    assert [(item.kind, item.size) for item in objects(text)] == [("NodeList", 0)]


@pytest.mark.parametrize("text", ["- 1\n", "kind: List\nitems: [1]\n", "text\n"])
def test_what_is_no_object_is_refused(text: str) -> None:
    with pytest.raises(MalformedError, match="expected a Kubernetes object, found"):
        objects(text)


LINES = """\
# comment
kind: Pod
metadata:
  labels:
    example.com/a: b
spec:
  containers:
  - name: c
    image: x
  - {name: d,
     image: y}
---
kind: Service
"""


@pytest.mark.parametrize(
    ("document", "path", "line"),
    [
        (0, "kind", 2),
        (0, "spec.containers[0].image", 9),
        (0, "spec.containers[1]", 10),
        (0, "spec.containers[1].image", 11),
        (0, "spec.containers[1].resources.requests", 10),
        (0, "metadata.labels[example.com/a]", 5),
        (0, "spec.nothing", 6),
        (1, "kind", 13),
        (2, "kind", None),
    ],
)
def test_the_line_of_a_field_or_of_the_nearest_one_above(document: int, path: str, line: int | None) -> None:
    assert FieldLines(LINES.encode()).line(document, path) == line


def test_lines_of_json_indented_with_tabs() -> None:
    assert FieldLines(b'{\n\t"a": {\n\t\t"b": 1\n\t}\n}').line(0, "a.b") == 3
