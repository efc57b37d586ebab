"""An audit: one row per workload, the worst first, then the findings and their causes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from msgspec.structs import replace

from kubespread.kube.well_known import ZONE
from kubespread.questions import audit as audits
from kubespread.views.look import Cell, Look, Sentence, Tone
from kubespread.views.sheet import Column, Sheet, columns_of
from kubespread.views.terminal import HANGING, INDENT, fold
from kubespread.views.view import Metric, Sample, Tile, View, shared_fields, workloads_phrase
from kubespread.wording import EMPTY, count_of, domain_noun, short_key

_MAX_VALUES = 6
_TONES: dict[audits.Level, Tone] = {
    "violated": Tone.BAD,
    "uneven": Tone.WARN,
    "risk": Tone.WARN,
    "unjudged": Tone.PLAIN,
    "ok": Tone.GOOD,
}


def _trials(row: audits.AuditedWorkload, finding: audits.AuditFinding) -> Iterator[str]:
    """``placed afresh without volumes: 1/1/1, skew 0``."""
    for trial in finding.trials:
        skew = f", skew {trial.skew}" if finding.constraint is not None else ""
        placed = f", {trial.placed} of {row.placed} placed" if trial.placed < row.placed else ""
        yield f"{trial.trial_text}: {audits.counts_text(trial.counts)}{skew}{placed}"


def view(report: audits.AuditReport) -> View:
    return View(
        **shared_fields(report),
        metrics=partial(_metrics, report),
        title=f"Audit of {workloads_phrase(report, len(report.workloads))}, {count_of(report.nodes, 'node')}",
        sheets=[
            Sheet(
                title="Workloads", columns=_columns(report), rows=report.workloads, tone=lambda row: _TONES[row.level]
            ),
            Sheet(
                title="Findings",
                columns=columns_of(audits.AuditFinding),
                tone=lambda finding: _TONES[finding.level],
                rows=[*report.all_findings()],
            ),
        ],
        tiles=[
            Tile(audits.STATES[level], f"{number:,}", _TONES[level] if number else Tone.PLAIN, level)
            for level, number in reversed(report.levels.items())
            if number or level != "unjudged"
        ],
        parts=lambda look: _parts(report, look),
        names=[workload.workload for workload in report.workloads if workload.level != "ok"],
    )


_COLUMNS = (
    *("called", "workload", "level", "replicas", "placed", "pending", "pods", "zones", "domains", "left", "skew"),
    *("skew_above", "max_skew", "constraint", "terms", "source", "next_fits", "room", "causes", "state"),
)


def _columns(report: audits.AuditReport) -> Sequence[Column[audits.AuditedWorkload]]:
    """The columns, with the domains of the question's key alone."""
    left, key = f"left if {domain_noun(report.topology_key)} lost", short_key(report.topology_key).upper()
    left_out = "domains" if report.topology_key == ZONE else "zones"
    columns = columns_of(audits.AuditedWorkload, *(name for name in _COLUMNS if name != left_out))
    headed = {"LEFT-IF-DOMAIN-LOST": {"short": left.upper(), "title": left.capitalize()}, "DOMAINS": {"short": key}}
    return [replace(column, **headed.get(column.header, {})) for column in columns]


def _legend(report: audits.AuditReport) -> str:
    """Order of the domains in each row's counts; empty for zones, or for many domains."""
    if report.topology_key == ZONE or not report.workloads or len(report.workloads[0].domains) > _MAX_VALUES:
        return ""
    values = "/".join(domain.value or EMPTY for domain in report.workloads[0].domains)
    return f"{short_key(report.topology_key).upper()}: pods in {values}"


def _parts(report: audits.AuditReport, look: Look) -> Iterator[Sheet[Any] | Sentence]:
    """Show every workload; in full also rollouts, findings and the trials behind them."""
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
    """Show the rollout under way and the findings of each row, with the trials behind them."""
    for row in rows:
        if under_way := row.under_way:
            yield fold(f"{row.called}: {under_way}")
        for finding in row.findings:
            yield fold(f"{row.called}: {finding.text}")
            for trial in _trials(row, finding):
                yield fold(Cell(trial, Tone.FAINT), indent=INDENT * 2, hanging=HANGING + 2)


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
