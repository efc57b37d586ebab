"""The data behind a rejection in full, for one node: exact amounts, whole terms, who holds what."""

from __future__ import annotations

from kubespread.planner.reports.details import (
    ClaimInUseDetail,
    Detail,
    NodeLabelDetail,
    PodAffinityDetail,
    PodAntiAffinityDetail,
    ResourceDetail,
    VolumeNodeDetail,
    VolumeZoneDetail,
    has,
    requirement,
)


def in_full(detail: Detail) -> str:
    """One line; kinds whose few words leave nothing out are said in those."""
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
    """Whose term it is, and whom it counts."""
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
