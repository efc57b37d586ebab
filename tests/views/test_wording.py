"""Numbers with their nouns and verbs."""

from __future__ import annotations

import pytest

from kubespread.wording import says, verb_of


@pytest.mark.parametrize(
    ("number", "verb", "said"),
    [
        (0, "wait", "0 pods wait"),
        (1, "wait", "1 pod waits"),
        (1, "find a node", "1 pod finds a node"),
        (1, "are gone", "1 pod is gone"),
        (1, "have none", "1 pod has none"),
        (1, "go", "1 pod goes"),
        (2_000, "were placed", "2,000 pods were placed"),
    ],
)
def test_a_verb_agrees_with_its_number(number: int, verb: str, said: str) -> None:
    assert says(number, "pod", verb) == said
    assert said.endswith(verb_of(number, verb))
