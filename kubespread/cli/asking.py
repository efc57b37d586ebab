"""The command of a question: its options are the question's fields, its help is the question's docstring."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec import Struct, structs

from kubespread.cli import options
from kubespread.cli.answering import Answering
from kubespread.cli.command import Command, Option, Parameter, Typed
from kubespread.cli.field import Late, field_of
from kubespread.cli.options import open_cluster_if_any, waiting
from kubespread.cli.streams import ExitCode, complain, emit, epilog, say
from kubespread.cli.watch import WATCH, watched
from kubespread.errors import KubespreadError
from kubespread.questions.commands import Commands
from kubespread.questions.question import Question, options_of, parts_in, reports_in
from kubespread.questions.tasks import ALONE, Workers
from kubespread.views.formats import IN_PIPE, Writer, writers_of

if TYPE_CHECKING:
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
    parameters, run = asking(question, _answer, writers_in(question), cluster)
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
        if option.is_typed and (is_alone or not option.is_for_one)
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
        *([WATCH] if question.is_watched and is_alone else []),
    ]
    endings = [field.name for field, _, option in options_of(question) if option.prints and is_alone]

    def run(typed: Typed) -> ExitCode:
        if ends := {name: typed[name] for name in endings if typed[name]}:
            emit(question(**ends).ending())
            return ExitCode.YES
        if typed["output"] is None and "github" in question.outputs and os.environ.get("GITHUB_ACTIONS") == "true":
            typed = typed.having(output="github")
        asked = question(**{name: field.value(typed) for name, field in declared.items()})
        settling = {name: field.late(typed) for name, field in declared.items() if field.late is not None}
        return answer(Asked(asked, settling, typed, *_limits(typed)))

    return parameters, partial(watched, run) if question.is_watched and is_alone else run


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
    """About the one cluster that is named, if any."""
    question, typed = asked.question, asked.typed
    scheduler, others = options.scheduler_of(typed), list[tuple[Any, Any]]()
    opened = cluster = open_cluster_if_any(typed, is_needed=question.needs_cluster, quiet=typed["quiet"])
    if opened is not None:
        question = asked.settle(question, opened)
        *others, (cluster, scheduler) = question.clusters(opened, scheduler)
    return _answered(question, opened, Answering(cluster, scheduler, typed, others, question.never_modelled), asked)


def _answered(question: Question[Any], opened: Snapshot | None, answering: Answering, asked: Asked) -> ExitCode:
    """Ask and print the answer. Reports what the API server would refuse, with the exit code BAD_INPUT."""
    import kubespread

    typed, refused = asked.typed, list[KubespreadError]()

    def on_refused(error: KubespreadError) -> None:
        complain(str(error))
        refused.append(error)

    question = question.written_in(answering.written)
    with waiting(question.doing, quiet=typed["quiet"]) as on_progress:
        answer = kubespread.ask(
            opened, question, answering.scheduler, on_progress, on_refused, asked.workers, asked.timeout
        )
    look = question.shown(answering.look())
    if look.width is not None:
        commands = Commands(opened, answering.scheduler, question, sys.argv[1:])
        look = structs.replace(look, next_command=question.next_command(answer, commands))
    code = answering.give(
        answer,
        reports_in(answer),
        writer=writers_in(type(question)).get(answering.written.name, IN_PIPE),
        is_yes=question.passes(answer),
        look=look,
        beside=parts_in(answer),
    )
    return ExitCode.BAD_INPUT if refused else code


def writers_in(question: type[Question[Any]]) -> Mapping[str, Writer]:
    return writers_of(question.outputs)
