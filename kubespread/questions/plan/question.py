"""Question about changes that are planned, step by step."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from shlex import quote, split
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec

from kubespread.kube.owners import WorkloadName
from kubespread.questions.question import (
    REQUIREMENTS,
    Applied,
    AutoscalerName,
    DrainingQuestion,
    InstanceTypesFile,
    NodeGroupsFile,
    Option,
    Runs,
    Scenario,
    Seed,
)

if TYPE_CHECKING:
    from kubespread.questions.commands import Commands
    from kubespread.questions.plan.report import PlanReport
    from kubespread.questions.scheduler import Scheduler
    from kubespread.snapshot.snapshot import Snapshot

FailOn = Annotated[
    tuple[Literal["pending", "blocked", "nothing"], ...],
    Option(
        "Exit with 1 when pods are left pending or not created (pending), or when a step was "
        "blocked, refused or not done in full, or preemption broke a disruption budget (blocked). Default: both; "
        "'nothing': never.",
        heading=REQUIREMENTS,
        is_for_scripts=True,
    ),
]


OF_STEPS = (
    "timers and rate limits (evictions, back-offs, progress deadlines): every step runs until nothing changes",
    "what autoscalers of pods, and the descheduler, do meanwhile; nodes are added only where an autoscaler is named",
    "which of several nodes with equal scores a pod gets: it is arbitrary, and other runs take others",
)
"""Parts of the cluster's behavior that are not modeled in steps."""


class Plan(DrainingQuestion["PlanReport"], frozen=True, kw_only=True):
    """Plan everything that is about to change, and show what each step does to pods, nodes and spread.

    Steps can scale, roll out or apply workloads; drain, cordon, taint, label, fail, restore, add, replace or delete
    nodes; and delete pods. After each the controllers and kube-scheduler run until nothing changes anymore. They happen
    one after another: new nodes, manifests (-f), edits in their order, the steps, autoscaled workloads at their
    maximum. The answer says whether each step is done, whether every pod finds a node, which workloads are worse than
    before, and shows rollouts pass by pass. With --autoscaler nodes are added after each step. Before is the cluster
    once what is under way is done.

    \b
    Examples:
      kubespread plan --fail zone=a --scale shop/deploy/web=12
      kubespread plan maintenance.yaml -S cluster.json.gz --fail-on pending
      kubespread plan -f web.yaml 'scale deploy/web=9' 'rollout deploy/web' 'fail zone=a'
      kubespread plan -f k8s/ --add-node node-7:3 --drain pool=old -S cluster.json.gz
      kubespread plan --hpa-max --autoscaler karpenter --instance-types types.yaml
    """

    name = "plan"
    summary = "Show what each planned step does to pods and their spread."
    yes, no = "each step is done, no more pods wait and no workload is worse", "one of these is not so (--fail-on)"
    never_modelled = OF_STEPS
    judges_edits = True
    hands_out = True
    doing = "playing what is planned"
    outputs = {"name": "prints the workloads that are worse"}
    by_place = "scenario"

    scenario: Annotated[
        Any,
        Scenario(
            "Steps after the edits, in order: 'scale deploy/web=9', 'rollout deploy/web', 'fail zone=a', or a file of "
            "kind Scenario ('-': standard input).",
            metavar="[STEP|SCENARIO]...",
        ),
    ] = None
    manifests: Annotated[
        tuple[Any, ...],
        Applied("Manifest, or directory of manifests, to apply: what is new is created, what runs is changed."),
    ] = ()
    create_namespaces: Annotated[
        bool, Option("Create the namespaces of the manifests that are missing; what is in them is refused without.")
    ] = False
    hpa_max: Annotated[bool, Option("Scale every workload with an autoscaler to its maximum, all together.")] = False
    autoscaler: AutoscalerName = None
    node_groups: NodeGroupsFile = None
    instance_types: InstanceTypesFile = None
    namespace: Annotated[
        str | None,
        Option(
            "Namespace of workloads that are named without one, unless the scenario sets it.",
            ("-n", "--namespace"),
            "NAME",
        ),
    ] = None

    fail_on: FailOn = ()
    runs: Runs = None
    seed: Seed = None

    def is_yes(self, report: PlanReport) -> bool | None:
        return True if self.fail_on else None

    def unmet(self, report: PlanReport) -> Iterator[str]:
        yield from report.failures(self.fail_on)

    def clusters(self, opened: Snapshot, scheduler: Scheduler) -> Sequence[tuple[Snapshot, Scheduler]]:
        """A page draws what is there before, and each step from then on."""
        return ((dataclasses.replace(opened, edits=()), scheduler),)

    @property
    def names_in(self) -> str | None:
        return self.namespace

    def next_command(self, report: PlanReport, commands: Commands) -> str:
        if report.verdict == "yes":
            return ""
        if report.remedies and commands.typed:
            command, *words = commands.typed
            # Budgets are changed before nodes are drained.
            typed = (command, *split(report.remedies[0].options), *words)
            return msgspec.structs.replace(commands, typed=typed).same()
        return next_of(report, commands)


def next_of(report: PlanReport, commands: Commands) -> str:
    """The command that says what would let the first refused node go, or why the first pod waits."""
    from kubespread.questions.commands import option_of

    refused = next((step for step in report.steps if not step.is_done), None)
    steps = report.steps if refused is None else report.steps[: refused.number - 1]
    options = [option_of(step.name) for step in steps]
    waiting = next((trouble.subject for trouble in report.whole.of("pending")), None)
    if commands.cluster is not None and all(options):
        before = msgspec.structs.replace(commands, cluster=dataclasses.replace(commands.cluster, edits=()))
        if refused is not None and refused.name.startswith("drain "):
            return before.of_nodes("removable", quote(refused.name.split(" ", 1)[1].partition(" --")[0]), *options)
        if refused is None and isinstance(waiting, WorkloadName):
            return before.of_workload("explain", waiting, *options)
    return commands.same("-v")
