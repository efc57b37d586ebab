"""The rules themselves: as a list, and one of them in full."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from kubespread.errors import UsageError
from kubespread.escaping import json_escaped
from kubespread.manifest.writer import to_yaml
from kubespread.questions.check.report import RuleReport
from kubespread.reports.parts import API_VERSION
from kubespread.views.aligned import aligned

_AS_TEXT = ("table", "plain")


def written(rules: RuleReport | Sequence[RuleReport], output: str | None, *, headers: bool) -> str:
    """One rule, or a list of them, in the format -o asks for: text, json or yaml. Raises UsageError for any other."""
    if output is None or output in _AS_TEXT:
        return in_full(rules) if isinstance(rules, RuleReport) else listed(rules, headers=headers)
    if output == "yaml":
        return to_yaml(_document(rules))
    if output == "json":
        return json_escaped(json.dumps(_document(rules), indent=2, ensure_ascii=False)) + "\n"
    raise UsageError(f"rules are written as {', '.join(_AS_TEXT)}, json or yaml, not as {output}")


def _document(rules: RuleReport | Sequence[RuleReport]) -> Mapping[str, Any]:
    if isinstance(rules, RuleReport):
        return {"apiVersion": API_VERSION, "kind": "Rule", **rules.to_dict()}
    return {"apiVersion": API_VERSION, "kind": "RuleList", "items": [rule.to_dict() for rule in rules]}


def listed(rules: Sequence[RuleReport], *, headers: bool) -> str:
    """One line per rule, by code."""
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
    head = "# What kubespread check finds\n\nWritten from the rules' docstrings by `make docs`.\n"
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
