"""What is asked of changes."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING, Annotated

from kubespread.questions.question import Function, Option, PodQuestion, Preemption

if TYPE_CHECKING:
    from kubespread.questions.advise.report import AdviseReport
    from kubespread.questions.commands import Commands

    pass


class Advise(PodQuestion["AdviseReport"], frozen=True, kw_only=True):
    """Find the smallest changes that make a pod or all its replicas fit, each verified by running the engine again.

    Changes to constraints, cordons, node labels, taints, tolerations, requests, node selectors and affinity are tried,
    as are evictions and added nodes: each change alone, at the smallest size that suffices, then two and three together
    if none suffices alone. A change that leaves another pod without a node closes no gap, and is listed apart. Each
    comes with the option that reproduces it and as a patch; --full shows all patches. Cluster edits are applied first.

    \b
    Examples:
      kubespread advise pod.yaml -S cluster.yaml
      kubespread advise pod/web-0 -n shop
      kubespread advise deploy/web -n shop
      kubespread advise deploy/web -n shop --replicas 12 -v
      kubespread advise pod.yaml -S cluster/ -o json | jq -r '.advice.enough[0].options[]'
    """

    name = "advise"
    summary = "Find the smallest changes that make a pod fit."
    yes, no = "it fits, or a change is found that makes it fit", "no change is found"
    never_modelled = (
        "changes of requests other than cpu and memory, of host ports, volumes, and labels that say what a machine is, "
        "such as its zone",
        "combinations beyond a few hundred: those of small changes are tried first",
    )
    function = Function(
        """The smallest changes after which ``pod`` fits some node of ``snapshot``, or all ``replicas`` of it find one.

        Each is found by making it and asking the engine again. Combinations are looked for only where no single change
        suffices. Raises ManifestError, SnapshotError and UsageError.
        """,
        "snapshot pod=pods replicas scheduler",
        "name namespace recursive template_path set preemption",
    )

    replicas: Annotated[
        int | None,
        Option(
            "Ask about N replicas in total, including those already running (default: the workload's own; of a "
            "DaemonSet one more pod).",
            metavar="N",
            least=0,
        ),
    ] = None
    preemption: Preemption = True

    @property
    def makes_room(self) -> bool:
        return self.preemption

    def next_command(self, report: AdviseReport, commands: Commands) -> str:
        first = next(iter(report.advice.enough if report.advice is not None else ()), None)
        options = (option.partition(" ") for option in (() if first is None else first.options))
        words = [f"{name}{blank}{quote(value)}" for name, blank, value in options]
        if words:
            return self.again(commands, "simulate", *words)
        return "" if report.succeeds else self.again(commands, "explain")
