"""The page of the rules of check: ``docs/codes.md``."""

from __future__ import annotations

import kubespread


def page() -> str:
    rules = kubespread.rules()
    head = (
        "# What kubespread check finds\n\nWritten from the rules' docstrings by `make docs`. Examples have the fields "
        "that matter; `fixtures/lint/` has whole manifests.\n"
    )
    table = [
        "| Code | Name | Severity | Needs | What it finds |",
        "| --- | --- | --- | --- | --- |",
        *(
            f"| [{rule.code}](#{rule.anchor}) | {rule.name} | {rule.severity} "
            f"| {'a cluster' if rule.needs_cluster else 'nothing'} | {rule.summary} |"
            for rule in rules
        ),
    ]
    return "\n".join([head, *table, "", *(rule.page for rule in rules)])
