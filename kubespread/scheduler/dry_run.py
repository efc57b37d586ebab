"""What filter plugins say of one node with pods on it that are not there, or without some that are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from kubespread.scheduler.cluster.holdings import Holdings
from kubespread.scheduler.cluster.kinds import PodKind
from kubespread.scheduler.plugin import SUCCESS, Code, Counted, OnNode, Status

if TYPE_CHECKING:
    from kubespread.scheduler.framework import Prepared


class DryRun:
    """One node with pods on it that are not there, or without some that are; what is pretended is taken back in the
    end.
    """

    def __init__(self, prepared: Prepared, node: int, counted_already: Sequence[tuple[PodKind, int]] = ()) -> None:
        """``counted_already`` are pods on the node that the states count and the cluster does not hold yet."""
        self._prepared = prepared
        self._node = node
        self._positions = np.array([node], dtype=np.intp)
        self._held = Holdings(prepared.cluster, self._positions, tuple(counted_already))
        self._pretended: list[tuple[PodKind, int]] = []
        self._counted = [state for state in prepared.states.values() if isinstance(state, Counted)]

    def __enter__(self) -> DryRun:
        return self

    def __exit__(self, *_: object) -> None:
        for kind, by in self._pretended:
            for state in self._counted:
                state.pretend(kind.number, self._node, -by)

    def move(self, kind: PodKind, by: int) -> None:
        """Put a pod on the node (``by`` 1), or take one away (-1)."""
        self._held = self._held.plus(kind, by)
        self._pretended.append((kind, by))
        for state in self._counted:
            state.pretend(kind.number, self._node, by)

    def status_of(self, plugin: str) -> Status:
        """What one filter plugin says of the node now."""
        state = self._prepared.states.get(plugin)
        if state is None:
            return SUCCESS
        judged = (
            state.judge(self._held)
            if isinstance(state, OnNode)
            else state.verdicts(self._prepared.cluster, self._positions)
        )
        return SUCCESS if judged is None else judged.status(0)

    def first_rejection(self, plugins: Iterable[str]) -> Status:
        """The first of these filter plugins that rejects the node now; those that skip this pod must be left out."""
        statuses = (self.status_of(name) for name in plugins)
        return next((status for status in statuses if status.code is not Code.SUCCESS), SUCCESS)
