"""A plan: constraints before and after, the evictions, commands that carry them out, and the descheduler's rounds.

Commands are never folded, so that they can be copied.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from shlex import quote
from typing import Any

from kubespread.questions.rebalance import DeschedulerRound, EvictionStep, RebalancedConstraint, RebalanceReport
from kubespread.reports.columns import Fit, Readers
from kubespread.views.look import Cell, Part, Rows, Tone
from kubespread.views.sheet import Column, Sheet, columns_of
from kubespread.views.terminal import INDENT, fold
from kubespread.views.view import Tile, View, shared_fields, workloads_phrase
from kubespread.wording import EMPTY, count_of

_MAX_DOMAINS = 6
_FUNCTION = """\
evict() {
  printf '{"apiVersion": "policy/v1", "kind": "Eviction",
    "metadata": {"namespace": "%s", "name": "%s"}}' "$1" "$2" |
    kubectl create --raw "/api/v1/namespaces/$1/pods/$2/eviction" -f - &&
    kubectl wait -n "$1" --for=delete "pod/$2" --timeout=10m
}"""
"""kubectl has no command for an eviction by itself, but it can post one."""


def _domains(row: RebalancedConstraint) -> str:
    """``a 4→2, b 1→2``, or the extremes of many."""
    if len(row.domains) <= _MAX_DOMAINS:
        return ", ".join(f"{domain.value or EMPTY} {domain.before:,}→{domain.after:,}" for domain in row.domains)
    counts = [domain.before for domain in row.domains], [domain.after for domain in row.domains]
    return f"{len(row.domains):,} with {', then '.join(f'{min(sizes):,} to {max(sizes):,}' for sizes in counts)}"


_CONSTRAINT: Sequence[Column[RebalancedConstraint]] = (
    *columns_of(
        RebalancedConstraint, "topology_key", "max_skew", "when_unsatisfiable", "skew_before", "skew_after", "workloads"
    ),
    Column(
        "DOMAINS",
        lambda row: [f"{domain.value or EMPTY}={domain.before}>{domain.after}" for domain in row.domains],
        Readers.RECORDS,
    ),
    Column("DOMAINS", _domains, Readers.TERMINAL, fit=Fit.SENTENCE),
)


def view(report: RebalanceReport) -> View:
    """Constraints before and after, the evictions, and the descheduler's rounds."""
    kinds = "hard and soft" if report.soft else "hard"
    violated = f"{report.violated_before} of {count_of(report.constraints_in_force, f'{kinds} constraint')} violated"
    tone = Tone.BAD if report.violated_after else Tone.GOOD
    constraints = Sheet(
        title="Constraints",
        columns=_CONSTRAINT,
        rows=report.constraints,
        tone=lambda row: Tone.PLAIN if row.holds_after else Tone.BAD,
        noun="constraint",
    )
    evictions = Sheet(title="Evictions", columns=columns_of(EvictionStep), rows=report.steps, noun="eviction")
    rounds = Sheet(title="Rounds of the descheduler", columns=columns_of(DeschedulerRound), rows=report.rounds)
    return View(
        **shared_fields(report),
        title=f"Rebalancing {workloads_phrase(report, report.workloads)}, {count_of(report.nodes, 'node')}: {violated}",
        sheets=[evictions, constraints, rounds],
        names=[step.pod for step in report.steps],
        parts=lambda _: _parts(report, [evictions, constraints], rounds),
        tiles=[
            Tile("constraints violated", f"{report.violated_before} → {report.violated_after}", tone),
            Tile("evictions", f"{len(report.steps):,}"),
            Tile("constraints in force", f"{report.constraints_in_force:,}"),
        ],
    )


def _parts(
    report: RebalanceReport, sheets: Sequence[Sheet[Any]], rounds: Sheet[DeschedulerRound]
) -> Iterator[Sheet[Any] | Part]:
    yield from sheets
    if report.steps:
        yield _script(report)
    if report.rounds:
        yield fold(Cell("The descheduler, round by round:", Tone.STRONG), indent="")
        yield rounds


def _script(report: RebalanceReport) -> Rows:
    """A shell function that evicts through the API, and the steps, each waiting until its workload is whole again: all
    or nothing of it is shown.
    """
    heading = "To carry it out, one step after another (evictions respect budgets, kubectl delete would not):"
    script = _FUNCTION.split("\n")
    for step in report.steps:
        script += (f"evict {quote(step.pod.namespace)} {quote(step.pod.name)} &&", f"{INDENT}{step.commands[-1]}")
    lines = [[Cell(f"{INDENT}{line}")] for line in script]
    return Rows([], [[fold(Cell(heading, Tone.STRONG), indent=""), *lines]], "script to carry it out")
