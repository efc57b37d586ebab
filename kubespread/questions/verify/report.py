"""Promises, each with whether it holds, and by how much, or what breaks it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, get_args

from msgspec.structs import force_setattr

from kubespread.kube.owners import WorkloadName
from kubespread.reports.parts import Judgment, Report, ScheduledReport, Share
from kubespread.wording import count_of

Kept = Literal["broken", "unknown", "accepted", "held"]
WORST_FIRST: tuple[Kept, ...] = get_args(Kept)
Clause = Literal["survives", "ready", "back", "spread", "fits", "rollout", "drain", "room"]


class VerifiedClause(Report, frozen=True, kw_only=True):
    """One thing that is promised of one workload, or of the cluster."""

    promise: int
    """The number of its promise in the file, from 1."""
    line: int | None
    """Where it stands in the file, from 1; null where the promises were no file."""
    clause: Clause
    """What is promised, by its field in the file."""
    workload: WorkloadName | None = None
    """NAMESPACE/Kind/name; null for the cluster."""
    promised: str
    """What is promised, as the file has it: ``any zone: 2``."""
    state: Kept
    """``held``, ``broken``, ``accepted``: broken, before the day in ``until`` is over, or ``unknown``."""
    says: str
    """The sentence: by how much it holds, what breaks it, or why that is not known."""
    margin: float | None = None
    """How much more there is than is promised: pods, replicas, skew, percent points or an amount of a resource; below 0
    how much is lacking. Null where it is no number, or not known.
    """
    needed: float | None = None
    """What is promised as a number of ``unit``, with ``margin`` at least that: of ``spread`` at most, less ``margin``.
    Null where it is no number, or not known.
    """
    unit: str = ""
    """What ``needed`` and ``margin`` count: ``pods``, ``replicas``, ``skew``, ``%`` or a resource; empty where null."""
    step: str | None = None
    """What breaks it, or comes closest to it: ``losing zone a``; null where nothing has to happen."""
    until: str | None = None
    """The last day, YYYY-MM-DD, on which it is accepted that it is broken; null where that never is."""
    reason: str | None = None
    """Why that is accepted."""
    command: str
    """What shows the answer it is taken from."""

    @property
    def called(self) -> str:
        """Whose it is, in short."""
        return "the cluster" if self.workload is None else str(self.workload)

    @property
    def sentence(self) -> str:
        """Whose promise it is, what is promised, and what became of it."""
        accepted = ""
        if self.until is not None and self.state in ("accepted", "broken"):
            over = "" if self.state == "accepted" else ", which is over"
            accepted = f" (accepted until {self.until}{over}{f': {self.reason}' if self.reason else ''})"
        return f"{self.called}: {self.clause} {self.promised}: {self.says}{accepted}"


class VerifyReport(ScheduledReport, frozen=True, kw_only=True):
    kind: str = "VerifyReport"
    file: str | None
    """The file of the promises, as it was given; null where they were none."""
    promises: int
    """How many there are."""
    states: dict[Kept, int] = {}
    """How many of them are of each state: that of a promise is its worst clause's."""
    clauses: tuple[VerifiedClause, ...]
    """In the order of the file; of a promise about several workloads by kind and name."""
    applied: tuple[str, ...] = ()
    """The manifests that were applied first."""

    def __post_init__(self) -> None:
        worst: dict[int, Kept] = {}
        for row in self.clauses:
            worst[row.promise] = min(worst.get(row.promise, "held"), row.state, key=WORST_FIRST.index)
        found = list(worst.values())
        force_setattr(self, "states", {state: found.count(state) for state in WORST_FIRST})
        super().__post_init__()

    def of(self, *states: Kept) -> list[VerifiedClause]:
        """The clauses of these states, in their order."""
        return [row for state in states for row in self.clauses if row.state == state]

    def judged(self) -> Judgment:
        return "no" if self.of("broken") else "unknown" if self.of("unknown") else "yes"

    def worst_finding(self) -> str:
        return next((row.sentence for row in self.of("broken", "unknown")), "")

    def share(self) -> Share:
        return Share(self.states["broken"], self.promises, "promises")

    def sentences(self) -> Iterator[str]:
        others = [f"{number:,} {state}" for state, number in self.states.items() if number and state != "held"]
        parts, hold = len(self.clauses), "holds" if self.promises == 1 else "hold"
        if self.unfinished is None or parts:
            held = f"{self.states['held']:,} of {count_of(self.promises, 'promise')} {hold}"
            of_parts = f"; {len(self.of('held')):,} of their {parts:,} clauses hold"
            yield f"{', '.join([held, *others])}{of_parts if others and parts > self.promises else ''}"
        yield from (row.sentence for row in self.of("broken", "unknown", "accepted"))
