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
    by: Annotated[
        str | None,
        spelling.valued(
            "--by", metavar="KEY", help="Topology key of the domains to total (default: zone, if nodes have one)."
        ),
    ] = None
