"""What is asked about: a manifest, or one workload among several."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

PodArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="[POD]",
        show_default=False,
        help="Manifest of a Pod or workload, '-' for standard input, or KIND/NAME in the cluster (pod/web-0, "
        "deploy/web). Default: standard input when piped, else pod.yaml.",
    ),
]
PodsArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[POD]...",
        show_default=False,
        help="Manifests, '-' for standard input, or KIND/NAME in the cluster (deploy/web). All workloads of a "
        "manifest are placed. Default: standard input when piped, else pod.yaml.",
    ),
]


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
