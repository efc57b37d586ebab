"""Quantities: what parses, what it is worth, and how it is printed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubespread.kube.quantity import BAD_FORMAT, BAD_NUMBER, BAD_SUFFIX, OUT_OF_RANGE, QuantityError, parse

# text, milli value, value, text printed after the API server's defaulting
VALUES: list[tuple[str | int | float, int, int, str]] = [
    ("0.5", 500, 1, "500m"),
    (0.5, 500, 1, "500m"),
    (2, 2000, 2, "2"),
    ("1.5", 1500, 2, "1500m"),
    ("1.500", 1500, 2, "1.500"),
    ("100u", 1, 1, "1m"),
    ("0.1m", 1, 1, "1m"),
    ("1n", 1, 1, "1m"),
    ("5e-10", 1, 1, "1e-3"),
    ("1000", 1000000, 1000, "1k"),
    ("1.0", 1000, 1, "1"),
    ("01", 1000, 1, "01"),
    ("+1", 1000, 1, "+1"),
    ("1.", 1000, 1, "1."),
    ("1e3", 1000000, 1000, "1e3"),
    ("1E3", 1000000, 1000, "1E3"),
    ("1.5e3", 1500000, 1500, "1500"),
    ("12e-1", 1200, 2, "1200e-3"),
    ("1Ki", 1024000, 1024, "1Ki"),
    ("0.5Ki", 512000, 512, "512"),
    ("1.1Ki", 1126400, 1127, "1126400m"),
    ("1.5Gi", 1610612736000, 1610612736, "1536Mi"),
    ("3.3Gi", 3543348019200, 3543348020, "3543348019200m"),
    ("1024Mi", 1073741824000, 1073741824, "1Gi"),
    ("1025Mi", 1074790400000, 1074790400, "1025Mi"),
    ("129e6", 129000000000, 129000000, "129e6"),
    ("129M", 129000000000, 129000000, "129M"),
    ("123Mi", 128974848000, 128974848, "123Mi"),
    ("-1Ki", -1024000, -1024, "-1Ki"),
    ("-1.5", -1500, -2, "-1500m"),
]
REFUSED = {
    BAD_FORMAT: ["", "1 Gi", "1..5", "1g", "1GB", "abc", "NaN", "1,5", "0x10", "1_000", "1e3i", "١"],
    BAD_SUFFIX: ["1K", "1ki", "1mi", "1e", "1e+", "1n5", "--1", "1+", "1ee3"],
    BAD_NUMBER: [".e-20", "e-20"],
    OUT_OF_RANGE: ["1e4294967299", "9" * 1001],
}


@pytest.mark.parametrize(("text", "milli", "value", "printed"), VALUES)
def test_value(text: str | float, milli: int, value: int, printed: str) -> None:
    quantity = parse(text).rounded_up()
    assert (quantity.milli_value, quantity.value, str(quantity)) == (milli, value, printed)


@pytest.mark.parametrize("text", ["0", "00", "+", "-0", "-", "Ki", ".", ".Ki", "e3", "m", None])
def test_no_digits_is_zero(text: str | None) -> None:
    assert parse(text).nano == 0


@pytest.mark.parametrize(("message", "text"), [(message, text) for message, texts in REFUSED.items() for text in texts])
def test_refused(message: str, text: str) -> None:
    with pytest.raises(QuantityError) as refused:
        parse(text)
    assert str(refused.value) == message


def test_a_boolean_is_not_a_number() -> None:
    with pytest.raises(QuantityError):
        parse(True)


@pytest.mark.parametrize(
    ("text", "value", "milli"),
    [
        ("10E", 0, 0),
        ("9.3E", 0, 0),
        ("1E", 10**18, 0),
        ("10P", 10**16, 0),
        ("9223372036854775", 9223372036854775, 9223372036854775000),
        ("9223372036854776", 9223372036854776, -9223372036854775616),
        ("9223372036854775808", -(2**63), 0),
        ("7Ei", 7 * 2**60, (7000 * 2**60 + 2**63) % 2**64 - 2**63),
        ("16Ei", 2**63 - 1, -1000),
    ],
)
def test_what_an_int64_cannot_hold_becomes_what_go_makes_of_it(text: str, value: int, milli: int) -> None:
    rounded = parse(text).rounded_up()
    assert (rounded.value, rounded.milli_value) == (value, milli)


def test_a_number_of_any_length_is_refused_in_one_line() -> None:
    with pytest.raises(QuantityError, match="^quantity out of range$"):
        parse(10**5000)


def test_binary_values_stop_at_the_largest_int64() -> None:
    assert parse("10Ei").value == parse("8Ei").value == 2**63 - 1


@given(st.integers(-(10**12), 10**12), st.sampled_from(["", "m", "k", "M", "Ki", "Mi", "n"]))
def test_printing_and_parsing_agree(number: int, suffix: str) -> None:
    quantity = parse(f"{number}{suffix}").rounded_up()
    assert parse(str(quantity)).nano == quantity.nano


@given(st.integers(0, 10**9), st.integers(0, 10**9))
def test_sums_are_exact(left: int, right: int) -> None:
    assert (parse(f"{left}n") + parse(f"{right}n")).nano == left + right
