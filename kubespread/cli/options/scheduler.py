"""How it is scheduled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from kubespread.cli.options.helping import valued
from kubespread.kube.versions import NEWEST, OLDEST, UPCOMING

if TYPE_CHECKING:
    from kubespread.questions.scheduler import Scheduler

_AHEAD = f", or 1.{UPCOMING}, which is not released yet" if UPCOMING > NEWEST else ""
RELEASES = f"Kubernetes release to emulate, 1.{OLDEST} to 1.{NEWEST}{_AHEAD}"
DEFAULT_RELEASE = f"the cluster's own, else its newest kubelet's, else 1.{NEWEST}"


@dataclass(frozen=True, slots=True)
class SchedulerOptions:
    """How it is scheduled."""

    scheduler_config: Annotated[
        str | None,
        valued("--scheduler-config", metavar="FILE", help="KubeSchedulerConfiguration to schedule with."),
    ] = None
    scheduler_name: Annotated[
        str | None,
        valued("--scheduler-name", metavar="NAME", help="Profile to use, instead of the pod's schedulerName."),
    ] = None
    kube_version: Annotated[
        str | None,
        valued(
            "--kube-version",
            metavar="1.X[.Y]",
            help=f"{RELEASES} (default: {DEFAULT_RELEASE}).",
        ),
    ] = None
    feature_gates: Annotated[
        str | None,
        valued("--feature-gates", metavar="NAME=true|false,...", help="Feature gates to set for that release."),
    ] = None
    proposed: Annotated[
        str | None,
        valued(
            "--proposed",
            metavar="NAME,...",
            help="Proposed behavior: empty-selector, empty-budget-selector (1.38 has both), fully-tainted-domains.",
        ),
    ] = None
    pod_node_selector: Annotated[
        bool,
        typer.Option(
            "--pod-node-selector",
            help="Apply namespaces' node selectors, as clusters with the PodNodeSelector admission plugin do.",
        ),
    ] = False
    extended_resource_toleration: Annotated[
        bool,
        typer.Option(
            "--extended-resource-toleration",
            help="Let pods tolerate taints that have the key of an extended resource they request (nvidia.com/gpu), as "
            "clusters with the ExtendedResourceToleration admission plugin do: GKE has it.",
        ),
    ] = False

    def scheduler(self) -> Scheduler:
        from kubespread import Scheduler

        return Scheduler(
            config=self.scheduler_config,
            profile=self.scheduler_name,
            kube_version=self.kube_version,
            feature_gates=self.feature_gates,
            proposed=self.proposed,
            pod_node_selector=self.pod_node_selector,
            extended_resource_toleration=self.extended_resource_toleration,
        )
