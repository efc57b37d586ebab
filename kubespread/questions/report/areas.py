"""What the lines of a report are about; by itself, so that a command line knows it without the report."""

from __future__ import annotations

from typing import Literal, get_args

Area = Literal["running", "losses", "scaling", "budgets", "drains", "spread", "rules", "room"]
AREAS: tuple[Area, ...] = get_args(Area)
