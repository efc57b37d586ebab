"""The formula and the reasons, as every renderer writes them: matching + self - minimum = skew, against maxSkew."""

from __future__ import annotations

from dataclasses import dataclass

from kubespread.planner.reports.explain import ExplainReport, NodeConstraint, NodeReport, ScoreDetail
from kubespread.planner.reports.parts import ConstraintReport, PreemptionReport

SPREAD_PLUGIN = "PodTopologySpread"
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True, slots=True)
class Style:
    """How the formula is spelled."""

    minus: str
    equals: str
    exceeds: str
    missing: str


PRETTY = Style(minus="−", equals=" = ", exceeds=" > ", missing="no label")
# No blanks: a column in a pipe is one word.
ASCII = Style(minus="-", equals="=", exceeds=">", missing="<none>")


def letter(position: int) -> str:
    """A, B, C ... for the constraints of a report, C27 and on past the alphabet."""
    return LETTERS[position] if position < len(LETTERS) else f"C{position + 1}"


def short_key(topology_key: str) -> str:
    """``zone`` for ``topology.kubernetes.io/zone``."""
    return topology_key.rpartition("/")[2]


def formula(constraint: NodeConstraint, *, hard: bool, style: Style) -> str:
    """``1+1−0 = 2 > 1``; the comparison only where it rejects the node."""
    if constraint.matching is None:
        return style.missing
    minimum = 0 if constraint.global_minimum is None else constraint.global_minimum
    text = f"{constraint.matching}+{constraint.self_match}{style.minus}{minimum}{style.equals}{constraint.skew}"
    return text if constraint.satisfied or not hard else f"{text}{style.exceeds}{constraint.max_skew}"


def why_not(report: ExplainReport, node: NodeReport, *, numbers: bool = True) -> str:
    """Every reason the node fails, constraints by their letter; without ``numbers`` alike for nodes that fail alike.

    What a plugin says that the profile does not run is no reason.
    """
    reasons: list[str] = []
    for rejection in node.rejections:
        if rejection.plugin not in report.filter_plugins:
            continue
        if rejection.plugin == SPREAD_PLUGIN:
            reasons += _failed_constraints(report, node, numbers=numbers)
        else:
            reasons += rejection.reasons
    if not node.feasible and not reasons:
        reasons += node.verdict.reasons
    return "; ".join(reasons)


def _failed_constraints(report: ExplainReport, node: NodeReport, *, numbers: bool) -> list[str]:
    failed = []
    for position, (constraint, about) in enumerate(zip(node.constraints, report.constraints, strict=True)):
        if about.is_hard and not constraint.satisfied:
            reason = constraint.reason or ""
            if constraint.skew is not None and not numbers:
                reason = f"skew exceeds maxSkew {constraint.max_skew}"
            failed.append(f"{letter(position)}: {reason}")
    return failed


def score_steps(detail: ScoreDetail | None) -> str:
    """``2>67*3=201``: the raw score, the same brought to 0..100, times the plugin's weight."""
    return f"{detail.raw}>{detail.normalized}*{detail.weight}={detail.weighted}" if detail is not None else ""


def sampling(report: ExplainReport) -> str | None:
    """What kube-scheduler would have left out."""
    if report.sampling is None:
        return None
    return (
        f"all {len(report.nodes)} nodes are scored; kube-scheduler would stop once it has found "
        f"{report.sampling} that fit"
    )


def policies(constraint: ConstraintReport) -> list[str]:
    """What is set apart from the defaults, in words."""
    said = []
    if constraint.min_domains is not None:
        said.append(f"minDomains {constraint.min_domains}")
    if constraint.node_affinity_policy != "Honor":
        said.append(f"nodeAffinityPolicy {constraint.node_affinity_policy}")
    if constraint.node_taints_policy != "Ignore":
        said.append(f"nodeTaintsPolicy {constraint.node_taints_policy}")
    if not constraint.self_match:
        said.append("the pod does not match its own selector")
    if constraint.source != "pod":
        said.append(f"{constraint.source} default")
    return said


def domain_columns(report: ExplainReport) -> list[int]:
    """Constraints whose domain deserves a column: one for each key, none where the domain is the node itself."""
    shown: dict[str, int] = {}
    for position, constraint in enumerate(report.constraints):
        if any(node.constraints[position].domain not in (None, node.name) for node in report.nodes):
            shown.setdefault(constraint.topology_key, position)
    return list(shown.values())


def summary(report: ExplainReport) -> str:
    """``2 of 4 nodes fit: node3, node4``."""
    total = len(report.nodes)
    fitting = [node.name for node in report.nodes if node.feasible]
    verb = "fits" if len(fitting) == 1 else "fit"
    listed = f": {', '.join(fitting[:5])}{' …' if len(fitting) > 5 else ''}" if fitting else ""
    return f"{len(fitting)} of {total} node{'' if total == 1 else 's'} {verb}{listed}"


def preemption(found: PreemptionReport | None) -> str | None:
    """What preemption would do, as a sentence; None when it was not asked."""
    if found is None:
        return None
    if found.node is None:
        return f"preemption finds no node: {found.tail}" if found.tail else "preemption finds no node"
    violated = f", against {found.violations} disruption budgets" if found.violations else ""
    return f"preemption could free {found.node} by evicting {', '.join(found.victims)}{violated}"
