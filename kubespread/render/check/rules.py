"""The rules themselves: as a list, and one of them in full."""

from __future__ import annotations

from collections.abc import Sequence

from kubespread.planner.reports.check import RuleReport
from kubespread.render.aligned import aligned


def listed(rules: Sequence[RuleReport], *, headers: bool) -> str:
    """A line a rule, by code."""
    rows = [
        [rule.code, rule.name, str(rule.severity), "cluster" if rule.needs_cluster else "nothing", rule.summary]
        for rule in rules
    ]
    return aligned([["CODE", "NAME", "SEVERITY", "NEEDS", "WHAT IT FINDS"], *rows] if headers else rows)


def in_full(rule: RuleReport) -> str:
    """One rule as ``docs/codes.md`` has it."""
    needs = "needs a cluster" if rule.needs_cluster else "needs no cluster"
    return f"## {rule.code} {rule.name}\n\n*{rule.severity}, {needs}*\n\n{rule.documentation}\n"


def document(rules: Sequence[RuleReport]) -> str:
    """All of ``docs/codes.md``."""
    head = "# What kubespread check finds\n\nWritten from the rules' docstrings by `make codes`.\n"
    table = [
        "| Code | Name | Severity | Needs | What it finds |",
        "| --- | --- | --- | --- | --- |",
        *(
            f"| [{rule.code}](#{rule.code.lower()}-{rule.name}) | {rule.name} | {rule.severity} "
            f"| {'a cluster' if rule.needs_cluster else 'nothing'} | {rule.summary} |"
            for rule in rules
        ),
    ]
    return "\n".join([head, *table, "", *map(in_full, rules)])
