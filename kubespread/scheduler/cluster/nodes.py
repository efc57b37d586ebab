"""The nodes of a cluster as columns, each built on first use and shared by all clusters for which it is the same; which
of them a pod's node selector, node affinity and tolerations admit, as masks; and the order in which kube-scheduler
visits them, in a large cluster only until it has found enough of them (percentageOfNodesToScore).

The heap of scores breaks ties by a field that stays 0 without extenders, so nothing is random: the first of the best in
the heap's pre-order is taken.

Source: pkg/scheduler/backend/cache/node_tree.go, nodeTree, list
Source: pkg/scheduler/schedule_one.go, newSortedNodeScores, PopScore, numFeasibleNodesToFind, findNodesThatFitPod,
    findNodesThatPassFilters
Source: pkg/scheduler/framework/plugins/podtopologyspread/common.go, matchNodeInclusionPolicies
Source: staging/src/k8s.io/component-helpers/scheduling/corev1/nodeaffinity/nodeaffinity.go, GetRequiredNodeAffinity,
    RequiredNodeAffinity
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any, TypeVar

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from kubespread.kube.api.core import Node, NodeSelector, Pod, Taint, Toleration
from kubespread.kube.selector import NODE_NAME_FIELD, Requirement, Term, from_map, parse_term, required_node_selector
from kubespread.kube.taint import DO_NOT_SCHEDULE_EFFECTS, untolerated
from kubespread.kube.well_known import zone_key
from kubespread.scheduler.cluster.columns import (
    Amounts,
    Codes,
    Counts,
    LabelColumn,
    Mask,
    allocatable,
    allowed_pods,
    distinct,
    shallow,
)

Order = NDArray[np.intp]


def visiting_order(nodes: Sequence[Node]) -> Order:
    """Positions of ``nodes`` in the scheduler's list: one of each zone in turn.

    Nodes arrive by name, as in a list; zones are in the order of their first nodes.
    """
    zones: dict[tuple[str, str], list[int]] = {}
    for position in sorted(range(len(nodes)), key=lambda index: nodes[index].metadata.name):
        zones.setdefault(zone_key(nodes[position].metadata.labels), []).append(position)
    rounds = (
        (turn, zone, position) for zone, members in enumerate(zones.values()) for turn, position in enumerate(members)
    )
    return np.array([position for _, _, position in sorted(rounds)], dtype=np.intp)


@lru_cache(maxsize=8)
def heap_preorder(size: int) -> NDArray[np.int64]:
    """Sort key per position of a heap, so that entries come in pre-order from the root, left before right.

    The path to a position is the binary notation of its number from 1 on, without the leading one: pre-order is the
    order of those texts, a prefix first.
    """
    number = np.arange(1, size + 1, dtype=np.int64)
    length = np.floor(np.log2(number)).astype(np.int64)
    depth = int(length[-1]) if size else 0
    return ((number << (depth - length)) << 6) | length


class _Columns:
    """Columns made from one part of nodes: shared by lists of nodes that differ in other parts alone."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._nodes = nodes


class _Labels(_Columns):
    """Columns made from the labels of nodes."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        super().__init__(nodes)
        self._columns: dict[str, LabelColumn] = {}

    def column(self, key: str) -> LabelColumn:
        if key not in self._columns:
            self._columns[key] = LabelColumn(key, self._nodes)
        return self._columns[key]

    @cached_property
    def visiting(self) -> Order:
        return visiting_order(self._nodes)


def _taints_key(taints: Iterable[Taint]) -> tuple[tuple[str, str, str], ...]:
    return tuple((taint.key, taint.value, taint.effect) for taint in taints)


_Coded = tuple[Codes, Sequence[tuple[Taint, ...]]]


class _Taints(_Columns):
    """The distinct taint lists of nodes, and a code for the list that each node has."""

    @cached_property
    def codes(self) -> _Coded:
        nothing: _Coded = np.zeros(len(self._nodes), dtype=np.int32), ()
        return self._coded_again(nothing, range(len(self._nodes)))

    def replace(self, nodes: Sequence[Node], changed: Iterable[int]) -> _Taints:
        """Taints of the same nodes, some of them changed; the others are not read again."""
        other = _Taints(nodes)
        if "codes" in self.__dict__:
            other.__dict__["codes"] = other._coded_again(self.codes, changed)
        return other

    def _coded_again(self, before: _Coded, changed: Iterable[int]) -> _Coded:
        codes, lists = before[0].copy(), list(before[1])
        code_of = {_taints_key(taints): code for code, taints in enumerate(lists)}
        for position in changed:
            taints = tuple(self._nodes[position].spec.taints)
            code = codes[position] = code_of.setdefault(_taints_key(taints), len(lists))
            if code == len(lists):
                lists.append(taints)
        used_codes = distinct(codes)
        if len(used_codes) < len(lists):
            codes = np.searchsorted(used_codes, codes).astype(np.int32)
        return codes, [lists[code] for code in used_codes]


class _Capacity(_Columns):
    """Resources that nodes have for pods."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        super().__init__(nodes)
        self._offers: dict[tuple[str, ...], list[tuple[int, ...]]] = {}

    @cached_property
    def _codes(self) -> tuple[list[int], Sequence[Node]]:
        """Code of each node's quantities, and the first node of each code: most nodes share a few."""
        codes = dict[Hashable, int]()
        listed = [codes.setdefault(tuple(node.status.allocatable.items()), len(codes)) for node in self._nodes]
        firsts = dict(zip(reversed(listed), reversed(self._nodes), strict=True))
        return listed, [firsts[code] for code in range(len(codes))]

    @cached_property
    def allocatable(self) -> Amounts:
        codes, firsts = self._codes
        offered = list(map(allocatable, firsts))
        names = dict.fromkeys(name for amounts in offered for name in amounts)
        return {name: np.array([amounts.get(name, 0) for amounts in offered], dtype=np.int64)[codes] for name in names}

    @cached_property
    def allowed_pods(self) -> Counts:
        codes, firsts = self._codes
        return np.array([allowed_pods(node) for node in firsts], dtype=np.int64)[codes]

    def capacity_rows(self, names: tuple[str, ...]) -> list[tuple[int, ...]]:
        if names not in self._offers:
            self._offers[names] = self._offer_rows(names)
        return self._offers[names]

    def _offer_rows(self, names: Iterable[str]) -> list[tuple[int, ...]]:
        nothing = np.zeros(len(self._nodes), dtype=np.int64)
        amounts = (self.allocatable.get(name, nothing) for name in names)
        return list(zip(*(column.tolist() for column in (self.allowed_pods, *amounts)), strict=True))

    def followed_by(self, others: _Capacity) -> _Capacity:
        """Capacity of these nodes and of ``others`` after them; these are not read again."""
        both = _Capacity([*self._nodes, *others._nodes])
        # Only the results, so that no long chain of clusters is kept alive.
        if "allocatable" in self.__dict__:
            first, second = self.allocatable, others.allocatable
            nothing = np.zeros(len(self._nodes), np.int64), np.zeros(len(others._nodes), np.int64)
            both.__dict__["allocatable"] = {
                name: np.concatenate([first.get(name, nothing[0]), second.get(name, nothing[1])])
                for name in {**first, **second}
            }
        if "allowed_pods" in self.__dict__:
            both.__dict__["allowed_pods"] = np.concatenate([self.allowed_pods, others.allowed_pods])
        return both


class _Images(_Columns):
    """Images that nodes hold."""

    @cached_property
    def holders(self) -> Mapping[str, tuple[list[int], int]]:
        holders: dict[str, tuple[list[int], int]] = {}
        for position, node in enumerate(self._nodes):
            for image in node.status.images:
                for name in image.names:
                    positions, _ = holders.setdefault(name, ([], image.size_bytes))
                    if position not in positions[-1:]:
                        positions.append(position)
        return holders


_NOBODY_VISITED: tuple[Mask, Codes] = np.empty(0, dtype=np.bool_), np.empty(0, dtype=np.int32)


class Nodes:
    """Nodes in the snapshot's order; columns are indexed by the position in it."""

    def __init__(self, objects: Sequence[Node]) -> None:
        self.objects = tuple(objects)
        self.names = tuple(node.metadata.name for node in objects)
        self.index: Mapping[str, int] = {name: position for position, name in enumerate(self.names)}
        self._labels = _Labels(self.objects)
        self._taints = _Taints(self.objects)
        self._capacity = _Capacity(self.objects)
        self._images = _Images(self.objects)
        self._visited = _NOBODY_VISITED

    def __len__(self) -> int:
        return len(self.objects)

    def __getitem__(self, name: str) -> Node:
        return self.objects[self.index[name]]

    def replacing(self, replaced: Mapping[int, Node]) -> Nodes:
        """The nodes with some replaced; unchanged columns are shared."""
        objects = list(self.objects)
        for position, node in replaced.items():
            objects[position] = node
        pairs = [(self.objects[position], node) for position, node in replaced.items()]
        other = shallow(self)
        other.objects = tuple(objects)
        if not all(old.metadata.labels == new.metadata.labels for old, new in pairs):
            other._labels, other._visited = _Labels(other.objects), _NOBODY_VISITED
            other.__dict__.pop("visiting_rank", None)
        if not all(old.spec.taints == new.spec.taints for old, new in pairs):
            other._taints = self._taints.replace(other.objects, replaced)
        if not all(old.status.allocatable == new.status.allocatable for old, new in pairs):
            other._capacity = _Capacity(other.objects)
        if not all(old.status.images == new.status.images for old, new in pairs):
            other._images = _Images(other.objects)
        other.__dict__.pop("unschedulable", None)
        return other

    def have_same_labels_as(self, others: Nodes) -> bool:
        """True if both are known to be the same nodes with the same labels."""
        return self._labels is others._labels

    def have_same_allocatable_as(self, others: Nodes) -> bool:
        """True if both are known to be the same nodes with the same allocatable resources."""
        return self._capacity is others._capacity

    def followed_by(self, added: Sequence[Node]) -> Nodes:
        """The nodes with others added at the end."""
        other = Nodes([*self.objects, *added])
        other._capacity = self._capacity.followed_by(_Capacity(added))
        return other

    @cached_property
    def name_rank(self) -> Codes:
        rank = np.empty(len(self), dtype=np.int32)
        rank[sorted(range(len(self)), key=self.names.__getitem__)] = np.arange(len(self), dtype=np.int32)
        return rank

    @property
    def visiting(self) -> Order:
        """Positions in the order in which kube-scheduler visits nodes."""
        return self._labels.visiting

    @cached_property
    def visiting_rank(self) -> Order:
        rank = np.empty(len(self), dtype=np.intp)
        rank[self.visiting] = np.arange(len(self))
        return rank

    def visited_among(self, chosen: Mask) -> Codes:
        """Number of ``chosen`` nodes visited up to each place of that order, inclusive.

        The last answer is kept: mostly the same nodes fit one pod after another.
        """
        before, visited = self._visited
        if before is not chosen and before.tobytes() != chosen.tobytes():
            visited = chosen[self.visiting].cumsum(dtype=np.int32)
        # Nobody writes to a mask of feasible nodes.
        self._visited = chosen, visited
        return visited

    def label(self, key: str) -> LabelColumn:
        return self._labels.column(key)

    @cached_property
    def unschedulable(self) -> Mask:
        return np.array([node.spec.unschedulable for node in self.objects], dtype=np.bool_)

    @property
    def taint_lists(self) -> Sequence[tuple[Taint, ...]]:
        """Distinct taint lists; most nodes share a few."""
        return self._taints.codes[1]

    def per_taint_list(self, answers: Sequence[int]) -> Counts:
        """Spread one answer per distinct taint list over its nodes."""
        return np.array(answers, dtype=np.int64)[self._taints.codes[0]]

    @property
    def allocatable(self) -> Amounts:
        """Allocatable amounts by resource name, without names that no node has."""
        return self._capacity.allocatable

    @property
    def allowed_pods(self) -> Counts:
        return self._capacity.allowed_pods

    def capacity_rows(self, names: tuple[str, ...]) -> list[tuple[int, ...]]:
        """Number of pods that each node allows, and its allocatable amounts of ``names``."""
        return self._capacity.capacity_rows(names)

    @property
    def images(self) -> Mapping[str, tuple[list[int], int]]:
        """Per image name, the nodes with it, and its size as the first of them reports it."""
        return self._images.holders


T = TypeVar("T")


def everywhere(nodes: Nodes) -> Mask:
    return np.ones(len(nodes), dtype=np.bool_)


def nowhere(nodes: Nodes) -> Mask:
    return np.zeros(len(nodes), dtype=np.bool_)


def nodes_named(nodes: Nodes, names: Iterable[str]) -> Mask:
    """Nodes with these names, ignoring unknown ones."""
    mask = nowhere(nodes)
    mask[[nodes.index[name] for name in names if name in nodes.index]] = True
    return mask


def matches_requirements(nodes: Nodes, requirements: Iterable[Requirement]) -> Mask:
    """Nodes with labels that satisfy every requirement."""
    return _all(nodes, (nodes.label(requirement.key).admits(requirement) for requirement in requirements))


def matches_term(nodes: Nodes, term: Term) -> Mask:
    """Nodes that one term matches; none for a malformed or empty term."""
    if not term.can_match:
        return nowhere(nodes)
    fields = (_matches_field(nodes, requirement) for requirement in term.fields)
    return _all(nodes, (matches_requirements(nodes, term.labels), *fields))


def parsed_terms(selector: NodeSelector | None) -> list[Term]:
    return [parse_term(term) for term in selector.node_selector_terms] if selector is not None else []


def matches_node_selector(nodes: Nodes, selector: NodeSelector) -> Mask:
    """Nodes that any term matches; a malformed term only fails itself."""
    matching = nowhere(nodes)
    for term in parsed_terms(selector):
        matching |= matches_term(nodes, term)
    return matching


def matches_required_node_affinity(nodes: Nodes, pod: Pod) -> Mask:
    """Nodes that satisfy the pod's nodeSelector and required node affinity."""
    matching = matches_requirements(nodes, from_map(pod.spec.node_selector).requirements)
    required = required_node_selector(pod)
    return matching if required is None else matching & matches_node_selector(nodes, required)


def tolerated_nodes(nodes: Nodes, pod: Pod, *, compares: bool) -> Mask:
    """Nodes without an untolerated NoSchedule or NoExecute taint; ``compares`` enables the operators Gt and Lt."""
    kept_away = count_untolerated(nodes, pod.spec.tolerations, DO_NOT_SCHEDULE_EFFECTS, compares=compares)
    tolerates_all: Mask = kept_away == 0
    return tolerates_all


def count_untolerated(
    nodes: Nodes, tolerations: Sequence[Toleration], effects: frozenset[str], *, compares: bool
) -> Counts:
    """Number of untolerated taints with one of ``effects`` on each node."""
    return nodes.per_taint_list(
        [len(untolerated(taints, tolerations, effects, compares=compares)) for taints in nodes.taint_lists]
    )


def _matches_field(nodes: Nodes, requirement: Requirement) -> Mask:
    """Nodes that match a matchFields requirement; fields other than metadata.name read as empty."""
    if requirement.key != NODE_NAME_FIELD:
        return np.full(len(nodes), requirement.admits(""), dtype=np.bool_)
    is_named = nodes_named(nodes, requirement.values[:1])
    return is_named if requirement.operator == "In" else ~is_named


class Unmet(Struct, frozen=True):
    """A requirement that a node does not meet."""

    term: int
    """Position of its term."""
    requirement: Requirement
    actual: str | None
    """Value on the node; None without the key."""


def unmet_requirements(terms: Sequence[Term], labels: Mapping[str, str], name: str | None) -> list[Unmet]:
    """Requirements of ORed terms that a node with these labels does not meet; none if any term matches it.

    Terms that can never match are skipped. Without a ``name`` conditions on it count as met.
    """
    failed: list[Unmet] = []
    for position, term in enumerate(terms):
        if not term.can_match:
            continue
        read = [(requirement, labels.get(requirement.key)) for requirement in term.labels]
        if name is not None:
            read += [(field, name if field.key == NODE_NAME_FIELD else "") for field in term.fields]
        unmet = [Unmet(position, requirement, actual) for requirement, actual in read if not requirement.admits(actual)]
        if not unmet:
            return []
        failed += unmet
    return failed


def judge_distinct(columns: Sequence[NDArray[np.integer[Any]]], judge: Callable[[int], T]) -> list[T]:
    """Judgment of each place, computed once for places with equal entries in every column."""
    rows = np.stack(columns, axis=1)
    if not len(rows):
        return []
    _, first, group = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    answers = [judge(place) for place in first.tolist()]
    return [answers[number] for number in group.reshape(-1).tolist()]


def _all(nodes: Nodes, masks: Iterable[Mask]) -> Mask:
    matching = everywhere(nodes)
    for mask in masks:
        matching &= mask
    return matching


MIN_FEASIBLE_NODES = 100
_MIN_PERCENTAGE, _MAX_ADAPTIVE_PERCENTAGE, _NODES_PER_PERCENT = 5, 50, 125


def nodes_to_find(nodes: int, percentage: int = 0) -> int | None:
    """Number of feasible nodes that ends the search among ``nodes``; None to look at all. 0 percent means adaptive."""
    if nodes < MIN_FEASIBLE_NODES:
        return None
    if percentage == 0:
        percentage = max(_MIN_PERCENTAGE, _MAX_ADAPTIVE_PERCENTAGE - nodes // _NODES_PER_PERCENT)
    enough = max(nodes * percentage // 100, MIN_FEASIBLE_NODES)
    return enough if enough < nodes else None


class SearchRules(Struct, frozen=True):
    """Rules for how many feasible nodes suffice."""

    percentage: int = 0
    """percentageOfNodesToScore; 0 derives it from the size of the cluster."""
    takes_first: bool = False
    """True if the first feasible node is taken: in a profile without scores and extenders."""

    def enough(self, nodes: int) -> int | None:
        """Number of feasible nodes that ends the search; None to look at all."""
        return 1 if self.takes_first else nodes_to_find(nodes, self.percentage)


class SearchResult(Struct, frozen=True):
    """Feasible nodes found before the search ended."""

    feasible: Mask
    start: int = 0
    """Start of the search in kube-scheduler's list of nodes."""


class Search:
    """kube-scheduler's search for feasible nodes: each cycle begins where the last one ended, across profiles.

    Its workers are taken to go through the list one node after another. As in kube-scheduler, the search ends at one
    node more than it needs, which is the first of the next cycle: rejected nodes before it were looked at.
    """

    def __init__(self, start: int = 0, *, samples: bool = True) -> None:
        """Start at nextStartNodeIndex; without ``samples`` look at all nodes unless a profile takes the first."""
        self._start, self._samples = start, samples

    def limits(self, rules: SearchRules) -> bool:
        """True if a profile may leave nodes out."""
        return self._samples or rules.takes_first

    def move_on(self, looked_at: int, nodes: int) -> None:
        """Record how many of ``nodes`` a cycle looked at."""
        self._start = (self._start + looked_at) % nodes

    def run(self, nodes: Nodes, feasible: Mask, listed: Mask | None, rules: SearchRules) -> SearchResult:
        """Feasible nodes that a cycle finds among the nodes ``listed`` by PreFilter plugins (None: all)."""
        order = nodes.visiting if listed is None else nodes.visiting[listed[nodes.visiting]]
        if not len(order):
            return SearchResult(feasible)
        start, length = self._start % len(order), len(order)
        enough = rules.enough(length)
        fitting = feasible[order].cumsum()
        before = int(fitting[start - 1]) if start else 0
        total = int(fitting[-1])
        first = int(nodes.visiting_rank[order[start]])
        if enough is None or total <= enough:
            self.move_on(length, len(nodes))
            return SearchResult(feasible, first)
        # The places in the list of the last node that is found, and of the one after it that ends the search.
        last, beyond = (int(fitting.searchsorted((before + count - 1) % total + 1)) for count in (enough, enough + 1))
        self.move_on((beyond - start) % length, len(nodes))
        visited = np.zeros_like(feasible)
        if last >= start:
            visited[order[start : last + 1]] = True
        else:
            visited[order[start:]] = True
            visited[order[: last + 1]] = True
        return SearchResult(feasible & visited, first)
