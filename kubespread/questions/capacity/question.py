"""Question about the room on nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from kubespread.questions.question import Option, Pod, Question

if TYPE_CHECKING:
    from kubespread.questions.capacity.report import CapacityReport

    pass


_COUNTED = "which pods are counted"


class Capacity(Question["CapacityReport"], frozen=True, kw_only=True):
    """Show what nodes have free, how much of it no pod can use and why, and how many pods of one size fit.

    Requests are those that kube-scheduler counts, including init containers, pod-level resources and overhead. With
    --request, copies of a pod without labels or constraints are placed until no more fit, with POD copies of a pod
    of a manifest, or more of a workload's in the cluster; what is left is stranded for these. Without either, no
    size is guessed: only what no pod could use is stranded.

    \b
    Examples:
      kubespread capacity
      kubespread capacity --request cpu=2,memory=4Gi --by zone
      kubespread capacity --request cpu=8,nvidia.com/gpu=1 --tolerate nvidia.com/gpu -S cluster.json.gz
      kubespread capacity sts/mongo -n shop
      kubespread capacity deployment.yaml
      kubespread capacity --request cpu=2 --fail zone=a
    """

    name = "capacity"
    summary = "Show what nodes have free, and how many pods fit."
    yes, no = "some pod fits, or none is asked about", "none fits"
    never_modelled = (
        "quotas and limit ranges of pods that no manifest describes: counts are what nodes hold, not what a namespace "
        "may have",
    )
    outputs = {
        "table": "tables",
        "name": "prints the nodes with room, the emptiest first",
        "csv": "has a row per node",
        "prometheus": "",
    }
    is_watched = True
    by_place = "request"

    pods: Annotated[
        tuple[Any, ...],
        Pod(
            "Manifest, or KIND/NAME in the cluster: count copies of that pod, with all that it asks for.",
            ("-f", "--filename"),
            "FILE",
            says={_COUNTED: "by manifest"},
        ),
    ] = ()
    request: Annotated[
        str | None,
        Option(
            "Count pods that each request this much (cpu=2,memory=4Gi,nvidia.com/gpu=1).",
            metavar="RESOURCE=AMOUNT,...",
            says={_COUNTED: "by size"},
        ),
    ] = None
    named: Annotated[str | None, Option("Workload to use when the manifest has several.", ("--name",), "NAME")] = (
        msgspec.field(default=None, name="name")
    )
    namespace: Annotated[
        str | None, Option("Namespace of the pods (default: the current one).", ("-n", "--namespace"), "NAME")
    ] = None
    tolerate: Annotated[
        tuple[str, ...],
        Option("A taint that the pods tolerate.", metavar="KEY[=VALUE][:EFFECT]", says={_COUNTED: "by size"}),
    ] = ()
    by: Annotated[
        str | None, Option("Topology key of the domains to total (default: zone, if nodes have one).", metavar="KEY")
    ] = None
