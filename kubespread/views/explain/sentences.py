"""One node in full: each constraint spelled out as a sentence, each plugin's verdict."""

from __future__ import annotations

from kubespread.escaping import escaped
from kubespread.planner.reports.explain import ExplainReport, NodeConstraint, NodeReport
from kubespread.planner.reports.parts import ConstraintReport
from kubespread.views.arithmetic import PRETTY, formula, letter
from kubespread.views.explain.counted import state
from kubespread.views.explain.in_full import in_full
from kubespread.views.explain.reasons import SPREAD_PLUGIN
from kubespread.views.look import Look
from kubespread.views.phrases import policies


def write(report: ExplainReport, _look: Look) -> str:
    """A paragraph for every node of ``report``."""
    return "\n".join("".join(f"{escaped(line)}\n" for line in _node(report, node)) for node in report.nodes)


def _node(report: ExplainReport, node: NodeReport) -> list[str]:
    pod = f"{report.pod.namespace}/{report.pod.name}"
    lines = [f"Node {node.name}: Pod {pod} {'fits' if node.feasible else 'does not fit'}"]
    for position, (constraint, about) in enumerate(zip(node.constraints, report.constraints, strict=True)):
        lines.append(f"  {letter(position)}  {_constraint(constraint, about)}")
        lines += [f"       {pod}" for pod in _pods(constraint, about)]
    lines.append(f"  Verdict: {_verdict(node)}")
    rejections = {rejection.plugin: rejection for rejection in node.rejections}
    for plugin in report.filter_plugins:
        rejection = rejections.get(plugin)
        judgment = f"rejects ({rejection.code}): {', '.join(rejection.reasons)}" if rejection else "passes"
        lines.append(f"    {plugin:<22}{judgment}")
        lines += [f"      {in_full(detail)}" for detail in (rejection.details if rejection else ())]
    if node.total is not None:
        lines.append(f"  Score: {_score(node)}")
        lines += [f"    {share}" for share in _shares(report, node)]
    return lines


def _pods(constraint: NodeConstraint, about: ConstraintReport) -> list[str]:
    """The pods that the node's domain counts."""
    domain = next((each for each in about.domains if each.value == constraint.domain), None)
    pods = domain.pods if domain is not None else None
    return [f"{pod.name} ({pod.owner or 'no owner'}) on {pod.node}, {state(pod)}" for pod in pods or ()]


def _constraint(constraint: NodeConstraint, about: ConstraintReport) -> str:
    said = ", ".join((f"pods {about.selector}", *policies(about)))
    head = f"{about.topology_key} {about.when_unsatisfiable} maxSkew {about.max_skew} ({said}):"
    if constraint.domain is None:
        ending = "which a hard constraint requires" if about.is_hard else "so the constraint does not count for it"
        return f"{head} the node has no label {about.topology_key}, {ending}."
    pods = f"{constraint.matching} matching pod{'' if constraint.matching == 1 else 's'}"
    where = f"domain {constraint.domain or '(empty value)'} has {pods}"
    itself = "the pod itself adds 1" if constraint.self_match else "the pod itself does not match and adds 0"
    minimum = (
        "no domain is compared"
        if constraint.global_minimum is None
        else f"the least of all domains is {constraint.global_minimum}"
    )
    skew = formula(constraint, PRETTY, rejects=False)
    if constraint.satisfied:
        outcome = f"within maxSkew {about.max_skew}"
    elif about.is_hard:
        outcome = f"more than maxSkew {about.max_skew}: rejected"
    else:
        outcome = f"more than maxSkew {about.max_skew}, which costs score and rejects nothing"
    return f"{head} {where}, {itself}, {minimum}; {skew}, {outcome}."


def _verdict(node: NodeReport) -> str:
    if node.feasible:
        return node.verdict.code
    if not node.verdict.code:
        return "no verdict: every scheduling cycle of the pod ends in an error"
    by = f" by {node.verdict.plugin}" if node.verdict.plugin else ""
    return f"{node.verdict.code}{by}: {', '.join(node.verdict.reasons)}"


def _score(node: NodeReport) -> str:
    terms = " + ".join(f"{plugin} {score}" for plugin, score in node.scores.items())
    return f"{terms} = {node.total}" if terms else str(node.total)


def _shares(report: ExplainReport, node: NodeReport) -> list[str]:
    """Each soft constraint's part of the raw spread score, which is better the smaller it is."""
    return [
        f"{SPREAD_PLUGIN} raw, {letter(position)} {about.topology_key}: {share:.3f}"
        for position, (share, about) in enumerate(zip(node.spread_scores, report.constraints, strict=True))
        if share is not None
    ]
