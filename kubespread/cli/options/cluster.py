"""Which cluster is asked about, and how it is reached."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kubespread.cli.options.helping import valued
from kubespread.errors import UsageError

if TYPE_CHECKING:
    from kubespread.snapshot.edits.verb import Edit
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
    context: Annotated[str | None, valued("--context", metavar="NAME", help="Kubeconfig context.")] = None
    kubeconfig: Annotated[
        str | None,
        valued("--kubeconfig", metavar="FILE", help="Kubeconfig, instead of KUBECONFIG."),
    ] = None
    cluster: Annotated[str | None, valued("--cluster", metavar="NAME", help="Kubeconfig cluster.")] = None
    user: Annotated[str | None, valued("--user", metavar="NAME", help="Kubeconfig user.")] = None
    as_user: Annotated[str | None, valued("--as", metavar="USER", help="User to impersonate.")] = None
    as_group: Annotated[
        list[str] | None,
        valued("--as-group", metavar="GROUP", help="Group to impersonate. Repeatable."),
    ] = None
    request_timeout: Annotated[
        str,
        typer.Option(
            "--request-timeout",
            metavar="TIME",
            help="Time limit for one request, such as 1s or 2m; 0 waits forever.",
        ),
    ] = "30s"
    chunk_size: Annotated[
        int,
        typer.Option(
            "--chunk-size", metavar="N", min=0, help="Objects per page when reading a cluster; 0 requests all at once."
        ),
    ] = 500

    @property
    def sources(self) -> list[str]:
        """The files to read; none for the cluster of the kubeconfig."""
        return [str(source) for source in self.snapshot or ()]

    def edits(self) -> list[Edit]:
        """What is changed in it before the question is asked. Raises UsageError and ManifestError."""
        return []

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
