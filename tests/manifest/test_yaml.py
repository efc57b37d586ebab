"""YAML as kubectl reads it: scalars, keys, merges, aliases, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from kubespread.manifest.text import MAX_DEPTH, MalformedError, Part
from kubespread.manifest.writer import resolve_plain, to_yaml
from kubespread.manifest.yaml_stream import yaml_documents, yaml_parts

# What kubectl 1.32 made of each plain scalar.
SCALARS: dict[str, Any] = {
    "0o7": 7,
    "010": 8,
    "08": 8,
    "1_000": 1000,
    "1__0": 10,
    "0b11": 3,
    "0x10": 16,
    "-0x10": -16,
    "+1": 1,
    "-": "-",
    ".": ".",
    "0x": "0x",
    "1e3": 1000,
    "6e10": 60000000000,
    "1.": 1,
    ".5": 0.5,
    "1.0": 1,
    "0.1": 0.1,
    "1e400": "1e400",
    "99999999999999999999": 10**20,
    "9223372036854775808": 9223372036854775808,
    "100000000000000000000000.0": 1e23,
    "12:30": "12:30",
    "22:22:22": "22:22:22",
    "2026-05-01": "2026-05-01",
    "=": "=",
    "1.2.3": "1.2.3",
    "v1": "v1",
    "y": True,
    "Y": True,
    "yes": True,
    "on": True,
    "true": True,
    "TRUE": True,
    "n": False,
    "No": False,
    "off": False,
    "tRue": "tRue",
    "~": None,
    "null": None,
    "Null": None,
    "nULL": "nULL",
}


@pytest.mark.parametrize("text", SCALARS)
def test_plain_scalar(text: str) -> None:
    value = resolve_plain(text)
    assert (value, type(value)) == (SCALARS[text], type(SCALARS[text]))


DOCUMENTS: dict[str, tuple[str, list[Any]]] = {
    "nothing": ("", []),
    "comments only": ("# nothing\n", []),
    "documents, one of them empty": ("a: 1\n---\n---\nb: 2\n", [{"a": 1}, None, {"b": 2}]),
    "keys that are not strings": (
        "{1: a, y: b, 1.5: c, 010: d, 1e3: e}",
        [{"1": "a", "true": "b", "1.5": "c", "8": "d", "1000": "e"}],
    ),
    "quoted scalars are strings": ("['010', \"y\", 'null', '']", [["010", "y", "null", ""]]),
    "block scalars": ("a: |\n  1\nb: >-\n  y\n", [{"a": "1\n", "b": "y"}]),
    "tags": (
        "[!!str 5, !!int '5', !!float 3, !!bool yes, !!null '', !!timestamp 2026-01-01, !!binary aGVsbG8=, !foo bar, ! yes]",
        [["5", 5, 3, True, None, "2026-01-01", "hello", "bar", "yes"]],
    ),
    "aliases": ("a: &x {k: [1]}\nb: *x\n", [{"a": {"k": [1]}, "b": {"k": [1]}}]),
    "an anchor is forgotten with its document": ("&x a\n", ["a"]),
    "a merge overwrites what stands before it": (
        "base: &m {k: merged, z: merged}\nx:\n  k: before\n  <<: *m\n  z: after\n",
        [{"base": {"k": "merged", "z": "merged"}, "x": {"k": "merged", "z": "after"}}],
    ),
    "in a list of merges the first wins": (
        "{<<: [{a: x, b: y1}, {a: z, c: w}], d: e}",
        [{"a": "x", "b": "y1", "c": "w", "d": "e"}],
    ),
    "a quoted << is a key": ("{'<<': 1}", [{"<<": 1}]),
    "windows line ends": ("a: 1\r\nb:\r\n- x\r\n", [{"a": 1, "b": ["x"]}]),
}


@pytest.mark.parametrize("case", DOCUMENTS)
def test_documents(case: str) -> None:
    text, expected = DOCUMENTS[case]
    assert list(yaml_documents(text.encode())) == expected


def bomb(levels: int) -> str:
    doubled = (f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]" for level in range(1, levels))
    return "\n".join(["a0: &a0 [x, x, x, x, x, x, x, x, x, x]", *doubled])


REFUSED: dict[str, tuple[str, str, int | None]] = {
    "a key twice": ("a: 1\nb: 2\na: 3\n", "key 'a' is given twice in one mapping", 3),
    "an unknown anchor": ("a: *x\n", "unknown anchor 'x' referenced", 1),
    "an anchor of another document": ("a: &x 1\n---\nb: *x\n", "unknown anchor 'x' referenced", 3),
    "an anchor inside itself": ("a: &x [*x]\n", "anchor 'x' value contains itself", 1),
    "a null key": ("~: 1\n", "unsupported map key: null", 1),
    "a list as key": ("? [a]\n: 1\n", "a mapping key must be a scalar", 1),
    "infinity": ("a: .inf\n", ".inf is not a JSON value", 1),
    "a merge of a scalar": ("<<: 1\n", "a merge key '<<' takes a mapping or a list of mappings", 1),
    "a tag that does not fit": ("a: !!int x\n", "cannot decode 'x' as a !!int", 1),
    "binary that is not text": ("a: !!binary /w==\n", "!!binary value is not base64 of UTF-8 text", 1),
    "too deep": ("[" * (MAX_DEPTH + 1), f"nested deeper than {MAX_DEPTH} levels", 1),
    "an alias bomb": (bomb(9), "aliases expand to more than 1000000 values", 6),
    "an open bracket": ("a: [1", "YAML syntax: while parsing a flow sequence, did not find expected ',' or ']'", 2),
    "a tab for indentation": (
        "a:\n\tb: 1\n",
        "YAML syntax: while scanning for the next token, found character that cannot start any token",
        2,
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str) -> None:
    text, message, line = REFUSED[case]
    with pytest.raises(MalformedError) as refused:
        list(yaml_documents(text.encode()))
    assert (refused.value.fault.message, refused.value.fault.line) == (message, line)


PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**62), 2**62)
    | st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs"))),
    lambda children: (
        st.lists(children, max_size=4)
        | st.dictionaries(st.text(st.characters(codec="ascii"), min_size=1), children, max_size=4)
    ),
    max_leaves=20,
)


@given(PLAIN)
def test_what_is_written_reads_back(data: Any) -> None:
    assert list(yaml_documents(to_yaml(data).encode())) == [data]


@pytest.mark.parametrize(
    "text", ["6e10", "1e3", "y", "n", "0o7", "08", "12:30", "null", "", "on", "1_000", "-", "a: b", "#", "0x1f"]
)
def test_strings_kubectl_would_retype_are_quoted(text: str) -> None:
    written = to_yaml({"a": text})
    assert list(yaml_documents(written.encode())) == [{"a": text}]
    assert yaml.safe_load(written) == {"a": text}


def test_the_bound_on_aliases_is_for_each_item_of_a_list(monkeypatch: pytest.MonkeyPatch) -> None:
    """Dumpers write what is there twice as an alias; a long list may have any number of them, one item may not."""
    monkeypatch.setattr("kubespread.manifest.yaml_stream.MAX_ALIASED_VALUES", 10)
    text = "items:\n" + "- {a: &a [1, 2, 3], b: *a}\n" * 50
    *items, document = yaml_parts(text.encode())
    assert document == Part({"items": []})
    assert [(item.value, item.line) for item in items] == [
        ({"a": [1, 2, 3], "b": [1, 2, 3]}, line) for line in range(2, 52)
    ]
    with pytest.raises(MalformedError, match="aliases expand to more than 10 values"):
        list(yaml_parts(b"items:\n- {a: &a [1, 2, 3], b: [*a, *a, *a]}\n"))


LONG = {
    "a decimal number": ("9" * 5000, str),
    "a number behind zeros": ("0" * 5000 + "7", int),
    "a negative number": ("-" + "9" * 5000, str),
    "a fraction": ("0." + "3" * 5000, float),
    "a hexadecimal number": ("0x" + "f" * 390, str),
    "a long hexadecimal number": ("0x" + "f" * 5000, str),
    "a binary number": ("0b" + "1" * 390, str),
    "an octal number, as a decimal one": ("0" + "7" * 30, float),
}


@pytest.mark.parametrize("case", LONG)
def test_numbers_of_any_length(case: str) -> None:
    """Go knows 64 bits, then floats for decimal texts, then text; Python refuses to read more than 4,300 digits."""
    text, expected = LONG[case]
    (document,) = yaml_documents(f"a: {text}".encode())
    assert type(document["a"]) is expected
