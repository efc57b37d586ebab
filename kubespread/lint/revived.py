"""What shows once a remedy makes a constraint count that did not: it may be wrong in other ways as well."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import msgspec

from kubespread.lint.case import Case
from kubespread.lint.finding import Found

Asking = Callable[[Case], Iterable[tuple[str, Found]]]
"""What every rule finds in a case, each with the rule's code."""


def with_what_shows(found: Sequence[tuple[str, Found]], case: Case, ask: Asking) -> list[Found]:
    """The findings of ``case``; those whose remedy revives a constraint say what is found with it."""
    known = {(code, each.field) for code, each in found}
    return [_with_following(each, case, ask, known) if each.revives else each for _, each in found]


def _with_following(found: Found, case: Case, ask: Asking, known: set[tuple[str, str]]) -> Found:
    subject, trial = case.subject, case.trial
    if found.mended is None or trial is None:
        return found
    change, template = found.mended.change, subject.template
    changed = replace(subject, pod=change(subject.pod), template=None if template is None else change(template))
    then = Case(changed, case.company, case.objects, case.version, case.plugins, trial.of(changed), case.ways_out)
    codes = dict.fromkeys(code for code, each in ask(then) if (code, each.field) not in known)
    if not codes:
        return found
    said = f"{', '.join(codes)} {'are' if len(codes) > 1 else 'is'} found then"
    outcome = said if found.remedy.outcome is None else f"{found.remedy.outcome}; {said}"
    return replace(found, remedy=msgspec.structs.replace(found.remedy, outcome=outcome))
