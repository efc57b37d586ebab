"""Registry of all questions: a new one is a folder, or a file if it is small, and a line here."""

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
"""Questions in the program's help, in the order in which people ask."""
QUESTIONS = EVERYDAY | {
    "plan": "Plan",
    "compare": "Compare",
    "rebalance": "Rebalance",
    "map": "Map",
    "verify": "Verify",
}
"""Class of each question by its command, which also names its folder or file."""


def question(name: str) -> Any:
    return part(name, "question", QUESTIONS[name])


def part(name: str, module: str, attribute: str) -> Any:
    """Import ``attribute`` of a question's folder or only file, else of ``module`` in the folder.

    Imports happen on demand, to avoid import cycles.
    """
    head = import_module(f"kubespread.questions.{name}")
    own = getattr(head, attribute, None)
    # Once imported, a module of that name is an attribute of the folder.
    return own if callable(own) else getattr(import_module(f"{head.__name__}.{module}"), attribute)
