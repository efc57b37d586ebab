"""CEL as selectors of devices use it: what an expression says of one device."""

from __future__ import annotations

from contextlib import suppress
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubespread.kube.quantity import parse
from kubespread.scheduler.plugins.dynamicresources.cel.compiling import compiled
from kubespread.scheduler.plugins.dynamicresources.cel.functions import (
    EvaluationError,
    Semver,
    UnsupportedExpressionError,
    normalized_semver,
    parse_semver,
)

DEVICE = {
    "driver": "gpu.example.com",
    "allowMultipleAllocations": False,
    "attributes": {
        "gpu.example.com": {"model": "h100", "mem": 40, "healthy": True, "ver": Semver((1, 2, 3)), "bad": "é\"'"}
    },
    "capacity": {"gpu.example.com": {"memory": parse("40Gi")}},
}
GPU = 'device.attributes["gpu.example.com"]'
MEMORY = 'device.capacity["gpu.example.com"].memory'

TRUE = [
    'device.driver == "gpu.example.com"',
    "device.driver == 'gpu.example.com'",
    'device.driver.startsWith("gpu.") && device.driver.endsWith(".com")',
    'device.driver.matches("^gpu[.]")',
    f'{GPU}.model == "h100"',
    f'{GPU}["model"] in ["a100", "h100"]',
    f"{GPU}.mem >= 40 && {GPU}.mem < 41",
    f"{GPU}.mem == 40.0",
    f"{GPU}.mem / 7 == 5 && -{GPU}.mem / 7 == -5 && -{GPU}.mem % 7 == -5",
    f"{GPU}.mem * 2 + 1 - 0x10 == 65",
    f"{GPU}.healthy",
    f'!({GPU}.model == "a100")',
    f'{GPU}.ver.isGreaterThan(semver("1.2.3-rc.1"))',
    f'{GPU}.ver.compareTo(semver("1.10.0")) < 0',
    f'{GPU}.ver == semver("1.2.3+build")',
    f"{GPU}.ver.major() == 1 && {GPU}.ver.minor() == 2 && {GPU}.ver.patch() == 3",
    f'{MEMORY}.compareTo(quantity("40960Mi")) == 0',
    f'{MEMORY}.isGreaterThan(quantity("39Gi")) && {MEMORY}.isLessThan(quantity("41Gi"))',
    f'{MEMORY}.sub(quantity("1Gi")).asInteger() == 39 * 1024 * 1024 * 1024',
    '"gpu.example.com" in device.attributes && !("net.example.com" in device.attributes)',
    f"has({GPU}.model) && !has({GPU}.nothere)",
    'has(device.attributes["net.example.com"].model) == false',
    f'cel.bind(gpu, {GPU}, gpu.model == "h100" && gpu.healthy)',
    f'{GPU}.model == "a100" ? false : true',
    '[1, 2, 3].exists(n, n > 2) && ![1, 2].all(n, n > 1) && [1, 2].exists_one(n, n == 2)',
    "[1, 2, 3].filter(n, n > 1).map(n, n * n) == [4, 9]",
    'size("abc") == 3 && [1].size() == 1 && {"a": 1}["a"] == 1',
    r'"\x41\u0042\103\"\n" == "ABC\"" + "\n" && r"\d" == "\\d"',
    '"""a"b""" == "a\\"b"',
    'string(1) + "x" == "1x" && int("12") == 12 && double("1.5") == 1.5 && bool("true")',
    '"A-b".lowerAscii() == "a-b" && "a,b".split(",") == ["a", "b"] && "abc".substring(1) == "bc"',
    "007 == 7 && 0x1F == 31",
    'isSemver("1.2.3") && !isSemver("1.2") && isSemver("v1.2", true) && isQuantity("1Gi") && !isQuantity("x")',
    "true || 1 / 0 == 1",
    "1 / 0 == 1 || true",
    f"!(1 / 0 == 1 && false) // {GPU}",
    '1 != "1" && null == null && dyn(1) == 1',
    'string(1e21) == "1000000000000000000000" && string(0.1) == "0.1" && string(2.0) == "2"',
    '"abc".matches("[[:alpha:]]+$") && !("' + "a" * 40 + 'b".matches("^(a+)+$"))',
    "!!true && 1 - 2 - 3 == -4 && true in {true: 1} && {true: 1}.all(key, key)",
    "9007199254740993 == 9007199254740992.0",
    "+".join(["1"] * 3000) + " == 3000",
    "||".join(["false"] * 3000) + " || true",
    "!" * 3000 + "true",
]  # fmt: skip


@pytest.mark.parametrize("expression", TRUE)
def test_what_selects_the_device(expression: str) -> None:
    assert compiled(expression)(_device()) is True


ERRORS = {
    f"{GPU}.nothere == 1": "no such key: nothere",
    'device.attributes["net.example.com"].model == "x"': "no such key: model",
    f'{GPU}.model > 1': "no such overload",
    f"{GPU}.mem && true": "no such overload",
    '{1: "a"}[true] == "a"': "no such key: True",
    'double(" 1 ") == 1.0': "type conversion error",
    'double("1_0") == 10.0': "type conversion error",
    "9223372036854775808 > 1": "invalid int literal 9223372036854775808",
    '"a".matches("(")': "error parsing regexp: missing ): (",
    f"{GPU}.healthy + 1 == 2": "no such overload",
    "1 / 0 == 1": "division by zero",
    "1 % 0 == 1": "modulus by zero",
    "9223372036854775807 + 1 == 0": "integer overflow",
    "[1][1] == 1": "index out of bounds: 1",
    'quantity("x").isInteger()': "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    "1 / 0 == 1 || false": "division by zero",
    "{[1]: 1}.size() == 1": "unsupported key type",
    '"a,b".split(",", "x") == []': "no such overload",
    f"{GPU}.model": "CEL result of type string could not be converted to bool: unsupported native conversion from string to 'bool'",
}  # fmt: skip


@pytest.mark.parametrize("expression", ERRORS)
def test_what_ends_in_an_error(expression: str) -> None:
    with pytest.raises(EvaluationError) as raised:
        compiled(expression)(_device())
    assert str(raised.value) == ERRORS[expression]


UNSUPPORTED = {
    "device.": "'the end' where name is expected",
    "1 +": "'the end' where a value is expected",
    "(1": "'the end' where ) is expected",
    "1 2": "'2' where end is expected",
    "#": "'#' at position 0",
    "1u == 1u": "an unsigned number",
    "1" * 5000: "a number beyond 64 bits",
    "0xffffffffffffffff == 1": "a number beyond 64 bits",
    'b"x" == b"x"': "bytes",
    "other == 1": "other, which is no variable",
    'device.driver.format([1]) == "x"': "format()",
    "size() == 0": "size() with 0 arguments",
    "device.driver.startsWith() == true": "startsWith() with 0 arguments",
    "device.driver.startsWith(1, 2) == true": "startsWith() with 2 arguments",
    "(" * 100 + "1" + ")" * 100: "an expression nested too deeply",
}


@pytest.mark.parametrize("expression", UNSUPPORTED)
def test_what_is_not_evaluated_is_said(expression: str) -> None:
    with pytest.raises(UnsupportedExpressionError) as raised:
        compiled(expression)
    assert str(raised.value) == UNSUPPORTED[expression]


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
    versions = [version for text in texts if (version := parse_semver(text))]
    assert len(versions) == len(texts)
    assert all(first < second for first, second in pairwise(versions))
    assert [parse_semver(text) for text in ("1.2", "01.2.3", "1.2.3-01", "v1.2.3", "")] == [None] * 5
    assert [normalized_semver(text) for text in ("v1.2", "01.02.3", "1.2.3-rc")] == ["1.2.0", "1.2.3", "1.2.3-rc"]


@given(st.text(max_size=40) | st.text(alphabet="device.attributes[]()\"'=<>!&|+-*/%?: 01xu\\,{}", max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        selects = compiled(text)
    except UnsupportedExpressionError:
        return
    with suppress(EvaluationError):
        assert selects(_device()) in (True, False)


class _Domains(dict[str, Any]):
    def __missing__(self, domain: str) -> Any:
        return {}


def _device() -> dict[str, Any]:
    return {name: _Domains(value) if isinstance(value, dict) else value for name, value in DEVICE.items()}
