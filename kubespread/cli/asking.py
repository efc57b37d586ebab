"""The command of a question: its options are the question's fields, its help is the question's docstring."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, make_dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer
from msgspec import structs

from kubespread.cli.answering import Answering
from kubespread.cli.cluster import open_cluster_if_any, waiting
from kubespread.cli.field import Late, Typed, field_of
from kubespread.cli.options.grouped import grouped
from kubespread.cli.options.groups import (
    AnswerOptions,
    EditedClusterOptions,
    OptionalClusterOptions,
    SchedulerOptions,
    SpeakingOptions,
    formats_in,
    parse_duration,
)
from kubespread.cli.streams import ExitCode, complain, emit, say
from kubespread.cli.watch import watchable
from kubespread.errors import KubespreadError
from kubespread.questions.commands import Commands
from kubespread.questions.question import Question, Rule, options_of
from kubespread.questions.tasks import ALONE, Workers
from kubespread.views.formats import IN_PIPE, Writer, writers_of

if TYPE_CHECKING:
    from kubespread.snapshot.snapshot import Snapshot

JOBS = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        metavar="N",
        min=1,
        show_default=False,
        rich_help_panel="Workers",
        help="Processes that work on the answer, which is the same for any number (default: one for each core where "
        "that saves time).",
    ),
]

_TIMEOUT = Annotated[
    str | None,
    typer.Option(
        "--timeout",
        metavar="TIME",
        show_default=False,
        rich_help_panel="Workers",
        help="Give up what is not finished after this time (60s, 1m30s): the answer is about the rest, is no or "
        "unknown, and says what is missing.",
    ),
]


@dataclass(frozen=True, slots=True)
class OpenedQuestion:
    """What a command line asks, before any cluster is read."""

    question: Question[Any]
    settling: Mapping[str, Late]
    """The fields that depend on the cluster."""
    typed: Typed
    answer: AnswerOptions
    workers: Workers
    timeout: float | None
    """Seconds, where there is a limit."""

    @property
    def settle(self) -> Callable[[Question[Any], Snapshot], Question[Any]]:
        """What completes the question for a cluster, in another process too."""
        return partial(_settled, self.settling)


def _settled(settling: Mapping[str, Late], question: Question[Any], cluster: Snapshot) -> Question[Any]:
    return structs.replace(question, **{name: late(question, cluster) for name, late in settling.items()})


def command_of(question: type[Question[Any]]) -> Callable[..., int]:
    """The function of the command, as `grouped` reads it."""
    writers = _writers(question)
    source_options = OptionalClusterOptions if question.may_lack_cluster else EditedClusterOptions
    command = command_about(question, _answer_of_one, writers, source_options)
    return grouped(command)


def command_about(
    question: type[Question[Any]],
    give: Callable[[OpenedQuestion], ExitCode],
    writers: Mapping[str, Writer],
    source_options: type[EditedClusterOptions],
    *,
    is_alone: bool = True,
) -> Callable[..., int]:
    """The function of a command that asks ``question`` and lets ``give`` answer; ``is_alone`` if that shows its report
    by itself, with all that only sets how it looks.
    """
    declared = {
        field.name: field_of(field, kind, option)
        for field, kind, option in options_of(question)
        if option.is_typed and (is_alone or not option.is_for_one)
    }
    # The flags of drains are edits' flags too.
    own = {field.name for field in fields(EditedClusterOptions)}
    shared, own_fields = (
        [
            (parameter.name, parameter.annotation, field(default=parameter.default))
            for one in declared.values()
            for parameter in one.parameters
            if (parameter.name in own) is is_shared
        ]
        for is_shared in (True, False)
    )
    # Clusters are parts of a fleet's answer, whatever is asked of each.
    of_parts = Rule(needs=question.parted_by if is_alone else ())
    workers: Sequence[tuple[str, Any, bool]] = (
        ("jobs", Annotated[JOBS, of_parts], question.hands_out or not is_alone),
        ("engine", str | None, question.hands_out),
        ("timeout", Annotated[_TIMEOUT, of_parts], question.hands_out or not is_alone),
    )
    own_fields += [(name, declaration, field(default=None)) for name, declaration, has_it in workers if has_it]
    options_type = make_dataclass(f"{question.__name__}Options", own_fields, frozen=True)
    endings = [field.name for field, _, option in options_of(question) if option.prints and is_alone]
    if shared:
        source_options = make_dataclass(f"{question.__name__}Cluster", shared, bases=(source_options,), frozen=True)

    def command(
        *,
        options: Any,
        scheduling: SchedulerOptions,
        answer: AnswerOptions,
        source: EditedClusterOptions,
        speaking: SpeakingOptions,
    ) -> ExitCode:
        names = [parameter.name for one in declared.values() for parameter in one.parameters]
        values = {name: getattr(source if name in own else options, name) for name in names}
        typed = Typed(values, source, scheduling, speaking)
        if ends := {name: typed[name] for name in endings if typed[name]}:
            emit(question(**ends).ending(answer.output))
            return ExitCode.YES
        if answer.output is None and "github" in writers and os.environ.get("GITHUB_ACTIONS") == "true":
            answer = replace(answer, output="github")
        asked = question(**{name: field.value(typed) for name, field in declared.items()})
        settling = {name: field.late(typed) for name, field in declared.items() if field.late is not None}
        workers, timeout = ALONE, None
        if hasattr(options, "jobs"):
            # What is typed goes before what is set.
            engine = ("" if options.jobs else getattr(options, "engine", None)) or ""
            workers = Workers(options.jobs, engine, (lambda _: None) if speaking.quiet else say)
            timeout = None if options.timeout is None else parse_duration(options.timeout) or None
        return give(OpenedQuestion(asked, settling, typed, answer, workers, timeout))

    command.__doc__ = question.__doc__
    command.__name__ = question.name
    command.__annotations__ = {
        "options": options_type,
        "scheduling": SchedulerOptions,
        "answer": Annotated[AnswerOptions, formats_in(writers)],
        "source": source_options,
        "speaking": SpeakingOptions,
        "return": int,
    }
    return watchable(command) if question.is_watched else command


def _answer_of_one(asked: OpenedQuestion) -> ExitCode:
    """About the one cluster that is named, if any."""
    question, typed, workers, timeout = asked.question, asked.typed, asked.workers, asked.timeout
    speaking, scheduler = typed.speaking, typed.scheduling.scheduler()
    opened = open_cluster_if_any(typed.source, is_needed=question.needs_cluster, quiet=speaking.quiet)
    if opened is None:
        answering = Answering(None, scheduler, asked.answer, speaking, (), question.never_modelled)
        return _answered(question, opened, answering, workers, timeout)
    question = asked.settle(question, opened)
    *others, (cluster, scheduler) = question.clusters(opened, scheduler)
    answering = Answering(cluster, scheduler, asked.answer, speaking, others, question.never_modelled)
    return _answered(question, opened, answering, workers, timeout)


def _answered(
    question: Question[Any], opened: Snapshot | None, answering: Answering, workers: Workers, timeout: float | None
) -> ExitCode:
    """Ask and print the answer. Reports what the API server would refuse, with the exit code BAD_INPUT."""
    import kubespread

    quiet, refused = answering.speaking.quiet, list[KubespreadError]()

    def on_refused(error: KubespreadError) -> None:
        complain(str(error))
        refused.append(error)

    question = question.written_in(answering.written)
    with waiting(question.doing, quiet=quiet, verbose=answering.speaking.verbose > 0) as hearing:
        answer = kubespread.ask(
            opened, question, answering.scheduler, hearing.on_progress, on_refused, workers, timeout, hearing.on_part
        )
    reports = question.reports(answer)
    look = question.shown(answering.look())
    if look.width is not None:
        commands = Commands(opened, answering.scheduler, question, sys.argv[1:])
        look = structs.replace(look, next_command=question.next_command(answer, commands))
    code = answering.give(
        answer,
        reports,
        writer=_writers(type(question)).get(answering.written.name, IN_PIPE),
        is_yes=question.passes(answer),
        look=look,
        beside=question.parts(answer),
    )
    return ExitCode.BAD_INPUT if refused else code


def _writers(question: type[Question[Any]]) -> Mapping[str, Writer]:
    return writers_of(question.outputs, question.__module__.rpartition(".")[0])
