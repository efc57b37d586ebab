"""What has to change for all replicas of a workload to find a node: each change is made, and all are placed again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from kubespread.candidate.sources import PodGiven
from kubespread.errors import KubespreadError, UsageError
from kubespread.library.deciding import Scheduler
from kubespread.library.resolving import Resolved
from kubespread.library.simulating import Posed, SimulateKeywords, pose
from kubespread.planner.advise.advise import Advised, advised, blank
from kubespread.planner.advise.change import Answer, Change
from kubespread.planner.advise.most_running import most_running
from kubespread.planner.advise.stuck import Stuck
from kubespread.planner.entries import Outcome
from kubespread.planner.simulate import Question, outcomes
from kubespread.scheduler.building import framework
from kubespread.scheduler.evaluation import Evaluation
from kubespread.scheduler.plugin import SchedulingError
from kubespread.snapshot.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Replicas:
    """A number of replicas that are all to find a node, as `simulate` places them."""

    pods: Sequence[PodGiven]
    replicas: int
    snapshot: Snapshot
    scheduler: Scheduler
    options: SimulateKeywords

    def ask(self, change: Change) -> Answer | None:
        settings = (*self.options.get("set", ()), *change.settings)
        options: SimulateKeywords = {**self.options, "set": settings}
        try:
            posed = pose(self.pods, self.replicas, self.snapshot.edited(*change.edits), self.scheduler, options)
            if (most := most_running(posed.cluster, posed.questions[0])) < self.replicas:
                return Answer(most, self.replicas)
            return Answer(self.placed(posed)[0], self.replicas)
        except (KubespreadError, SchedulingError):
            return None

    def placed(self, posed: Posed) -> tuple[int, Outcome]:
        """How many replicas have a node in the end, those that run already among them."""
        (question,) = posed.questions
        (outcome,) = outcomes(posed.cluster, posed.questions, posed.manner)
        if question.played is not None:
            return self.replicas - question.played.rollout.pending, outcome
        return len(question.present) + len(outcome.choices), outcome


def advise_replicas(asked: Resolved, replicas: Replicas) -> Advised:
    """About all ``replicas``, which count those that run already. Raises UsageError for a DaemonSet."""
    if replicas.replicas < 0:
        raise UsageError(f"replicas must be at least 0, not {replicas.replicas}")
    if asked.candidates[0].is_daemon:
        raise UsageError("a DaemonSet has no replicas: ask about one of its pods, without --replicas")
    posed = pose(replicas.pods, replicas.replicas, replicas.snapshot, replicas.scheduler, replicas.options)
    (question,) = posed.questions
    plugins = framework(question.profile)
    placed, outcome = replicas.placed(posed)
    report = msgspec.structs.replace(
        blank(posed.cluster, question.pod, plugins, question.profile),
        workload=question.workload,
        replicas=replicas.replicas,
        placed=placed,
        notes=tuple(question.notes),
        admission=tuple(question.admission),
    )
    if placed >= replicas.replicas:
        return Advised(report, {})
    evaluation = outcome.unplaced or _evaluation(posed, question)
    stopped = outcome.stopped or question.refusal
    if evaluation is None or not question.replicas:
        return Advised(msgspec.structs.replace(report, message=stopped), {})
    report = msgspec.structs.replace(report, message=stopped)
    stuck = Stuck(evaluation, question.profile.version, replicas.replicas - placed, max(1, question.count or 0))
    return advised(report, stuck, replicas)


def _evaluation(posed: Posed, question: Question) -> Evaluation | None:
    """What is said of one more of them, where nothing else tells what could be changed."""
    try:
        return framework(question.profile).evaluate(posed.cluster, question.pod)
    except SchedulingError:
        return None
