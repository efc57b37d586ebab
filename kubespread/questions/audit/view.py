"""An audit: one row per workload, the worst first, then the findings and their causes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from msgspec.structs import replace

from kubespread.kube.well_known import ZONE
from kubespread.questions.audit import report as audits
from kubespread.reports.columns import Fit, Readers
from kubespread.reports.findings import Cause
from kubespread.views.look import Cell, Look, Sentence, Tone
from kubespread.views.sheet import Column, Sheet
from kubespread.views.terminal import HANGING, INDENT, folded
from kubespread.views.view import Metric, Sample, Tile, View, about, whose
from kubespread.wording import EMPTY, count_of, domain_noun, short_key

_MAX_NAMED = 3
_MAX_VALUES = 6
_STATES: dict[audits.Level, str] = {
    "ok": "ok",
    "unjudged": "not judged",
    "risk": "at risk",
    "uneven": "uneven",
    "violated": "violated",
}
_TONES: dict[audits.Level, Tone] = {
    "violated": Tone.BAD,
    "uneven": Tone.WARN,
    "risk": Tone.WARN,
    "unjudged": Tone.PLAIN,
    "ok": Tone.GOOD,
}


def _speaking(row: audits.AuditedWorkload) -> audits.AuditedConstraint | None:
    """The constraint shown for a workload: of the worst state, then over zones, then the first."""
    order = ("violated", "uneven", "ok", "vacuous")
    return min(
        row.constraints,
        key=lambda constraint: (order.index(constraint.state), short_key(constraint.topology_key) != "zone"),
        default=None,
    )


def _of_speaking(value: Callable[[audits.AuditedConstraint], object]) -> Callable[[audits.AuditedWorkload], object]:
    """The value of that constraint; None where there is none."""
    return lambda row: None if (constraint := _speaking(row)) is None else value(constraint)


def _skew(row: audits.AuditedWorkload) -> str:
    """``3 > 1`` where the skew exceeds maxSkew, else the skew."""
    constraint = _speaking(row)
    if constraint is None:
        return ""
    return (
        f"{constraint.skew} > {constraint.max_skew}" if constraint.skew > constraint.max_skew else f"{constraint.skew}"
    )


def _constraint(row: audits.AuditedWorkload) -> str:
    constraint = _speaking(row)
    if constraint is not None:
        return audits.constraint_text(constraint)
    return "?" if _has(row, "otherScheduler") else "none"


def _next(row: audits.AuditedWorkload) -> str:
    if row.next_fits is None:
        return "?"
    return "yes" if row.next_fits else "gated" if _has(row, "gated") else "no"


def _has(row: audits.AuditedWorkload, cause: Cause) -> bool:
    return any(finding.code == cause for finding in row.findings)


_LEFT: Column[audits.AuditedWorkload] = Column(
    "LEFT-IF-DOMAIN-LOST",
    lambda row: row.left,
    is_number=True,
    nothing="-",
    tone=lambda row: Tone.BAD if row.left == 0 and row.placed >= 2 else Tone.PLAIN,
)
_ZONES: Column[audits.AuditedWorkload] = Column("ZONES", lambda row: audits.counts_text(row.zones))
_WORKLOAD: Sequence[Column[audits.AuditedWorkload]] = (
    Column("WORKLOAD", lambda row: row.workload, on_terminal=lambda row: row.called, fit=Fit.APART, least=10),
    Column("LEVEL", lambda row: row.level, Readers.RECORDS),
    Column("REPLICAS", lambda row: row.replicas, Readers.PIPES),
    Column("PLACED", lambda row: row.placed, Readers.PIPES),
    Column("PENDING", lambda row: row.pending, Readers.PIPES),
    Column(
        header="PODS",
        is_number=True,
        readers=Readers.TERMINAL | Readers.PAGES,
        value=lambda row: f"{row.placed}" if row.placed == row.replicas else f"{row.placed} of {row.replicas}",
    ),
    _ZONES,
    _LEFT,
    # Findings refer to it, and names stand nowhere else.
    Column(
        "CONSTRAINT",
        _of_speaking(lambda row: f"{short_key(row.topology_key)}:{row.when_unsatisfiable}"),
        text=_constraint,
        gives_way=True,
        tone=lambda row: Tone.FAINT if _constraint(row) == "none" else Tone.PLAIN,
    ),
    Column("SOURCE", _of_speaking(lambda row: row.source), Readers.PIPES),
    Column(
        "SKEW",
        _of_speaking(lambda row: row.skew),
        text=_skew,
        is_number=True,
        tone=lambda row: Tone.BAD if row.level == "violated" else Tone.PLAIN,
    ),
    Column("MAX-SKEW", _of_speaking(lambda row: row.max_skew), Readers.PIPES),
    Column(
        "ROOM-FOR-+1",
        lambda row: row.next_fits,
        text=_next,
        title="Room for +1",
        gives_way=True,
        tone=lambda row: {"yes": Tone.GOOD, "no": Tone.BAD}.get(_next(row), Tone.PLAIN),
    ),
    Column("CAUSES", lambda row: [*dict.fromkeys(finding.code for finding in row.findings)], readers=Readers.RECORDS),
    Column(
        "STATE",
        lambda row: _STATES[row.level],
        readers=Readers.TERMINAL,
        fit=Fit.END,
        least=8,
        tone=lambda row: _TONES[row.level],
    ),
)

_Found = tuple[audits.AuditedWorkload, audits.AuditFinding]
_FINDING: Sequence[Column[_Found]] = (
    Column("WORKLOAD", lambda row: row[0].workload),
    Column("LEVEL", lambda row: row[1].level),
    Column("CAUSE", lambda row: row[1].code),
    Column("FINDING", lambda row: row[1].text, in_full=lambda row: "; ".join((row[1].text, *_trials(*row)))),
)


def _trials(row: audits.AuditedWorkload, finding: audits.AuditFinding) -> Iterator[str]:
    """``placed afresh without volumes: 1/1/1, skew 0``."""
    for trial in finding.trials:
        skew = f", skew {trial.skew}" if finding.constraint is not None else ""
        placed = f", {trial.placed} of {row.placed} placed" if trial.placed < row.placed else ""
        yield f"{trial.how}: {audits.counts_text(trial.counts)}{skew}{placed}"


def view(report: audits.AuditReport) -> View:
    """Workloads, and what is found of them."""
    return View(
        **about(report),
        metrics=partial(_metrics, report),
        title=f"Audit of {whose(report, len(report.workloads))}, {count_of(report.nodes, 'node')}",
        sheets=[
            Sheet(
                title="Workloads", columns=_columns(report), rows=report.workloads, tone=lambda row: _TONES[row.level]
            ),
            Sheet(
                title="Findings",
                columns=_FINDING,
                tone=lambda row: _TONES[row[1].level],
                rows=[(row, finding) for row in report.workloads for finding in row.findings],
            ),
        ],
        tiles=[
            Tile(_STATES[level], f"{number:,}", _TONES[level] if number else Tone.PLAIN, level)
            for level, number in reversed(report.levels.items())
            if number or level != "unjudged"
        ],
        parts=lambda look: _parts(report, look),
        names=[workload.workload for workload in report.workloads if workload.level != "ok"],
    )


def _columns(report: audits.AuditReport) -> Sequence[Column[audits.AuditedWorkload]]:
    lost = f"left if {domain_noun(report.topology_key)} lost"
    left = replace(_LEFT, short=lost.upper(), title=lost.capitalize())
    domains: Column[audits.AuditedWorkload] = _ZONES
    if report.topology_key != ZONE:
        domains = Column(
            "DOMAINS", lambda row: audits.counts_text(row.domains), short=short_key(report.topology_key).upper()
        )
    return [{_LEFT: left, _ZONES: domains}.get(column, column) for column in _WORKLOAD]


def _legend(report: audits.AuditReport) -> str:
    """Order in which domains are counted that are not zones."""
    if report.topology_key == ZONE or not report.workloads or len(report.workloads[0].domains) > _MAX_VALUES:
        return ""
    values = "/".join(domain.value or EMPTY for domain in report.workloads[0].domains)
    return f"{short_key(report.topology_key).upper()}: pods in {values}"


def _parts(report: audits.AuditReport, look: Look) -> Iterator[Sheet[Any] | Sentence]:
    """Show in full every workload, and every placing that was tried to find a cause."""
    columns = _columns(report)
    yield Sheet(
        title="",
        columns=columns,
        rows=report.workloads,
        tone=lambda row: _TONES[row.level],
        noun="workload",
        legend=_legend(report),
    )
    if look.in_full:
        yield from _in_full(report.workloads)


def _in_full(rows: Sequence[audits.AuditedWorkload]) -> Iterator[Sentence]:
    """Show what is found of each row, with what was tried, and which rollouts are under way."""
    for row in rows:
        if under_way := row.under_way:
            yield folded(f"{row.called}: {under_way}")
        for finding in row.findings:
            yield folded(f"{row.called}: {finding.text}")
            for trial in _trials(row, finding):
                yield folded(Cell(trial, Tone.FAINT), indent=INDENT * 2, hanging=HANGING + 2)


def _metrics(report: audits.AuditReport) -> Iterator[Metric]:
    rows = report.workloads
    yield (
        "workloads",
        "Workloads by their worst finding.",
        [({"level": level}, report.count(level)) for level in audits.LEVELS],
    )
    yield "workload_replicas", "Desired pods of the workload.", [(row.workload.labels, row.replicas) for row in rows]
    yield "workload_placed", "Pods that are on nodes.", [(row.workload.labels, row.placed) for row in rows]
    yield "workload_ready", "Pods that are on nodes and ready.", [(row.workload.labels, row.ready) for row in rows]
    yield "workload_pending", "Pods without a node.", [(row.workload.labels, row.pending) for row in rows]
    yield (
        "workload_left_without_fullest_zone",
        "Pods left without the zone that has most of them.",
        [(row.workload.labels, row.worst_loss[ZONE].remaining) for row in rows if ZONE in row.worst_loss],
    )
    if report.topology_key != ZONE:
        yield (
            "workload_left_without_fullest_domain",
            "Pods left without the domain of the topology key that has most of them.",
            [
                ({**row.workload.labels, "topology_key": report.topology_key}, row.left)
                for row in rows
                if row.left is not None
            ],
        )
    yield (
        "workload_next_pod_fits",
        "Whether one more pod would find a node.",
        [(row.workload.labels, int(row.next_fits)) for row in rows if row.next_fits is not None],
    )
    yield "constraint_skew", "Most minus least matching pods of the domains that count.", _constraints(rows, "skew")
    yield "constraint_max_skew", "The constraint's maxSkew.", _constraints(rows, "max_skew")
    yield "finding", "Findings about a workload, by level and cause.", [(labels, 1) for labels in _findings(rows)]


def _constraints(rows: Iterable[audits.AuditedWorkload], field: str) -> Iterator[Sample]:
    """``constraint`` is the place in the list, since a pod may have several over one key."""
    for row in rows:
        for place, constraint in enumerate(row.constraints):
            labels = {
                **row.workload.labels,
                "constraint": str(place),
                "topology_key": constraint.topology_key,
                "when_unsatisfiable": constraint.when_unsatisfiable,
                "source": constraint.source,
            }
            yield labels, getattr(constraint, field)


def _findings(rows: Iterable[audits.AuditedWorkload]) -> Iterator[dict[str, str]]:
    """Yield each finding once: a series must not come twice."""
    for row in rows:
        for level, cause, key in dict.fromkeys(
            (finding.level, finding.code, finding.topology_key or "") for finding in row.findings
        ):
            yield {**row.workload.labels, "level": level, "cause": cause, "topology_key": key}
