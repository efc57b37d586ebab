"""Question about losing zones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Literal

from kubespread.questions.question import (
    AUTOSCALERS,
    AutoscalerName,
    InstanceTypesFile,
    NodeGroupsFile,
    Option,
    WorkloadsQuestion,
)

if TYPE_CHECKING:
    from kubespread.questions.commands import Commands
    from kubespread.questions.survive.report import SurviveReport


class Survive(WorkloadsQuestion["SurviveReport"], frozen=True, kw_only=True):
    """Lose each zone in turn, and show which pods find another node, which stay pending and which workloads degrade.

    All nodes in a domain fall silent: they are tainted, their pods are deleted unless they tolerate that, and
    kube-scheduler places the replacements that controllers create. The Node objects stay, so a lost zone still counts
    as a domain of spread constraints, without pods. With --nodes-deleted they are deleted too, as a cloud provider
    eventually does. Each domain is lost by itself, with --pairs each two together. --autoscaler adds nodes afterwards,
    outside of the lost domain. --fail-on narrows what ends with exit code 1.

    \b
    Examples:
      kubespread survive -A
      kubespread survive -n shop -l tier=web --fail-on pending
      kubespread survive -A --key zone --key hostname -S cluster.json.gz
      kubespread survive -A --fail zone=a
      kubespread survive -A --nodes-deleted
      kubespread survive -A --autoscaler karpenter --instance-types types.yaml --fail-on any
      kubespread survive -A --add-node node-7:3@zone=c --scale shop/deploy/web=12
    """

    name = "survive"
    summary = "Lose each zone in turn, and show which pods stay pending."
    yes, no = "each domain can be lost, or nothing that --fail-on names happens", "some domain cannot, or it does"
    never_modelled = (
        "how long it takes: pods on silent nodes are deleted after about 6 minutes, at a limited rate per zone",
        "which pod of a zone is lost first: in the order of the nodes, and of more than 20 pods a few at once",
        AUTOSCALERS,
        "the order in which pods are made again: as they were lost, where another may leave others pending",
    )
    hands_out = True
    doing = "losing domains"
    outputs = {"name": "prints the degraded workloads, the worst first", "prometheus": ""}
    is_watched = True
    by_place = "keys"

    keys: Annotated[
        tuple[str, ...],
        Option(
            "Lose each domain of this topology key (default: zone, else what pods are spread over, else hostname).",
            ("--key",),
            "KEY",
        ),
    ] = ()
    pairs: Annotated[bool, Option("Lose every two domains of a key together, instead of each by itself.")] = False
    nodes_deleted: Annotated[
        bool, Option("Delete the Node objects of a lost domain too; without, they stay and do not answer.")
    ] = False
    domains: Mapping[str, tuple[str, ...]] = {}
    """By topology key the only domains of it that are lost; of a key that is not here all are."""
    autoscaler: AutoscalerName = None
    node_groups: NodeGroupsFile = None
    instance_types: InstanceTypesFile = None
    fail_on: Annotated[
        tuple[Literal["pending", "short", "lost", "any"], ...],
        Option(
            "Exit with 1 only when losing some domain leaves pods pending or workloads degraded (short), takes pods "
            "that nothing makes again (lost), or any of these.",
            is_for_scripts=True,
        ),
    ] = ()

    def is_yes(self, report: SurviveReport) -> bool:
        return bool(self.fail_on) or not report.is_no

    def unmet(self, report: SurviveReport) -> Iterator[str]:
        from kubespread.reports.outcome import badness, kinds_of, phrase

        losses = sorted(report.losses, key=badness)
        for key in dict.fromkeys(self.fail_on):
            if bad := [loss for loss in losses if loss.fails(key)]:
                kind = kinds_of(bad[0])[0] if key == "any" else key
                yield f"--fail-on {key}: losing {bad[0].name}: {phrase(bad[0], kind)}"

    def next_command(self, report: SurviveReport, commands: Commands) -> str:
        from kubespread.questions.commands import option_of
        from kubespread.reports.outcome import badness

        worst = min(report.losses, key=badness, default=None)
        if worst is None or not worst.troubles:
            return ""
        verbs = ("fail", "delete-node") if report.nodes_deleted else ("fail",)
        words = [option_of(f"{verb} {worst.topology_key}={value}") for verb in verbs for value in worst.values]
        return commands.of("pending", *words) if worst.pending else commands.of_nodes("plan", *words)
