"""``kubespread simulate --then``: what happens to a workload once it is placed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kubespread.cli.answering import Answering
from kubespread.cli.exitcodes import ExitCode
from kubespread.cli.options.answer import AnswerOptions
from kubespread.cli.options.playing import ThenOptions, is_no
from kubespread.cli.options.requirements import RequirementOptions
from kubespread.cli.options.workload import SelectionOptions
from kubespread.cli.waiting import waiting
from kubespread.errors import UsageError

if TYPE_CHECKING:
    from kubespread.snapshot.snapshot import Snapshot

_NAME = "name"


def check_then(
    placing: ThenOptions, requirements: RequirementOptions, workload: SelectionOptions, answer: AnswerOptions
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
        "--preemption, which is the default there,": placing.preemption,
    }
    for option, is_given in given.items():
        if is_given:
            raise UsageError(f"{option} does not go with --then")


def simulate_then(
    answering: Answering, opened: Snapshot, pods: Sequence[Any], placing: ThenOptions, workload: SelectionOptions
) -> ExitCode:
    """Apply the workload, play the steps, and show what became of it."""
    import kubespread
    from kubespread.render.play.rows import answer as outcome

    with waiting(quiet=answering.speaking.quiet):
        report = kubespread.simulate_then(
            opened,
            pods,
            placing.then or (),
            answering.scheduler,
            replicas=placing.desired(),
            name=workload.name,
            namespace=workload.namespace,
            set=workload.settings or (),
            preemption=not placing.no_preemption,
        )
    return answering.give("play", report, [outcome(report)], is_yes=not is_no(placing.fail_on, report))
