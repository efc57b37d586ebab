"""CEL as selectors of devices use it: what an expression says of one device, what it costs, what is wrong with it."""

from __future__ import annotations

import gzip
import json
import time
import tracemalloc
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubespread.kube.api import devices as api
from kubespread.kube.quantity import parse
from kubespread.scheduler.plugins.dynamicresources.cel.compiling import compiled, most_cost
from kubespread.scheduler.plugins.dynamicresources.cel.types import CompileError, UnsupportedExpressionError
from kubespread.scheduler.plugins.dynamicresources.cel.values import EvaluationError, parse_semver
from kubespread.scheduler.plugins.dynamicresources.devices import DeviceID, OfferedDevice
from tools.replay.cases import FIXTURES

Data = dict[str, Any]

RECORDED = FIXTURES.parent / "cel" / "expressions.jsonl.gz"
NOT_FOLLOWED = "not evaluated: it takes more steps or holds more values than kubespread follows"
TOO_COSTLY = "operation cancelled: actual cost limit exceeded"


class _Domains(dict[str, Any]):
    def __missing__(self, domain: str) -> Any:
        return {}


def _device() -> Data:
    attributes = {"model": "h100", "mem": 40, "healthy": True, "ver": parse_semver("1.2.3")}
    return {
        "driver": "gpu.example.com",
        "allowMultipleAllocations": False,
        "attributes": _Domains({"gpu.example.com": attributes, "other.example.com": {"x": 7}}),
        "capacity": _Domains({"gpu.example.com": {"memory": parse("40Gi")}}),
    }


def _said(expression: str) -> Data:
    """In the shape of the recordings."""
    try:
        most, selects = most_cost(expression), compiled(expression)
    except CompileError as error:
        return {"compile": str(error)}
    try:
        return {"most": most, "result": selects(_device())}
    except EvaluationError as error:
        return {"most": most, "error": str(error)}


def test_kubernetes_says_the_same_of_every_recorded_expression() -> None:
    with gzip.open(RECORDED, "rt") as lines:
        rows = [json.loads(line) for line in lines]
    assert len(rows) > 1000
    wanted = {row.pop("expression"): {key: row[key] for key in row if key != "cost"} for row in rows}
    differing = {text: (row, said) for text, row in wanted.items() if (said := _said(text)) != row}
    assert differing == {}


MISTAKES = {
    "device.foo == 1": "1:7: undefined field 'foo'\n | device.foo == 1\n | ......^",
    'device.driver = "x"': (
        "1:15: Syntax error: token recognition error at: '= '\n | device.driver = \"x\"\n | ..............^\n"
        "ERROR: <input>:1:17: Syntax error: extraneous input '\"x\"' expecting <EOF>\n"
        ' | device.driver = "x"\n | ................^'
    ),
    "device.driver == 'a' and true": (
        "1:22: Syntax error: mismatched input 'and' expecting <EOF>\n"
        " | device.driver == 'a' and true\n | .....................^"
    ),
    "device.\n  driver > 1": (
        "2:10: found no matching overload for '_>_' applied to '(string, int)'\n |   driver > 1\n | .........^"
    ),
    "'é' == x": "1:8: undeclared reference to 'x' (in container '')\n | 'é' == x\n | .．.....^",
    "+".join(["1"] * 300) + " == 300": "-1:0: max recursion depth exceeded",
    "(" * 300 + "true" + ")" * 300: "-1:0: expression recursion limit exceeded: 250",
}


@pytest.mark.parametrize("expression", MISTAKES)
def test_what_is_wrong_is_shown_where_it_stands(expression: str) -> None:
    with pytest.raises(CompileError) as raised:
        compiled(expression)
    assert str(raised.value) == f"compilation failed: ERROR: <input>:{MISTAKES[expression]}"


def _bound(first: str, step: str, end: str, times: int = 40) -> str:
    """Names for ``first`` and what each step makes of the name before."""
    steps = "".join(f"cel.bind(v{number + 1}, {step.replace('_', f'v{number}')}, " for number in range(times))
    return f"cel.bind(v0, {first}, {steps}{end.replace('_', f'v{times}')}" + ")" * (times + 1)


HOSTILE = {
    "a list that doubles": (_bound("[1, 2]", "_ + _", "_.size() > 0"), NOT_FOLLOWED),
    "a text that doubles": (_bound('"ab"', "_ + _", "_.size() > 0"), TOO_COSTLY),
    "lists in lists": (_bound("[1]", "[_, _]", "_ == _"), NOT_FOLLOWED),
    "texts that become longer": ('"aaaaaaaaaa"' + '.replace("a", "aaaaaaaaaa")' * 9 + ".size() > 0", NOT_FOLLOWED),
    "an endless range": ("lists.range(1000000000000).size() > 0", TOO_COSTLY),
    "loops that cost": ("lists.range(900).all(x, lists.range(900).all(y, true))", NOT_FOLLOWED),
    "loops that cost nothing": ("lists.range(900).all(x, lists.range(900).filter(y, false).size() == 0)", NOT_FOLLOWED),
    "sums beyond the limit": ("lists.range(999).map(x, x * x).distinct().size() == 999", TOO_COSTLY),
    "a text that is joined": (
        _bound('"abcdefgh"', "_ + _", 'lists.range(9000).map(x, _).join() == ""', 15),
        TOO_COSTLY,
    ),
    "values that stand in two places each": ("optional.of(1)" + ".optMap(x, x)" * 99 + ".hasValue()", NOT_FOLLOWED),
    "a type of many parts": (_bound("{1: 1}", "{_: _}", "_ == _"), "a type of more than 500 parts"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_nothing_takes_long(case: str) -> None:
    expression, expected = HOSTILE[case]
    assert len(expression) < 10_240
    started = time.process_time()
    with pytest.raises((EvaluationError, UnsupportedExpressionError)) as raised:
        compiled(expression)(_device())
    assert (str(raised.value), time.process_time() - started < 3) == (expected, True)


def test_deep_expressions_are_read_as_far_as_kubernetes_reads_them() -> None:
    deepest = ["(" * 249 + "true" + ")" * 249, "dyn(" * 249 + "true" + ")" * 249 + " == true", "!" * 3000 + "true"]
    deepest += ["+".join(["1"] * 249) + " == 249", " && ".join(["true"] * 1500), "'a'" + ".trim()" * 249 + " == 'a'"]
    assert [compiled(expression)(_device()) for expression in deepest] == [True] * 6


def test_versions_are_ordered_as_semver_says() -> None:
    texts = [
        "1.0.0-alpha",
        "1.0.0-alpha.1",
        "1.0.0-alpha.beta",
        "1.0.0-beta.2",
        "1.0.0-beta.11",
        "1.0.0",
        "1.0.1",
        "2.0.0",
    ]
    assert all(first < second for first, second in pairwise(map(parse_semver, texts)))


@given(st.text(max_size=40) | st.text(alphabet="device.attributes[]()\"'=<>!&|+-*/%?: 01xu\\,{}", max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        found: bool | str = compiled(text)(_device())
    except (CompileError, UnsupportedExpressionError, EvaluationError) as error:
        found = str(error)
    assert isinstance(found, bool) or found


def test_what_a_failed_selector_made_is_not_kept() -> None:
    """Strings of millions of characters, of each device."""
    bound = "".join(f"cel.bind(a{each + 1}, a{each} + a{each}, " for each in range(40))
    expression = f'cel.bind(a0, "x", {bound}a40 != ""' + ")" * 41
    device = OfferedDevice(DeviceID("gpu.example.com", "pool", "gpu-0"), api.Device(name="gpu-0"), api.ResourceSlice())
    tracemalloc.start()
    for _ in range(2):
        with pytest.raises(EvaluationError, match="actual cost limit exceeded"):
            device.is_selected_by(expression)
    kept, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < most / 4
