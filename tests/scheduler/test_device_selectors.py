"""CEL as selectors of devices use it: what an expression says of one device, what is wrong with it."""

from __future__ import annotations

import gc
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
from kubespread.scheduler.plugins.dynamicresources.cel.compiling import compile_selector
from kubespread.scheduler.plugins.dynamicresources.cel.evaluating import NOT_MODELLED
from kubespread.scheduler.plugins.dynamicresources.cel.types import CompileError, UnsupportedExpressionError
from kubespread.scheduler.plugins.dynamicresources.cel.values import EvaluationError, parse_semver
from kubespread.scheduler.plugins.dynamicresources.devices import DeviceID, OfferedDevice
from tools.replay.cases import FIXTURES

Data = dict[str, Any]

RECORDED = FIXTURES.parent / "cel" / "expressions.jsonl.gz"
NOT_FOLLOWED = "not evaluated: it takes more steps or holds more values than kubespread follows"


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


_TYPES_ALONE = (
    "no matching overload",
    "expected type",
    "does not support field selection",
    "failed resolution",
    "cannot be range",
    "to bool",
)
"""What the API server refuses for types alone: told when the expression is evaluated, or not at all."""


def _said(expression: str) -> tuple[str, bool | None]:
    """``compile``, ``error``, ``not modeled`` or ``result`` with the result."""
    try:
        return "result", compile_selector(expression)(_device())
    except CompileError:
        return "compile", None
    except EvaluationError:
        return "error", None
    except UnsupportedExpressionError:
        return "not modeled", None


def _may_say(row: Data, said: tuple[str, bool | None]) -> bool:
    wanted = next(key for key in ("compile", "error", "result") if key in row)
    if said == (wanted, row.get("result")):
        return True
    if said[0] == "not modeled":
        return any(f"{name}(" in row["expression"] for name in NOT_MODELLED) or "format." in row["expression"]
    if wanted == "compile":
        return any(text in row["compile"] for text in _TYPES_ALONE)
    return False


def test_kubernetes_says_the_same_of_every_recorded_expression() -> None:
    with gzip.open(RECORDED, "rt") as lines:
        rows = [json.loads(line) for line in lines]
    assert len(rows) > 1000
    said = {row["expression"]: _said(row["expression"]) for row in rows}
    assert [(row, said[row["expression"]]) for row in rows if not _may_say(row, said[row["expression"]])] == []


MISTAKES = {
    "device.foo == 1": "undefined field 'foo' in line 1, column 7",
    'device.driver = "x"': "no token begins with '=' in line 1, column 15",
    "device.driver == 'a' and true": "unexpected 'and', expected the end in line 1, column 22",
    "device.\n  drivers > 1": "undefined field 'drivers' in line 1, column 7",
    "'é' == x": "undeclared reference to 'x' in line 1, column 8",
    "device.driver.startsWith()": "'startsWith' does not take so many arguments in line 1, column 25",
    "+".join(["1"] * 300) + " == 300": "nested more than 250 deep",
    "(" * 300 + "true" + ")" * 300: "nested more than 250 deep",
}


@pytest.mark.parametrize("expression", MISTAKES)
def test_what_is_wrong_is_said_with_its_place(expression: str) -> None:
    with pytest.raises(CompileError) as raised:
        compile_selector(expression)
    assert str(raised.value) == f"compilation failed: {MISTAKES[expression]}"


def _bound(first: str, step: str, end: str, times: int = 40) -> str:
    """Names for ``first`` and what each step makes of the name before."""
    steps = "".join(f"cel.bind(v{number + 1}, {step.replace('_', f'v{number}')}, " for number in range(times))
    return f"cel.bind(v0, {first}, {steps}{end.replace('_', f'v{times}')}" + ")" * (times + 1)


HOSTILE = {
    "a list that doubles": (_bound("[1, 2]", "_ + _", "_.size() > 0"), NOT_FOLLOWED),
    "a text that doubles": (_bound('"ab"', "_ + _", "_.size() > 0"), NOT_FOLLOWED),
    "lists in lists": (_bound("[1]", "[_, _]", "_ == _"), NOT_FOLLOWED),
    "texts that become longer": ('"aaaaaaaaaa"' + '.replace("a", "aaaaaaaaaa")' * 9 + ".size() > 0", NOT_FOLLOWED),
    "an endless range": ("lists.range(1000000000000).size() > 0", NOT_FOLLOWED),
    "loops that cost": ("lists.range(900).all(x, lists.range(900).all(y, true))", NOT_FOLLOWED),
    "loops that cost nothing": ("lists.range(900).all(x, lists.range(900).filter(y, false).size() == 0)", NOT_FOLLOWED),
    "sums beyond the limit": ("lists.range(999).map(x, x * x).distinct().size() == 999", NOT_FOLLOWED),
    "a text that is joined": (
        _bound('"abcdefgh"', "_ + _", 'lists.range(9000).map(x, _).join() == ""', 15),
        NOT_FOLLOWED,
    ),
    "values that stand in two places each": ("optional.of(1)" + ".optMap(x, x)" * 99 + ".hasValue()", NOT_FOLLOWED),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_nothing_takes_long(case: str) -> None:
    expression, expected = HOSTILE[case]
    assert len(expression) < 10_240
    started = time.process_time()
    with pytest.raises((EvaluationError, UnsupportedExpressionError)) as raised:
        compile_selector(expression)(_device())
    assert (str(raised.value), time.process_time() - started < 3) == (expected, True)


def test_deep_expressions_are_read_as_far_as_kubernetes_reads_them() -> None:
    deepest = ["(" * 249 + "true" + ")" * 249, "dyn(" * 249 + "true" + ")" * 249 + " == true", "!" * 3000 + "true"]
    deepest += ["+".join(["1"] * 249) + " == 249", " && ".join(["true"] * 1500), "'a'" + ".trim()" * 249 + " == 'a'"]
    assert [compile_selector(expression)(_device()) for expression in deepest] == [True] * 6


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
        found: bool | str = compile_selector(text)(_device())
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
        with pytest.raises(EvaluationError, match="takes more steps"):
            device.is_selected_by(expression)
    gc.collect()
    kept, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < most / 4
