"""The tables of docs/exactness.md: what is counted, and that they are as the files are now."""

from __future__ import annotations

import re

import pytest

from tests.golden.counting import DOCUMENT, RECORDED, cases_of, tables, with_counts
from tools.replay.cases import FIXTURES

ROW = re.compile(r"^\|.*\| (\d+) \|$", re.MULTILINE)
SUM = re.compile(r"^(\d+) [a-z ]+ in (\d+) rows?\.$", re.MULTILINE)


def test_the_document_has_the_counts_of_today() -> None:
    """`make counts` writes them."""
    text = DOCUMENT.read_text()
    assert with_counts(text) == text


def test_every_family_that_is_described_is_there() -> None:
    names = {
        folder if (folder := path.parent.name) in RECORDED else f"{path.relative_to(FIXTURES)}".split(".json")[0]
        for path in FIXTURES.rglob("*.jsonl.gz")
    }
    assert set(RECORDED) - names == set()


def test_a_document_without_a_place_for_a_table_is_refused() -> None:
    with pytest.raises(ValueError, match="no place for the table of recorded answers"):
        with_counts("# Exactness\n")


def test_every_table_ends_in_its_sum() -> None:
    for table in tables().values():
        counts = [int(cases) for cases in ROW.findall(table)]
        assert counts
        assert [(int(total), int(rows)) for total, rows in SUM.findall(table)] == [(sum(counts), len(counts))]


def test_a_test_counts_once_for_each_of_its_parameters() -> None:
    @pytest.mark.parametrize("case", {"a": 1, "b": 2})
    @pytest.mark.parametrize("width", [80, 100, 120])
    def test_of_two_tables(case: str, width: int) -> None: ...

    def test_of_none() -> None: ...

    assert [cases_of(each) for each in (test_of_two_tables, test_of_none)] == [6, 1]
