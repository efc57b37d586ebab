"""Every question there is: a new one is its folder and a line here."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from kubespread.questions.question import Question

QUESTIONS = {
    "pending": "Pending",
    "removable": "Removable",
    "survive": "Survive",
}
"""The class of each, by its command, which is its folder too."""


def question(name: str) -> type[Question[Any]]:
    """The question of a command."""
    found: type[Question[Any]] = getattr(import_module(f"kubespread.questions.{name}.question"), QUESTIONS[name])
    return found
