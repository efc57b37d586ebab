"""Losses and short workloads, as columns for pipes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubespread.planner.reports.survive import DomainLoss, SurviveReport
from kubespread.views.aligned import NONE, blocks
from kubespread.views.look import Look
from kubespread.wording import EMPTY

LOSS_HEADER = [
    "KEY", "DOMAIN", "NODES", "LOST", "PLACED", "PREEMPTED", "PENDING", "PENDING-IF-DELETED", "NOT-REMADE", "SHORT",
    "WHY",
]  # fmt: skip
_SHORT_HEADER = ["KEY", "DOMAIN", "WORKLOAD", "WANTED", "READY", "READY-IF-DELETED", "WHY"]


def write(report: SurviveReport, look: Look) -> str:
    """Two blocks: domains, and below the workloads that each leaves short. Why comes last, since it holds blanks."""
    return blocks(*parts(report), headers=look.headers)


def parts(report: SurviveReport) -> Sequence[tuple[Sequence[str], Iterator[list[object]]]]:
    """Each with its header."""
    return (LOSS_HEADER, loss_rows(report)), (_SHORT_HEADER, _short_rows(report))


def loss_rows(report: SurviveReport) -> Iterator[list[object]]:
    """A row a domain."""
    for loss in report.losses:
        yield [
            *place(loss), loss.nodes, loss.lost, loss.placed, loss.preempted, loss.pending,
            loss.pending_after_removal, len(loss.not_made_again), len(loss.short),
            loss.message or loss.message_after_removal or NONE,
        ]  # fmt: skip


def _short_rows(report: SurviveReport) -> Iterator[list[object]]:
    for loss in report.losses:
        for each in loss.short:
            why = each.why if each.is_short else each.why_after_removal
            yield [*place(loss), each.workload, each.wanted, each.ready, each.ready_after_removal, why]


def place(loss: DomainLoss) -> list[object]:
    """Which domain it is."""
    return [loss.topology_key, loss.domain or EMPTY]
