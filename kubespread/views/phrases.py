"""What several reports say in the same words."""

from __future__ import annotations

from kubespread.reports.parts import ClusterReference, ConstraintReport, OfWorkloads
from kubespread.wording import age, count_of, some_of

_MAX_NAMED = 3


def policies(constraint: ConstraintReport) -> list[str]:
    """What is set apart from the defaults, in words."""
    words = []
    if constraint.min_domains is not None:
        words.append(f"minDomains {constraint.min_domains}")
    if constraint.node_affinity_policy != "Honor":
        words.append(f"nodeAffinityPolicy {constraint.node_affinity_policy}")
    if constraint.node_taints_policy != "Ignore":
        words.append(f"nodeTaintsPolicy {constraint.node_taints_policy}")
    if not constraint.self_match:
        words.append("the pod does not match its own selector")
    if constraint.source != "pod":
        words.append(f"{constraint.source} default")
    return words


def cluster_phrase(cluster: ClusterReference | None) -> str:
    """``snapshot prod.json.gz, 2 h old``; empty for files that say nothing of where they are from."""
    return " ".join(filter(None, cluster_words(cluster)))


def cluster_words(cluster: ClusterReference | None) -> tuple[str, str]:
    """The same as what it is, where that is said, and which one."""
    if cluster is None or not (cluster.context or cluster.server or cluster.time):
        return "", ""
    whose = ("context", cluster.context) if cluster.context else ("", cluster.server or "")
    if cluster.snapshot is None:
        return whose
    of = f" of {' '.join(filter(None, whose))}" if any(whose) else ""
    old = "" if cluster.age_seconds is None else f", {age(cluster.age_seconds)} old"
    return "snapshot", f"{cluster.snapshot.rpartition('/')[2]}{of}{old}"


def whose(report: OfWorkloads, workloads: int) -> str:
    """``Deployment shop/web``: the workloads named in the question, else how many there are, and of what."""
    if report.asked:
        return some_of([workload.called for workload in report.asked], _MAX_NAMED)
    return f"{count_of(workloads, 'workload')}{chosen_from(report.namespace, report.selector)}"


def chosen_from(namespace: str | None, selector: str) -> str:
    """`` with app=web of namespace shop``: which ones are meant where none is named, to be put behind what they are."""
    labels = f" with {selector}" if selector else ""
    return f"{labels} of {'all namespaces' if namespace is None else f'namespace {namespace}'}"
