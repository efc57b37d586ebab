"""The command of a question: its options are the question's fields, its help is the question's docstring."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec import Struct, structs

from kubespread.cli import options
from kubespread.cli.answering import Answering
from kubespread.cli.command import Command, Option, Parameter, Typed
from kubespread.cli.field import Late, field_of
from kubespread.cli.options import open_cluster_if_any, waiting
from kubespread.cli.streams import ExitCode, complain, emit, epilog, say
from kubespread.errors import KubespreadError
from kubespread.questions.commands import Commands
from kubespread.questions.provenance import CODES
from kubespread.questions.question import Question, options_of, parts_in, reports_in
from kubespread.questions.scene import Side
from kubespread.questions.tasks import ALONE, Workers
from kubespread.reports.parts import outcome
from kubespread.views.formats import Writer, writers_of

if TYPE_CHECKING:
    from kubespread.questions.scheduler import Scheduler
    from kubespread.snapshot.snapshot import Snapshot


_WORKERS = (
    Option(
        "--jobs",
        metavar="N",
        panel="Workers",
        help="Processes that work on the answer, which is the same for any number (default: one for each core where "
        "that saves time).",
    ),
    Option(
        "--timeout",
        metavar="TIME",
        panel="Workers",
        help="Give up what is not finished after this time (60s, 1m30s): the answer is about the rest, is no or "
        "unknown, and says what is missing.",
    ),
)


class Asked(Struct, frozen=True):
    """Question of a command line, before any cluster is read."""

    question: Question[Any]
    settling: Mapping[str, Late]
    """The fields that depend on the cluster."""
    typed: Typed
    workers: Workers
    timeout: float | None
    """Seconds, where there is a limit."""

    @property
    def settle(self) -> Callable[[Question[Any], Snapshot], Question[Any]]:
        """Function that completes the question for a cluster, in another process too."""
        return partial(_settled, self.settling)


def _settled(settling: Mapping[str, Late], question: Question[Any], cluster: Snapshot) -> Question[Any]:
    return structs.replace(question, **{name: late(question, cluster) for name, late in settling.items()})


def command_of(question: type[Question[Any]]) -> Command:
    """The question's own command."""
    cluster = [*options.CLUSTER, *([options.LIVE] if question.may_lack_cluster else [])]
    parameters, run = asking(question, _answer, writers_of(question.outputs), cluster)
    return Command(
        question.name,
        run,
        parameters,
        summary=question.summary,
        codes=epilog(question.yes, question.no),
        text=question.__doc__,
        never_modelled=question.never_modelled,
    )


def asking(
    question: type[Question[Any]],
    answer: Callable[[Asked], ExitCode],
    writers: Mapping[str, Writer],
    cluster: Sequence[Parameter],
) -> tuple[Sequence[Parameter], Callable[[Typed], int]]:
    """The parameters of a command that asks ``question``, and what runs it; without a ``cluster`` of its own it is
    asked of many, and shows no report by itself.
    """
    is_alone = bool(cluster)
    declared = {
        field.name: field_of(field, kind, option)
        for field, kind, option in options_of(question)
        if option.is_typed and (is_alone or not option.prints)
    }
    parameters = [
        *(parameter for field in declared.values() for parameter in field.parameters),
        # Clusters are parts of a fleet's answer, whatever is asked of each.
        *(_WORKERS if question.hands_out or not is_alone else ()),
        *options.SCHEDULING,
        options.output_in(writers),
        options.NO_HEADERS,
        options.STRICT,
        *cluster,
        *options.CHANGES,
        *options.SPEAKING,
    ]
    endings = [declared[field.name] for field, _, option in options_of(question) if option.prints and is_alone]

    def run(typed: Typed) -> ExitCode:
        for text in filter(None, (field.value(typed) for field in endings)):
            emit(text)
            return ExitCode.YES
        if typed["output"] is None and "github" in question.outputs and os.environ.get("GITHUB_ACTIONS") == "true":
            typed = typed.having(output="github")
        asked = question(**{name: field.value(typed) for name, field in declared.items()})
        settling = {name: field.late(typed) for name, field in declared.items() if field.late is not None}
        return answer(Asked(asked, settling, typed, *_limits(typed)))

    return parameters, run


def _limits(typed: Typed) -> tuple[Workers, float | None]:
    """Workers for the answer, and the seconds that they have. Raises UsageError."""
    if "jobs" not in typed.values:
        return ALONE, None
    number, timeout = typed["jobs"], typed["timeout"]
    workers = Workers(
        None if number is None else int(options.number_of("--jobs", number, 1)),
        (lambda _: None) if typed["quiet"] else say,
    )
    return workers, None if timeout is None else options.parse_duration(timeout) or None


def _answer(asked: Asked) -> ExitCode:
    """Ask about the one cluster that is named, if any, and print the answer. Reports what the API server would refuse,
    with the exit code BAD_INPUT.
    """
    import kubespread

    question, typed, refused = asked.question, asked.typed, list[KubespreadError]()
    scheduler = options.scheduler_of(typed)
    opened = open_cluster_if_any(typed, is_needed=question.needs_cluster, quiet=typed["quiet"])
    if opened is not None:
        question = asked.settle(question, opened)

    def on_refused(error: KubespreadError) -> None:
        complain(str(error))
        refused.append(error)

    with waiting(question.doing, quiet=typed["quiet"]) as on_progress:
        answer = kubespread.ask(opened, question, scheduler, on_progress, on_refused, asked.workers, asked.timeout)
    answering = Answering(typed, [*_clusters(question, opened, scheduler)], question.never_modelled)
    look, parts = answering.look(), reports_in(answer)
    if look.width is not None:
        commands = Commands(opened, scheduler, question, sys.argv[1:])
        look = structs.replace(look, next_command=question.next_command(answer, commands))
    reports, is_in_part = [report for _, report in parts], any(cluster.faults for cluster, _ in answering.clusters)
    code = ExitCode(CODES[outcome(reports, has_bar=question.has_bar, is_in_part=is_in_part)])
    if typed["strict"] and any(report.gaps or report.snapshot_findings for report in reports):
        code = ExitCode.NO_CLUSTER
    answering.show(answer, parts, code, writers_of(question.outputs), look, parts_in(answer))
    return ExitCode.BAD_INPUT if refused else code


def _clusters(
    question: Question[Any], opened: Snapshot | None, scheduler: Scheduler
) -> Iterator[tuple[Snapshot, Scheduler]]:
    """The clusters in question, each with its scheduler."""
    sides = [side for side in getattr(question, "pods", ()) if isinstance(side, Side)]
    yield from ((side.snapshot, side.scheduler) for side in sides)
    if opened is not None and not sides:
        yield (structs.replace(opened, edits=()) if question.judges_edits else opened), scheduler
