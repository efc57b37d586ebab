"""Question about the topology."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from msgspec.structs import replace

from kubespread.errors import UsageError
from kubespread.questions.question import Option, PodQuestion, Workload

if TYPE_CHECKING:
    from kubespread.questions.map.report import TopologyMap
    from kubespread.views.look import Look


class Map(PodQuestion["TopologyMap"], frozen=True, kw_only=True):
    """Draw the topology of a cluster: domains as boxes, nodes as cells, pods as marks.

    With a WORKLOAD, the pods that its first spread constraint counts are marked (without constraints, its own), and
    each domain shows its current skew: matching pods minus the minimum, against maxSkew. Without one, the map shows how
    full each node is: the requested share of its fullest resource.

    \b
    Examples:
      kubespread map
      kubespread map deploy/web -n shop
      kubespread map deploy/web --by load --key zone --key pool -S cluster.json.gz
      kubespread map --drain zone=a
      kubespread map -o csv -S cluster.json.gz
    """

    name = "map"
    summary = "Draw the topology of a cluster, its load or its skew."
    yes = "the map is drawn"
    verdict_counts = False
    outputs = {"table": "a map", "name": "prints the nodes"}
    is_watched = True
    by_place = "pods"

    pods: Annotated[
        tuple[Any, ...],
        Workload(
            "Whose pods to mark: KIND/NAME in the cluster (deploy/web), a manifest, or '-' for standard input.",
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
    by: Annotated[
        Literal["load", "skew"] | None,
        Option(
            "Show how full nodes are, or the pods of WORKLOAD and their skew (default: skew with a WORKLOAD).",
            is_for_scripts=True,
            shown_in=("table",),
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
        if self.by == "skew" and not self.pods:
            raise UsageError("--by skew shows how pods are spread: name their WORKLOAD")
        if (self.named or self.settings) and not self.pods:
            raise UsageError("name and set are for a workload: name one, or leave them out")

    def shown(self, look: Look) -> Look:
        from kubespread.views.look import MapBy

        return replace(look, map_by=MapBy(self.by or ("skew" if self.pods else "load")))
