"""What several reports say in the same words."""

from __future__ import annotations

from collections.abc import Sequence

from kubespread.planner.reports.parts import ClusterReference, ConstraintReport, PreemptionReport


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


def preemption(predicted: PreemptionReport | None) -> str | None:
    """What preemption would do, as a sentence; None when it was not asked."""
    if predicted is None:
        return None
    if predicted.node is None:
        return f"preemption finds no node: {predicted.tail}" if predicted.tail else "preemption finds no node"
    violated = f", against {predicted.violations} disruption budgets" if predicted.violations else ""
    return f"preemption could free {predicted.node} by evicting {', '.join(predicted.victims)}{violated}"


def cluster_phrase(cluster: ClusterReference | None) -> str:
    """``snapshot prod.json.gz, 2 h old``; empty for files that say nothing of where they are from."""
    if cluster is None or not (cluster.context or cluster.server or cluster.time):
        return ""
    whose = f"context {cluster.context}" if cluster.context else cluster.server
    if cluster.snapshot is None:
        return whose or ""
    file = f"snapshot {cluster.snapshot.rpartition('/')[2]}"
    of = f" of {whose}" if whose else ""
    return f"{file}{of}" if cluster.age_seconds is None else f"{file}{of}, {age(cluster.age_seconds)} old"


def age(seconds: int) -> str:
    """In the largest unit of which there are two: ``90 min``, ``2 h``, ``3 d``."""
    units = ((86_400, "d"), (3_600, "h"), (60, "min"))
    size, unit = next(((size, unit) for size, unit in units if seconds >= 2 * size), (1, "s"))
    return f"{seconds // size} {unit}"


def workload_name(workload: str) -> str:
    """``Deployment/web`` of ``default/Deployment/web``, with a namespace that is not the default one."""
    namespace, _, name = workload.partition("/")
    return name if namespace == "default" else workload


def count_of(number: int, noun: str) -> str:
    """``1 pod``, ``2,000 pods``; a word that is the end of a label key gets its s too."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def some_of(names: Sequence[str], most: int) -> str:
    """``a, b and 3 more``: no more than ``most`` by name."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"


def chosen_from(namespace: str | None, selector: str) -> str:
    """`` with app=web of namespace shop``: which ones are meant where none is named, to be put behind what they are."""
    labels = f" with {selector}" if selector else ""
    return f"{labels} of {'all namespaces' if namespace is None else f'namespace {namespace}'}"
