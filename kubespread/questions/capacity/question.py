"""Question about the room on nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from kubespread.questions.question import Option, Question

if TYPE_CHECKING:
    from kubespread.questions.capacity.report import CapacityReport


class Capacity(Question["CapacityReport"], frozen=True, kw_only=True):
    """Show what nodes have free, how much of it no pod can use and why, and how many pods of one size fit.

    Requests are those that kube-scheduler counts, including init containers, pod-level resources and overhead. With
    --request, copies of a pod without labels or constraints are placed until no more fit; what is left is stranded
    for these. Without it, no size is guessed: only what no pod could use is stranded. How many more replicas of a
    workload fit, simulate says: --replicas max.

    \b
    Examples:
      kubespread capacity
      kubespread capacity --request cpu=2,memory=4Gi --by zone
      kubespread capacity --request cpu=8,nvidia.com/gpu=1 --tolerate nvidia.com/gpu -S cluster.json.gz
      kubespread capacity --request cpu=2 --fail zone=a
    """

    name = "capacity"
    summary = "Show what nodes have free, and how many pods fit."
    yes, no = "some pod fits, or none is asked about", "none fits"
    never_modelled = ("quotas and limit ranges: counts are what nodes hold, not what a namespace may have",)
    outputs = {
        "table": "tables",
        "name": "prints the nodes with room, the emptiest first",
        "csv": "has a row per node",
        "prometheus": "",
    }
    is_watched = True
    by_place = "request"

    request: Annotated[
        str | None,
        Option(
            "Count pods that each request this much (cpu=2,memory=4Gi,nvidia.com/gpu=1).", metavar="RESOURCE=AMOUNT,..."
        ),
    ] = None
    tolerate: Annotated[tuple[str, ...], Option("A taint that the pods tolerate.", metavar="KEY[=VALUE][:EFFECT]")] = ()
    by: Annotated[
        str | None, Option("Topology key of the domains to total (default: zone, if nodes have one).", metavar="KEY")
    ] = None
