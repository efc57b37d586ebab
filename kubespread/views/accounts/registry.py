"""Who tells which kind of report: a new one is one row here and one module."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

from kubespread.planner.reports.topology_map import TopologyMap
from kubespread.views.accounts.account import Account
from kubespread.views.documents import Answer


@dataclass(frozen=True, slots=True)
class Teller:
    """``module`` has ``account(report) -> Account``."""

    module: str
    is_of_several: bool = False
    """Whether ``account`` takes a sequence of reports."""
    has_frames: bool = False
    """Whether ``module`` has ``frames(report, map)`` too: steps that only a map can tell."""


ACCOUNTS: Mapping[str, Teller] = {
    "AdviseReport": Teller("advise"),
    "AuditReport": Teller("audit"),
    "CapacityReport": Teller("capacity"),
    "CheckReport": Teller("check"),
    "CompareReport": Teller("compare"),
    "ExplainReport": Teller("explain"),
    "PendingReport": Teller("pending"),
    "PlayReport": Teller("play", has_frames=True),
    "RebalanceReport": Teller("rebalance", has_frames=True),
    "RemovableReport": Teller("removable"),
    "SimulateReport": Teller("simulate", is_of_several=True),
    "SurviveReport": Teller("survive", has_frames=True),
    "TopologyMap": Teller("map"),
    "UpgradeReport": Teller("upgrade"),
}
"""By the report's ``kind``; one that is not here is told by its plain data."""
_ANY = Teller("plain_data")


def account_of(answer: Answer, drawn: TopologyMap | None = None) -> Account:
    """What an answer says; with a map also what steps do to its nodes."""
    reports: Sequence[Any] = answer if isinstance(answer, Sequence) else [answer]
    teller = ACCOUNTS.get(reports[0].kind, _ANY)
    module = import_module(f"kubespread.views.accounts.{teller.module}")
    tell: Callable[[Any], Account] = module.account
    account = tell(reports if teller.is_of_several else reports[0])
    if teller.has_frames and drawn is not None:
        account = replace(account, frames=list(module.frames(reports[0], drawn)))
    return account
