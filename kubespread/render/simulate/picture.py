"""Where replicas land, for people: domains as bars and numbers, nodes with what they got, and what was left over."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubespread.escaping import escaped
from kubespread.planner.reports.simulate import SimulateReport
from kubespread.render.aligned import EMPTY
from kubespread.render.arithmetic import letter, short_key
from kubespread.render.look import Look
from kubespread.render.simulate.conclusion import conclusion
from kubespread.render.simulate.rows import DomainRow, domain_rows

_MAX_DOMAINS, _MAX_NODES = 12, 20
_BAR = 30
_THERE, _ADDED = "▒", "█"
_TIE_ORDER = {"scheduler": "kube-scheduler's own order", "name": "the order of names"}


def write(reports: Sequence[SimulateReport], _look: Look) -> str:
    """One picture a workload, a blank line between them."""
    return "\n".join("".join(f"{escaped(line)}\n" for line in _picture(report)) for report in reports)


def _picture(report: SimulateReport) -> Iterator[str]:
    asked = (
        "as many as fit"
        if report.replicas is None
        else f"{report.replicas} replica{'' if report.replicas == 1 else 's'}"
    )
    of = report.workload or f"Pod {report.pod.name}"
    yield (
        f"{of} in {report.pod.namespace}, {asked} · kube-scheduler v{report.kube_version} · profile "
        f"{report.scheduler_name}"
    )
    for position, constraint in enumerate(report.constraints):
        skew = report.skew[position]
        about = (
            f"{short_key(constraint.topology_key)} ≤ {constraint.max_skew}  {constraint.when_unsatisfiable}  "
            f"{constraint.selector}"
        )
        yield f"  {letter(position)}  {about}  skew {skew.before} → {skew.after}"
        yield from _bars(domain_rows(report, position))
    yield from _nodes(report)
    yield from _losses(report)
    ties = sum(placement.ties > 1 for placement in report.placements)
    if ties and report.seed is None:
        yield f"  {ties} of {report.placed} placements were ties, taken in {_TIE_ORDER[report.ties]}"
    yield from conclusion(report)


def _bars(rows: Sequence[DomainRow]) -> Iterator[str]:
    shown, left_out = rows, 0
    if len(rows) > _MAX_DOMAINS:
        # The extremes tell most about how even it is.
        ordered = sorted(rows, key=lambda row: (-row.change.after, row.change.value))
        shown = ordered[: _MAX_DOMAINS // 2] + ordered[-_MAX_DOMAINS // 2 :]
        left_out = len(rows) - _MAX_DOMAINS
    most = max((row.change.after for row in shown), default=0)
    scale = min(1.0, _BAR / most) if most else 0.0
    width = max((len(row.change.value or EMPTY) for row in shown), default=0)
    for row in shown:
        change, runs = row.change, row.after_runs
        there, all_ = round(change.before * scale), round(change.after * scale)
        bar = _THERE * there + _ADDED * (all_ - there)
        outcome = f"  ({runs.minimum} to {runs.maximum}, median {runs.median})" if runs is not None else ""
        yield f"     {change.value or EMPTY:<{width}}  {change.before:>4} → {change.after:<4}  {bar}{outcome}".rstrip()
    if left_out:
        yield f"     and {left_out} domains between these"


def _nodes(report: SimulateReport) -> Iterator[str]:
    counts = report.per_node
    if not counts:
        return
    most = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    width = max(len(node) for node, _ in most[:_MAX_NODES])
    yield f"  {'NODE':<{width}}   PLACED"
    for node, count in most[:_MAX_NODES]:
        yield f"  {node:<{width}}   {count}"
    if len(most) > _MAX_NODES:
        rest = [count for _, count in most[_MAX_NODES:]]
        yield (
            f"  and {len(rest)} more nodes with {min(rest)} to {max(rest)}"
            if min(rest) != max(rest)
            else (f"  and {len(rest)} more nodes with {rest[0]} each")
        )


def _losses(report: SimulateReport) -> Iterator[str]:
    running = report.present + report.placed
    for key, loss in report.worst_loss.items():
        if running:
            yield f"  losing {short_key(key)} {loss.domain or EMPTY} leaves {loss.remaining} of {running}"
