"""The rows that differ between two answers to one question: BEFORE and AFTER."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated

from kubespread.reports import parts as reports
from kubespread.reports.columns import Col, Readers
from kubespread.wording import count_of, verb_of

Cell = str | int | bool | None
Rows = Mapping[str, Mapping[str, Cell]]
"""Cells by column, by key."""


class CellChange(reports.Report, frozen=True):
    """A cell that differs."""

    key: Annotated[str, Col()]
    """The row: a node, or NAMESPACE/Kind/name of a workload."""
    column: Annotated[str, Col()]
    """The name of the cell."""
    before: Annotated[Cell, Col(readers=Readers.PIPES)]
    """Null where there was no such row or cell."""
    after: Annotated[Cell, Col(readers=Readers.PIPES)]
    """Null where there is no such row or cell."""

    def __str__(self) -> str:
        return f"{self.key} {self.cell}"

    @property
    def cell(self) -> str:
        """``pending 3 → 5``."""
        return f"{self.column} {self.values}"

    @property
    def values(self) -> Annotated[str, Col(header="CHANGE", readers=Readers.PAGES)]:
        """``3 → 5``."""
        return f"{_text(self.before)} → {_text(self.after)}"


def _text(cell: Cell) -> str:
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    return "–" if cell is None else f"{cell:,}" if isinstance(cell, int) else cell


def changes_between(before: Rows, after: Rows) -> Iterator[CellChange]:
    """Cells that differ, in the order of the later rows; rows that are gone come last."""
    for key in dict.fromkeys((*after, *before)):
        was, now = before.get(key, {}), after.get(key, {})
        for column in dict.fromkeys((*now, *was)):
            if was.get(column) != now.get(column):
                yield CellChange(key=key, column=column, before=was.get(column), after=now.get(column))


class SideReport(reports.Report, frozen=True):
    """One side's question, and what its answer rests on."""

    manifest: str | None
    """The file, or KIND/NAME in the cluster; null for an object at hand, and for all workloads."""
    settings: tuple[str, ...]
    """Fields of the pod that were changed, ``maxSkew[zone]=2``."""
    edits: tuple[str, ...]
    """Changes to the cluster, ``cordon node-7``, in that order."""
    scheduler_config: str | None
    """The file; null where there is none."""
    feature_gates: str | None
    """Feature gates as they were given, ``Name=true``; null where none were."""
    kube_version: str
    cluster: reports.ClusterReference | None
    gaps: tuple[str, ...] = ()
    not_modelled: tuple[str, ...] = ()
    admission: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def cells(self) -> dict[str, str | None]:
        """Options that may differ between two questions."""
        return {
            "snapshot": None if self.cluster is None else self.cluster.snapshot or self.cluster.context,
            "manifest": self.manifest,
            "fields set": ", ".join(self.settings) or None,
            "edits": ", ".join(self.edits) or None,
            "scheduler configuration": self.scheduler_config,
            "feature gates": self.feature_gates,
            "kube-scheduler": reports.release_phrase(self.kube_version),
        }


class CompareReport(reports.QuestionReport, frozen=True, kw_only=True):
    kind: str = "CompareReport"
    preemption: bool = True
    """True if pods evict others of lower priority where they fit nowhere, as kube-scheduler lets them by default."""
    before: SideReport
    after: SideReport
    nodes: int
    """Number of nodes that either side has and judges; 0 where all workloads are compared."""
    workloads: int
    """Number of workloads that either side has."""
    changes: tuple[CellChange, ...]
    """Changes of workloads, then those of nodes. A workload: replicas ``placed`` and ``pending``, ``skew KEY``,
    kube-scheduler's ``message`` for the first that stays pending, the pods it ``preempts``, and replicas ``on NODE``.
    A node: ``fits``, ``reason``, ``score``, ``place`` in the order of nodes.
    """

    @property
    def sides(self) -> tuple[tuple[str, SideReport], ...]:
        """Both, each with its prefix."""
        return ("before: ", self.before), ("after: ", self.after)

    @property
    def manner(self) -> str:
        return reports.manner_of(self.preemption)

    @property
    def gaps(self) -> tuple[str, ...]:
        """Gaps of either side."""
        return (*self.before.gaps, *self.after.gaps)

    def judged(self) -> reports.Judgment:
        return "no" if any(map(is_worse, self.changes)) else "yes"

    def sentences(self) -> Iterator[str]:
        keys = {change.key for change in self.changes}
        workloads = sum("/" in key for key in keys)
        counts = (workloads, self.workloads, "workload"), (len(keys) - workloads, self.nodes, "node")
        differing = " and ".join(f"{number:,} of {count_of(of, noun)}" for number, of, noun in counts if number)
        worse = [str(change) for change in self.changes if is_worse(change)]
        if not keys:
            yield f"same: {' and '.join(count_of(of, noun) for _, of, noun in counts if of)}"
        else:
            more = f" and {count_of(len(worse) - 1, 'more change')}" if len(worse) > 1 else ""
            told = f", worse: {worse[0]}{more}" if worse else ", nothing is worse"
            yield f"{differing} {verb_of(len(keys), 'differ')}{told}"
        yield from (
            f"{change.column}: {change.values}"
            for change in changes_between({"": self.before.cells}, {"": self.after.cells})
        )


def is_worse(change: CellChange) -> bool:
    """True if a node no longer fits, more replicas lack a node, a skew is larger, pods are preempted that were not, or
    a node or workload is gone.
    """
    before, after = change.before, change.after
    if change.column == "preempts":
        return before is None
    if change.column in ("fits", "placed"):
        return bool(before) and (after is None or after is False)
    is_bad = change.column == "pending" or change.column.startswith("skew ")
    return is_bad and isinstance(before, int) and isinstance(after, int) and after > before
