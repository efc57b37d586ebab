"""Areas that the lines of a report are about; by themselves, so that a command line knows them without the report."""

from __future__ import annotations

from typing import Literal, get_args

Area = Literal["running", "losses", "scaling", "budgets", "drains", "spread", "rules", "room"]
AREAS: tuple[Area, ...] = get_args(Area)
