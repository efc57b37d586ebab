"""Where replicas land: domains as bars and numbers, nodes with what they got, and what was left over."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubespread.escaping import escaped
from kubespread.planner.reports.simulate import DomainChange, LookAhead, Range, SimulateReport
from kubespread.render.arithmetic import letter, preemption, short_key
from kubespread.render.comma_separated import separated_by_commas
from kubespread.render.plain import align

MAX_REPLICAS = "max"
"""As many as fit, where a number is asked for or shown."""
_EMPTY = '""'
_MAX_DOMAINS, _MAX_NODES = 12, 20
_BAR = 30
_THERE, _ADDED = "▒", "█"
_TIE_ORDER = {"scheduler": "kube-scheduler's own order", "name": "the order of names"}


def names(report: SimulateReport) -> str:
    """``namespace/pod<TAB>node``, one replica per line."""
    return "".join(
        f"{escaped(report.pod.namespace)}/{escaped(placement.pod)}\t{escaped(placement.node)}\n"
        for placement in report.placements
    )


def csv(reports: Sequence[SimulateReport], *, headers: bool) -> str:
    """One replica per line."""
    rows = [
        [*_whose(report), each.replica, each.pod, each.node, each.total, each.ties]
        for report in reports
        for each in report.placements
    ]
    return separated_by_commas(
        [["namespace", "workload", "replica", "pod", "node", "total", "ties"], *rows] if headers else rows
    )


def columns(reports: Sequence[SimulateReport], *, headers: bool) -> str:
    """Up to three blocks: a line per domain of each constraint, a line per node of what is not spread over domains, and
    the totals.
    """
    ranges = any(report.runs is not None for report in reports)
    per_domain = ["KEY", "MAX-SKEW", "DOMAIN", "BEFORE", "AFTER", *(["MIN", "MEDIAN", "MAX"] if ranges else [])]
    without_domains = [report for report in reports if not any(report.distribution)]
    blocks = [
        (per_domain, [[*_whose(report), *figures] for report in reports for figures in _per_domain(report)]),
        (
            ["NODE", "PLACED"],
            [
                [*_whose(report), node, str(count)]
                for report in without_domains
                for node, count in report.per_node.items()
            ],
        ),
        (["REPLICAS", "RUNNING", "PLACED", "PENDING"], [[*_whose(report), *_totals(report)] for report in reports]),
    ]
    return "\n".join(
        align([["NAMESPACE", "WORKLOAD", *header], *rows] if headers else rows) for header, rows in blocks if rows
    )


def _whose(report: SimulateReport) -> list[str]:
    return [report.pod.namespace, report.subject]


def _per_domain(report: SimulateReport) -> Iterator[list[str]]:
    for position, constraint in enumerate(report.constraints):
        for change, spread in zip(report.distribution[position], _ranges(report, position), strict=True):
            figures = [
                constraint.topology_key,
                str(constraint.max_skew),
                change.value or _EMPTY,
                str(change.before),
                str(change.after),
            ]
            yield figures + (
                [str(spread.minimum), str(spread.median), str(spread.maximum)] if spread is not None else []
            )


def _totals(report: SimulateReport) -> list[str]:
    replicas = MAX_REPLICAS if report.replicas is None else str(report.replicas)
    return [replicas, str(report.present), str(report.placed), str(report.pending)]


def picture(report: SimulateReport) -> str:
    """The whole answer for people."""
    return "".join(f"{escaped(line)}\n" for line in _picture(report))


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
        yield from _bars(report.distribution[position], _ranges(report, position))
    yield from _nodes(report)
    yield from _losses(report)
    ties = sum(placement.ties > 1 for placement in report.placements)
    if ties and report.seed is None:
        yield f"  {ties} of {report.placed} placements were ties, taken in {_TIE_ORDER[report.ties]}"
    yield from conclusion(report)


def _bars(changes: Sequence[DomainChange], ranges: Sequence[Range | None]) -> Iterator[str]:
    shown = list(zip(changes, ranges, strict=True))
    if len(shown) > _MAX_DOMAINS:
        # The extremes tell most about how even it is.
        shown.sort(key=lambda pair: (-pair[0].after, pair[0].value))
        left_out = len(shown) - _MAX_DOMAINS
        shown = shown[: _MAX_DOMAINS // 2] + shown[-_MAX_DOMAINS // 2 :]
    else:
        left_out = 0
    most = max((change.after for change, _ in shown), default=0)
    scale = min(1.0, _BAR / most) if most else 0.0
    width = max((len(change.value or _EMPTY) for change, _ in shown), default=0)
    for change, spread in shown:
        there, all_ = round(change.before * scale), round(change.after * scale)
        bar = _THERE * there + _ADDED * (all_ - there)
        outcome = f"  ({spread.minimum} to {spread.maximum}, median {spread.median})" if spread is not None else ""
        yield f"     {change.value or _EMPTY:<{width}}  {change.before:>4} → {change.after:<4}  {bar}{outcome}".rstrip()
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
            yield f"  losing {short_key(key)} {loss.domain or _EMPTY} leaves {loss.remaining} of {running}"


def conclusion(report: SimulateReport) -> Iterator[str]:
    """How many found a node, and what stopped the others."""
    already = f", {report.present} already running" if report.present else ""
    if report.replicas is None:
        yield f"{report.placed} fit{already}"
    else:
        yield f"{report.placed} of {max(0, report.replicas - report.present)} placed{already}"
    if report.runs is not None:
        placed = report.runs.placed
        yield (
            f"{report.runs.count} runs, ties broken at random: {placed.minimum} to {placed.maximum} placed, "
            f"median {placed.median}"
        )
    if report.stopped is not None:
        yield report.stopped
    if report.look_ahead is not None:
        yield _look_ahead(report.look_ahead)
    if said := preemption(report.preemption):
        yield said


def _look_ahead(found: LookAhead) -> str:
    if found.nodes is not None:
        return f"all {len(found.nodes)} would fit in another order: {', '.join(found.nodes)}"
    tried = (
        "no order places them all"
        if found.exhausted
        else f"no order that places them all was found in {found.steps} steps"
    )
    without = f"; they would all fit without {' or without '.join(found.blocking)}" if found.blocking else ""
    return f"{tried}{without}"


def _ranges(report: SimulateReport, position: int) -> Sequence[Range | None]:
    if report.runs is None:
        return [None] * len(report.distribution[position])
    return [domain.after for domain in report.runs.distribution[position]]
