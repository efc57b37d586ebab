"""Every question there is: a new one is its folder, or its file where it is small, and a line here."""

from __future__ import annotations

from importlib import import_module
from typing import Any

EVERYDAY = {
    "explain": "Explain",
    "pending": "Pending",
    "simulate": "Simulate",
    "check": "Check",
    "report": "Report",
    "survive": "Survive",
    "upgrade": "Upgrade",
    "removable": "Removable",
    "capacity": "Capacity",
    "audit": "Audit",
}
"""The ten that the program's help lists; in the order in which people ask."""
QUESTIONS = EVERYDAY | {
    "plan": "Plan",
    "compare": "Compare",
    "rebalance": "Rebalance",
    "map": "Map",
    "verify": "Verify",
}
"""The class of each question by its command, which also names its folder or file."""


def question(name: str) -> Any:
    return part(name, "question", QUESTIONS[name])


def part(name: str, module: str, what: str) -> Any:
    """``what`` from a small question's only file, else from ``module`` of its folder: imported on demand, so that no
    part of a question imports another that imports it.
    """
    whole = import_module(f"kubespread.questions.{name}")
    return getattr(import_module(f"{whole.__name__}.{module}") if hasattr(whole, "__path__") else whole, what)
