"""Files of prices: what is read, exactly, and what is wrong with them, by line."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from docs.generators.prices_schema import schema
from kubespread import ManifestError
from kubespread.questions.costs import Prices, read_prices
from tests.cli.support import FIXTURES

HEAD = "apiVersion: kubespread.dev/v1alpha1\nkind: Prices\n"
VALID: Mapping[str, tuple[str, Prices]] = {
    "prices are what was written, to the last digit": (
        "prices: {a: 0.384, b: 0.000001, c: 999999998.999999, d: 2, e: 1.10, f: 0}",
        Prices(
            {
                "a": Decimal("0.384"),
                "b": Decimal("0.000001"),
                "c": Decimal("999999998.999999"),
                "d": Decimal(2),
                "e": Decimal("1.1"),
                "f": Decimal(0),
            }
        ),
    ),
    "a price that is still to be found is none": ("prices: {a: 1, b: }", Prices({"a": Decimal(1)})),
    "another label, whose values look like numbers": (
        "label: pool\ncurrency: EUR\nper: month\nprices: {1: 280}",
        Prices({"1": Decimal(280)}, "pool", "EUR", "month"),
    ),
}


@pytest.mark.parametrize("case", VALID)
def test_a_file_of_prices(case: str, tmp_path: Path) -> None:
    text, expected = VALID[case]
    path = tmp_path / "prices.yaml"
    path.write_text(HEAD + text)
    assert read_prices(path) == expected
    assert read_prices(HEAD + text) == expected


NUMBER = "expected a number from 0 with at most six decimals, found"
FAULTS: Mapping[str, tuple[str, str]] = {
    "an unknown key": (
        "lable: pool\nprices: {a: 1}",
        '3: lable: strict decoding error: unknown field "lable", did you mean "label"?',
    ),
    "a negative price": ("prices:\n  a: 1\n  b: -0.5", f"5: prices.b: {NUMBER} -0.5"),
    "a price in words": ("prices: {a: cheap}", f"3: prices.a: {NUMBER} the string 'cheap'"),
    "a price in quotes": ("prices: {a: '1'}", f"3: prices.a: {NUMBER} the string '1'"),
    "a truth": ("prices: {a: yes}", f"3: prices.a: {NUMBER} a boolean"),
    "no number": ("prices: {a: .nan}", "3: .nan is not a JSON value"),
    "more decimals than are exact": ("prices: {a: 0.1234567}", f"3: prices.a: {NUMBER} 0.1234567"),
    "more than any node costs": ("prices: {a: 1000000000}", f"3: prices.a: {NUMBER} a number"),
    "what no label can be": ("prices: {a b: 1}", "3: prices.a b: no label has the value 'a b': "),
    "no label": ("label: a b\nprices: {a: 1}", "3: label: 'a b': name part must consist of"),
    "no prices": ("currency: EUR", "1: prices: Required value: one node's price by its value of the label"),
    "none of them": ("prices: {}", "3: prices: expected at least one price, found none"),
    "a list of prices": ("prices: [1]", "3: prices: expected an object, found a list"),
}


@pytest.mark.parametrize("case", FAULTS)
def test_what_is_wrong_is_named_by_line_and_field(case: str, tmp_path: Path) -> None:
    text, expected = FAULTS[case]
    path = tmp_path / "prices.yaml"
    path.write_text(HEAD + text)
    with pytest.raises(ManifestError) as caught:
        read_prices(path)
    assert str(caught.value).startswith(f"{path}:{expected}")


LEFT_TO_THE_PROGRAM = ("more decimals than are exact", "what no label can be", "no label", "no number")


@pytest.mark.parametrize("case", [case for case in FAULTS if case not in LEFT_TO_THE_PROGRAM])
def test_the_schema_refuses_what_the_program_refuses(case: str) -> None:
    assert not Draft202012Validator(schema()).is_valid(yaml.safe_load(HEAD + FAULTS[case][0]))


@pytest.mark.parametrize("path", sorted((FIXTURES / "prices").glob("*.yaml")), ids=lambda path: path.name)
def test_the_fixtures_are_valid(path: Path) -> None:
    Draft202012Validator(schema()).validate(yaml.safe_load(path.read_text()))
