"""Copies of one pod placed one after another, each where kube-scheduler would, with counts updated and not recomputed.

A placement changes little: what the node holds, and one domain of each constraint. Plugins that judge a node by what it
holds have their answers kept up (`OnNodeAnswers`): every node is judged at once for each number of further copies, so
that a placement only looks the answer up, and nodes that others changed are judged again. Plugins that count over nodes
move their counts; all others were asked once. What else happens to the cluster meanwhile is followed in the same way.
OpportunisticBatching: a pod that is like the previous one but no longer fits on its node takes the next best node of
the previous cycle instead of being scored again. All cycles of a queue are taken to run within the half second for
which results are kept.

Source: pkg/scheduler/framework/runtime/batch.go, GetNodeHint, StoreScheduleResults, batchStateCompatible
Source: pkg/scheduler/schedule_one.go, sortedNodeScores
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Self

import numpy as np
from msgspec import Struct

from kubespread.deadline import check
from kubespread.scheduler.cluster.cluster import Cluster, ClusterChange, Holdings
from kubespread.scheduler.cluster.columns import STAND_INS, Counts, Forking, Mask, Positions, greatest, shallow, some
from kubespread.scheduler.cluster.kinds import PodKind
from kubespread.scheduler.cluster.memo import Memo
from kubespread.scheduler.cluster.nodes import Search, SearchResult, heap_preorder
from kubespread.scheduler.cluster.running import Moves, NodeUsage
from kubespread.scheduler.cluster.storage_index import StorageChange
from kubespread.scheduler.evaluation import Evaluation, evaluate_prepared
from kubespread.scheduler.framework import DryRun, Framework, PreparedPod
from kubespread.scheduler.plugin import (
    MAX_NODE_SCORE,
    Code,
    CountingState,
    Extent,
    FixedState,
    OnNodeState,
    Plugin,
    SchedulingError,
    State,
)

_Answers = tuple[Mask, Counts]
"""Nodes that some filter rejects, and the weighted scores."""
NodeState = tuple[tuple[int, ...], *tuple[int, ...]]
"""Allocatable and requested amounts of one node."""
Alike = dict[NodeState, tuple[bool, int]]
"""Answers for a node by its state, in any cluster: nodes with equal states get the same answer."""
_MOST_ALIKE = 100_000
_FEW = 16


class OnNodeAnswers(Forking):
    """Rejections and scores by plugins that judge single nodes, for all pods that these cannot distinguish."""

    _copied = ("_copies", "_levels", "_changed", "_unjudged", "_rejects", "_weighted")

    def __init__(
        self,
        filters: Sequence[OnNodeState],
        scores: Sequence[tuple[OnNodeState, int]],
        kind: PodKind,
        cluster: Cluster,
        alike: Alike,
    ) -> None:
        """Judge copies of ``kind``; ``scores`` have weights, and pods of one signature share ``alike``."""
        self._filters, self._scores, self._kind, self._alike = filters, scores, kind, alike
        self.revision = 0
        """Number of changes of the cluster that are reflected here, as counted by the owner of the answers."""
        reads = [state.reads for state in (*filters, *(state for state, _ in scores))]
        self._reads = None if None in reads else tuple(sorted({name for names in reads for name in names or ()}))
        """Resources that, with the pod count, determine the answers; None if anything else does."""
        self._offered = [] if self._reads is None else cluster.nodes.capacity_rows(self._reads)
        self._nobody: Counts = np.zeros(len(cluster), dtype=np.int64)
        self.out_of_range = False
        """True if some score was ever outside 0..100, which ends a cycle that scores the node."""
        self.may_fail = False
        """True if some filter met an error on a node, which ends a cycle that gets there."""
        self._cluster, self._usage = cluster, cluster.running.usage
        self._copies: dict[int, int] = {}
        """Copies on nodes that `_usage` does not count yet."""
        self._levels: list[_Answers] = []
        """The answers when each node holds so many further copies."""
        self._changed: set[int] = set()
        """Nodes with other pods than when the levels were judged."""
        self._unjudged: list[int] = []
        """The nodes that copies came to since the last evaluation: often others change them too before the next one."""
        rejects, weighted = self._level(0)
        self._rejects, self._weighted = rejects.copy(), weighted.copy()

    @property
    def rejects(self) -> Mask:
        """Nodes where a filter rejects the next copy."""
        self._judge_copies()
        return self._rejects

    @property
    def scores(self) -> Counts:
        """Weighted scores of the next copy."""
        self._judge_copies()
        return self._weighted

    def place(self, node: int) -> None:
        """Count another copy on ``node``."""
        self._copies[node] = self._copies.get(node, 0) + 1
        self._unjudged.append(node)

    def _judge_copies(self) -> None:
        for node in self._unjudged:
            copies = self._copies[node]
            if node in self._changed:
                self._judge_again([node], copies)
            else:
                rejects, weighted = self._level(copies)
                self._rejects[node], self._weighted[node] = rejects[node], weighted[node]
        self._unjudged.clear()

    def _judge_again(self, nodes: Sequence[int], copies: int) -> None:
        """Judge nodes again, reusing the answers for equal states."""
        if self._reads is None:
            self._judge_at(nodes, copies)
            return
        unknown: dict[int, NodeState] = {}
        for node, state in zip(nodes, self._states(nodes, copies, self._reads), strict=True):
            if (answer := self._alike.get(state)) is None:
                unknown[node] = state
            else:
                self._rejects[node], self._weighted[node] = answer
        if unknown:
            answers = self._judge_at(list(unknown), copies)
            if not self.out_of_range and len(self._alike) < _MOST_ALIKE:
                self._alike.update(zip(unknown.values(), answers, strict=True))

    def _judge_at(self, nodes: Sequence[int], copies: int) -> Iterable[tuple[bool, int]]:
        positions = np.array(nodes, dtype=np.intp)
        rejects, weighted = self._judge(self._holdings(positions, copies))
        self._rejects[positions], self._weighted[positions] = rejects, weighted
        return zip(rejects.tolist(), weighted.tolist(), strict=True)

    def _states(self, nodes: Sequence[int], copies: int, reads: Iterable[str]) -> list[NodeState]:
        """State of each node with so many further copies, as far as the answers depend on it."""
        usage, (requested, with_stand_ins) = self._usage, self._kind.requests
        amounts: list[tuple[Counts | None, int]] = [(usage.pod_count, copies)]
        for name in reads:
            amounts.append((usage.requested.get(name), copies * requested.get(name, 0)))
            if name in STAND_INS:
                amounts.append((usage.non_zero_requested.get(name), copies * with_stand_ins.get(name, 0)))
        columns = [(self._nobody if column is None else column, more) for column, more in amounts]
        offered = self._offered
        return [(offered[node], *[column.item(node) + more for column, more in columns]) for node in nodes]

    def follow(self, now: Callable[[], Cluster], usage: NodeUsage, touched: Iterable[int]) -> None:
        """Catch up with the cluster that ``now`` returns, and its ``usage``; pods came to or left ``touched`` nodes."""
        changed = {*self._copies, *touched}
        if not changed:
            return
        if self._reads is None:
            self._cluster = now()
        self._usage = usage
        self._copies.clear()
        self._unjudged.clear()
        self._changed |= changed
        self._judge_again(sorted(changed), 0)
        if len(self._changed) > max(_FEW, len(self._rejects) // 4):
            self._begin_anew()

    def _begin_anew(self) -> None:
        """Discard the levels, to judge all nodes at once: it takes as long as judging a few."""
        self._levels.clear()
        self._changed.clear()

    def carry_over_to(self, cluster: Cluster) -> bool:
        """Switch to a cluster with changed nodes; True if the answers still hold there."""
        holds = self._reads is not None and cluster.nodes.have_same_allocatable_as(self._cluster.nodes)
        if holds:
            self._cluster = cluster
        return holds

    def room(self, barred: Mask, copies: int) -> Counts:
        """Number of further copies, at most ``copies``, that each node could hold; 0 on ``barred`` nodes."""
        room = np.zeros(len(self._cluster), dtype=np.int64)
        for count in range(copies):
            has_more = ~(barred | self._rejects_with(count))
            if not has_more.any():
                break
            room += has_more
        return room

    def _rejects_with(self, copies: int) -> Mask:
        """Nodes where some filter rejects one more when each holds so many further copies."""
        if self._changed:
            self._begin_anew()
        return self._level(copies)[0]

    def _level(self, copies: int) -> _Answers:
        """Answers about all nodes but the changed ones when each holds so many further copies."""
        while len(self._levels) <= copies:
            self._levels.append(self._judge(self._holdings(None, len(self._levels))))
        return self._levels[copies]

    def _holdings(self, nodes: Positions | None, copies: int) -> Holdings:
        return Holdings(self._cluster, nodes, usage=self._usage).add(self._kind, copies)

    def _judge(self, holdings: Holdings) -> _Answers:
        rejects, weighted = np.zeros(len(holdings), dtype=np.bool_), np.zeros(len(holdings), dtype=np.int64)
        for state in self._filters:
            if (verdicts := state.filter(holdings)) is not None:
                rejects |= ~verdicts.passes
                self.may_fail |= any(status.code is Code.ERROR for status in verdicts.table)
        for state, weight in self._scores:
            if (raw := state.score(holdings)) is not None:
                weighted += raw * weight
                self.out_of_range |= some((raw < 0) | (raw > MAX_NODE_SCORE))
        return rejects, weighted


class _Results:
    """Results of the last cycle of one profile that scored nodes."""

    def __init__(self, prepared: PreparedPod, result: SearchResult, totals: Counts) -> None:
        self.prepared = prepared
        self._result, self._totals = result, totals
        self._heap: list[tuple[int, int]] | None = None
        """Total and node, in the order of Go's container/heap. Made on demand: few later cycles reuse it."""

    def next_best(self) -> int | None:
        """Pop the best node that remains; None if none does."""
        if self._heap is None:
            order = np.roll(self.prepared.cluster.nodes.visiting, -self._result.start)
            nodes = order[self._result.feasible[order]]
            self._heap = list(zip(self._totals[nodes].tolist(), nodes.tolist(), strict=True))
            for place in reversed(range(len(self._heap) // 2)):
                _sift_down(self._heap, place)
            self._pop()  # the one that was chosen
        return self._pop()

    def _pop(self) -> int | None:
        heap = self._heap
        if not heap:
            return None
        last = heap.pop()
        if not heap:
            return last[1]
        best, heap[0] = heap[0], last
        _sift_down(heap, 0)
        return best[1]


class Batch:
    """Results that scheduling cycles of one queue leave for later ones."""

    def __init__(self) -> None:
        self._cycle = 0
        self._results: dict[int, _Results] = {}
        self._chosen: dict[int, tuple[int, int]] = {}
        """Per profile the last cycle that found a node, and that node."""

    def begin(self) -> None:
        """Begin another cycle."""
        self._cycle += 1

    def choose_hinted(self, prepared: PreparedPod, feasible: Mask) -> Choice | None:
        """Choose the previous cycle's next best node, unscored, if it fits the pod and the last chosen does not."""
        profile = id(prepared.framework)
        results, (cycle, node) = self._results.get(profile), self._chosen.get(profile, (-1, -1))
        if results is None or cycle != self._cycle - 1 or feasible[node] or not _is_alike(prepared, results.prepared):
            return None
        hint = results.next_best()
        if hint is None or not feasible[hint]:
            return None
        self._chosen[profile] = self._cycle, hint
        return Choice(hint, 0, 1)

    def store(self, prepared: PreparedPod, node: int, result: SearchResult, totals: Counts) -> None:
        """Record the ``node`` chosen from the result of a search."""
        profile = id(prepared.framework)
        self._chosen[profile] = self._cycle, node
        if prepared.is_signed:
            self._results[profile] = _Results(prepared, result, totals)
        else:
            self._results.pop(profile, None)


def _is_alike(one: PreparedPod, other: PreparedPod) -> bool:
    """True if both pods have one signature: all that plugins read of a pod is its labels and its spec."""
    if one is other or one.pod is other.pod:
        return True
    return one.is_signed and one.pod.metadata.labels == other.pod.metadata.labels and one.pod.spec == other.pod.spec


def _sift_down(heap: list[tuple[int, int]], place: int) -> None:
    """container/heap's ``down``, where a greater total comes first: equal ones stay as they are."""
    size = len(heap)
    while (child := 2 * place + 1) < size:
        if child + 1 < size and heap[child + 1][0] > heap[child][0]:
            child += 1
        if heap[child][0] <= heap[place][0]:
            return
        heap[place], heap[child] = heap[child], heap[place]
        place = child


Tiebreaker = Callable[[Cluster, SearchResult, Positions], int]
"""Function that picks one of the positions of equally scored nodes, given the result of the search."""


_BELOW_ALL = np.iinfo(np.int64).min


def smallest_name(cluster: Cluster, _result: SearchResult, equals: Positions) -> int:
    """Pick the first by name."""
    return int(equals[cluster.nodes.name_rank[equals].argmin()])


def first_in_heap(cluster: Cluster, result: SearchResult, equals: Positions) -> int:
    """Pick kube-scheduler's choice: the first in its heap, filled zone by zone from where the search began."""
    fitting = cluster.nodes.visited_among(result.feasible)
    place = fitting[cluster.nodes.visiting_rank[equals]] - 1
    if result.start:
        place = (place - fitting[result.start - 1]) % fitting[-1]
    return int(equals[heap_preorder(int(fitting[-1]))[place].argmin()])


class Choice(Struct, frozen=True):
    """Node chosen for the next copy: its position, its total, and how many nodes share that total."""

    node: int
    total: int
    ties: int


class _ScoreCache:
    """One plugin's weighted scores; a FixedState's are normalized again only if the extent changes."""

    def __init__(self, state: FixedState | CountingState, weight: int, skipped: int) -> None:
        self.state, self._weight, self._skipped = state, weight, skipped
        self._extent: Extent | None = None
        self._weighted: Counts | None = None

    @property
    def constant(self) -> int | None:
        """Weighted score that every node has, whatever is placed; None if they differ."""
        if not isinstance(self.state, FixedState):
            return None
        try:
            constant = self.state.constant
        except SchedulingError:
            return None
        return None if constant is None else constant * self._weight

    def weighted_scores(self, cluster: Cluster, feasible: Mask) -> Counts | int:
        """Weighted score of each node, or the one that all nodes have."""
        raw = self.state.raw_scores(cluster, feasible)
        if raw is None:
            return self._skipped
        extent = self.state.extent(raw, feasible)
        if isinstance(self.state, CountingState):
            return self.state.normalize(raw, extent) * self._weight
        if self._weighted is None or extent != self._extent:
            self._extent, self._weighted = extent, self.state.normalize(raw, extent) * self._weight
        return self._weighted


def copied_kind(prepared: PreparedPod) -> PodKind:
    """Kind of the pod, and of its placed copies."""
    kinds = prepared.cluster.kinds
    return kinds[kinds.number_of(prepared.pod)]


def on_node_answers(prepared: PreparedPod, cluster: Cluster) -> OnNodeAnswers:
    """Answers of the pod's plugins that judge single nodes of ``cluster``, ready for copies of it."""
    filters = [state for state in prepared.filter_states if isinstance(state, OnNodeState)]
    scores = [(state, weight) for state, weight, _ in prepared.scorers if isinstance(state, OnNodeState)]
    alike: Alike = {}
    if (signature := prepared.on_node_signature) is not None:
        _, alike = cluster.kinds.share("alike", signature, lambda: (prepared.framework, Alike()))
    return OnNodeAnswers(filters, scores, copied_kind(prepared), cluster, alike)


_BARRED = Memo[Hashable, tuple[Framework, Mask, bool]]()
"""Rejections of all nodes by fixed filters, by `PreparedPod.fixed_signature`, with the profile that is part of it."""


class Placing(Forking):
    """Placement of copies of one pod on its cluster."""

    _copied, _forked = ("_pending",), ("prepared", "answers")

    def __init__(
        self,
        prepared: PreparedPod,
        answers: OnNodeAnswers | None = None,
        candidates: Mask | None = None,
        now: Callable[[], Cluster] | None = None,
    ) -> None:
        """``answers`` may be shared with other pods of the same signature, if the caller keeps them up to date.

        ``candidates`` are the nodes that may be chosen, None for all of them. The others still count wherever pods are
        counted over many nodes, as for a group's pods that are tried in one topology domain. ``now`` gives the cluster
        as it is, with all copies, where others change it too.
        """
        self.prepared, self._candidates, self._now = prepared, candidates, now
        self.kind = copied_kind(prepared)
        self.answers = on_node_answers(prepared, prepared.cluster) if answers is None else answers
        self._feasible, self._read = np.empty(0, dtype=np.bool_), b""
        """Nodes where the last copy fits, and the same as bytes, which are compared faster."""
        self._pending: list[int] = []
        """The nodes of the copies that the prepared cluster does not hold yet."""
        self._sort_states()
        lists = list(prepared.listing.values())
        self._listed: Mask | None = np.logical_and.reduce(lists) if lists else None
        """The nodes that PreFilter plugins leave to look at; None for all."""
        self._barred, self._may_fail = self._fixed_rejections()

    def __len__(self) -> int:
        return len(self.prepared.cluster)

    def _sort_states(self) -> None:
        prepared = self.prepared
        self._counted = [state for state in prepared.states.values() if isinstance(state, CountingState)]
        self._counted_filters = [state for state in prepared.filter_states if isinstance(state, CountingState)]
        scored = [
            _ScoreCache(state, weight, skipped)
            for state, weight, skipped in prepared.scorers
            if isinstance(state, FixedState | CountingState)
        ]
        self._scored = [cache for cache in scored if cache.constant is None]
        self._constant = sum(cache.constant or 0 for cache in scored)

    def _fixed_rejections(self) -> tuple[Mask, bool]:
        """Nodes barred whatever is placed, and True if a filter might end the cycle in an error."""
        prepared, signature = self.prepared, self.prepared.fixed_signature
        if signature is None:
            barred, may_fail = self._judge_fixed()
        else:
            results, framework = prepared.cluster.results, prepared.framework
            _, barred, may_fail = _BARRED.get_or_make(results, signature, lambda: (framework, *self._judge_fixed()))
        return barred if self._candidates is None else barred | ~self._candidates, may_fail

    def _judge_fixed(self) -> tuple[Mask, bool]:
        prepared = self.prepared
        may_fail = False
        barred = np.zeros(len(self), dtype=np.bool_)
        if self._listed is not None:
            barred |= ~self._listed
        for state in prepared.filter_states:
            if isinstance(state, FixedState) and (verdicts := state.verdicts(prepared.cluster)) is not None:
                barred |= ~verdicts.passes
                may_fail |= any(status.code is Code.ERROR for status in verdicts.table)
        return barred, may_fail

    @property
    def listed_count(self) -> int:
        """Number of nodes that PreFilter plugins leave."""
        return len(self) if self._listed is None else int(np.count_nonzero(self._listed))

    @property
    def order_matters(self) -> bool:
        """True if a filter looks beyond the node, so that one placement can bar later ones."""
        return any(state.filter() is not None for state in self._counted_filters)

    @property
    def states(self) -> dict[str, State]:
        """States by plugin, counting all copies so far."""
        return self.prepared.states

    def room(self, copies: int) -> Counts:
        """Number of further copies, at most ``copies``, that each node could hold if domains did not matter."""
        return self.answers.room(self._barred, copies)

    def fork(self) -> Self:
        fork = super().fork()
        fork._sort_states()
        return fork

    def feasible(self) -> Mask:
        """Nodes where the next copy fits."""
        check()
        if self.prepared.rejection is not None:
            return np.zeros(len(self), dtype=np.bool_)
        feasible: Mask = ~(self._barred | self.answers.rejects)
        for state in self._counted_filters:
            verdicts = state.filter()
            if verdicts is not None:
                feasible &= verdicts.passes
        nominated = self.prepared.nominated_kinds
        # A plugin that skips the pod is not asked about it with nominated pods either.
        filters = [plugin.name for plugin in self.prepared.framework.filters if nominated and not self._skips(plugin)]
        for node, kinds in nominated.items():
            if feasible[node]:
                with DryRun(self._current_prepared_pod(), node) as dry_run:
                    for kind in kinds:
                        dry_run.move(kind, 1)
                    feasible[node] = dry_run.first_rejection(filters).code is Code.SUCCESS
        # Mostly the same nodes fit one copy after another: results derived from them are cached by the mask's identity.
        if (read := feasible.tobytes()) != self._read:
            self._feasible, self._read = feasible, read
        return self._feasible

    def _skips(self, plugin: Plugin) -> bool:
        state = self.states.get(plugin.name)
        return isinstance(state, CountingState) and state.filter() is None

    def choose(
        self, break_tie: Tiebreaker = smallest_name, search: Search | None = None, batch: Batch | None = None
    ) -> Choice | None:
        """Choose kube-scheduler's node for the next copy; None if no node fits, and `evaluation` says why.

        ``search`` limits scoring to the nodes it finds; without it all feasible nodes are scored. ``batch`` holds
        reusable results of earlier cycles. Raises SchedulingError if scoring fails.
        """
        if batch is not None:
            batch.begin()
        self._fail_while_filtering()
        feasible = self.feasible()
        cluster = self.prepared.cluster
        nominee = cluster.nodes.index.get(self.prepared.pod.status.nominated_node_name)
        if nominee is not None and feasible[nominee]:
            # It is tried first and alone; if it fits, no other node is looked at.
            return Choice(nominee, int(self._total(feasible)[nominee]), 1)
        if batch is not None and (hinted := batch.choose_hinted(self.prepared, feasible)) is not None:
            return hinted
        result = SearchResult(feasible)
        rules = self.prepared.framework.search
        if search is not None and search.limits(rules) and self.prepared.rejection is None:
            result = search.run(cluster.nodes, feasible, self._listed, rules)
        if not some(result.feasible):
            return None
        total = self._total(result.feasible)
        among = np.where(result.feasible, total, _BELOW_ALL)
        best = greatest(among)
        (equals,) = (among == best).nonzero()
        node = equals.item(0) if len(equals) == 1 else break_tie(cluster, result, equals)
        if batch is not None:
            batch.store(self.prepared, node, result, total)
        return Choice(node, best, len(equals))

    def choose_on(self, node: int) -> Choice | None:
        """Choose one node, for a copy meant for it; None if it does not fit there."""
        self._fail_while_filtering()
        feasible = self.feasible()
        if not feasible[node]:
            return None
        return Choice(node, int(self._total(feasible)[node]), 1)

    def _fail_while_filtering(self) -> None:
        """Raise the error with which a filter plugin ends the cycle. Few profiles and few pods have any that could."""
        counted = any(state.may_fail for state in self._counted_filters)
        may_fail = self._may_fail or self.answers.may_fail or counted
        if may_fail and (error := self.evaluation().filter_error) is not None:
            raise SchedulingError(error)

    def place(self, node: int) -> None:
        """Run another copy on ``node``."""
        if self._now is None:
            self._pending.append(node)
        self.answers.place(node)
        for state in self._counted:
            state.move_one(self.kind.number, node, 1)

    def binding(self, node: int) -> StorageChange | None:
        """Change of claims and volumes when the next copy is on ``node``, after which copies are prepared again; None
        without a change.
        """
        return self.prepared.binding(node)

    def follow(self, moves: Moves) -> None:
        """Count other changes of the cluster's pods, with nodes unchanged; whoever shares `answers` updates them."""
        assert self._now is not None
        for state in self._counted:
            state.follow(self._now, moves)

    def evaluation(self) -> Evaluation:
        """Evaluate every plugin for the next copy."""
        return evaluate_prepared(self._current_prepared_pod())

    def message(self) -> str | None:
        """kube-scheduler's message for the next copy, without scoring; None if it fits a candidate."""
        judged = evaluate_prepared(self._current_prepared_pod(), is_scored=False)
        return judged.message if self._candidates is None else judged.message_among(self._candidates)

    def _current_prepared_pod(self) -> PreparedPod:
        """Prepared pod on the cluster with all copies."""
        prepared = shallow(self.prepared)
        if self._now is not None:
            prepared.cluster = self._now()
        elif self._pending:
            prepared.cluster = prepared.cluster.apply(
                ClusterChange(added_pods=[(prepared.pod, node) for node in self._pending])
            )
        return prepared

    def _total(self, feasible: Mask) -> Counts:
        """Total score of each node. Raises SchedulingError."""
        framework = self.prepared.framework
        if self.answers.out_of_range and (error := self.evaluation().error):
            raise SchedulingError(error)
        total = self.answers.scores + self._constant if framework.scores else np.ones(len(self), dtype=np.int64)
        try:
            for scored in self._scored:
                total += scored.weighted_scores(self.prepared.cluster, feasible)
        except SchedulingError:
            evaluation = self.evaluation()
            if evaluation.error is not None:
                raise
            return evaluation.total
        return total
