"""NodeAffinity: nodeSelector, required and preferred node affinity, and the profile's addedAffinity.

Source: pkg/scheduler/framework/plugins/nodeaffinity/node_affinity.go, PreFilter, Filter, Score, NormalizeScore,
    getPodPreferredNodeAffinity
Source: pkg/scheduler/apis/config/validation/validation_pluginargs.go, ValidateNodeAffinityArgs
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import ClassVar

import msgspec
import numpy as np
from msgspec import Struct

from kubespread.kube.api import core as kube
from kubespread.kube.api.core import NodeSelector, NodeSelectorTerm, Pod, PreferredSchedulingTerm
from kubespread.kube.gotext import aggregate
from kubespread.kube.selector import Term, from_map, parse_term, pinned_names, required_node_selector
from kubespread.kube.validation.faults import FieldFault
from kubespread.kube.versions import KubeVersion
from kubespread.scheduler.causes import Causes, NodeLabelDetail
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.cluster.columns import Codes, Counts, Mask, Positions
from kubespread.scheduler.cluster.nodes import (
    Nodes,
    Unmet,
    judge_distinct,
    matches_node_selector,
    matches_required_node_affinity,
    matches_term,
    nodes_named,
    parsed_terms,
    unmet_requirements,
)
from kubespread.scheduler.plugin import (
    JUDGES,
    RANKS,
    SKIP,
    Args,
    Code,
    FixedState,
    Plugin,
    PluginSetting,
    Point,
    ScaledToHighest,
    SchedulingError,
    Specification,
    State,
    Status,
    Verdicts,
    read_as,
)

POD_MISMATCH = Status(Code.UNRESOLVABLE, ("node(s) didn't match Pod's node affinity/selector",))
ENFORCED_MISMATCH = Status(Code.UNRESOLVABLE, ("node(s) didn't match scheduler-enforced node affinity",))
CONFLICT = Status(Code.UNRESOLVABLE, ("pod affinity terms conflict",))


class NodeAffinity(Plugin, frozen=True):
    """Plugin with the profile's NodeAffinityArgs.addedAffinity as ``added``."""

    name: ClassVar[str] = "NodeAffinity"

    added: kube.NodeAffinity | None = None
    one_conflict_rejects: bool = False
    """Up to 1.26 a single term with contradictory names rejects the pod, regardless of the other terms."""
    narrows: bool = True
    """Since 1.24 PreFilter limits the search to the nodes that the required terms name."""
    needs_all_named: bool = False
    """Up to 1.29 without the backport, the name of a missing node ends the cycle in an error."""

    def signature(self, pod: Pod) -> Hashable:
        return msgspec.msgpack.encode((pod.spec.node_selector, _node_affinity_of(pod)))

    def prepare(self, cluster: Cluster, pod: Pod) -> State | Status:
        own = _node_affinity_of(pod) or kube.NodeAffinity()
        added = self.added or kube.NodeAffinity()
        state = NodeAffinityState(
            cluster.nodes,
            pod,
            added_required=added.required_during_scheduling_ignored_during_execution,
            added_preferred=added.preferred_during_scheduling_ignored_during_execution,
            preferred=own.preferred_during_scheduling_ignored_during_execution,
            narrows=self.narrows,
        )
        conflict = state.pinned_nodes == frozenset() or (self.one_conflict_rejects and state.has_conflict)
        if self.narrows and conflict:
            return CONFLICT
        if self.needs_all_named and (missing := (state.pinned_nodes or frozenset()) - cluster.nodes.index.keys()):
            raise SchedulingError(f'nodeinfo not found for node name "{min(missing)}"')
        return state if state.filters or state.scores else SKIP


def _node_affinity_of(pod: Pod) -> kube.NodeAffinity | None:
    return pod.spec.affinity.node_affinity if pod.spec.affinity is not None else None


class NodeAffinityState(Struct, ScaledToHighest, FixedState, dict=True):
    nodes: Nodes
    pod: Pod
    added_required: NodeSelector | None
    added_preferred: Sequence[PreferredSchedulingTerm]
    preferred: Sequence[PreferredSchedulingTerm]
    narrows: bool

    @property
    def filters(self) -> bool:
        return (
            bool(self.pod.spec.node_selector)
            or self.added_required is not None
            or required_node_selector(self.pod) is not None
        )

    @property
    def scores(self) -> bool:
        """True with preferred terms; types.go omits an empty list, so that no stored pod has one."""
        return bool(self.preferred) or bool(self.added_preferred)

    @property
    def pinned_nodes(self) -> frozenset[str] | None:
        required = required_node_selector(self.pod)
        if required is None or not required.node_selector_terms:
            return None
        return pinned_names(required.node_selector_terms)

    @property
    def has_conflict(self) -> bool:
        required = required_node_selector(self.pod)
        return required is not None and any(
            pinned_names([term]) == frozenset() for term in required.node_selector_terms
        )

    def pre_filter_result(self) -> Mask | None:
        names = self.pinned_nodes
        if names is None or not self.narrows:
            return None
        return nodes_named(self.nodes, names)

    def filter(self) -> Verdicts | None:
        if not self.filters:
            return None
        rows = np.where(matches_required_node_affinity(self.nodes, self.pod), 0, 2).astype(np.int32)
        if self.added_required is not None:
            rows[~matches_node_selector(self.nodes, self.added_required)] = 1
        return Verdicts(rows, (ENFORCED_MISMATCH, POD_MISMATCH))

    def causes(self, cluster: Cluster, nodes: Positions) -> Sequence[Causes]:
        """Unmet requirements of the profile's affinity or else of the pod, as in the reason."""
        judged = self.verdicts(cluster, nodes)
        if judged is None:
            return super().causes(cluster, nodes)
        own = [("nodeSelector", [Term(from_map(self.pod.spec.node_selector).requirements, ())])]
        own.append(("nodeAffinity", parsed_terms(required_node_selector(self.pod))))
        selectors = {1: [("addedAffinity", parsed_terms(self.added_required))], 2: own}
        terms = [term for lists in selectors.values() for _, term_list in lists for term in term_list]
        keys = {requirement.key for term in terms for requirement in term.labels}
        columns: list[Codes | Positions] = [judged.rows, *(self.nodes.label(key).codes[nodes] for key in sorted(keys))]
        if any(term.fields for term in terms):
            columns.append(nodes)

        def of_place(place: int) -> Causes:
            node = self.nodes.objects[nodes.item(place)].metadata
            return tuple(
                _cause(source, unmet)
                for source, term_list in selectors[judged.rows.item(place)]
                for unmet in unmet_requirements(term_list, node.labels, node.name)
            )

        return judge_distinct(columns, of_place)

    def score(self) -> Counts | None:
        if not self.scores:
            return None
        return self._weights(self.added_preferred) + self._weights(self.preferred)

    def _weights(self, preferred: Sequence[PreferredSchedulingTerm]) -> Counts:
        """Per node the weights of the terms that match. Terms of weight 0 and empty ones are dropped before parsing."""
        raw: Counts = np.zeros(len(self.nodes), dtype=np.int64)
        faults: list[str] = []
        for position, term in enumerate(preferred):
            empty = not term.preference.match_expressions and not term.preference.match_fields
            if term.weight == 0 or empty:
                continue
            parsed = parse_term(term.preference, f"[{position}]")
            faults += parsed.faults
            raw += term.weight * matches_term(self.nodes, parsed)
        if faults:
            raise SchedulingError(f'running PreScore plugin "NodeAffinity": {aggregate(faults)}')
        return raw


def _cause(source: str, unmet: Unmet) -> NodeLabelDetail:
    term = None if source == "nodeSelector" else unmet.term
    required = unmet.requirement
    return NodeLabelDetail(source, term, required.key, required.operator, required.values, unmet.actual)


class NodeAffinityArgs(Args):
    added_affinity: kube.NodeAffinity | None = None

    def faults(self, path: str, version: KubeVersion) -> Iterator[FieldFault]:
        if self.added_affinity is None:
            return
        required = self.added_affinity.required_during_scheduling_ignored_during_execution
        for position, term in enumerate(required.node_selector_terms if required is not None else ()):
            place = f"requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[{position}]"
            yield from _term_faults(term, f"{path}.addedAffinity.{place}")
        preferred = self.added_affinity.preferred_during_scheduling_ignored_during_execution
        for position, weighted in enumerate(preferred):
            # Terms of weight 0 are dropped before they are looked at.
            if weighted.weight:
                place = f"preferredDuringSchedulingIgnoredDuringExecution[{position}]"
                yield from _term_faults(weighted.preference, f"{path}.addedAffinity.{place}")


def _term_faults(term: NodeSelectorTerm, path: str) -> Iterator[FieldFault]:
    for fault in parse_term(term, path).faults:
        place, _, message = fault.partition(": ")
        yield FieldFault(place, message)


def _node_affinity(setting: PluginSetting) -> NodeAffinity:
    added = read_as(NodeAffinityArgs, setting.args).added_affinity
    if Point.PRE_FILTER not in setting.points:
        # Names in the terms leave nodes out in PreFilter; without it Filter looks at each node.
        return NodeAffinity(added, narrows=False)
    version = setting.version
    narrows = version.reaches(24)
    return NodeAffinity(
        added,
        one_conflict_rejects=not version.reaches(27),
        narrows=narrows,
        needs_all_named=narrows and not version.reaches(30, picked=((27, 14), (28, 10), (29, 5))),
    )


NODE_AFFINITY = Specification(
    name=NodeAffinity.name, points=JUDGES | RANKS, make=_node_affinity, args=NodeAffinityArgs, weight=2
)
