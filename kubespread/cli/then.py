"""``kubespread simulate --then``: what happens to a workload once it is placed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kubespread.cli.answering import Answering
from kubespread.cli.exitcodes import ExitCode
from kubespread.cli.options.answer import AnswerOptions
from kubespread.cli.options.playing import ThenOptions, judged
from kubespread.cli.options.workload import SelectionOptions
from kubespread.cli.waiting import waiting
from kubespread.errors import UsageError

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
    report, is_yes = judged(placing.fail_on, report)
    return answering.give("play", report, is_yes=is_yes)
