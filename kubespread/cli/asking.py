"""The command of a question: its options are made of the question's fields, its help is the question's docstring."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin

from msgspec import Struct
from msgspec.structs import FieldInfo, replace

from kubespread.candidate.sources import ClusterWorkloads
from kubespread.cli import command, options
from kubespread.cli.answering import Answering
from kubespread.cli.command import STDIN, Argv, Command, Parameter, flag
from kubespread.cli.options import edits_of, number_of, open_cluster_if_any, scheduler_of, waiting
from kubespread.cli.streams import ExitCode, complain, emit, epilog, say
from kubespread.errors import KubespreadError, UsageError
from kubespread.questions.commands import CODES, Commands
from kubespread.questions.question import (
    MANIFESTS,
    NAMESPACES,
    OF_CLUSTER,
    WORKLOADS,
    ManifestsQuestion,
    Option,
    OptionRule,
    Question,
    options_of,
    parts_in,
    reports_in,
)
from kubespread.questions.scene import Side
from kubespread.questions.tasks import ALONE, Workers
from kubespread.reports.parts import exit_verdict
from kubespread.views.formats import Writer, writers_of

if TYPE_CHECKING:
    from kubespread.questions.scheduler import Scheduler
    from kubespread.snapshot.snapshot import Snapshot


DEFAULT_POD = "pod.yaml"
EVERYWHERE = "all_namespaces"
_BY_NAME = OptionRule(says={WORKLOADS: "by name"})
Late = Callable[[Any, "Snapshot"], Any]
"""Function from the question so far and the cluster to a value; it can be sent to another process."""


class FieldForm(Struct, frozen=True):
    """One field of a question."""

    parameters: tuple[Parameter, ...]
    value: Callable[[Argv], Any]
    """Value of the field, before a cluster is read."""
    late: Callable[[Argv], Late] | None = None
    """Function for a value that depends on the cluster."""


def _manifest_field(_field: FieldInfo, _kind: Any, option: Option) -> FieldForm:
    """Manifests that are applied, as options."""
    return FieldForm((_manifests(option.help),), lambda typed: tuple(typed["filename"] or ()))


def _pods(field: FieldInfo, _kind: Any, option: Any) -> FieldForm:
    """Manifests and KIND/NAME by their place, and kubectl's -f."""
    place = option.metavar.strip("[].").partition("]")[0].lower()
    several = option.is_several

    def value(typed: Argv) -> tuple[Any, ...]:
        if typed[place] or typed["filename"] or field.required:
            pods = _subjects(typed[place], typed, typed.snapshots, several=several)
        else:
            is_stdin = option.is_piped and not typed.get(EVERYWHERE) and is_piped(typed.snapshots)
            pods = [STDIN] if is_stdin else []
        return tuple(pods)

    rule = _BY_NAME if option.form == "pods" and not several else option
    named = command.CommandArgument(place, nargs=-1, metavar=option.metavar, help=option.help, rule=rule)
    files = _manifests("Manifest, or directory of manifests; the same as without -f.")
    return FieldForm((named, files, *([_all_namespaces(_EVERY_POD, WORKLOADS)] if several else ())), value)


def _scenario(field: FieldInfo, _kind: Any, option: Any) -> FieldForm:
    """A scenario's file and steps, by their place."""
    name = field.name

    def value(typed: Argv) -> Any:
        return option.read([*typed[name]]) if typed[name] else field.default

    place = command.CommandArgument(name, nargs=-1, metavar=option.metavar, help=option.help, rule=option)
    return FieldForm((place,), value)


def _subjects(
    words: Sequence[str], typed: Argv, sources: Sequence[str], *, several: bool = False
) -> list[str | ClusterWorkloads]:
    """Pods and workloads named by POD and -f, else the cluster's, else standard input or pod.yaml. Raises UsageError.

    The workloads of the cluster only with -A, --all or -l, where ``several`` may be chosen; standard input only if
    something is piped into it that is not the snapshot.
    """
    files = typed["filename"]
    of_cluster = several and _asks_for_the_cluster(words, files, sources, typed)
    all_namespaces = several and typed[EVERYWHERE]
    if all_namespaces and not of_cluster:
        named = " ".join(words)
        raise UsageError(f"{named} and -A/--all-namespaces do not go together: both say which workloads are meant")
    if of_cluster:
        if words:
            raise UsageError(f"--all asks about all workloads of the namespace: leave out {words[0]!r}")
        return [ClusterWorkloads(all_namespaces=all_namespaces)]
    return [*words, *files] or [_default_pod(sources)]


def _asks_for_the_cluster(words: Sequence[str], files: Sequence[object], sources: Sequence[str], typed: Argv) -> bool:
    """True for -A and --all, and for -l unless there are manifests that it could be about."""
    if files:
        return False
    if typed.get("every"):
        return True
    if typed[EVERYWHERE]:
        return not words
    return typed["selector"] is not None and not (words or is_piped(sources))


def _default_pod(sources: Sequence[str]) -> str:
    if is_piped(sources):
        return STDIN
    if Path(DEFAULT_POD).is_file():
        return DEFAULT_POD
    raise UsageError(f"no pod given: name a manifest, pipe one in, or run in a directory containing {DEFAULT_POD}")


def is_piped(sources: Sequence[str]) -> bool:
    """True if standard input is a pipe or a file, and not the snapshot."""
    if sys.stdin is None or STDIN in sources:
        return False
    mode = os.fstat(sys.stdin.fileno()).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode) or stat.S_ISSOCK(mode)


def _manifests(text: str) -> Parameter:
    return command.CommandOption(
        "-f", "--filename", metavar="FILE", multiple=True, help=f"{text} Repeatable.", panel=MANIFESTS, rule=_BY_NAME
    )


_EVERY_POD = "Place every Deployment, StatefulSet, DaemonSet, ReplicaSet and ReplicationController of all namespaces."


def _all_namespaces(text: str, *aspects: str) -> Parameter:
    says = {NAMESPACES: "all", **{aspect: OF_CLUSTER[aspect] for aspect in aspects}}
    return flag("-A", "--all-namespaces", help=text, rule=OptionRule(says=says))


def _value(field: FieldInfo, kind: Any, option: Option) -> FieldForm:
    """Make a field by its type: a flag, a number, a text or several."""
    name, default = field.name, None if field.required else field.default
    shared: dict[str, Any] = {"rule": option, "panel": option.heading}
    if kind is bool and default is True and not option.names:
        denied, text = f"no_{name}", f"Do not {option.help[:1].lower()}{option.help[1:]}"
        negated = flag(f"--no-{name.replace('_', '-')}", help=text, **shared)
        return FieldForm((negated,), lambda typed: not typed[denied])
    if kind is bool:
        return FieldForm(
            (flag(name, *_names(name, option), help=option.help, default=default, show_default=default, **shared),),
            lambda typed: typed[name],
        )
    parts = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    repeats = get_origin(kind) is tuple
    single: Any = get_args(kind)[0] if repeats else parts[0]
    words = tuple(word for part in parts[1:] if get_origin(part) is Literal for word in get_args(part))
    least = option.least if int in parts else None
    shared |= {"metavar": option.metavar or None, "required": field.required, "words": option.words}
    if get_origin(single) is Literal:
        shared["choices"] = get_args(single)
    elif int in parts and least is None:
        shared["type"] = int
    if option.is_subject:
        del shared["panel"]
        place = command.CommandArgument(name, nargs=-1 if repeats else 1, help=option.help, **shared)
        return FieldForm((place,), partial(_option_of, name, option, repeats, default, least, words))
    if default not in (None, "", ()):
        shared |= {"default": str(default), "show_default": True}
    text = f"{option.help} Repeatable." if repeats else option.help
    parameter = command.CommandOption(name, *_names(name, option), multiple=repeats, help=text, **shared)
    return FieldForm((parameter,), partial(_option_of, name, option, repeats, default, least, words))


def _option_of(
    name: str, option: Option, repeats: bool, default: Any, least: int | None, words: tuple[str, ...], typed: Argv
) -> Any:
    value = typed[name]
    if repeats:
        return tuple(value)
    if value is None:
        return default
    return option.read(value) if least is None else number_of(_names(name, option)[-1], value, least, words)


def _namespace(field: FieldInfo, _kind: Any, option: Option) -> FieldForm:
    """kubectl's -n and -A: the context's namespace where neither is given."""
    name = field.name
    named = command.CommandOption(
        name,
        *_names(name, option),
        metavar="NAME",
        help=f"{option.help.removesuffix('.')} (default: that of the context, or default).",
        panel=option.heading,
        rule=OptionRule(says={NAMESPACES: "one"}),
    )

    def late(typed: Argv) -> Late:
        return partial(_namespace_in, typed[name], bool(typed[EVERYWHERE]))

    everywhere = _all_namespaces("Ask about all namespaces.", *OF_CLUSTER)
    return FieldForm((named, everywhere), lambda typed: typed[name], late)


def _namespace_in(typed: str | None, is_everywhere: bool, question: Any, cluster: Snapshot) -> str | None:
    # Manifests may set their own namespace.
    if isinstance(question, ManifestsQuestion) and question.pods and not isinstance(question.pods[0], ClusterWorkloads):
        return question.namespace
    return None if is_everywhere else typed or cluster.origin.namespace or "default"


def _names(name: str, option: Option) -> tuple[str, ...]:
    return option.names or (f"--{name.replace('_', '-')}",)


_NOTHING_DIFFERS = (
    "nothing to compare: give a second POD, an edit such as --cordon NODE, --set FIELD=VALUE, or a --to- option such "
    "as --to-snapshot PATH"
)
_AFTER = tuple(
    command.CommandOption(
        f"--to-{name}",
        metavar=metavar,
        multiple=name == "snapshot",
        help=text,
        panel="What differs AFTER (besides edits and --set)",
    )
    for name, metavar, text in (
        ("snapshot", "PATH", "Cluster from a file, directory or archive. Repeatable."),
        ("scheduler-config", "FILE", "KubeSchedulerConfiguration to schedule with."),
        ("kube-version", "1.X[.Y]", "Kubernetes release to emulate."),
    )
)
"""Options of the second side; one that is not typed is the same as on the first side."""


def _sides(field: FieldInfo, kind: Any, option: Any) -> FieldForm:
    """One or two PODs by their place, and the options of the second side."""

    def value(typed: Argv) -> tuple[Any, ...]:
        sources = [*typed.snapshots, *typed["to_snapshot"]]
        pods = _subjects(typed["pod"], typed, sources, several=True)
        if typed["selector"] is not None and not isinstance(pods[0], ClusterWorkloads):
            raise UsageError(f"-l/--selector chooses among the workloads of the cluster: {pods[0]} is none of them")
        if len(pods) > 2:
            named = ", ".join(str(value) for name in ("pod", "filename") for value in typed[name])
            raise UsageError(f"{len(pods)} PODs given ({named}): expected one, or two to compare")
        is_otherwise = any(typed[str(parameter.name)] for parameter in _AFTER) or edits_of(typed) or typed["settings"]
        if len(pods) == 1 and not is_otherwise:
            raise UsageError(_NOTHING_DIFFERS)
        return tuple(pods)

    def late(typed: Argv) -> Late:
        after = {name: typed[f"to_{name}"] or typed[name] for name in ("scheduler_config", "kube_version")}
        schedulers = scheduler_of(typed), scheduler_of(typed.having(**after))
        return partial(_oppose, tuple(typed["to_snapshot"]), typed["quiet"], schedulers, tuple(typed["settings"]))

    every = flag("every", "--all", help="Ask about every workload of the namespace.", rule=OptionRule(says=OF_CLUSTER))
    return FieldForm((*_pods(field, kind, option).parameters, every, *_AFTER), value, late)


def _oppose(
    elsewhere: Sequence[str],
    quiet: bool,
    schedulers: tuple[Scheduler, Scheduler],
    settings: Sequence[str],
    question: Any,
    opened: Snapshot,
) -> tuple[Any, Any]:
    """The side before and the one after, which is ``elsewhere`` or the cluster itself with its edits."""
    pods, before = question.pods, replace(opened, edits=())
    other = (options.load_snapshot(elsewhere, quiet=quiet) if elsewhere else before).edited(*opened.edits)
    return Side(before, pods[0], schedulers[0]), Side(other, pods[-1], schedulers[1], settings)


_FORMS: Mapping[str, Callable[[FieldInfo, Any, Any], FieldForm]] = {
    "value": _value,
    "pods": _pods,
    "applied": _manifest_field,
    "namespace": _namespace,
    "sides": _sides,
    "scenario": _scenario,
}
"""Makers of fields, by the form that the option has."""


_WORKERS = (
    command.CommandOption(
        "--jobs",
        metavar="N",
        panel="Workers",
        help="Worker processes; the answer is the same for any number (default: one per core, where that saves time).",
    ),
    command.CommandOption(
        "--timeout",
        metavar="TIME",
        panel="Workers",
        help="Stop after this time (60s, 1m30s): the answer then covers what is finished, is no or unknown, "
        "and says what is missing.",
    ),
)


class CommandQuestion(Struct, frozen=True):
    """Question of a command line, before any cluster is read."""

    question: Question[Any]
    settle: Callable[[Question[Any], Snapshot], Question[Any]]
    """Function that completes the question for a cluster, in another process too."""
    typed: Argv
    workers: Workers
    timeout: float | None
    """Seconds; None for no limit."""


def _settle(settling: Mapping[str, Late], question: Question[Any], cluster: Snapshot) -> Question[Any]:
    return replace(question, **{name: late(question, cluster) for name, late in settling.items()})


def command_of(question: type[Question[Any]]) -> Command:
    cluster = [*options.CLUSTER, *([options.LIVE] if question.may_lack_cluster else [])]
    return question_command(question, _answer, writers_of(question.outputs), epilog(question.yes, question.no), cluster)


def question_command(
    question: type[Question[Any]],
    answer: Callable[[CommandQuestion], ExitCode],
    writers: Mapping[str, Writer],
    codes: str,
    cluster: Sequence[Parameter] = (),
) -> Command:
    """Make the command that asks ``question``; without ``cluster`` options it is for a fleet, and shows no report."""
    is_alone = bool(cluster)
    declared = {
        field.name: _FORMS[option.form](field, kind, option)
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

    def run(typed: Argv) -> ExitCode:
        for text in filter(None, (field.value(typed) for field in endings)):
            emit(text)
            return ExitCode.YES
        if typed["output"] is None and "github" in question.outputs and os.environ.get("GITHUB_ACTIONS") == "true":
            typed = typed.having(output="github")
        instance = question(**{name: field.value(typed) for name, field in declared.items()})
        settling = {name: field.late(typed) for name, field in declared.items() if field.late is not None}
        return answer(CommandQuestion(instance, partial(_settle, settling), typed, *_limits(typed)))

    return Command(
        question.name,
        run,
        parameters,
        summary=question.summary,
        codes=codes,
        text=question.__doc__,
        never_modelled=question.never_modelled,
    )


def _limits(typed: Argv) -> tuple[Workers, float | None]:
    """Workers for the answer, and the seconds that they have. Raises UsageError."""
    if "jobs" not in typed.values:
        return ALONE, None
    number, timeout = typed["jobs"], typed["timeout"]
    workers = Workers(
        None if number is None else int(number_of("--jobs", number, 1)), (lambda _: None) if typed["quiet"] else say
    )
    return workers, None if timeout is None else options.parse_duration(timeout) or None


def _answer(request: CommandQuestion) -> ExitCode:
    """Ask about the named cluster, if any, and print the answer; BAD_INPUT if the API server would refuse an object."""
    import kubespread

    question, typed, refused = request.question, request.typed, list[KubespreadError]()
    scheduler = scheduler_of(typed)
    opened = open_cluster_if_any(typed, is_needed=question.needs_cluster, quiet=typed["quiet"])
    if opened is not None:
        question = request.settle(question, opened)

    def on_refused(error: KubespreadError) -> None:
        complain(str(error))
        refused.append(error)

    with waiting(question.doing, quiet=typed["quiet"]) as on_progress:
        answer = kubespread.ask(opened, question, scheduler, on_progress, on_refused, request.workers, request.timeout)
    answering = Answering(typed, [*_clusters(question, opened, scheduler)], question.never_modelled)
    look, parts = answering.look(), reports_in(answer)
    if look.width is not None:
        commands = Commands(opened, scheduler, question, sys.argv[1:])
        look = replace(look, next_command=question.next(answer, commands))
    reports, is_in_part = [report for _, report in parts], any(cluster.faults for cluster, _ in answering.clusters)
    code = ExitCode(CODES[exit_verdict(reports, has_bar=question.has_bar, is_in_part=is_in_part)])
    if typed["strict"] and any(report.gaps or report.snapshot_findings for report in reports):
        code = ExitCode.NO_CLUSTER
    answering.show(answer, parts, code, writers_of(question.outputs), look, parts_in(answer))
    return ExitCode.BAD_INPUT if refused else code


def _clusters(
    question: Question[Any], opened: Snapshot | None, scheduler: Scheduler
) -> Iterator[tuple[Snapshot, Scheduler]]:
    sides = [side for side in getattr(question, "pods", ()) if isinstance(side, Side)]
    yield from ((side.snapshot, side.scheduler) for side in sides)
    if opened is not None and not sides:
        yield (replace(opened, edits=()) if question.judges_edits else opened), scheduler
