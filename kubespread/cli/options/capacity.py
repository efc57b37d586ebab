"""Which pods are counted, and over which domains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from kubespread.cli.options import spelling


@dataclass(frozen=True, slots=True)
class CapacityOptions:
    """Which pods are counted, and over which domains."""

    request: Annotated[
        str | None,
        spelling.valued(
            "--request",
            metavar="RESOURCE=AMOUNT,...",
            help="Count pods that each request this much (cpu=2,memory=4Gi,nvidia.com/gpu=1).",
        ),
    ] = None
    filename: Annotated[
        str | None,
        spelling.filename(
            "Manifest, or KIND/NAME in the cluster: count copies of that pod, with all that it asks for."
        ),
    ] = None
    name: Annotated[
        str | None, spelling.valued("--name", metavar="NAME", help="Workload to use when the manifest has several.")
    ] = None
    namespace: Annotated[str | None, spelling.namespace("Namespace of the pods (default: the current one).")] = None
    tolerate: Annotated[
        list[str] | None,
        spelling.valued(
            "--tolerate", metavar="KEY[=VALUE][:EFFECT]", help="A taint that the pods tolerate. Repeatable."
        ),
    ] = None
    node_selector: Annotated[
        list[str] | None,
        spelling.valued(
            "--node-selector", metavar="KEY=VALUE", help="A label that the pods ask of their nodes. Repeatable."
        ),
    ] = None
    by: Annotated[
        str | None,
        spelling.valued(
            "--by", metavar="KEY", help="Topology key of the domains to total (default: zone, if nodes have one)."
        ),
    ] = None
