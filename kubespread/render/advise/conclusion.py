"""What comes of it: whether anything has to change, and the least that does it."""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.planner.reports.advise import AdviseReport
from kubespread.render.advise.words import not_enough, untried
from kubespread.render.phrases import count_of


def conclusion(report: AdviseReport) -> Iterator[str]:
    """What does not suffice alone, and last what does."""
    advice = report.advice
    if advice is None:
        yield _message(report)
        return
    if said := " · ".join(not_enough(advice)):
        yield f"Not enough alone: {said}"
    if said := untried(advice):
        yield said
    if not advice.enough:
        yield f"no change that was tried makes {_subject(report)} fit"
        return
    least = advice.enough[0]
    others = len(advice.enough) - 1
    more = f", or {count_of(others, 'other change')}" if others else ""
    yield f"{_subject(report)} {_verb(report)} with {least.change}{more}"


def _subject(report: AdviseReport) -> str:
    return "the pod" if report.replicas is None else f"all {count_of(report.replicas, 'replica')}"


def _verb(report: AdviseReport) -> str:
    return "fits" if report.replicas is None else "find a node"


def _message(report: AdviseReport) -> str:
    if report.message is not None:
        return f"nothing tells what could be changed: {report.message}"
    if report.replicas is not None:
        return f"all {count_of(report.replicas, 'replica')} find a node: nothing has to change"
    verb = "fits" if report.fitting == 1 else "fit"
    return f"{report.fitting:,} of {count_of(report.nodes, 'node')} {verb}: nothing has to change"
