"""What differs between the two sides of a comparison."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kubespread.cli.options import spelling
from kubespread.cli.options.cluster import ClusterOptions
from kubespread.cli.options.scheduler import SchedulerOptions
from kubespread.errors import UsageError

if TYPE_CHECKING:
    from kubespread.cli.options.edits import EditedClusterOptions

PANEL = "What differs AFTER (besides edits and --set)"


def _to(name: str, metavar: str, text: str) -> Any:
    return typer.Option(f"--to-{name}", metavar=metavar, show_default=False, help=text, rich_help_panel=PANEL)


@dataclass(frozen=True, slots=True)
class CompareSchedulerOptions(SchedulerOptions):
    """How it is scheduled, on both sides but for the release."""

    kube_version: str | None = None
    """Of one side."""
    kube_versions: Annotated[
        list[str] | None,
        spelling.valued(
            "--kube-version",
            metavar="1.X[.Y]",
            help="Kubernetes release to emulate, 1.18 to 1.37; given twice: BEFORE and AFTER (default: the cluster's "
            "own, else its newest kubelet's, else 1.37).",
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
    """What is asked otherwise after; what is not given stays as it is before."""

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
        # A cluster or user that is named would be asked in the place of the context's.
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
    """The cluster as it is before its edits."""
    return ClusterOptions(**{field.name: getattr(source, field.name) for field in fields(ClusterOptions)})
