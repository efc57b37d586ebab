"""A field of a question on the command line: the options that it is, and what it is once they are typed.

Which manifests, or which workloads of the cluster, a command is about.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kubespread.cli.options.helping import valued
from kubespread.errors import UsageError
from kubespread.questions.question import MANIFESTS, Option, Workload, Workloads

if TYPE_CHECKING:
    from kubespread.candidate.kustomization import Kustomization
    from kubespread.candidate.sources import ClusterWorkloads
    from kubespread.cli.options.groups import EditedClusterOptions, SchedulerOptions, SpeakingOptions
    from kubespread.snapshot.snapshot import Snapshot

STDIN = "-"
DEFAULT_POD = "pod.yaml"
EVERYWHERE = "all_namespaces"


def manifest_field(option: Option) -> Field:
    """One manifest or KIND/NAME, as an option."""

    def value(typed: Typed) -> tuple[str, ...]:
        pods = () if typed["filename"] is None else (typed["filename"],)
        if pods:
            check_asked(pods, {}, typed.scheduling)
        return pods

    declared = typer.Option(*option.names, metavar=option.metavar, show_default=False, help=option.help)
    return Field((Parameter("filename", Annotated[str | None, declared], None),), value)


def applied_field(option: Option) -> Field:
    """Manifests and kustomizations that are applied, as options."""

    def value(typed: Typed) -> tuple[Any, ...]:
        from kubespread.candidate.kustomization import Kustomization

        files = typed["filename"] or ()
        pods = (*files, *map(Kustomization, typed["kustomize"] or ()))
        if pods:
            check_asked(pods, {"recursive": any(Path(file).is_dir() for file in files)}, typed.scheduling)
        return pods

    declared = valued("-f", "--filename", metavar="FILE", rich_help_panel=MANIFESTS, help=f"{option.help} Repeatable.")
    return Field((Parameter("filename", Annotated[list[str] | None, declared], None), _MANIFESTS[1]), value)


def pods_field(option: Workload, *, is_optional: bool) -> Field:
    """Manifests and KIND/NAME by their place, and kubectl's -f and -k."""
    place = option.metavar.strip("[].").partition("]")[0].lower()
    several = isinstance(option, Workloads)

    def value(typed: Typed) -> tuple[Any, ...]:
        own, sources = typed.own, typed.source.sources
        if own[place] or own["filename"] or own["kustomize"] or not is_optional:
            pods = pods_asked_about(own[place], own, sources, several=several)
        else:
            is_stdin = option.is_piped and not own.get(EVERYWHERE) and is_piped(sources)
            pods = [STDIN] if is_stdin else []
        check_asked(pods, own, typed.scheduling)
        return tuple(pods)

    declared = typer.Argument(metavar=option.metavar, show_default=False, help=option.help)
    named = Parameter(place, Annotated[list[str] | None, declared], None)
    return Field((named, *_MANIFESTS, *(_SEVERAL if several else ())), value)


def pods_asked_about(
    words: Sequence[str] | None, own: Mapping[str, Any], sources: Sequence[str], *, several: bool = False
) -> list[str | ClusterWorkloads | Kustomization]:
    """What POD, -f and -k name; else, where ``several`` may be meant, with --all, -l or -A the workloads of the
    cluster; else standard input when something is piped into it and the snapshot does not want it, else pod.yaml.

    Raises UsageError.
    """
    from kubespread.candidate.kustomization import Kustomization
    from kubespread.candidate.sources import pods_named

    words, files = words or [], [*(own["filename"] or ()), *map(Kustomization, own["kustomize"] or ())]
    of_cluster = several and _asks_for_the_cluster(words, files, sources, own)
    all_namespaces = several and own[EVERYWHERE]
    if all_namespaces and not of_cluster:
        named = " ".join(words)
        raise UsageError(f"{named} and -A/--all-namespaces do not go together: both say which workloads are meant")
    pods = [*pods_named(words, every=of_cluster, all_namespaces=all_namespaces), *files]
    return pods or [_default_pod(sources)]


def check_asked(
    pods: Sequence[str | ClusterWorkloads | Kustomization], own: Mapping[str, Any], scheduling: SchedulerOptions
) -> None:
    """Find what is mistyped before the cluster is read. Raises ManifestError and UsageError."""
    from kubespread.candidate.sources import Choosing, check_inputs

    choosing = Choosing(
        own.get("named"), own.get("namespace"), own.get("selector") or "",
        recursive=bool(own.get("recursive")), template_path=own.get("template_path") or "",
    )  # fmt: skip
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
    """--all and -A do; -l does unless there are manifests that it could be about."""
    from kubespread.candidate.sources import kinds_named

    if files:
        return False
    if own["every"]:
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


_MANIFESTS = (
    Parameter(
        "filename",
        Annotated[
            list[str] | None,
            valued(
                "-f", "--filename", metavar="FILE",
                rich_help_panel=MANIFESTS,
                help="Manifest, or directory of manifests; the same as without -f. Repeatable.",
            ),
        ],
        None,
    ),
    Parameter(
        "kustomize",
        Annotated[
            list[str] | None,
            valued(
                "-k", "--kustomize", metavar="DIRECTORY",
                rich_help_panel=MANIFESTS,
                help="Kustomization, built by the kustomize or kubectl on the PATH. Repeatable.",
            ),
        ],
        None,
    ),
)  # fmt: skip
_SEVERAL = (
    Parameter(
        "every",
        Annotated[
            bool,
            typer.Option(
                "--all",
                help="Place every Deployment, StatefulSet, DaemonSet, ReplicaSet and ReplicationController, or those "
                "of the kinds given as POD (deploy,sts).",
            ),
        ],
        False,
    ),
    Parameter(
        EVERYWHERE,
        Annotated[
            bool, typer.Option("-A", "--all-namespaces", help="Place the workloads of all namespaces of the cluster.")
        ],
        False,
    ),
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
    """The same for a value that depends on the cluster."""
