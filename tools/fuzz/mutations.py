"""What becomes of an input that is wrong in one to three places: every path of an object, and every byte of a text."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator
from typing import Any

import yaml

Path = tuple[Any, ...]

HOSTILE: list[Any] = [
    None,
    True,
    False,
    0,
    1,
    -1,
    1.5,
    -0.0,
    2**31 - 1,
    2**31,
    -(2**31),
    2**63 - 1,
    2**63,
    -(2**63),
    10**400,
    "",
    " ",
    "x",
    "X",
    "/",
    "a/b",
    "a/b/c",
    "a=b",
    "a:b",
    "-",
    "--",
    "*",
    ".",
    "..",
    "~",
    "%",
    "${HOME}",
    "@x",
    "0",
    "-1",
    "1e400",
    "1x",
    "1Ki",
    "100m",
    "-5",
    "9E",
    "1e24",
    "0.0000000001",
    "9" * 5000,
    "150%",
    "-1%",
    "1%",
    "9999999999%",
    "true",
    "null",
    "In",
    "Exists",
    "Gt",
    "NotIn",
    "x" * 64,
    "x" * 300,
    "x" * 100_000,
    "a\nb",
    "a\tb",
    "\x00",
    "\x1b[31m",
    "\x7f",
    "\x9b2J",
    "\u202e",
    "\u2028",
    "é",
    "名前",
    "\U0001f600",
    "\ud800",
    "2026-01-01T00:00:00Z",
    "0001-01-01T00:00:00Z",
    "0001-01-01T00:00:00+14:00",
    "9999-12-31T23:59:59Z",
    "9999-12-31T23:59:59-14:00",
    "2026-13-01T00:00:00Z",
    "Always",
    "Never",
    "DoNotSchedule",
    "ScheduleAnyway",
    "NoSchedule",
    "NoExecute",
    "Honor",
    "Ignore",
    "Pod",
    "Node",
    "List",
    "Deployment",
    "v1",
    "apps/v1",
    "topology.kubernetes.io/zone",
    "kubernetes.io/hostname",
    "device.driver ==",
    "1/0 == 0",
    "^(a+)+$",
    [],
    [None],
    [[]],
    [{}],
    [1],
    ["a"],
    ["a", "a"],
    ["a"] * 1000,
    {},
    {"a": None},
    {"a": "b"},
    {"": ""},
    {"a": {"a": {}}},
    {"a/b/c": "x"},
    {"kind": "List", "items": [{}]},
    {"matchLabels": {"/": "/"}},
    {"matchExpressions": [{"key": "a", "operator": "Nope"}]},
    {"cpu": "1x"},
    {"cpu": "-1"},
    {"cpu": 10**30},
    {"pods": "9223372036854775807"},
]


def places(data: Any, path: Path = ()) -> Iterator[Path]:
    """Every place inside ``data``, outermost first."""
    children = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, child in children:
        yield (*path, key)
        yield from places(child, (*path, key))


def damaged(data: Any, rng: random.Random) -> Any:
    """A copy with one to three places overwritten, removed, doubled, renamed or exchanged."""
    data = copy.deepcopy(data)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        found = list(places(data))
        if not found:
            return rng.choice(HOSTILE)
        path = rng.choice(found)
        rng.choice(_DAMAGES)(data, path, found, rng)
    return data


def dangling(items: list[Any], rng: random.Random) -> list[Any]:
    """A copy in which something is named that is not there: without one of its objects, or with one name, where it
    stands or is referred to, removed or changed.
    """
    items = copy.deepcopy(items)
    if rng.random() < 0.4:
        del items[rng.randrange(len(items))]
        return items
    names = {item["metadata"]["name"] for item in items}
    path = rng.choice([path for path in places(items) if isinstance(name := _at(items, path), str) and name in names])
    if rng.random() < 0.5:
        del _container(items, path)[path[-1]]
    else:
        _container(items, path)[path[-1]] = "absent"
    return items


def _overwrite(data: Any, path: Path, _found: list[Path], rng: random.Random) -> None:
    _container(data, path)[path[-1]] = copy.deepcopy(rng.choice(HOSTILE))


def _remove(data: Any, path: Path, _found: list[Path], _rng: random.Random) -> None:
    del _container(data, path)[path[-1]]


def _double(data: Any, path: Path, _found: list[Path], _rng: random.Random) -> None:
    container = _container(data, path)
    if isinstance(container, list):
        container.insert(path[-1], copy.deepcopy(container[path[-1]]))


def _rename(data: Any, path: Path, _found: list[Path], rng: random.Random) -> None:
    container = _container(data, path)
    if isinstance(container, dict):
        container[str(rng.choice(HOSTILE))] = container.pop(path[-1])


def _exchange(data: Any, path: Path, found: list[Path], rng: random.Random) -> None:
    """What stands elsewhere stands here too: of the right form, and in the wrong place."""
    other = rng.choice(found)
    _container(data, path)[path[-1]] = copy.deepcopy(_container(data, other)[other[-1]])


_DAMAGES: list[Callable[[Any, Path, list[Path], random.Random], None]] = [
    _overwrite,
    _overwrite,
    _overwrite,
    _overwrite,
    _remove,
    _double,
    _rename,
    _exchange,
]


def _at(data: Any, path: Path) -> Any:
    for key in path:
        data = data[key]
    return data


def _container(data: Any, path: Path) -> Any:
    return _at(data, path[:-1])


def as_json(data: Any) -> bytes:
    """A lone surrogate is an escape of one, or a byte that is not UTF-8."""
    return json.dumps(data).encode()


def as_yaml(data: Any) -> bytes:
    return yaml.dump(data, allow_unicode=False, Dumper=getattr(yaml, "CSafeDumper", yaml.SafeDumper)).encode()


def written(data: Any, rng: random.Random) -> bytes:
    """As text in some form, which now and then is damaged itself."""
    try:
        # To write a whole cluster as YAML, and read it, takes longer than most answers.
        is_cluster = isinstance(data, dict) and "items" in data
        text = as_json(data) if rng.random() < (0.95 if is_cluster else 0.7) else as_yaml(data)
    except (UnicodeEncodeError, ValueError, yaml.YAMLError):
        text = b'{"kind": "\xff"}'
    return scrambled(text, rng) if rng.random() < 0.1 else text


PIECES = [
    b"&a ",
    b"*a",
    b"<<: *a\n",
    b"!!binary ",
    b"!!python/object:os.system ",
    b"!!timestamp ",
    b"? ",
    b"---\n",
    b"...\n",
    b"%YAML 9.9\n",
    b"|\n",
    b">-\n",
    b"{",
    b"}",
    b"[",
    b"]",
    b":",
    b",",
    b'"',
    b"'",
    b"#",
    b"\\",
    b"\n",
    b"\r",
    b"\t",
    b"\x00",
    b"\xff",
    b"\xef\xbb\xbf",
    b"1e400",
    b"9" * 400,
    b"[" * 5000,
    b'{"a":' * 3000,
    b"0x",
    b"\\ud800",
    b"NaN",
    b"-Infinity",
]


def scrambled(text: bytes, rng: random.Random) -> bytes:
    """With some bytes changed, removed or repeated, syntax put in, cut short, or in another encoding."""
    data = bytearray(text)
    for _ in range(rng.randint(1, 3)):
        at, length = rng.randrange(len(data) + 1), rng.randint(1, 40)
        match rng.randrange(6):
            case 0:
                data[at : at + length] = rng.randbytes(rng.randint(0, 8))
            case 1:
                del data[at : at + length]
            case 2:
                data[at:at] = data[at : at + length] * rng.randint(1, 20)
            case 3 | 4:
                data[at:at] = rng.choice(PIECES)
            case 5:
                del data[at:]
    if rng.random() < 0.1:
        return bytes(data).decode(errors="replace").encode(rng.choice(("utf-16", "utf-16-be", "utf-32", "utf-8-sig")))
    return bytes(data)
