"""The command of a question: its options are the question's fields, its help is the question's docstring."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, make_dataclass, replace
from enum import StrEnum
from functools import partial
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin

import typer
from msgspec import structs

from kubespread.cli.answering import Answering
from kubespread.cli.cluster import open_cluster_if_any, waiting
from kubespread.cli.exitcodes import ExitCode
from kubespread.cli.field import (
    EVERYWHERE,
    Field,
    Late,
    Parameter,
    Typed,
    applied_field,
    check_asked,
    manifest_field,
    pods_field,
)
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
from kubespread.cli.streams import complain, emit, say
from kubespread.cli.watch import watchable
from kubespread.errors import KubespreadError, UsageError
from kubespread.questions.question import (
    Applied,
    Argument,
    Ending,
    ManifestsQuestion,
    Namespace,
    Option,
    Pod,
    Prices,
    Promises,
    Question,
    Scenario,
    Sides,
    Workload,
    options_of,
)
from kubespread.questions.registry import question as question_of
from kubespread.questions.scene import Scene
from kubespread.questions.tasks import ALONE, Workers
from kubespread.views.formats import Writer, writers_of

if TYPE_CHECKING:
    from kubespread.snapshot.snapshot import Snapshot

_MAX_DIGITS = 9
JOBS = Annotated[
    int | None,
    typer.Option(
        "--jobs", metavar="N", min=1, show_default=False, rich_help_panel="Workers",
        help="Processes that work on the answer, which is the same for any number (default: one for each core where "
        "that saves time).",
    ),
]  # fmt: skip

_TIMEOUT = Annotated[
    str | None,
    typer.Option(
        "--timeout", metavar="TIME", show_default=False, rich_help_panel="Workers",
        help="Begin no further part of the answer after this time (60s, 1m30s), and answer with those that are "
        "finished: the verdict is no or unknown, and the answer says what is missing.",
    ),
]  # fmt: skip

_ENGINE = Annotated[
    str | None,
    typer.Option(
        "--engine", metavar="ADDRESS", show_default=False, rich_help_panel="Workers",
        help="Scheduler of a Dask cluster whose workers do it instead (tcp://HOST:8786); takes kubespread[dask], and "
        "kubespread on each worker.",
    ),
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Asked:
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
    question: type[Question[Any]], give: Callable[[Asked], ExitCode], writers: Mapping[str, Writer],
    source_options: type[EditedClusterOptions], *, is_alone: bool = True,
) -> Callable[..., int]:  # fmt: skip
    """The function of a command that asks ``question`` and lets ``give`` answer; ``is_alone`` if that shows its report
    by itself, with all that only sets how it looks.
    """
    declared = {
        field.name: _field(field.name, kind, option, field.default)
        for field, kind, option in options_of(question)
        if option.is_typed and (is_alone or not option.is_for_one)
    }
    # The flags of drains are edits' flags too.
    own = {field.name for field in fields(EditedClusterOptions)}
    shared, own_fields = ([
        (parameter.name, parameter.annotation, field(default=parameter.default))
        for one in declared.values() for parameter in one.parameters if (parameter.name in own) is is_shared
    ] for is_shared in (True, False))  # fmt: skip
    # Clusters are parts of a fleet's answer, whatever is asked of each.
    own_fields += [
        (name, declaration, field(default=None))
        for name, declaration, has_it in (
            ("jobs", JOBS, question.hands_out or not is_alone),
            ("engine", _ENGINE, question.hands_out),
            ("timeout", _TIMEOUT, question.hands_out or not is_alone),
        )
        if has_it
    ]
    options_type = make_dataclass(f"{question.__name__}Options", own_fields, frozen=True)
    endings = [field.name for field, _, option in options_of(question) if isinstance(option, Ending) and is_alone]
    if shared:
        source_options = make_dataclass(
            f"{question.__name__}Cluster", shared, bases=(source_options,), frozen=True,
            namespace={"drains": property(lambda _: True)},
        )  # fmt: skip

    def command(
        *, options: Any, scheduling: SchedulerOptions, answer: AnswerOptions, source: EditedClusterOptions,
        speaking: SpeakingOptions,
    ) -> ExitCode:  # fmt: skip
        names = [parameter.name for one in declared.values() for parameter in one.parameters]
        values = {name: getattr(source if name in own else options, name) for name in names}
        typed = Typed(values, source, scheduling, speaking)
        if ends := {name: typed[name] for name in endings if typed[name]}:
            emit(question(**ends).ending(answer.output, headers=not answer.no_headers))
            return ExitCode.YES
        if answer.output is None and (form := question.own_format([name for name in values if values[name]])):
            answer = replace(answer, output=form)
        elif answer.output is None and "github" in writers and os.environ.get("GITHUB_ACTIONS") == "true":
            answer = replace(answer, output="github")
        asked = question(**{name: field.value(typed) for name, field in declared.items()})
        settling = {name: field.late(typed) for name, field in declared.items() if field.late is not None}
        workers, timeout = ALONE, None
        if hasattr(options, "jobs"):
            engine = getattr(options, "engine", None) or ""
            workers = Workers(options.jobs, engine, (lambda _: None) if speaking.quiet else say)
            timeout = None if options.timeout is None else parse_duration(options.timeout) or None
        return give(Asked(asked, settling, typed, answer, workers, timeout))

    command.__doc__ = question.__doc__
    command.__name__ = question.name
    command.__annotations__ = {
        "options": options_type,
        "scheduling": _scheduler_options(question),
        "answer": Annotated[AnswerOptions, formats_in(writers)],
        "source": source_options,
        "speaking": SpeakingOptions,
        "return": int,
    }
    return watchable(command) if question.is_watched else command


def _answer_of_one(asked: Asked) -> ExitCode:
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
    with waiting(question.doing, quiet=speaking.quiet, verbose=speaking.verbose > 0) as hearing:
        other = question.instead(
            Scene(
                opened, answering.scheduler, question, hearing.on_progress,
                workers=workers, timeout=timeout, on_part=hearing.on_part,
            )
        )  # fmt: skip
    if other is not None:
        asked_instead = question_of(other.name)
        writer = _writers(asked_instead)[answering.written.name]
        answering = replace(answering, cluster=other.cluster, never_modelled=asked_instead.never_modelled)
        return answering.give(other.report, [("", other.report)], writer=writer, is_yes=other.is_yes)
    return _answered(question, opened, answering, workers, timeout)


def _scheduler_options(question: type[Question[Any]]) -> type[SchedulerOptions]:
    if not any(isinstance(option, Sides) for _, _, option in options_of(question)):
        return SchedulerOptions
    from kubespread.cli.options.sides import CompareSchedulerOptions

    return CompareSchedulerOptions


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
    question.keep(answer)
    reports = question.reports(answer)
    code = answering.give(
        answer, reports, writer=_writers(type(question))[answering.written.name], is_yes=question.is_yes(answer),
        look=question.shown(answering.look()), beside=question.parts(answer),
    )  # fmt: skip
    if question.requires and not quiet and not any(report.unmet or report.unfinished for _, report in reports):
        say("every requirement is met")
    return ExitCode.BAD_INPUT if refused else code


def _writers(question: type[Question[Any]]) -> Mapping[str, Writer]:
    return writers_of(question.outputs, question.__module__.rpartition(".")[0])


def _field(name: str, kind: Any, option: Option, default: Any) -> Field:
    if isinstance(option, Applied | Namespace | Pod | Prices | Promises | Scenario | Workload):
        return _of_its_own(name, option, is_optional=default == ())
    if isinstance(option, Argument) and option.names:
        return _place_or_option(name, kind, option)
    if kind is bool and default is True and not option.names:
        denied = f"no_{name}"
        parameter = Parameter(denied, _flag((f"--no-{name.replace('_', '-')}",), option.denied(), option), False)
        return Field((parameter,), lambda typed: not typed[denied])
    if kind is bool:
        return Field(
            (Parameter(name, _flag(_names(name, option), option.help, option), default),), lambda typed: typed[name]
        )
    among = get_args(kind) if get_origin(kind) in (Union, UnionType) else ()
    if int in among and option.least is not None:
        return _number(name, option, [word for part in among if get_origin(part) is Literal for word in get_args(part)])
    repeats = get_origin(kind) is tuple
    single: Any = get_args(kind)[0] if repeats or among else kind
    if get_origin(single) is Literal:
        single = _choices(name, get_args(single))
    shown: Any = single
    if repeats:
        shown = list[single] | None
    elif default in (None, ""):
        shown = single | None
    annotation = Annotated[shown, _option(name, option, repeats=repeats, default=default)]
    nothing: Any = () if repeats else default
    return Field(
        (Parameter(name, annotation, None if repeats or default == "" else default),),
        lambda typed: nothing if typed[name] is None else _plain(typed[name], repeats=repeats),
    )


def _of_its_own(name: str, option: Option, *, is_optional: bool) -> Field:
    """Of what an option says more than its type does."""
    match option:
        case Applied():
            return applied_field(option)
        case Namespace():
            return _namespace(name, option)
        case Sides():
            from kubespread.cli.options.sides import sides_field

            return sides_field(option)
        case Workload():
            return manifest_field(option) if option.names else pods_field(option, is_optional=is_optional)
        case Prices() | Promises() | Scenario():
            return _file(name, option)
        case _:
            return _pod(name, option)


def _place_or_option(name: str, kind: Any, option: Argument) -> Field:
    """A value that is given by its place or by its name, where both are the same."""
    by_place = f"{name}_by_place"
    placed = typer.Argument(metavar=f"[{option.metavar}]", show_default=False, help=option.help)
    text = f"{option.help.partition(':')[0]}; same as the {option.metavar} argument."
    named = typer.Option(*option.names, metavar=option.metavar, show_default=False, help=text)
    parameters = ((by_place, placed), (name, named))

    def value(typed: Typed) -> Any:
        if not (text := typed[by_place] or typed[name]):
            raise UsageError(option.missing)
        return text

    return Field(
        tuple(Parameter(parameter, Annotated[kind | None, declared], None) for parameter, declared in parameters), value
    )


def _number(name: str, option: Option, words: Sequence[str]) -> Field:
    """A number that need not be given, or one of the ``words`` that mean one."""
    flag = _names(name, option)[-1]

    def value(typed: Typed) -> int | str | None:
        word: str | None = typed[name]
        if word is None or word in words:
            return word
        if not (word.isascii() and word.isdigit() and len(word) <= _MAX_DIGITS):
            expected = ", or ".join([f"a number from {option.least or 0}", *words])
            raise UsageError(f"invalid {flag} {word!r}: expected {expected}")
        return int(word)

    declared = _option(name, option, repeats=False, default=None)
    return Field((Parameter(name, Annotated[str | None, declared], None),), value)


def _file(name: str, option: Prices | Promises | Scenario) -> Field:
    """A file of a kind of its own, which is read before any cluster."""

    def value(typed: Typed) -> Any:
        return None if typed[name] is None else _read(option, typed[name])

    if isinstance(option, Prices):
        declared = _option(name, option, repeats=False, default=None)
        return Field((Parameter(name, Annotated[str | None, declared], None),), value)
    declared = typer.Argument(metavar=option.metavar, show_default=False, help=option.help)
    if isinstance(option, Promises):
        return Field((Parameter(name, Annotated[str | None, declared], None),), value)
    return Field((Parameter(name, Annotated[str, declared], MISSING),), value)


def _read(option: Prices | Promises | Scenario, path: str) -> Any:
    match option:
        case Prices():
            from kubespread.scenario.prices import read_prices

            return read_prices(path)
        case Promises():
            from kubespread.scenario.promises import read_promises

            return read_promises(path)
        case Scenario():
            from kubespread.scenario.reading import read_scenario

            return read_scenario(path)


def _pod(name: str, option: Option) -> Field:
    def value(typed: Typed) -> str | None:
        pod: str | None = typed[name]
        check_asked([] if pod is None else [pod], {}, typed.scheduling)
        return pod

    annotation = Annotated[str | None, _option(name, option, repeats=False, default=None)]
    return Field((Parameter(name, annotation, None),), value)


def _choices(name: str, values: Sequence[str]) -> type[StrEnum]:
    return StrEnum(name, {value.upper(): value for value in values})  # type: ignore[return-value]  # a class, as called so


def _plain(value: Any, *, repeats: bool) -> Any:
    if repeats:
        return tuple(_plain(item, repeats=False) for item in value)
    return value.value if isinstance(value, StrEnum) else value


def _namespace(name: str, option: Option) -> Field:
    """kubectl's -n and -A: the context's namespace where neither is given."""
    parameters = (
        Parameter(
            name,
            Annotated[
                str | None,
                typer.Option(
                    *_names(name, option), metavar="NAME", show_default=False,
                    help=f"{option.help.removesuffix('.')} (default: that of the context, or default).",
                    rich_help_panel=option.heading,
                ),
            ],
            None,
        ),
        Parameter(
            EVERYWHERE,
            Annotated[bool, typer.Option("-A", "--all-namespaces", help="Ask about all namespaces.")],
            False,
        ),
    )  # fmt: skip

    def late(typed: Typed) -> Late:
        return partial(_namespace_in, typed[name], bool(typed[EVERYWHERE]))

    return Field(parameters, lambda typed: typed[name], late)


def _namespace_in(typed: str | None, is_everywhere: bool, question: Any, cluster: Snapshot) -> str | None:
    # Manifests may set their own namespace.
    if isinstance(question, ManifestsQuestion) and question.pods and not _asks_for_the_cluster(question.pods):
        return question.namespace
    return None if is_everywhere else typed or cluster.origin.namespace or "default"


def _asks_for_the_cluster(pods: Sequence[Any]) -> bool:
    from kubespread.candidate.sources import ClusterWorkloads

    return isinstance(pods[0], ClusterWorkloads)


def _flag(names: tuple[str, ...], text: str, option: Option) -> Any:
    return Annotated[bool, typer.Option(*names, help=text, hidden=option.is_alias, rich_help_panel=option.heading)]


def _option(name: str, option: Option, *, repeats: bool, default: Any) -> Any:
    is_place = isinstance(option, Argument)
    text = f"{option.help} Repeatable." if repeats and not is_place else option.help
    shared: dict[str, Any] = {
        "metavar": option.metavar or None, "help": text, "show_default": default not in (None, "", ()),
        "case_sensitive": False, "rich_help_panel": option.heading, "min": None if default is None else option.least,
    }  # fmt: skip
    return typer.Argument(**shared) if is_place else typer.Option(*_names(name, option), **shared)


def _names(name: str, option: Option) -> tuple[str, ...]:
    return option.names or (f"--{name.replace('_', '-')}",)
