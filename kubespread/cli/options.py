"""Options that several commands share, spelled as kubectl spells them."""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from kubespread.errors import UsageError

_SECONDS = {"": 1.0, "ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_DURATION_PART = re.compile(r"(?P<number>\d+(?:\.\d+)?)(?P<unit>ms|s|m|h|)")


def parse_duration(text: str) -> float:
    """``30``, ``1s``, ``2m``, ``1m30s``: seconds. Raises UsageError."""
    parts = list(_DURATION_PART.finditer(text))
    if "".join(part[0] for part in parts) != text or not text or (len(parts) > 1 and any(not part["unit"] for part in parts)):
        raise UsageError(f"invalid duration {text!r}: expected a number with a unit like 1s, 2m, 3h, or 0 to wait forever")
    return sum(float(part["number"]) * _SECONDS[part["unit"]] for part in parts)


DEFAULT_REQUEST_TIMEOUT = "30s"
DEFAULT_CHUNK_SIZE = 500


class Color(StrEnum):
    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


SnapshotOption = Annotated[
    list[Path] | None,
    typer.Option(
        "-S",
        "--snapshot",
        metavar="PATH",
        envvar="KUBESPREAD_SNAPSHOT",
        show_default=False,
        help="Cluster from a file, directory or archive ('-': standard input) instead of a running one. Repeatable.",
    ),
]
ContextOption = Annotated[str | None, typer.Option("--context", metavar="NAME", show_default=False, help="Kubeconfig context.")]
KubeconfigOption = Annotated[
    str | None, typer.Option("--kubeconfig", metavar="FILE", show_default=False, help="Kubeconfig, instead of KUBECONFIG.")
]
ClusterOption = Annotated[str | None, typer.Option("--cluster", metavar="NAME", show_default=False, help="Kubeconfig cluster.")]
UserOption = Annotated[str | None, typer.Option("--user", metavar="NAME", show_default=False, help="Kubeconfig user.")]
AsOption = Annotated[str | None, typer.Option("--as", metavar="USER", show_default=False, help="User to impersonate.")]
AsGroupOption = Annotated[
    list[str] | None, typer.Option("--as-group", metavar="GROUP", show_default=False, help="Group to impersonate. Repeatable.")
]
RequestTimeoutOption = Annotated[
    str, typer.Option("--request-timeout", metavar="TIME", help="How long one request may take, such as 1s or 2m; 0 waits forever.")
]
ChunkSizeOption = Annotated[
    int, typer.Option("--chunk-size", metavar="N", min=0, help="Objects per page when reading a cluster; 0 asks for all at once.")
]
NamespaceOption = Annotated[
    str | None,
    typer.Option("-n", "--namespace", metavar="NAME", show_default=False, help="Namespace to use when the manifest sets none."),
]
QuietOption = Annotated[bool, typer.Option("-q", "--quiet", help="No notes on standard error.")]
VerboseOption = Annotated[int, typer.Option("-v", "--verbose", count=True, show_default=False, help="Print more detail to standard error.")]
DebugOption = Annotated[bool, typer.Option("--debug", help="Show a traceback when kubespread fails.")]
PodArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="[POD]",
        show_default=False,
        help="Manifest of a Pod or workload, '-' for standard input, or KIND/NAME in the cluster (pod/web-0, deploy/web). "
        "Default: standard input when piped, else pod.yaml.",
    ),
]
NameOption = Annotated[
    str | None,
    typer.Option("--name", metavar="NAME", show_default=False, help="Which workload, when the manifest holds several (NAME or Kind/NAME)."),
]
SchedulerConfigOption = Annotated[
    str | None,
    typer.Option("--scheduler-config", metavar="FILE", show_default=False, help="KubeSchedulerConfiguration to schedule with."),
]
SchedulerNameOption = Annotated[
    str | None,
    typer.Option("--scheduler-name", metavar="NAME", show_default=False, help="Profile to use, instead of the pod's schedulerName."),
]
KubeVersionOption = Annotated[
    str | None,
    typer.Option(
        "--kube-version",
        metavar="1.X[.Y]",
        show_default=False,
        help="Kubernetes release to emulate, 1.18 to 1.36 (default: the cluster's own, or 1.36 where unknown).",
    ),
]
FeatureGatesOption = Annotated[
    str | None,
    typer.Option("--feature-gates", metavar="NAME=true|false,...", show_default=False, help="Feature gates set on that release."),
]
NoHeadersOption = Annotated[bool, typer.Option("--no-headers", help="Leave out the headers of tables, columns and csv.")]
ColorOption = Annotated[Color, typer.Option("--color", case_sensitive=False, help="Color the table.")]
PreemptionOption = Annotated[bool, typer.Option("--preemption", help="When no node fits, predict what preemption would do.")]
StrictOption = Annotated[bool, typer.Option("--strict", help="Exit with 3 when the answer has gaps.")]
