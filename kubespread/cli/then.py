"""``kubespread simulate --then``: what happens to a workload once it is placed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kubespread.cli.answering import Answering
from kubespread.cli.exitcodes import ExitCode
from kubespread.cli.options.answer import AnswerOptions
from kubespread.cli.options.playing import ThenOptions
from kubespread.cli.options.workload import SelectionOptions
from kubespread.cli.waiting import waiting
from kubespread.errors import UsageError
from kubespread.questions.registry import question
from kubespread.views.formats import writers_of

if TYPE_CHECKING:
    from kubespread.snapshot.snapshot import Snapshot

_NAME = "name"


def check_then(placing: ThenOptions, answer: AnswerOptions) -> None:
    """Find values that mean nothing beside --then. Raises UsageError."""
    values = {"--replicas max": placing.as_many_as_fit, "-o name": answer.output == _NAME}
    for option, is_given in values.items():
        if is_given and placing.then:
            raise UsageError(f"{option} and --then do not go together")


def simulate_then(
    answering: Answering, opened: Snapshot, pods: Sequence[Any], placing: ThenOptions, workload: SelectionOptions
) -> ExitCode:
    """Apply the workload, play the steps, and show what became of it."""
    import kubespread

    with waiting(quiet=answering.speaking.quiet):
        report = kubespread.simulate_then(
            opened,
            pods,
            placing.then or (),
            answering.scheduler,
            replicas=placing.desired(),
            name=workload.name,
            namespace=workload.namespace,
            recursive=workload.recursive,
            set=workload.settings or (),
            preemption=not placing.no_preemption,
            deals=placing.deals,
        )
    fail_on: Any = [each.value for each in placing.fail_on or ()]
    writer = writers_of(question("play").outputs, "")[answering.written.name]
    is_yes = True if fail_on else None
    return answering.give("play", report.requiring(report.failures(fail_on)), is_yes=is_yes, writer=writer)
