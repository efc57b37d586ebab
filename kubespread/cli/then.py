"""``kubespread simulate --then``: what happens to a workload once it is placed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kubespread.cli.exitcodes import ExitCode
from kubespread.cli.options.answer import SimulateAnswerOptions, SpeakingOptions
from kubespread.cli.options.playing import ThenOptions, is_no
from kubespread.cli.options.requirements import RequirementOptions
from kubespread.cli.options.scheduler import SchedulerOptions
from kubespread.cli.options.workload import SelectionOptions
from kubespread.cli.page import write_page
from kubespread.cli.play import show
from kubespread.cli.waiting import waiting
from kubespread.errors import UsageError

if TYPE_CHECKING:
    from kubespread.snapshot.snapshot import Snapshot

_NAME = "name"


def check_then(
    placing: ThenOptions, requirements: RequirementOptions, workload: SelectionOptions,
    answer: SimulateAnswerOptions,
) -> None:  # fmt: skip
    """Find options that mean nothing beside --then, or without it. Raises UsageError."""
    if not placing.then:
        if placing.fail_on or placing.no_preemption:
            raise UsageError(f"{'--fail-on' if placing.fail_on else '--no-preemption'} is for --then")
        return
    given = {
        "--until-full": placing.as_many_as_fit,
        "--from-scratch": placing.from_scratch,
        "--gang": placing.gang is not None,
        "--same": placing.same is not None,
        "--seed": placing.seed is not None,
        "--sample": placing.sample,
        "--runs": placing.runs != 1,
        "--ties": placing.ties.value != "scheduler",
        "requirements (--require-placed, --max-skew, --survive, ...)": requirements != RequirementOptions(),
        "--all, -l and -A": workload.every or workload.all_namespaces or workload.selector is not None,
        "-o name": answer.output == _NAME,
        "--preemption, which is the default there,": answer.preemption,
    }
    for option, is_given in given.items():
        if is_given:
            raise UsageError(f"{option} does not go with --then")


def simulate_then(
    opened: Snapshot, pods: Sequence[Any], placing: ThenOptions, desired: int | None, workload: SelectionOptions,
    scheduling: SchedulerOptions, answer: SimulateAnswerOptions, speaking: SpeakingOptions,
) -> int:  # fmt: skip
    """Apply the workload, play the steps, and show what became of it."""
    import kubespread

    with waiting(quiet=speaking.quiet):
        report = kubespread.simulate_then(
            opened,
            pods,
            placing.then or (),
            scheduling.scheduler(),
            replicas=desired,
            name=workload.name,
            namespace=workload.namespace,
            set=workload.settings or (),
            preemption=not placing.no_preemption,
        )
    write_page(answer.html, report, opened, scheduling.scheduler())
    show(report, opened, answer.output, speaking, headers=not answer.no_headers, color=answer.color)
    if opened.faults or (answer.strict and report.gaps):
        return ExitCode.NO_CLUSTER
    return ExitCode.NO if is_no(placing.fail_on, report) else ExitCode.YES
