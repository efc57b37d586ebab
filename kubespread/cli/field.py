"""What becomes of a question's fields on the command line: the options of each, and what it is once they are typed."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import typer
from msgspec.structs import FieldInfo

from kubespread.candidate.sources import ClusterWorkloads
from kubespread.cli.cluster import open_cluster
from kubespread.cli.options.groups import ClusterOptions, SchedulerOptions
from kubespread.errors import UsageError
from kubespread.questions.question import (
    MANIFESTS,
    NAMESPACES,
    OF_CLUSTER,
    WORKLOADS,
    ManifestsQuestion,
    Option,
    Rule,
    Workload,
)

if TYPE_CHECKING:
    from kubespread.cli.options.groups import EditedClusterOptions, SpeakingOptions
    from kubespread.questions.scheduler import Scheduler
    from kubespread.snapshot.snapshot import Snapshot

STDIN = "-"
_MAX_DIGITS = 9
DEFAULT_POD = "pod.yaml"
EVERYWHERE = "all_namespaces"
_BY_NAME = Rule(says={WORKLOADS: "by name"})


def pod_field(field: FieldInfo, kind: Any, option: Option) -> Field:
    """A manifest or KIND/NAME, as an option; what may be none is given by its place too."""
    is_tuple = get_origin(kind) is tuple
    flags = option.names or (f"--{field.name}",)
    name = flags[-1].removeprefix("--")
    named = _parameter(name, str | None, *flags, metavar=option.metavar, help=option.help)
    if not is_tuple:

        def value(typed: Typed) -> Any:
            check_asked((typed[name],), {}, typed.scheduling)
            return typed[name]

        return Field((named,), value)
    text = f"{option.help} The same as with {flags[0]}."
    rule = Rule(says=dict.fromkeys(option.says, "by place"))
    place = _parameter("workload", str | None, metavar="[POD]", help=text, rule=rule)

    def pods(typed: Typed) -> tuple[Any, ...]:
        given = tuple(text for text in (typed["workload"], typed[name]) if text is not None)
        if given:
            check_asked(given, {}, typed.scheduling)
        return given

    return Field((place, named), pods)


def applied_field(_field: FieldInfo, _kind: Any, option: Option) -> Field:
    """Manifests that are applied, as options."""

    def value(typed: Typed) -> tuple[Any, ...]:
        files = tuple(typed["filename"] or ())
        if files:
            check_asked(files, {"recursive": any(Path(file).is_dir() for file in files)}, typed.scheduling)
        return files

    return Field((_manifests(option.help),), value)


def pods_field(field: FieldInfo, _kind: Any, option: Workload) -> Field:
    """Manifests and KIND/NAME by their place, and kubectl's -f."""
    place = option.metavar.strip("[].").partition("]")[0].lower()
    several = option.is_several

    def value(typed: Typed) -> tuple[Any, ...]:
        own, sources = typed.own, typed.source.sources
        if own[place] or own["filename"] or field.required:
            pods = pods_asked_about(own[place], own, sources, several=several)
        else:
            is_stdin = option.is_piped and not own.get(EVERYWHERE) and is_piped(sources)
            pods = [STDIN] if is_stdin else []
        check_asked(pods, own, typed.scheduling)
        return tuple(pods)

    rule = _BY_NAME if option.form == "pods" and not several else None
    named = _parameter(place, list[str] | None, metavar=option.metavar, help=option.help, rule=rule)
    files = _manifests("Manifest, or directory of manifests; the same as without -f.")
    return Field((named, files, *([_ALL_NAMESPACES] if several else ())), value)


def scenario_field(field: FieldInfo, _kind: Any, option: Option) -> Field:
    """A scenario's file and steps, by their place."""
    name = field.name

    def value(typed: Typed) -> Any:
        return option.read(typed[name]) if typed[name] else field.default

    return Field((_parameter(name, list[str] | None, metavar=option.metavar, help=option.help),), value)


def pods_asked_about(
    words: Sequence[str] | None, own: Mapping[str, Any], sources: Sequence[str], *, several: bool = False
) -> list[str | ClusterWorkloads]:
    """Everything that POD and -f name; else, where ``several`` may be meant, with -A or -l the workloads of the
    cluster; else standard input when something is piped into it and the snapshot does not want it, else pod.yaml.

    Raises UsageError.
    """
    from kubespread.candidate.sources import pods_named

    words, files = words or [], own["filename"] or ()
    of_cluster = several and _asks_for_the_cluster(words, files, sources, own)
    all_namespaces = several and own[EVERYWHERE]
    if all_namespaces and not of_cluster:
        named = " ".join(words)
        raise UsageError(f"{named} and -A/--all-namespaces do not go together: both say which workloads are meant")
    pods = [*pods_named(words, every=of_cluster, all_namespaces=all_namespaces), *files]
    return pods or [_default_pod(sources)]


def check_asked(pods: Sequence[str | ClusterWorkloads], own: Mapping[str, Any], scheduling: SchedulerOptions) -> None:
    """Find what is mistyped before the cluster is read. Raises ManifestError and UsageError."""
    from kubespread.candidate.sources import Choosing, check_inputs

    choosing = Choosing(
        own.get("named"),
        own.get("namespace"),
        own.get("selector") or "",
        recursive=bool(own.get("recursive")),
        template_path=own.get("template_path") or "",
    )
    check_inputs(
        pods,
        scheduling.scheduler_config,
        scheduling.kube_version,
        scheduling.feature_gates,
        choosing=choosing,
        settings=own.get("settings") or (),
    )


def _asks_for_the_cluster(
    words: Sequence[str], files: Sequence[object], sources: Sequence[str], own: Mapping[str, Any]
) -> bool:
    """-A and --all do; -l does unless there are manifests that it could be about."""
    from kubespread.candidate.sources import kinds_named

    if files:
        return False
    if own.get("every"):
        return True
    names_kinds = len(words) == 1 and bool(kinds_named(words[0]))
    if own[EVERYWHERE]:
        return names_kinds or not words
    return own.get("selector") is not None and (names_kinds or not (words or is_piped(sources)))


def _default_pod(sources: Sequence[str]) -> str:
    if is_piped(sources):
        return STDIN
    if Path(DEFAULT_POD).is_file():
        return DEFAULT_POD
    raise UsageError(f"no pod given: name a manifest, pipe one in, or run in a directory containing {DEFAULT_POD}")


def is_piped(sources: Sequence[str]) -> bool:
    """Whether someone feeds standard input and it is not the snapshot: a pipe or a file, no terminal or /dev/null."""
    if sys.stdin is None or STDIN in sources:
        return False
    mode = os.fstat(sys.stdin.fileno()).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode) or stat.S_ISSOCK(mode)


Late = Callable[[Any, "Snapshot"], Any]
"""What a value is, given the question so far and the cluster; it can be sent to another process."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """What typer makes of a field: what it is called there, its type with its option, and its default."""

    name: str
    annotation: Any
    default: Any
    rule: Rule | None = None
    """Where that is not the rule of the field."""

    def ruled_by(self, option: Option) -> Parameter:
        return replace(self, annotation=Annotated[self.annotation, self.rule or option])


def _parameter(
    name: str, kind: Any, *flags: str, default: Any = None, rule: Rule | None = None, **declared: Any
) -> Parameter:
    """One that is typed as ``flags``, without any by its place; help does not show its default."""
    option = (
        typer.Option(*flags, show_default=False, **declared)
        if flags
        else typer.Argument(show_default=False, **declared)
    )
    return Parameter(name, Annotated[kind, option], default, rule)


def _manifests(text: str) -> Parameter:
    return _parameter(
        "filename",
        list[str] | None,
        "-f",
        "--filename",
        metavar="FILE",
        help=f"{text} Repeatable.",
        rich_help_panel=MANIFESTS,
        rule=_BY_NAME,
    )


_ALL_NAMESPACES = _parameter(
    EVERYWHERE,
    bool,
    "-A",
    "--all-namespaces",
    default=False,
    rule=Rule(says={NAMESPACES: "all", WORKLOADS: "of the cluster"}),
    help="Place every Deployment, StatefulSet, DaemonSet, ReplicaSet and ReplicationController of all namespaces, "
    "or those of the kinds given as POD (deploy,sts).",
)


@dataclass(frozen=True, slots=True)
class Typed:
    """All that was typed: the question's own options by their names, and the groups that all questions have."""

    own: Mapping[str, Any]
    source: EditedClusterOptions
    scheduling: SchedulerOptions
    speaking: SpeakingOptions

    def __getitem__(self, name: str) -> Any:
        return self.own[name]


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a question."""

    parameters: tuple[Parameter, ...]
    value: Callable[[Typed], Any]
    """What it is, before a cluster is read."""
    late: Callable[[Typed], Late] | None = None
    """How a value is read that depends on the cluster."""


def _value(field: FieldInfo, kind: Any, option: Option) -> Field:
    """What a field is by its type: a flag, a number, a text or several."""
    name, default = field.name, None if field.required else field.default
    if kind is bool and default is True and not option.names:
        denied = f"no_{name}"
        parameter = Parameter(denied, _flag((f"--no-{name.replace('_', '-')}",), option.denied(), option), False)
        return Field((parameter,), lambda typed: not typed[denied])
    if kind is bool:
        flag = _flag(_names(name, option), option.help, option)
        return Field((Parameter(name, flag, default),), lambda typed: typed[name])
    among = get_args(kind) if get_origin(kind) in (Union, UnionType) else ()
    if int in among and option.least is not None:
        return _number(name, option, [word for part in among if get_origin(part) is Literal for word in get_args(part)])
    repeats = get_origin(kind) is tuple
    single: Any = get_args(kind)[0] if repeats or among else str if kind is Any else kind
    if get_origin(single) is Literal:
        single = _choices(name, get_args(single))
    shown: Any = list[single] if repeats else single
    if repeats or (default in (None, "") and not field.required):
        shown = shown | None
    annotation = Annotated[shown, _option(name, option, repeats=repeats, default=default)]
    initial = MISSING if field.required else None if repeats or default == "" else default

    def value(typed: Typed) -> Any:
        given = typed[name]
        if given is None:
            return () if repeats else default
        return tuple(map(_plain, given)) if repeats else option.read(_plain(given))

    return Field((Parameter(name, annotation, initial),), value)


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


def _choices(name: str, values: Sequence[str]) -> type[StrEnum]:
    return StrEnum(name, {value.upper(): value for value in values})  # type: ignore[return-value]  # a class, as called so


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, StrEnum) else value


def _namespace(field: FieldInfo, _kind: Any, option: Option) -> Field:
    """kubectl's -n and -A: the context's namespace where neither is given."""
    name = field.name
    parameters = (
        _parameter(
            name,
            str | None,
            *_names(name, option),
            metavar="NAME",
            rich_help_panel=option.heading,
            help=f"{option.help.removesuffix('.')} (default: that of the context, or default).",
            rule=Rule(says={NAMESPACES: "one"}),
        ),
        _parameter(
            EVERYWHERE,
            bool,
            "-A",
            "--all-namespaces",
            default=False,
            help="Ask about all namespaces.",
            rule=Rule(says={NAMESPACES: "all", **OF_CLUSTER}),
        ),
    )

    def late(typed: Typed) -> Late:
        return partial(_namespace_in, typed[name], bool(typed[EVERYWHERE]))

    return Field(parameters, lambda typed: typed[name], late)


def _namespace_in(typed: str | None, is_everywhere: bool, question: Any, cluster: Snapshot) -> str | None:
    # Manifests may set their own namespace.
    if isinstance(question, ManifestsQuestion) and question.pods and not isinstance(question.pods[0], ClusterWorkloads):
        return question.namespace
    return None if is_everywhere else typed or cluster.origin.namespace or "default"


def _flag(names: tuple[str, ...], text: str, option: Option) -> Any:
    return Annotated[bool, typer.Option(*names, help=text, rich_help_panel=option.heading)]


def _option(name: str, option: Option, *, repeats: bool, default: Any) -> Any:
    is_place = option.is_subject
    text = f"{option.help} Repeatable." if repeats and not is_place else option.help
    shared: dict[str, Any] = {
        "metavar": option.metavar or None,
        "help": text,
        "show_default": default not in (None, "", ()),
        "case_sensitive": False,
        "rich_help_panel": option.heading,
        "min": None if default is None else option.least,
    }
    return typer.Argument(**shared) if is_place else typer.Option(*_names(name, option), **shared)


def _names(name: str, option: Option) -> tuple[str, ...]:
    return option.names or (f"--{name.replace('_', '-')}",)


PANEL = "What differs AFTER (besides edits and --set)"

_NOTHING_DIFFERS = (
    "nothing to compare: give a second POD, an edit such as --cordon NODE, --set FIELD=VALUE, or a --to- option such "
    "as --to-snapshot PATH"
)


_EVERY = _parameter(
    "every",
    bool,
    "--all",
    default=False,
    help="Ask about every workload of the namespace, or every one of the kinds given as POD (deploy,sts).",
    rule=Rule(says=OF_CLUSTER),
)


def _to(name: str, metavar: str, text: str) -> Any:
    return typer.Option(f"--to-{name}", metavar=metavar, show_default=False, help=text, rich_help_panel=PANEL)


@dataclass(frozen=True, slots=True)
class AfterOptions:
    """What differs on the second side; anything not given is the same as on the first."""

    to_snapshot: Annotated[
        list[Path] | None, _to("snapshot", "PATH", "Cluster from a file, directory or archive. Repeatable.")
    ] = None
    to_scheduler_config: Annotated[
        str | None, _to("scheduler-config", "FILE", "KubeSchedulerConfiguration to schedule with.")
    ] = None
    to_kube_version: Annotated[str | None, _to("kube-version", "1.X[.Y]", "Kubernetes release to emulate.")] = None

    @property
    def is_given(self) -> bool:
        return any(getattr(self, field.name) for field in fields(self))

    def cluster(self, before: EditedClusterOptions) -> ClusterOptions | None:
        """The other cluster, without edits; None for that of ``before``."""
        same = {field.name: getattr(before, field.name) for field in fields(ClusterOptions)}
        return ClusterOptions(**{**same, "snapshot": self.to_snapshot}) if self.to_snapshot else None

    def scheduling(self, before: SchedulerOptions) -> SchedulerOptions:
        """Raises UsageError."""
        return replace(
            before,
            scheduler_config=self.to_scheduler_config or before.scheduler_config,
            kube_version=self.to_kube_version or before.kube_version,
        )


def sides_field(field: FieldInfo, kind: Any, option: Workload) -> Field:
    """One or two by their place, and all that may be otherwise with the second."""
    of_one, declared = pods_field(field, kind, option), get_type_hints(AfterOptions, include_extras=True)

    def after_in(typed: Typed) -> AfterOptions:
        return AfterOptions(**{name: typed[name] for name in declared})

    def value(typed: Typed) -> tuple[Any, ...]:
        source, scheduling, own = typed.source, typed.scheduling, typed.own
        after = after_in(typed)
        elsewhere = after.cluster(source)
        sources = [*source.sources, *(elsewhere.sources if elsewhere is not None else ())]
        pods = pods_asked_about(own["pod"], own, sources, several=True)
        if own["selector"] is not None and not isinstance(pods[0], ClusterWorkloads):
            raise UsageError(f"-l/--selector chooses among the workloads of the cluster: {pods[0]} is none of them")
        if len(pods) > 2:
            named = ", ".join(str(value) for name in ("pod", "filename") for value in own[name] or ())
            raise UsageError(f"{len(pods)} PODs given ({named}): expected one, or two to compare")
        is_otherwise = after.is_given or source.edits() or own["settings"]
        if len(pods) == 1 and not is_otherwise:
            raise UsageError(_NOTHING_DIFFERS)
        for side in (scheduling, after.scheduling(scheduling)):
            check_asked(pods, own, side)
        return tuple(pods)

    def late(typed: Typed) -> Late:
        scheduling, after = typed.scheduling, after_in(typed)
        schedulers = scheduling.scheduler(), after.scheduling(scheduling).scheduler()
        elsewhere, quiet = after.cluster(typed.source), typed.speaking.quiet
        return partial(_sides, elsewhere, quiet, schedulers, tuple(typed["settings"] or ()))

    otherwise = (Parameter(name, declared[name], None) for name in declared)
    return Field((*of_one.parameters, _EVERY, *otherwise), value, late)


def _sides(
    elsewhere: ClusterOptions | None,
    quiet: bool,
    schedulers: tuple[Scheduler, Scheduler],
    settings: Sequence[str],
    question: Any,
    opened: Snapshot,
) -> tuple[Any, Any]:
    """The one before and the one after, which is ``elsewhere`` or the cluster itself with its edits."""
    from kubespread import Side

    pods, before = question.pods, replace(opened, edits=())
    other = (before if elsewhere is None else open_cluster(elsewhere, quiet=quiet)).edited(*opened.edits)
    return Side(before, pods[0], schedulers[0]), Side(other, pods[-1], schedulers[1], settings)


def _configured(field: FieldInfo, kind: Any, _option: Option) -> Field:
    """Name of a field that no option sets."""
    return Field((Parameter(field.name, kind, field.default),), lambda typed: typed[field.name])


_FORMS: Mapping[str, Callable[[FieldInfo, Any, Any], Field]] = {
    "value": _value,
    "pods": pods_field,
    "pod": pod_field,
    "applied": applied_field,
    "namespace": _namespace,
    "configured": _configured,
    "sides": sides_field,
    "scenario": scenario_field,
}
"""What becomes of a field, by the form that its option has."""


def field_of(field: FieldInfo, kind: Any, option: Option) -> Field:
    """A field of a question, which is of type ``kind``; what is typed for it has its rule."""
    made = _FORMS[option.form](field, kind, option)
    if option.form == "configured":
        return made
    return replace(made, parameters=tuple(each.ruled_by(option) for each in made.parameters))
