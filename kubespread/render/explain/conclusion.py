"""What comes of it all, below the rows or beside them."""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.planner.reports.advise import Advice, Suggestion
from kubespread.planner.reports.explain import ExplainReport
from kubespread.render.advise.words import SCHEDULE_ANYWAY, not_enough
from kubespread.render.phrases import count_of, preemption

_MAX_NAMES = 5


def summary(report: ExplainReport, suffix: str = "") -> str:
    """``2 of 4 nodes fit: node3, node4``, without the ``suffix`` that all names of nodes share."""
    total = len(report.nodes)
    fitting = [node.name.removesuffix(suffix) for node in report.nodes if node.feasible]
    verb = "fits" if len(fitting) == 1 else "fit"
    more = " …" if len(fitting) > _MAX_NAMES else ""
    listed = f": {', '.join(fitting[:_MAX_NAMES])}{more}" if fitting else ""
    return f"{len(fitting):,} of {total:,} node{'' if total == 1 else 's'} {verb}{listed}"


def conclusion(report: ExplainReport) -> list[str]:
    """What bars the pod, kube-scheduler's message, what preemption would do, what is not sampled as there, and which
    constraint would have to be other than it is.
    """
    told = (report.conclusion, report.message, preemption(report.preemption), _sampling(report))
    return [said for said in (*told, *_advice(report.advice)) if said]


def _advice(advice: Advice | None) -> Iterator[str]:
    """``Enough alone: A maxSkew 2 (2 nodes) · A nodeTaintsPolicy Honor (2)``; of a constraint that can stay
    hard with less, nothing is said of relaxing it.
    """
    if advice is None:
        return
    shown, told = list[Suggestion](), set[str]()
    for each in advice.enough:
        if each.family != SCHEDULE_ANYWAY or _letter(each) not in told:
            shown.append(each)
            told.add(_letter(each))
    if shown:
        first, *others = shown
        listed = [f"{first.change} ({count_of(first.nodes or 0, 'node')})"]
        yield f"Enough alone: {' · '.join([*listed, *(f'{each.change} ({each.nodes:,})' for each in others)])}"
    if said := " · ".join(not_enough(advice)):
        yield f"Not enough: {said}"


def _letter(suggestion: Suggestion) -> str:
    return suggestion.change.partition(" ")[0]


def _sampling(report: ExplainReport) -> str | None:
    if report.sampling is None:
        return None
    return (
        f"all {len(report.nodes):,} nodes are scored; kube-scheduler would stop once it has found "
        f"{report.sampling} that fit"
    )
