"""What keeps a pod off certain nodes, in words that name them: its node selection, and what is wrong with each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kubespread.kube.api.core import Node, Pod, Taint
from kubespread.kube.node_selector import parse_term, required_node_selector
from kubespread.kube.selector import Requirement, Selector, from_map
from kubespread.kube.taint import DO_NOT_SCHEDULE_EFFECTS, taint_text, untolerated
from kubespread.kube.well_known import CORDON_TAINT_KEY
from kubespread.reports.reason_words import ReasonWords, words_of
from kubespread.scheduler.cluster.labels import Mask
from kubespread.scheduler.evaluation import Evaluation
from kubespread.scheduler.plugins.node_affinity import POD_MISMATCH
from kubespread.wording import short_key

SELECTION = words_of(POD_MISMATCH.reasons[0])
"""The reason of nodes that the pod's node selector or node affinity excludes."""
PODS, TAINT, CORDONED = (
    words_of(reason) for reason in ("Too many pods", "node(s) had untolerated taint(s)", "node(s) were unschedulable")
)
_MAX_NAMED = 3


def selection(pod: Pod) -> str:
    """``nodeSelector pool=mem``, or node affinity, or both; alternative terms are not listed."""
    parts = [f"nodeSelector {from_map(pod.spec.node_selector)}"] if pod.spec.node_selector else []
    required = required_node_selector(pod)
    if required is not None:
        terms = required.node_selector_terms
        only = parse_term(terms[0]).labels if len(terms) == 1 and not terms[0].match_fields else ()
        parts.append(f"node affinity {Selector(only)}" if only else "node affinity")
    return " and ".join(parts)


def selected_nowhere(evaluation: Evaluation) -> str:
    """``no node has disk=ssd (nodeSelector)``: the first label that no node has, else the labels that none has
    together.
    """
    pod, nodes = evaluation.pod, evaluation.cluster.nodes.objects
    for requirement in from_map(pod.spec.node_selector).requirements:
        if not _any_meets(requirement, nodes):
            return f"no node has {Selector((requirement,))} (nodeSelector)"
    required = required_node_selector(pod)
    terms = [parse_term(term) for term in required.node_selector_terms] if required is not None else []
    if len(terms) == 1 and not terms[0].fields:
        for requirement in terms[0].labels:
            if not _any_meets(requirement, nodes):
                return f"no node has {Selector((requirement,))} (node affinity)"
    return f"no node meets {selection(pod)}"


def _any_meets(requirement: Requirement, nodes: Sequence[Node]) -> bool:
    return any(requirement.matches(node.metadata.labels) for node in nodes)


def named(evaluation: Evaluation, nodes: Mask) -> str | None:
    """The nodes by name; None where they are many."""
    positions = np.flatnonzero(nodes).tolist()
    if not positions or len(positions) > _MAX_NAMED:
        return None
    *first, last = sorted(evaluation.cluster.nodes.names[node] for node in positions)
    return f"{', '.join(first)} and {last}" if first else last


def complaint(evaluation: Evaluation, words: ReasonWords, node: int) -> str:
    """What is wrong with one node: ``runs 8 of 8 pods``, ``has taint gpu=x:NoSchedule``."""
    cluster = evaluation.cluster
    if words is PODS:
        return f"runs {cluster.running.taken.pod_count[node]} of {cluster.nodes.allowed_pods[node]} pods"
    if words is TAINT and (taints := taints_of(evaluation, node)):
        return f"has taint {', '.join(map(taint_text, taints))}"
    return words.said_of(1)


def taints_of(evaluation: Evaluation, node: int) -> list[Taint]:
    """Taints of a node that the pod does not tolerate, except a cordon's."""
    spec, tolerations = evaluation.cluster.nodes.objects[node].spec, evaluation.pod.spec.tolerations
    return [
        taint
        for taint in untolerated(spec.taints, tolerations, DO_NOT_SCHEDULE_EFFECTS)
        if taint.key != CORDON_TAINT_KEY
    ]


def in_brief(evaluation: Evaluation, words: ReasonWords, node: int) -> str:
    """The same in a word or two: ``cordoned``, ``tainted gpu``."""
    if words is TAINT:
        keys = dict.fromkeys(taint.key for taint in taints_of(evaluation, node))
        return f"tainted {', '.join(map(short_key, keys))}"
    return words.brief_of(1)


def listed(phrases: Sequence[str]) -> str:
    """``a, b and c``."""
    *first, last = phrases
    return f"{', '.join(first)} and {last}" if first else last
