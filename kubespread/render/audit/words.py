"""States, causes and counts of an audit, as every format says them."""

from __future__ import annotations

from collections.abc import Sequence

from kubespread.planner.reports.audit import AuditedConstraint, AuditedWorkload, AuditFinding, DomainPods, PlacedAfresh
from kubespread.render.arithmetic import short_key
from kubespread.render.phrases import workload_name

_FEW = 6


def constraint_text(constraint: AuditedConstraint) -> str:
    """``zone ≤ 1``, with what is not as usual: ``zone ≤ 5 soft, default``."""
    extras = [
        *([] if constraint.is_hard else ["soft"]),
        *(["default"] if constraint.source != "pod" else []),
    ]
    text = f"{short_key(constraint.topology_key)} ≤ {constraint.max_skew}"
    return f"{text} {', '.join(extras)}" if extras else text


def counts_text(counts: Sequence[DomainPods] | None, constraint: AuditedConstraint | None = None) -> str:
    """``3/2/1``, of many domains ``1 to 3``."""
    if counts is not None and len(counts) <= _FEW:
        return "/".join(str(each.pods) for each in counts) or "-"
    if counts:
        return f"{min(each.pods for each in counts)} to {max(each.pods for each in counts)}"
    if constraint is not None and constraint.most is not None and constraint.least is not None:
        return f"{constraint.least.pods} to {constraint.most.pods}"
    return "-"


def skew_text(constraint: AuditedConstraint) -> str:
    """``3 > 1`` where the skew exceeds maxSkew, else the skew."""
    exceeds = f" > {constraint.max_skew}" if constraint.skew > constraint.max_skew else ""
    return f"{constraint.skew}{exceeds}"


def name_of(row: AuditedWorkload) -> str:
    """``Deployment/web``; ``Pod/web-0 and 2 more`` of pods by themselves."""
    name = workload_name(row.workload)
    others = row.replicas - 1
    return f"{name} and {others} more" if row.is_bare and others else name


def worst(row: AuditedWorkload) -> AuditedConstraint | None:
    """The constraint that speaks for a workload: of the worst state, then of a zone, then the first."""
    order = ("violated", "uneven", "ok", "vacuous")
    return min(
        row.constraints,
        key=lambda each: (order.index(each.state), short_key(each.topology_key) != "zone"),
        default=None,
    )


def sentence(row: AuditedWorkload, finding: AuditFinding) -> str:
    """What is found, and why: ``zone skew 3 exceeds maxSkew 1: placed afresh it would be 3/3/3, ...``."""
    if finding.constraint is not None:
        constraint = row.constraints[finding.constraint]
        key = short_key(constraint.topology_key)
        counts = counts_text(constraint.counts, constraint)
        head = f"{key} skew {constraint.skew} exceeds maxSkew {constraint.max_skew} ({counts})"
        return f"{head}: {_explained(finding)}"
    return _at_risk(row, finding)


def _explained(finding: AuditFinding) -> str:
    last = finding.trials[-1]
    would = f"placed afresh {last.what}{' ' if last.what else ''}it would be {counts_text(last.counts)}"
    match finding.cause:
        case "drift":
            return f"{would}, so a scale-down, a rollout or lost nodes left it"
        case "otherPods":
            return f"{would}, so pods of others make it uneven, which it counts too: {finding.detail}"
        case "volumes":
            return f"{would}, so its volumes hold it: {finding.detail}"
        case "unavailableNodes":
            return f"{would}, so nodes that take no pods keep a domain empty: {finding.detail}"
        case "missingLabel":
            return f"{would}, so nodes without the label are missing: {finding.detail}"
        case "capacity":
            return f"{would}, so there is too little room in {finding.detail}"
        case "outweighed":
            return f"{would}, so it is outweighed by {finding.detail}"
        case _:
            return f"no single change makes it even; placed afresh it would be {counts_text(finding.trials[0].counts)}"


def _at_risk(row: AuditedWorkload, finding: AuditFinding) -> str:
    key = short_key(finding.topology_key or "")
    place = f"on node {finding.detail}" if key == "hostname" else f"in {key} {finding.detail}"
    all_in_one = f"all {row.placed} pods are {place}"
    match finding.cause:
        case "defaultNotApplied":
            would = "; ".join(f"{trial.what} they would be {counts_text(trial.counts)}" for trial in finding.trials)
            return f"{all_in_one}: no Service and no controller with a selector gives them default constraints; {would}"
        case "noConstraint":
            return f"{all_in_one}, and no constraint is about {key}s"
        case "loose":
            constraint = next(each for each in row.constraints if each.topology_key == finding.topology_key)
            return f"{all_in_one}, which {constraint_text(constraint)} allows"
        case "missingLabel":
            return f"nodes without the label {key} count in none of its domains: {finding.detail}"
        case "gated":
            return f"its next pod waits behind scheduling gate {finding.detail}"
        case "otherScheduler":
            waits = f"; {row.pending} pending" if row.pending else ", so how it is spread is not judged"
            return f"placed by scheduler {finding.detail}, which is not modeled{waits}"
        case _:
            return f"its next pod fits nowhere: {finding.detail}"


def trial_text(trial: PlacedAfresh, pods: int) -> str:
    """``placed afresh without volumes: 1/1/1, skew 0``."""
    placed = f", {trial.placed} of {pods} placed" if trial.placed < pods else ""
    what = f" {trial.what}" if trial.what else ""
    return f"placed afresh{what}: {counts_text(trial.counts)}, skew {trial.skew}{placed}"
