"""Options that several commands share, spelled as kubectl spells them: groups of them, each declared once.

A command takes a group as one parameter; `grouped` shows typer the options in it and hands the command the group,
filled.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from enum import StrEnum
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from kubespread.errors import UsageError

if TYPE_CHECKING:
    from kubespread.deciding import Scheduler
    from kubespread.snapshot.live.kubeconfig import Access

_SECONDS = {"": 1.0, "ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_DURATION_PART = re.compile(r"(?P<number>\d+(?:\.\d+)?)(?P<unit>ms|s|m|h|)")


def parse_duration(text: str) -> float:
    """``30``, ``1s``, ``2m``, ``1m30s``: seconds. Raises UsageError."""
    parts = list(_DURATION_PART.finditer(text))
    if (
        "".join(part[0] for part in parts) != text
        or not text
        or (len(parts) > 1 and any(not part["unit"] for part in parts))
    ):
        raise UsageError(
            f"invalid duration {text!r}: expected a number with a unit like 1s, 2m, 3h, or 0 to wait forever"
        )
    return sum(float(part["number"]) * _SECONDS[part["unit"]] for part in parts)


class Color(StrEnum):
    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


PodArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="[POD]",
        show_default=False,
        help="Manifest of a Pod or workload, '-' for standard input, or KIND/NAME in the cluster (pod/web-0, "
        "deploy/web). "
        "Default: standard input when piped, else pod.yaml.",
    ),
]
NoHeadersOption = Annotated[
    bool, typer.Option("--no-headers", help="Leave out the headers of tables, columns and csv.")
]
ColorOption = Annotated[Color, typer.Option("--color", case_sensitive=False, help="Color the table.")]
PreemptionOption = Annotated[
    bool, typer.Option("--preemption", help="When no node fits, predict what preemption would do.")
]
StrictOption = Annotated[bool, typer.Option("--strict", help="Exit with 3 when the answer has gaps.")]


@dataclass(frozen=True, slots=True)
class ClusterOptions:
    """Which cluster is asked about."""

    snapshot: Annotated[
        list[Path] | None,
        typer.Option(
            "-S",
            "--snapshot",
            metavar="PATH",
            envvar="KUBESPREAD_SNAPSHOT",
            show_default=False,
            help="Cluster from a file, directory or archive ('-': standard input) instead of a running one. "
            "Repeatable.",
        ),
    ] = None
    context: Annotated[
        str | None, typer.Option("--context", metavar="NAME", show_default=False, help="Kubeconfig context.")
    ] = None
    kubeconfig: Annotated[
        str | None,
        typer.Option("--kubeconfig", metavar="FILE", show_default=False, help="Kubeconfig, instead of KUBECONFIG."),
    ] = None
    cluster: Annotated[
        str | None, typer.Option("--cluster", metavar="NAME", show_default=False, help="Kubeconfig cluster.")
    ] = None
    user: Annotated[str | None, typer.Option("--user", metavar="NAME", show_default=False, help="Kubeconfig user.")] = (
        None
    )
    as_user: Annotated[
        str | None, typer.Option("--as", metavar="USER", show_default=False, help="User to impersonate.")
    ] = None
    as_group: Annotated[
        list[str] | None,
        typer.Option("--as-group", metavar="GROUP", show_default=False, help="Group to impersonate. Repeatable."),
    ] = None
    request_timeout: Annotated[
        str,
        typer.Option(
            "--request-timeout",
            metavar="TIME",
            help="How long one request may take, such as 1s or 2m; 0 waits forever.",
        ),
    ] = "30s"
    chunk_size: Annotated[
        int,
        typer.Option(
            "--chunk-size", metavar="N", min=0, help="Objects per page when reading a cluster; 0 asks for all at once."
        ),
    ] = 500

    @property
    def sources(self) -> list[str]:
        """The files to read; none for the cluster of the kubeconfig."""
        return [str(source) for source in self.snapshot or ()]

    def access(self) -> Access:
        """How the cluster is reached. Raises UsageError."""
        from kubespread.snapshot.live.kubeconfig import Access

        return Access(
            kubeconfig=self.kubeconfig,
            context=self.context,
            cluster=self.cluster,
            user=self.user,
            as_user=self.as_user,
            as_groups=tuple(self.as_group or ()),
            request_timeout=parse_duration(self.request_timeout),
            chunk_size=self.chunk_size,
        )


@dataclass(frozen=True, slots=True)
class WorkloadOptions:
    """Which workload is asked about."""

    namespace: Annotated[
        str | None,
        typer.Option(
            "-n",
            "--namespace",
            metavar="NAME",
            show_default=False,
            help="Namespace to use when the manifest sets none.",
        ),
    ] = None
    name: Annotated[
        str | None,
        typer.Option(
            "--name",
            metavar="NAME",
            show_default=False,
            help="Which workload, when the manifest holds several (NAME, Kind/NAME or NS/Kind/NAME).",
        ),
    ] = None


@dataclass(frozen=True, slots=True)
class SchedulerOptions:
    """How it is scheduled."""

    scheduler_config: Annotated[
        str | None,
        typer.Option(
            "--scheduler-config",
            metavar="FILE",
            show_default=False,
            help="KubeSchedulerConfiguration to schedule with.",
        ),
    ] = None
    scheduler_name: Annotated[
        str | None,
        typer.Option(
            "--scheduler-name",
            metavar="NAME",
            show_default=False,
            help="Profile to use, instead of the pod's schedulerName.",
        ),
    ] = None
    kube_version: Annotated[
        str | None,
        typer.Option(
            "--kube-version",
            metavar="1.X[.Y]",
            show_default=False,
            help="Kubernetes release to emulate, 1.18 to 1.36 (default: the cluster's own, or 1.36 where unknown).",
        ),
    ] = None
    feature_gates: Annotated[
        str | None,
        typer.Option(
            "--feature-gates",
            metavar="NAME=true|false,...",
            show_default=False,
            help="Feature gates set on that release.",
        ),
    ] = None
    pod_node_selector: Annotated[
        bool,
        typer.Option(
            "--pod-node-selector",
            help="Apply the node selectors of namespaces, as clusters with that admission plugin do.",
        ),
    ] = False

    def scheduler(self) -> Scheduler:
        from kubespread import Scheduler

        return Scheduler(
            config=self.scheduler_config,
            profile=self.scheduler_name,
            kube_version=self.kube_version,
            feature_gates=self.feature_gates,
            pod_node_selector=self.pod_node_selector,
        )


@dataclass(frozen=True, slots=True)
class SpeakingOptions:
    """How much is said beside the answer."""

    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="No notes on standard error.")] = False
    verbose: Annotated[
        int,
        typer.Option("-v", "--verbose", count=True, show_default=False, help="Print more detail to standard error."),
    ] = 0
    debug: Annotated[bool, typer.Option("--debug", help="Show a traceback when kubespread fails.")] = False
    """Read by main()."""


def grouped(command: Callable[..., int]) -> Callable[..., int]:
    """``command`` as typer is to see it: every parameter that is a group is replaced by the options in it."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, type[Any]] = {
        name: hint for name, hint in hints.items() if isinstance(hint, type) and is_dataclass(hint)
    }
    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(command).parameters.values():
        if parameter.name not in groups:
            parameters.append(parameter.replace(annotation=hints[parameter.name]))
            continue
        group = groups[parameter.name]
        options = get_type_hints(group, include_extras=True)
        parameters += [
            inspect.Parameter(
                field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=options[field.name]
            )
            for field in fields(group)
        ]

    @wraps(command)
    def filled(**given: Any) -> int:
        for name, group in groups.items():
            given[name] = group(**{field.name: given.pop(field.name, field.default) for field in fields(group)})
        return command(**given)

    keywords = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in parameters]
    filled.__signature__ = inspect.Signature(keywords)  # type: ignore[attr-defined]  # how typer reads a function that is made
    filled.__annotations__ = {parameter.name: parameter.annotation for parameter in keywords}
    return filled
