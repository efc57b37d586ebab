"""One node in full: each constraint spelled out as a sentence, each plugin's verdict."""

from __future__ import annotations

from kubespread.escaping import escaped
from kubespread.questions.explain.report import ExplainReport
from kubespread.reports.judged_nodes import SPREAD_PLUGIN, NodeConstraint, NodeReport
from kubespread.reports.parts import ConstraintReport, CountedPod, letter
from kubespread.scheduler.causes import (
    Cause,
    ClaimInUseDetail,
    NodeLabelDetail,
    PodAffinityDetail,
    PodAntiAffinityDetail,
    ResourceDetail,
    VolumeNodeDetail,
    VolumeZoneDetail,
    has,
    requirement,
)
from kubespread.views.constraints import PRETTY, formula, policies
from kubespread.wording import count_of


def in_sentences(report: ExplainReport) -> str:
    """A paragraph for every node of ``report``."""
    return "\n".join("".join(f"{escaped(line)}\n" for line in _node(report, node)) for node in report.nodes)


def state(pod: CountedPod) -> str:
    """Whether it counts."""
    return "terminating, not counted" if pod.terminating else "counted"


def _node(report: ExplainReport, node: NodeReport) -> list[str]:
    pod = f"{report.pod.namespace}/{report.pod.name}"
    lines = [f"Node {node.name}: Pod {pod} {'fits' if node.feasible else 'does not fit'}"]
    for position, (constraint, about) in enumerate(zip(node.constraints, report.constraints, strict=True)):
        lines.append(f"  {letter(position)}  {_constraint(constraint, about)}")
        lines += [f"       {pod}" for pod in _counted_pods(constraint, about)]
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


def _counted_pods(constraint: NodeConstraint, about: ConstraintReport) -> list[str]:
    """The pods that the node's domain counts."""
    domain = next((domain for domain in about.domains if domain.value == constraint.domain), None)
    pods = domain.pods if domain is not None else None
    return [f"{pod.name} ({pod.owner or 'no owner'}) on {pod.node}, {state(pod)}" for pod in pods or ()]


def _constraint(constraint: NodeConstraint, about: ConstraintReport) -> str:
    text = ", ".join((f"pods {about.selector}", *policies(about)))
    head = f"{about.topology_key} {about.when_unsatisfiable} maxSkew {about.max_skew} ({text}):"
    if constraint.domain is None:
        ending = "which a hard constraint requires" if about.is_hard else "so the constraint does not count for it"
        return f"{head} the node has no label {about.topology_key}, {ending}."
    where = f"domain {constraint.domain or '(empty value)'} has {count_of(constraint.matching or 0, 'matching pod')}"
    itself = "the pod itself adds 1" if constraint.self_match else "the pod itself does not match and adds 0"
    minimum = (
        "no domain is compared"
        if constraint.global_minimum is None
        else f"the least of all domains{'' if about.is_hard else ' where it fits'} is {constraint.global_minimum}"
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
    """Each soft constraint's part of the raw spread score; smaller is better."""
    return [
        f"{SPREAD_PLUGIN} raw, {letter(position)} {about.topology_key}: {share:.3f}"
        for position, (share, about) in enumerate(zip(node.spread_scores, report.constraints, strict=True))
        if share is not None
    ]


def in_full(detail: Cause) -> str:
    """The cause in one line; the short form where it leaves nothing out."""
    match detail:
        case ResourceDetail(resource=resource, requested=requested, free=free, allocatable=allocatable):
            return f"{resource}: requests {requested}, free {free} of {allocatable} allocatable"
        case NodeLabelDetail(source=source, term=term):
            listed = "" if term is None else f" term {term + 1}"
            return f"{source}{listed}: {requirement(detail)}, the node {has(detail.actual)}"
        case PodAffinityDetail(domain=None):
            return f"affinity to {_pods(detail)}: the node has no label {detail.topology_key}"
        case PodAffinityDetail(topology_key=key, domain=str(domain)):
            return f"affinity to {_pods(detail)}: none {_where(key, domain)}"
        case PodAntiAffinityDetail():
            return _anti_affinity(detail)
        case VolumeNodeDetail(claim=claim, volume=volume):
            return f"claim {claim}, volume {volume}: needs {requirement(detail)}, the node {has(detail.actual)}"
        case VolumeZoneDetail(claim=claim, volume=volume, key=key):
            zones = " or ".join(detail.values)
            return f"claim {claim}, volume {volume}: {key} is {zones}, the node {has(detail.actual)}"
        case ClaimInUseDetail(claim=claim, pod=pod, node=node):
            return f"claim {claim}: used by {pod} on {node}"
    return detail.short


def _anti_affinity(detail: PodAntiAffinityDetail) -> str:
    """Whose term it is, and which pods it matches."""
    where = _where(detail.topology_key, detail.domain)
    first = f"{detail.pod} on {detail.node}"
    if detail.of_existing_pod:
        terms = "1 term" if detail.pods == 1 else f"{detail.pods} terms, the first"
        return f"{terms} of {first}: anti-affinity to {_pods(detail)} {where}"
    counted = "1 pod," if detail.pods == 1 else f"{detail.pods} pods, the first"
    return f"anti-affinity to {_pods(detail)}: {counted} {first}, {where}"


def _where(topology_key: str, domain: str) -> str:
    return f"where {topology_key} is {domain or '(empty)'}"


def _pods(detail: PodAffinityDetail | PodAntiAffinityDetail) -> str:
    """The pods a term speaks of: their labels, and in which namespaces."""
    names = [f"namespace {name}" for name in detail.namespaces]
    if detail.namespace_selector == "<empty>":
        names.append("all namespaces")
    elif detail.namespace_selector is not None:
        names.append(f"namespaces {detail.namespace_selector}")
    return f"pods {detail.selector} ({', '.join(names)})"
