"""What is checked, by which rules, and when the answer is no."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kubespread.cli.options import spelling
from kubespread.cli.options.edits import EditedClusterOptions
from kubespread.cli.options.workload import ManifestOptions
from kubespread.planner.reports.check import Severity

if TYPE_CHECKING:
    from kubespread.candidate.kustomize import Kustomization

_REACHING = {
    "as_user": "--as", "as_group": "--as-group", "request_timeout": "--request-timeout", "chunk_size": "--chunk-size",
}  # fmt: skip
ManifestsArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[MANIFEST]...",
        show_default=False,
        help="Manifests or directories of manifests, '-' for standard input, or KIND/NAME in the cluster. Default: "
        "standard input when piped, else the cluster's own workloads.",
    ),
]


@dataclass(frozen=True, slots=True)
class CheckedOptions(ManifestOptions):
    """Which workloads are checked."""

    selector: Annotated[
        str | None,
        spelling.selector("Check the workloads with these labels (app=web,tier!=db)."),
    ] = None
    all_namespaces: Annotated[
        bool, spelling.all_namespaces("Check the workloads of all namespaces of the cluster.")
    ] = False

    def given(self, words: Sequence[str]) -> list[str | Kustomization]:
        """What is named; nothing where the cluster's own workloads are meant. Raises UsageError."""
        from kubespread.candidate.inputs import pods_named
        from kubespread.candidate.kustomize import Kustomization

        named = [each for each in pods_named(words) if isinstance(each, str)]
        return [*named, *(self.filename or ()), *map(Kustomization, self.kustomize or ())]


@dataclass(frozen=True, slots=True)
class CheckedClusterOptions(EditedClusterOptions):
    """On which cluster they are tried, if on any."""

    live: Annotated[
        bool, typer.Option("--live", help="Try manifests on the running cluster of the kubeconfig's current context.")
    ] = False

    @property
    def is_named(self) -> bool:
        """Whether some cluster is asked for."""
        return self.live or any((self.snapshot, self.context, self.kubeconfig, self.cluster, self.user))

    def reaching(self) -> Iterator[str]:
        """The options that say how a running cluster is reached, and not which one."""
        for field in fields(self):
            if field.name in _REACHING and getattr(self, field.name) != field.default:
                yield _REACHING[field.name]


@dataclass(frozen=True, slots=True)
class RulesOptions:
    """By which rules, and which findings make the answer no."""

    select: Annotated[
        list[str] | None,
        spelling.valued(
            "--select", metavar="CODES", help="Check only these rules, by code or prefix (KS101,KS2). Repeatable."
        ),
    ] = None
    ignore: Annotated[
        list[str] | None,
        spelling.valued("--ignore", metavar="CODES", help="Skip these rules. Repeatable."),
    ] = None
    fail_on: Annotated[
        Severity,
        typer.Option("--fail-on", case_sensitive=False, help="Exit with 1 when a finding is at least this severe."),
    ] = Severity.ERROR
    baseline: Annotated[
        Path | None,
        spelling.valued("--baseline", metavar="FILE", help="Leave out the known findings recorded in FILE."),
    ] = None
    write_baseline: Annotated[
        Path | None,
        spelling.valued("--write-baseline", metavar="FILE", help="Record the findings in FILE as known; exit with 0."),
    ] = None
    list_rules: Annotated[bool, typer.Option("--list-rules", help="List the rules and exit.")] = False
    explain: Annotated[
        str | None,
        spelling.valued("--explain", metavar="CODE", help="Describe a rule and exit."),
    ] = None
