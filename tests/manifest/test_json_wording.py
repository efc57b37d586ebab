"""Where a JSON value ends is known from the words of an error of msgspec; other words only make it slower."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from kubespread.manifest.json_stream import json_documents
from kubespread.manifest.objects import read_objects
from kubespread.manifest.text import MalformedError

ITEMS = [
    {"kind": "Node", "name": "é" * size, "deep": [[{"a": [1.5e3, -0, True, None, '\\"]}']}]]} for size in range(40)
]
DECODER = msgspec.json.Decoder
LIST = json.dumps({"apiVersion": "v1", "kind": "List", "items": ITEMS}, ensure_ascii=False, indent=1).encode()


class Reworded:
    """msgspec's decoder, in other words."""

    def __init__(self, said: Callable[[str], str], *types: Any) -> None:
        self._said, self._decoder = said, DECODER(*types)

    def decode(self, text: Any) -> Any:
        try:
            return self._decoder.decode(text)
        except msgspec.DecodeError as error:
            raise msgspec.DecodeError(self._said(str(error))) from error


WORDINGS: dict[str, Callable[[str], str]] = {
    "as they are": lambda said: said,
    "without a byte": lambda said: said.partition(" (byte")[0].replace("trailing characters", "something follows"),
    "other words": lambda said: "that is no JSON",
    "the byte that follows, in other words": lambda said: said.replace("trailing characters", "extra data"),
}
CHUNK_SIZES = (1, 7, 100, 10**6)


def in_chunks(text: bytes, size: int) -> list[bytes]:
    return [text[at : at + size] for at in range(0, len(text), size)]


@pytest.fixture(params=WORDINGS)
def wording(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    said = WORDINGS[request.param]
    monkeypatch.setattr(msgspec.json, "Decoder", lambda *types: Reworded(said, *types))


@pytest.mark.usefixtures("wording")
@pytest.mark.parametrize("size", CHUNK_SIZES)
def test_a_list_is_read_whatever_the_words(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kubespread.manifest.json_stream._WINDOW", 64)
    *items, listed = [item.data for item in read_objects(iter(in_chunks(LIST, size)))]
    assert [{**item, "apiVersion": "v1"} for item in items] == [{**item, "apiVersion": "v1"} for item in ITEMS]
    assert listed == {"apiVersion": "v1", "kind": "List"}


@pytest.mark.usefixtures("wording")
@pytest.mark.parametrize("size", CHUNK_SIZES)
def test_values_one_after_another(size: int) -> None:
    text = b'{"a": 1} 12 "x\\u00e9" [] true'
    assert list(json_documents(iter(in_chunks(text, size)))) == [{"a": 1}, 12, "xé", [], True]


@pytest.mark.usefixtures("wording")
@pytest.mark.parametrize(
    "text",
    [b'{"a": ', b'{"a" 1}', b"[1,]", b'["\\x"]', b"[NaN]", b'{"a": tru', b"[" * 100_000, b'["' + b"x" * 100_000],
    ids=[
        "cut",
        "no colon",
        "a comma too many",
        "a bad escape",
        "no number",
        "a word cut",
        "too deep",
        "a long string cut",
    ],
)
def test_what_is_no_json_ends_in_a_fault(text: bytes) -> None:
    with pytest.raises(MalformedError, match="JSON syntax"):
        list(json_documents(iter(in_chunks(text, 4096))))
