"""Question about the topology."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from kubespread.errors import UsageError
from kubespread.questions.question import Option, PodQuestion, WorkloadOption

if TYPE_CHECKING:
    from kubespread.questions.map.report import TopologyMap


class Map(PodQuestion["TopologyMap"], frozen=True, kw_only=True):
    """Draw the topology of a cluster: domains as boxes, nodes as cells, pods as marks.

    With a WORKLOAD, the pods that its first spread constraint counts are marked (without constraints, its own), and
    each domain shows its current skew: matching pods minus the minimum, against maxSkew. Without one, the map shows how
    full each node is: the requested share of its fullest resource.

    \b
    Examples:
      kubespread map
      kubespread map deploy/web -n shop
      kubespread map deploy/web --key zone --key pool -S cluster.json.gz
      kubespread map --drain zone=a
      kubespread map -o csv -S cluster.json.gz
    """

    name = "map"
    summary = "Draw the topology of a cluster, its load or its skew."
    yes = "the map is drawn"
    outputs = {"table": "a map", "name": "prints the nodes"}
    by_place = "pods"

    pods: Annotated[
        tuple[Any, ...],
        WorkloadOption(
            "Workload with the pods to mark: KIND/NAME in the cluster (deploy/web), a manifest, or '-' "
            "for standard input.",
            metavar="[WORKLOAD]",
        ),
    ] = ()
    namespace: Annotated[
        str | None,
        Option(
            "Namespace to use when the manifest sets none.",
            ("-n", "--namespace"),
            "NAME",
            needs=("workload", "filename", "manifest", "evict", "delete_pods", "scale"),
        ),
    ] = None
    keys: Annotated[
        tuple[str, ...],
        Option(
            "Group nodes by this topology key, widest first (default: region, zone, rack and the keys of the "
            "constraints).",
            ("--key",),
            "KEY",
        ),
    ] = ()
    selector: Annotated[
        str, Option("Without a workload, mark the pods with these labels (app=web,tier!=db).", is_typed=False)
    ] = ""

    def __post_init__(self) -> None:
        if (self.named or self.settings) and not self.pods:
            raise UsageError("name and set are for a workload: name one, or leave them out")
