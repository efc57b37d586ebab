"""Where the claims of one pod can be allocated, kept up as devices are taken and freed.

Source: pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go, Filter, Score
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from msgspec.structs import replace

from kubespread.kube.api.core import Pod
from kubespread.scheduler.causes import Cause, Causes, ClaimElsewhereDetail, ClaimUnboundDetail, DeviceDetail
from kubespread.scheduler.cluster.change import Change, Moves
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.cluster.labels import Counts, Mask, Positions
from kubespread.scheduler.cluster.running import ClaimUsers
from kubespread.scheduler.node_matching import everywhere
from kubespread.scheduler.plugin import Code, Counted, Extent, State, Status, Verdicts, default_normalize, highest_raw
from kubespread.scheduler.plugins.dynamicresources.allocation import SearchTooLongError, allocate, keeps_away
from kubespread.scheduler.plugins.dynamicresources.claims import (
    ALL,
    AllocationError,
    ClaimToAllocate,
    RefusedError,
    RequestToAllocate,
)
from kubespread.scheduler.plugins.dynamicresources.devices import ClaimKey, CounterID, Facts, OfferedDevice, Pool
from kubespread.scheduler.plugins.dynamicresources.following import facts_of, judge_of, ledger_of, place, remove
from kubespread.scheduler.plugins.dynamicresources.judging import NOT_AVAILABLE, Judge, Outcome
from kubespread.scheduler.plugins.dynamicresources.ledger import Ledger
from kubespread.scheduler.plugins.dynamicresources.rules import Rules
from kubespread.scheduler.plugins.dynamicresources.sharing import Capacities, consumption, counters_left, lacking


class DynamicResourcesState(Counted):
    def __init__(self, cluster: Cluster, pod: Pod, rules: Rules, *, is_scored: bool = True) -> None:
        """Raises RefusedError where the claims keep the pod from every node."""
        self._pod, self._rules, self._kinds, self._is_scored = pod, rules, cluster.kinds, is_scored
        self._facts: Facts = facts_of(cluster)
        self._users: ClaimUsers | None = cluster.claim_users
        """What the ledger follows from; None once the state was moved on its own."""
        self._ledger: Ledger = ledger_of(cluster, rules)
        self._judge: Judge = judge_of(pod, self._facts, self._ledger, rules)
        self._refused: Status | None = None
        """Why all nodes are rejected since the state was prepared."""
        size = len(cluster)
        self._outdated: Mask = everywhere(cluster.nodes)
        self._table: dict[Status, int] = {}
        self._rows = np.zeros(size, dtype=np.int32)
        self._scores: Counts = np.zeros(size, dtype=np.int64)

    @property
    def has_no_claims(self) -> bool:
        return self._judge.claims.is_empty

    def _bring_up_to_date(self) -> None:
        for node in np.flatnonzero(self._outdated).tolist():
            outcome = Outcome(self._refused) if self._refused is not None else self._judge.judge(node, self._ledger)
            status = outcome.status
            self._rows[node] = 0 if status is None else self._table.setdefault(status, len(self._table) + 1)
            self._scores[node] = outcome.score if self._is_scored else 0
        self._outdated[:] = False

    def filter(self, nodes: Positions | None = None) -> Verdicts:
        self._bring_up_to_date()
        return Verdicts(self._rows.copy(), tuple(self._table)).for_nodes(nodes)

    @property
    def may_fail(self) -> bool:
        self._bring_up_to_date()
        return any(status.code is Code.ERROR and bool((self._rows == row).any()) for status, row in self._table.items())

    def score(self, feasible: Mask) -> Counts:
        self._bring_up_to_date()
        return self._scores.copy()

    def extent(self, raw: Counts, feasible: Mask) -> Extent:
        return highest_raw(raw, feasible)

    def normalize(self, raw: Counts, extent: Extent) -> Counts:
        return default_normalize(raw, extent)

    def frees_a_claim(self, filtered: Mask) -> bool:
        """Whether PostFilter deallocates a claim that only this pod uses, so that it may get other devices: one that
        Filter found out of reach of some of the ``filtered`` nodes, the only ones it looked at.
        """
        self._bring_up_to_date()
        row = self._table.get(NOT_AVAILABLE)
        elsewhere = set[ClaimKey]()
        for node in np.flatnonzero(filtered & (self._rows == row)).tolist() if row is not None else ():
            elsewhere.update(self._judge.elsewhere(node))
        return any(
            claim.claim is not None
            and claim.key in elsewhere
            and self._ledger.is_only_for(self._pod, claim.key, claim.claim)
            for claim in self._judge.claims.claims
        )

    def causes(self, cluster: Cluster, nodes: Positions) -> Sequence[Causes]:
        if self._refused is not None:
            return super().causes(cluster, nodes)
        return [shortages(self._judge, node, self._ledger) for node in nodes.tolist()]

    def move(self, moves: Moves) -> None:
        before = self._ledger
        self._ledger = before.copy()
        for number, node, by in zip(moves.kind.tolist(), moves.node.tolist(), moves.by.tolist(), strict=True):
            pod = self._kinds[number].pod
            for _ in range(abs(by)):
                if by > 0:
                    place(pod, node, self._facts, self._ledger, self._rules)
                else:
                    remove(pod, node, self._facts, self._ledger)
        self._users = None
        self._look_again(before)

    def pretend(self, kind: int, node: int, by: int) -> None:
        """The plugin has neither AddPod nor RemovePod: in a dry run nothing is taken or freed."""

    def follow(self, cluster: Cluster, moves: Moves) -> None:
        """The cluster knows in which order pods came, and so who got what."""
        if self._users is cluster.claim_users:
            return
        before, self._users = self._ledger, cluster.claim_users
        self._ledger = ledger_of(cluster, self._rules)
        self._look_again(before)

    def _look_again(self, before: Ledger) -> None:
        """A change of the ledger outdates the verdicts on the nodes that reach the changed devices."""
        try:
            judge = judge_of(self._pod, self._facts, self._ledger, self._rules)
        except RefusedError as refused:
            self._refused = refused.status
            self._outdated[:] = True
            return
        if judge.claims != self._judge.claims or self._refused is not None:
            self._judge, self._refused = judge, None
            self._outdated[:] = True
            return
        changed = self._ledger.changed_since(before)
        if changed:
            self._judge = judge
            self._outdated |= judge.inventory.nodes_of({(device.driver, device.pool) for device in changed})

    def fork(self) -> DynamicResourcesState:
        fork: DynamicResourcesState = object.__new__(type(self))
        fork.__dict__.update(self.__dict__)
        fork._outdated, fork._rows, fork._scores = self._outdated.copy(), self._rows.copy(), self._scores.copy()
        fork._table = dict(self._table)
        return fork

    def after(self, cluster: Cluster, change: Change, moves: Moves) -> State | None:
        if change.touches_nodes:
            return None
        fork = self.fork()
        fork.follow(cluster, moves)
        # What rejects the pod as a whole is for a new preparation to say.
        return fork if fork._refused is None else None


def shortages(judge: Judge, node: int, ledger: Ledger) -> Causes:
    """The claims that are allocated elsewhere or cannot be bound, or else the requests that find too few devices by
    themselves.
    """
    if judge.unbound:
        return tuple(ClaimUnboundDetail(str(key)) for key in judge.unbound)
    elsewhere = judge.elsewhere(node)
    if elsewhere:
        return tuple(ClaimElsewhereDetail(str(key)) for key in elsewhere)
    return tuple(_shortages(judge, node, ledger))


def _shortages(judge: Judge, node: int, ledger: Ledger) -> Iterator[Cause]:
    pools = [pool for pool in judge.inventory.pools(node) if pool.is_usable]
    for claim in judge.to_allocate_on(node):
        for alternatives in claim.requests:
            details = [_shortage(judge, request, pools, ledger) for request in alternatives]
            if all(details):
                yield from (detail for detail in details if detail is not None)


def _shortage(judge: Judge, request: RequestToAllocate, pools: Sequence[Pool], ledger: Ledger) -> DeviceDetail | None:
    found, counters = Counter[str](), set[CounterID]()
    try:
        for pool in pools:
            left = counters_left(pool, ledger)
            for device in pool.devices:
                if device.id not in pool.unreached:
                    found[what := _as_found(request, device, left, ledger, judge.rules)] += 1
                    counters.update(lacking(device, left) if what == "exhausted" else ())
    except AllocationError:
        return None
    selected = found.total() - found["unselected"]
    requested = max(1, selected) if request.mode == ALL else request.count
    if requested <= found["usable"]:
        together = _together(request, pools, ledger, judge.rules)
        found.update(usable=together - found["usable"], exhausted=found["usable"] - together)
    if requested <= found["usable"]:
        return None
    return DeviceDetail(
        claim=request.claim,
        request=request.full_name,
        requested=requested,
        usable=found["usable"],
        tainted=found["tainted"],
        in_use=found["in use"],
        selected=selected,
        devices=found.total(),
        exhausted=found["exhausted"],
        counters=tuple("/".join(counter) for counter in sorted(counters)),
        full=found["full"],
    )


def _as_found(
    request: RequestToAllocate, device: OfferedDevice, left: Mapping[CounterID, int], ledger: Ledger, rules: Rules
) -> str:
    """What becomes of one device that a request by itself looks at. Raises AllocationError."""
    if not request.selects(device):
        return "unselected"
    if device.id in ledger.in_use and not request.admin_access:
        return "in use"
    if keeps_away(device.taints(rules), request.tolerations):
        return "tainted"
    capacities = Capacities(ledger, rules)
    if not (device.is_shared(rules) and capacities.is_in_use(device)) and lacking(device, left):
        return "exhausted"
    consumed = consumption(device, request.capacity or {}, rules) if rules.shares_count else {}
    return "full" if consumed is None or not capacities.suffices(device, consumed) else "usable"


def _together(request: RequestToAllocate, pools: Sequence[Pool], ledger: Ledger, rules: Rules) -> int:
    """How many devices a request could have at once, which may be fewer than one after the other: up to as many as it
    asks for.
    """
    if request.mode == ALL:
        return len([device for pool in pools for device in pool.devices])
    for count in range(request.count, 0, -1):
        claim = ClaimToAllocate(request.claim, ((replace(request, count=count),),))
        try:
            if allocate(tuple(pools), [claim], ledger, rules) is not None:
                return count
        except (AllocationError, SearchTooLongError):
            return request.count
    return 0
