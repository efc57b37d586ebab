"""Constraints and trials of an audit, as every format says them."""

from __future__ import annotations

from kubespread.planner.reports.audit import counts_text
from kubespread.planner.reports.audited import AuditedConstraint, AuditedWorkload, AuditFinding, PlacedAfresh
from kubespread.wording import short_key


def skew_text(constraint: AuditedConstraint) -> str:
    """``3 > 1`` where the skew exceeds maxSkew, else the skew."""
    exceeds = f" > {constraint.max_skew}" if constraint.skew > constraint.max_skew else ""
    return f"{constraint.skew}{exceeds}"


def worst(row: AuditedWorkload) -> AuditedConstraint | None:
    """The constraint that speaks for a workload: of the worst state, then of a zone, then the first."""
    order = ("violated", "uneven", "ok", "vacuous")
    return min(
        row.constraints,
        key=lambda each: (order.index(each.state), short_key(each.topology_key) != "zone"),
        default=None,
    )


def trial_text(trial: PlacedAfresh, finding: AuditFinding, pods: int) -> str:
    """``placed afresh without volumes: 1/1/1, skew 0``."""
    skew = f", skew {trial.skew}" if finding.constraint is not None else ""
    placed = f", {trial.placed} of {pods} placed" if trial.placed < pods else ""
    return f"{trial.how}: {counts_text(trial.counts)}{skew}{placed}"
