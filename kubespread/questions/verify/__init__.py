"""Promises that a cluster keeps or breaks, each decided by another question."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from kubespread.kube.owners import WorkloadName
from kubespread.questions.question import Option, PlayedQuestion, PromiseFile
from kubespread.reports.columns import Col
from kubespread.reports.parts import Judgment, Report, ScheduledReport
from kubespread.wording import count_of

if TYPE_CHECKING:
    from kubespread.questions.commands import Commands

ClauseState = Literal["broken", "unknown", "accepted", "held"]
WORST_FIRST: tuple[ClauseState, ...] = get_args(ClauseState)
Clause = Literal["survives", "ready", "back", "spread", "fits", "rollout", "drain", "room"]


class VerifiedClause(Report, frozen=True, kw_only=True):
    """One promise about one workload, or the cluster."""

    line: Annotated[int | None, Col()]
    """Line in the file, from 1; null without a file."""
    clause: Annotated[Clause, Col()]
    """Kind of the promise, by its field in the file."""
    workload: WorkloadName | None = None
    """NAMESPACE/Kind/name; null for the cluster."""
    promised: Annotated[str, Col()]
    """Promised value as in the file: ``any zone``, ``zone 2``."""
    state: Annotated[ClauseState, Col()]
    """``held``, ``broken``, ``accepted`` (broken, and the day in ``until`` is not over) or ``unknown``."""
    says: Annotated[str, Col()]
    """Sentence on the measured and the promised value, and the reason it is broken, unknown or accepted."""
    margin: Annotated[float | None, Col(value=lambda margin: None if margin is None else f"{margin:+.12g}")] = None
    """Surplus over the promise, negative for a shortage; null if unknown, or not a number.

    It is in pods, replicas, skew, percentage points, an amount of a resource, or nodes for ``drain``.
    """
    command: Annotated[str, Col(is_command=True)]
    """Command that shows the answer behind it."""

    @property
    def called(self) -> Annotated[str, Col(header="WHOSE")]:
        return "the cluster" if self.workload is None else str(self.workload)

    @property
    def promise(self) -> str:
        return f"{self.called}: {self.clause} {self.promised}"

    @property
    def sentence(self) -> str:
        return f"{self.promise}: {self.says}"


class VerifyReport(ScheduledReport, frozen=True, kw_only=True):
    kind: str = "VerifyReport"
    file: str | None
    """File of the promises as given; null without one."""
    clauses: tuple[VerifiedClause, ...]
    """In the order of the file; of a promise about several workloads by kind and name."""

    def in_states(self, *states: ClauseState) -> list[VerifiedClause]:
        """Clauses in these states, in order."""
        return [row for state in states for row in self.clauses if row.state == state]

    def judge(self) -> Judgment:
        return "no" if self.in_states("broken") else "unknown" if self.in_states("unknown") else "yes"

    def worst_finding(self) -> str:
        return next((row.sentence for row in self.in_states("broken", "unknown")), "")

    def sentences(self) -> Iterator[str]:
        if self.unfinished is None or self.clauses:
            holding = f"{len(self.in_states('held')):,} of {count_of(len(self.clauses), 'promise')}"
            others = [f"{len(rows):,} {state}" for state in WORST_FIRST[:-1] if (rows := self.in_states(state))]
            yield ", ".join([f"{holding} {'holds' if len(self.clauses) == 1 else 'hold'}", *others])
        yield from (row.sentence for row in self.in_states("broken", "unknown", "accepted"))


class Verify(PlayedQuestion[VerifyReport], frozen=True, kw_only=True):
    """Verify promises about workloads, in a file kept beside their manifests.

    Each promise names workloads and what must hold: survives (any zone, any node, any KEY), ready and back, spread,
    fits, rollout and drain; for the cluster, room. The answer gives the margin of each, or what breaks it, as found by
    survive, audit, simulate, plan, removable or capacity. A broken one with a day in until is accepted through that
    day. With -f manifests are applied first.

    \b
    Examples:
      kubespread verify promises.yaml
      kubespread verify promises.yaml -f k8s/ -S cluster.json.gz
      kubespread fleet fleet/*.json.gz verify promises.yaml
    """

    name = "verify"
    summary = "Verify promises: what survives, fits, is ready and spread."
    never_modelled = (
        "autoscalers: none adds replicas or nodes",
        "how long it takes, and in which order pods are lost and made again",
        "two promises at once: each holds by itself",
    )
    yes, no = "every promise holds, or is accepted", "some promise is broken"
    hands_out = True
    doing = "verifying promises"
    outputs = {"table": "a list"}
    by_place = "promises"

    promises: Annotated[
        Any,
        PromiseFile(
            "File of kind Promises, YAML or JSON, such as {apiVersion: kubespread.dev/v1alpha1, kind: Promises, "
            "promises: [{workload: deploy/web, survives: any zone}]}; '-' for standard input.",
            metavar="PROMISES",
        ),
    ] = None
    filename: Annotated[
        tuple[str, ...],
        Option("Manifests, or directories of them, to apply first.", ("-f", "--filename"), "FILE", is_path=True),
    ] = ()
    today: datetime.date | None = None
    """Day on which ``until`` is judged; None: today, in UTC."""

    def next(self, report: VerifyReport, _commands: Commands) -> str:
        return next((row.command for row in report.in_states("broken", "unknown", "accepted")), "")
