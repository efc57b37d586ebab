"""Losses: each domain with what becomes of its pods."""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.planner.reports.survive import SurviveReport, badness, domain_name
from kubespread.planner.reports.topology_map import TopologyMap
from kubespread.views.accounts.account import Account, Frame, Row, Table, Tone, source
from kubespread.views.accounts.beside import beside
from kubespread.views.phrases import cluster_phrase
from kubespread.wording import count_of, short_key

_MAX_FRAMES = 60


def account(report: SurviveReport) -> Account:
    keys = " and ".join(dict.fromkeys(short_key(loss.topology_key) for loss in report.losses))
    where = "all namespaces" if report.namespace is None else f"namespace {report.namespace}"
    return Account(
        title=f"Losing each {keys} of {count_of(report.nodes, 'node')}: "
        f"{count_of(report.workloads, 'workload')} of {where}",
        provenance=source(cluster_phrase(report.cluster), report.kube_version, report.manner),
        answer=report.answer,
        tone=Tone.GOOD if report.verdict == "yes" else Tone.BAD,
        tables=[_losses(report), *_short(report)],
        opens_at_end=False,
        beside=beside([report]),
    )


def frames(report: SurviveReport, drawn: TopologyMap) -> Iterator[Frame]:
    """One a loss, the worst first; each domain is lost by itself, so the nodes of the one before are back."""
    back: list[str] = []
    for loss in sorted(report.losses, key=badness)[:_MAX_FRAMES]:
        if loss.topology_key not in drawn.keys:
            continue
        place = drawn.keys.index(loss.topology_key)
        lost = [node.name for node in drawn.nodes if node.path[place] == loss.domain]
        where = " elsewhere, which is not drawn" if loss.placed else ""
        said = f"{count_of(loss.lost, 'pod')} lost, {loss.placed:,} placed{where}, {loss.pending:,} pending"
        yield Frame(f"without {domain_name(loss)}", said, gone=lost, joined=[*back])
        back = lost


def _losses(report: SurviveReport) -> Table:
    header = (
        "Key", "Domain", "Nodes", "Lost", "Placed", "Preempted", "Pending", "Pending if deleted", "Not remade",
        "Short workloads", "Why",
    )  # fmt: skip
    rows = [
        Row(
            [
                short_key(loss.topology_key),
                domain_name(loss),
                *map(str, (loss.nodes, loss.lost, loss.placed, loss.preempted, loss.pending)),
                *map(str, (loss.pending_after_removal, len(loss.not_made_again), len(loss.short))),
                loss.message or loss.message_after_removal or "",
            ],
            Tone.BAD if loss.trouble else Tone.GOOD,
        )
        for loss in report.losses
    ]
    return Table("Domains", header, rows)


def _short(report: SurviveReport) -> Iterator[Table]:
    rows = [
        Row(
            [
                domain_name(loss),
                each.workload,
                *map(str, (each.wanted, each.ready, each.ready_after_removal)),
                each.why if each.is_short else each.why_after_removal,
            ]
        )
        for loss in report.losses
        for each in loss.short
    ]
    if rows:
        header = ("Without", "Workload", "Wanted", "Ready", "Ready if deleted", "Why")
        yield Table("Workloads that run short", header, rows, is_detail=True)
