"""Names of nodes without what all of them share, which the heading says once."""

from __future__ import annotations

from dataclasses import dataclass

from kubespread.escaping import escaped
from kubespread.planner.reports.compare import CompareReport
from kubespread.views.look import Look
from kubespread.views.names import CUT, shared

_LEAST_PREFIX = 12


@dataclass(frozen=True, slots=True)
class NodeNames:
    """How the nodes of one report are called."""

    prefix: str = ""
    suffix: str = ""

    @classmethod
    def of(cls, report: CompareReport, look: Look) -> NodeNames:
        """In full where no heading says the rest, and where no terminal bounds the lines."""
        names = {node.name for node in report.nodes} | {node.name for node in report.replicas_on_nodes}
        names.update(name for each in report.replicas for name in (each.before, each.after) if name is not None)
        names.update(report.before.first, report.after.first)
        if not look.headers or look.width is None:
            return cls()
        prefix, suffix = shared([escaped(name) for name in sorted(names)])
        return cls(prefix if len(prefix) >= _LEAST_PREFIX else "", suffix)

    @property
    def left_out(self) -> str:
        """``gke-prod-pool-*``; empty where names are in full."""
        return f"{self.prefix}*{self.suffix}" if self.prefix or self.suffix else ""

    def short(self, name: str) -> str:
        return f"{CUT if self.prefix else ''}{escaped(name).removeprefix(self.prefix).removesuffix(self.suffix)}"
