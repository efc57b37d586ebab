"""Question about one pod and every node."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING, Annotated

from kubespread.kube.owners import WorkloadName
from kubespread.questions.question import REPLICAS, Option, PodQuestion

if TYPE_CHECKING:
    from kubespread.questions.commands import Commands
    from kubespread.questions.explain.report import ExplainReport


_SHOWN = "what is shown"


class Explain(PodQuestion["ExplainReport"], frozen=True, kw_only=True):
    """Show which nodes a pod fits and why the others fail, constraint by constraint with the numbers.

    The cluster is the one in the current kubeconfig context, or comes from --snapshot. POD is a manifest, or KIND/NAME
    in the cluster. Every filter plugin is run on every node, so each node shows all of its reasons, not only
    kube-scheduler's first one.

    With --fix the smallest changes are found that make it fit, or all replicas of its workload, each verified by
    running the engine again. Changes to constraints, cordons, node labels, taints, tolerations, requests, node
    selectors and affinity are tried, as are evictions and added nodes: each change alone, at the smallest size that
    suffices, then two and three together if none suffices alone. A change that leaves another pod without a node does
    not count, and is listed separately. Each comes with the option that reproduces it and as a patch; -v shows all
    patches. For a ResourceQuota that refuses pods it says what would be enough.

    \b
    Examples:
      kubespread explain pod.yaml
      kubespread explain pod/web-0 -n shop --context prod
      kubespread explain pod/web-0 -n shop --why-here
      kubespread explain deploy/web -n shop --fix
      kubespread explain deploy/web -n shop --fix --replicas 12
      kubespread explain pod.yaml -S cluster.yaml
      kubectl get nodes,pods,ns,svc,rs,sts,rc,pvc,pv,sc,pc,limits,quota -A -o json | kubespread explain pod.yaml -S -
      kubespread explain deployment.yaml -S cluster/ -o json | jq .message
      kubespread explain - -S cluster.yaml --node node-7 < pod.yaml
    """

    name = "explain"
    summary = "Show which nodes a pod fits and why the others fail."
    yes = "some node fits; with --fix all replicas fit, or a change is found"
    no = "none does, no change is found, or scheduling gates hold the pod back"
    never_modelled = (
        "changes of requests other than cpu and memory, of host ports, volumes, and labels that say what a machine is, "
        "such as its zone",
        "combinations of changes beyond a few hundred: those of small changes are tried first",
    )
    outputs = {"wide": "", "name": "prints the nodes that fit, best first"}
    by_place = "pods"

    nodes: Annotated[
        tuple[str, ...], Option("Explain this node in full, in sentences.", ("--node",), "NAME", says={_SHOWN: "nodes"})
    ] = ()
    with_pods: Annotated[
        bool,
        Option(
            "List the matching pods of each domain.",
            ("--pods",),
            shown_in=("table", "wide", "columns", "json", "yaml"),
            says={_SHOWN: "nodes"},
        ),
    ] = False
    why_here: Annotated[
        bool,
        Option(
            "Show why the node of a running pod won: scores in today's cluster without the pod.", says={_SHOWN: "nodes"}
        ),
    ] = False
    fix: Annotated[
        bool,
        Option(
            "Find the smallest changes that make the pod, or all replicas of its workload, fit.",
            says={_SHOWN: "changes"},
        ),
    ] = False
    replicas: Annotated[
        int | None,
        Option(
            "With --fix, ask about N replicas in total, including running ones (default: the workload's; of a "
            "DaemonSet one more pod).",
            metavar="N",
            least=0,
            says={REPLICAS: "a number"},
            needs=("fix",),
        ),
    ] = None

    def next(self, report: ExplainReport, commands: Commands) -> str:
        if report.gates:
            return ""
        if not self.fix:
            if report.waiting_fit == 0:
                pod = report.waiting[0]
                return commands.of_workload("explain", WorkloadName("Pod", pod.namespace, pod.name))
            makes_room = report.preemption is not None and report.preemption.node is not None
            is_placed = report.schedulable or makes_room
            return self.ask(commands, "simulate") if is_placed else self.ask(commands, "explain", "--fix")
        first = next(iter(report.advice.enough if report.advice is not None else ()), None)
        options = (option.partition(" ") for option in (() if first is None else first.options))
        words = [f"{name}{blank}{quote(value)}" for name, blank, value in options]
        # Of a workload that runs, simulate would place nothing.
        is_about_next = report.fix is not None and report.fix.workload is not None and report.fix.replicas is None
        return self.ask(commands, "explain" if is_about_next else "simulate", *words) if words else ""
