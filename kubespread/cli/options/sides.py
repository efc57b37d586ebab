"""What differs between the two sides of a comparison."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from kubespread.candidate.sources import ClusterWorkloads
from kubespread.cli.cluster import open_cluster
from kubespread.cli.field import Field, Late, Parameter, Typed, check_asked, pods_asked_about, pods_field
from kubespread.cli.options.groups import DEFAULT_RELEASE, RELEASES, ClusterOptions, SchedulerOptions
from kubespread.cli.options.helping import valued
from kubespread.errors import UsageError

if TYPE_CHECKING:
    from kubespread.cli.options.groups import EditedClusterOptions
    from kubespread.questions.question import Workload
    from kubespread.questions.scheduler import Scheduler
    from kubespread.snapshot.snapshot import Snapshot

PANEL = "What differs AFTER (besides edits and --set)"

_NOTHING_DIFFERS = (
    "nothing to compare: give a second POD, a second --kube-version, an edit such as --cordon NODE, --set FIELD=VALUE, "
    "or a --to- option such as --to-snapshot PATH"
)
_EVERY = Parameter(
    "every",
    Annotated[
        bool,
        typer.Option(
            "--all",
            help="Ask about every workload of the namespace, or every one of the kinds given as POD (deploy,sts).",
        ),
    ],
    False,
)


def _to(name: str, metavar: str, text: str) -> Any:
    return typer.Option(f"--to-{name}", metavar=metavar, show_default=False, help=text, rich_help_panel=PANEL)


@dataclass(frozen=True, slots=True)
class CompareSchedulerOptions(SchedulerOptions):
    """How pods are scheduled on both sides, apart from the release."""

    kube_version: str | None = None
    """Of one side."""
    kube_versions: Annotated[
        list[str] | None,
        valued(
            "--kube-version",
            metavar="1.X[.Y]",
            help=f"{RELEASES}; given twice: BEFORE and AFTER (default: {DEFAULT_RELEASE}).",
        ),
    ] = None

    @property
    def has_two_releases(self) -> bool:
        return len(self.kube_versions or ()) > 1

    def before(self) -> SchedulerOptions:
        """How it is scheduled before. Raises UsageError."""
        releases = self.kube_versions or []
        if len(releases) > 2:
            raise UsageError(f"--kube-version given {len(releases)} times: expected once, or twice (BEFORE, AFTER)")
        return replace(self, kube_version=releases[0] if releases else None)


@dataclass(frozen=True, slots=True)
class AfterOptions:
    """What differs on the second side; anything not given is the same as on the first."""

    to_snapshot: Annotated[
        list[Path] | None, _to("snapshot", "PATH", "Cluster from a file, directory or archive. Repeatable.")
    ] = None
    to_context: Annotated[str | None, _to("context", "NAME", "Running cluster of this kubeconfig context.")] = None
    to_scheduler_config: Annotated[
        str | None, _to("scheduler-config", "FILE", "KubeSchedulerConfiguration to schedule with.")
    ] = None
    to_scheduler_name: Annotated[
        str | None, _to("scheduler-name", "NAME", "Profile to use, instead of the pod's schedulerName.")
    ] = None
    to_kube_version: Annotated[
        str | None,
        _to("kube-version", "1.X[.Y]", "Kubernetes release to emulate, where that before is the cluster's own."),
    ] = None
    to_feature_gates: Annotated[
        str | None,
        _to("feature-gates", "NAME=true|false,...", "Feature gates set on the release, instead of those of before."),
    ] = None

    @property
    def is_given(self) -> bool:
        return any(getattr(self, field.name) for field in fields(self))

    def cluster(self, before: EditedClusterOptions) -> ClusterOptions | None:
        """Where another cluster than ``before`` comes from; None for the same. Raises UsageError."""
        if not (self.to_snapshot or self.to_context):
            return None
        same = unedited(before)
        if self.to_snapshot:
            return replace(same, snapshot=self.to_snapshot)
        # A named cluster or user would be used instead of the context's.
        return replace(same, snapshot=None, context=self.to_context, cluster=None, user=None)

    def scheduling(self, scheduling: CompareSchedulerOptions) -> SchedulerOptions:
        """How it is scheduled after. Raises UsageError."""
        before = scheduling.before()
        if scheduling.has_two_releases and self.to_kube_version:
            raise UsageError("--kube-version twice and --to-kube-version both name the release after: leave one out")
        second = (scheduling.kube_versions or [])[1:]
        return replace(
            before,
            scheduler_config=self.to_scheduler_config or before.scheduler_config,
            scheduler_name=self.to_scheduler_name or before.scheduler_name,
            kube_version=self.to_kube_version or next(iter(second), before.kube_version),
            feature_gates=self.to_feature_gates or before.feature_gates,
        )


def unedited(source: EditedClusterOptions) -> ClusterOptions:
    """The cluster without its edits."""
    return ClusterOptions(**{field.name: getattr(source, field.name) for field in fields(ClusterOptions)})


def sides_field(option: Workload) -> Field:
    """One or two by their place, and all that may be otherwise with the second."""
    of_one, declared = pods_field(option, is_optional=False), get_type_hints(AfterOptions, include_extras=True)

    def after_in(typed: Typed) -> AfterOptions:
        return AfterOptions(**{name: typed[name] for name in declared})

    def value(typed: Typed) -> tuple[Any, ...]:
        source, scheduling, own = typed.source, typed.scheduling, typed.own
        assert isinstance(scheduling, CompareSchedulerOptions)
        after = after_in(typed)
        elsewhere = after.cluster(source)
        sources = [*source.sources, *(elsewhere.sources if elsewhere is not None else ())]
        pods = pods_asked_about(own["pod"], own, sources, several=True)
        if own["selector"] is not None and not isinstance(pods[0], ClusterWorkloads):
            raise UsageError(f"-l/--selector chooses among the workloads of the cluster: {pods[0]} is none of them")
        if len(pods) > 2:
            named = ", ".join(str(value) for name in ("pod", "filename", "kustomize") for value in own[name] or ())
            raise UsageError(f"{len(pods)} PODs given ({named}): expected one, or two to compare")
        is_otherwise = after.is_given or scheduling.has_two_releases or source.edits() or own["settings"]
        if len(pods) == 1 and not is_otherwise:
            raise UsageError(_NOTHING_DIFFERS)
        for side in (scheduling.before(), after.scheduling(scheduling)):
            check_asked(pods, own, side)
        return tuple(pods)

    def late(typed: Typed) -> Late:
        scheduling, after = typed.scheduling, after_in(typed)
        assert isinstance(scheduling, CompareSchedulerOptions)
        schedulers = scheduling.before().scheduler(), after.scheduling(scheduling).scheduler()
        elsewhere, quiet = after.cluster(typed.source), typed.speaking.quiet
        return partial(_sides, elsewhere, quiet, schedulers, tuple(typed["settings"] or ()))

    otherwise = (Parameter(name, declared[name], None) for name in declared)
    return Field((*of_one.parameters, _EVERY, *otherwise), value, late)


def _sides(
    elsewhere: ClusterOptions | None, quiet: bool, schedulers: tuple[Scheduler, Scheduler], settings: Sequence[str],
    question: Any, opened: Snapshot,
) -> tuple[Any, Any]:  # fmt: skip
    """The one before and the one after, which is ``elsewhere`` or the cluster itself with its edits."""
    from kubespread import ClusterSide, Side

    pods, before = question.pods, replace(opened, edits=())
    other = (before if elsewhere is None else open_cluster(elsewhere, quiet=quiet)).edited(*opened.edits)
    if isinstance(pods[0], ClusterWorkloads):
        kinds = pods[0].kinds
        return ClusterSide(before, schedulers[0], kinds=kinds), ClusterSide(other, schedulers[1], settings, kinds)
    return Side(before, pods[0], schedulers[0]), Side(other, pods[-1], schedulers[1], settings)
