"""Losses: each domain with what becomes of its pods."""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.planner.reports.survive import DomainLoss, SurviveReport
from kubespread.planner.reports.topology_map import TopologyMap
from kubespread.render.accounts.account import Account, Frame, Row, Table, Tone, source
from kubespread.render.accounts.beside import beside
from kubespread.render.aligned import EMPTY
from kubespread.render.arithmetic import short_key
from kubespread.render.phrases import cluster_phrase, count_of
from kubespread.render.survive.conclusion import conclusion

_MAX_FRAMES = 60


def account(report: SurviveReport) -> Account:
    keys = " and ".join(dict.fromkeys(short_key(loss.topology_key) for loss in report.losses))
    where = "all namespaces" if report.namespace is None else f"namespace {report.namespace}"
    is_bad = any(map(_is_bad, report.losses))
    return Account(
        title=f"Losing each {keys} of {count_of(report.nodes, 'node')}: "
        f"{count_of(report.workloads, 'workload')} of {where}",
        provenance=source(cluster_phrase(report.cluster), report.kube_version),
        answer=list(conclusion(report)),
        tone=Tone.BAD if is_bad else Tone.GOOD,
        tables=[_losses(report), *_short(report)],
        opens_at_end=False,
        beside=beside([report]),
    )


def frames(report: SurviveReport, drawn: TopologyMap) -> Iterator[Frame]:
    """One a loss, the worst first; each domain is lost by itself, so the nodes of the one before are back."""
    back: list[str] = []
    ordered = sorted(report.losses, key=lambda loss: (-loss.pending, -len(loss.short), loss.domain))
    for loss in ordered[:_MAX_FRAMES]:
        if loss.topology_key not in drawn.keys:
            continue
        place = drawn.keys.index(loss.topology_key)
        lost = [node.name for node in drawn.nodes if node.path[place] == loss.domain]
        where = " elsewhere, which is not drawn" if loss.placed else ""
        said = f"{loss.lost:,} pods lost, {loss.placed:,} placed{where}, {loss.pending:,} pending"
        yield Frame(f"without {loss.domain or EMPTY}", said, gone=lost, joined=[*back])
        back = lost


def _is_bad(loss: DomainLoss) -> bool:
    return bool(loss.pending or loss.not_made_again)


def _losses(report: SurviveReport) -> Table:
    header = (
        "Key", "Domain", "Nodes", "Lost", "Placed", "Preempted", "Pending", "Pending once deleted", "Not made again",
        "Short workloads", "Why",
    )  # fmt: skip
    rows = [
        Row(
            [
                short_key(loss.topology_key),
                loss.domain or EMPTY,
                *map(str, (loss.nodes, loss.lost, loss.placed, loss.preempted, loss.pending)),
                *map(str, (loss.pending_after_removal, len(loss.not_made_again), len(loss.short))),
                loss.message or "",
            ],
            Tone.BAD if _is_bad(loss) else Tone.WARN if loss.short else Tone.GOOD,
        )
        for loss in report.losses
    ]
    return Table("Domains", header, rows)


def _short(report: SurviveReport) -> Iterator[Table]:
    rows = [
        Row(
            [
                loss.domain or EMPTY,
                each.workload,
                *map(str, (each.wanted, each.ready, each.ready_after_removal)),
                each.why,
            ]
        )
        for loss in report.losses
        for each in loss.short
    ]
    if rows:
        header = ("Without", "Workload", "Wanted", "Ready", "Ready once deleted", "Why")
        yield Table("Workloads that run short", header, rows, is_detail=True)
