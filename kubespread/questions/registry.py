"""Every question there is: a new one is its folder, or its file where it is small, and a line here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kubespread.questions.parts import part

if TYPE_CHECKING:
    from kubespread.questions.question import Question

QUESTIONS = {
    "explain": "Explain",
    "advise": "Advise",
    "pending": "Pending",
    "simulate": "Simulate",
    "play": "Play",
    "plan": "Plan",
    "compare": "Compare",
    "survive": "Survive",
    "upgrade": "Upgrade",
    "audit": "Audit",
    "report": "Report",
    "map": "Map",
    "capacity": "Capacity",
    "removable": "Removable",
    "rebalance": "Rebalance",
    "check": "Check",
    "verify": "Verify",
}
"""The class of each question by its command, which also names its folder or file; in the order in which people ask."""


def question(name: str) -> type[Question[Any]]:
    """The question of a command."""
    cls: type[Question[Any]] = part(name, "question", QUESTIONS[name])
    return cls


def function(name: str) -> Any:
    """The library function of the same name."""
    return part(name, "answer", name)
