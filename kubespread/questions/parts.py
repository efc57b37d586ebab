"""The parts of a question, found by its name: no part imports another that imports it."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def part(name: str, module: str, what: str) -> Any:
    """``what`` from a small question's only file, else from ``module`` of its folder; imported on demand."""
    whole = import_module(f"kubespread.questions.{name}")
    return getattr(import_module(f"{whole.__name__}.{module}") if hasattr(whole, "__path__") else whole, what)
