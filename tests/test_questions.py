"""The page of questions shows what is answered, and how well is counted."""

from __future__ import annotations

import pytest

from docs.generators.questions import Section, head, of_section, sections
from tests.cli.support import ROOT

PAGE = ROOT / "docs" / "questions.md"
_LEAST_WELL, _LEAST = 80, 90


@pytest.mark.slow
@pytest.mark.parametrize("section", sections(), ids=lambda section: section.title)
def test_the_screens_of_a_section_are_those_of_the_page(section: Section) -> None:
    page = PAGE.read_text()
    assert [text for text in of_section(section) if text not in page] == []


def test_the_page_has_every_question_and_counts_those_answered_well() -> None:
    every = [asked for section in sections() for asked in section.questions]
    assert PAGE.read_text().startswith(head())
    assert PAGE.read_text().count("<details>") == len(every) >= _LEAST
    assert sum(not asked.awkward for asked in every) >= _LEAST_WELL
