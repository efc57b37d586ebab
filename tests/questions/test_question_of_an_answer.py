"""An answer says what was asked: the question's name, and what was given to it besides what holds anyway."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import kubespread
from tests.builders import node, pod

SNAPSHOT = kubespread.Snapshot.from_objects([node("n1", zone="a"), node("n2", zone="b"), pod("web", on="n1")])
ANSWERS: dict[str, tuple[Callable[[], Any], dict[str, Any]]] = {
    "nothing but a pod": (lambda: kubespread.explain(SNAPSHOT, pod("new")), {}),
    "what is asked for as it would be anyway is not told": (
        lambda: kubespread.explain(SNAPSHOT, pod("new"), with_pods=False),
        {},
    ),
    "fields that are set": (lambda: kubespread.explain(SNAPSHOT, pod("new"), set=["cpu=1"]), {"set": ["cpu=1"]}),
    "names are those of the JSON": (
        lambda: kubespread.simulate(SNAPSHOT, pod("new"), 3, from_scratch=True),
        {"replicas": 3, "fromScratch": True},
    ),
    "what is switched off": (
        lambda: kubespread.survive(SNAPSHOT, keys=["zone"], preemption=False),
        {"keys": ["zone"], "preemption": False},
    ),
    "each side of a comparison says itself what is set in it": (
        lambda: kubespread.compare(
            kubespread.Side(SNAPSHOT, pod("new"), set=["cpu=1"]), kubespread.Side(SNAPSHOT, pod("new")), replicas=2
        ),
        {"replicas": 2},
    ),
}


@pytest.mark.parametrize("case", ANSWERS)
def test_an_answer_says_what_was_asked(case: str) -> None:
    answer, given = ANSWERS[case]
    report = answer()
    name = report.kind.removesuffix("Report").lower()
    assert report.to_dict()["question"] == {"name": name, **given}
