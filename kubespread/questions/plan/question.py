"""What is asked of changes that are planned: of the cluster before and after them, or step by step."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

from kubespread.questions.audit.question import Audit
from kubespread.questions.question import (
    AUTOSCALER_TYPES,
    CHANCE,
    OF_AUTOSCALER,
    REQUIREMENTS,
    Apart,
    Applied,
    AutoscalerName,
    DrainingQuestion,
    Function,
    InstanceTypesFile,
    Instead,
    NodeGroupsFile,
    Option,
    PlayedQuestion,
    Pod,
    PriceFile,
    Scenario,
)
from kubespread.questions.registry import part
from kubespread.questions.removable.question import Removable
from kubespread.questions.survive.question import Survive

if TYPE_CHECKING:
    from kubespread.questions.commands import Commands
    from kubespread.questions.plan.report import PlanReport, PlayReport
    from kubespread.questions.scene import Scene
    from kubespread.questions.scheduler import Scheduler
    from kubespread.snapshot.snapshot import Snapshot

FailOn = Annotated[
    tuple[Literal["pending", "blocked", "nothing"], ...],
    Option(
        "Exit with 1 when pods are left pending, not created or not made yet (pending), or when a step was "
        "blocked, refused or not done in full, or preemption broke a disruption budget (blocked). Default: both; "
        "'nothing': never.",
        heading=REQUIREMENTS,
        is_for_scripts=True,
    ),
]
Deals = Annotated[
    int | None,
    Option(
        "Play N times, with equal pods and nodes dealt anew each time, and say how often it gets stuck (default: 8 "
        "where controllers pick among equal pods or nodes, else 1).",
        metavar="N",
        heading=CHANCE,
        least=1,
    ),
]


class Play(PlayedQuestion["PlayReport"], frozen=True, kw_only=True):
    """Play a scenario step by step, and show what each step does to pods and their spread.

    Steps can scale, roll out, roll back or apply workloads; drain, cordon, taint, label, fail, restore, add or remove
    nodes; and delete pods. After each step the controllers and kube-scheduler run until nothing changes anymore.
    Rollouts are shown pass by pass. Options that edit the cluster are applied before the first step.

    \b
    Examples:
      kubespread play rollout.yaml
      kubespread play zone-outage.yaml -S cluster.json.gz --fail-on pending
      kubespread play zone-outage.yaml -S cluster.json.gz --at 2 --explain deploy/web
      kubespread play maintenance.yaml -o json | jq '.steps[].happened.pending'
    """

    name = "play"
    summary = "Play a scenario step by step."
    yes, no = "all steps are done and no pod is pending", "one is blocked or pods are pending (--fail-on)"
    never_modelled = (
        "timers and rate limits (evictions, back-offs, progress deadlines): every step runs until nothing changes",
        "what autoscalers of pods and nodes, and the descheduler, do meanwhile",
        "which of several nodes with equal scores a pod gets: it is arbitrary, and other deals take others",
    )
    apart = (
        Apart("explain", ("fail_on",), "the exit code says whether the pod fits"),
        Apart("explain", ("deals", "jobs", "engine", "timeout"), "one moment of one deal is explained"),
    )
    needs = {"at": ("explain",)}
    hands_out = True
    doing = "playing deals"
    outputs = {"table": "tables", "wide": "adds the order in which nodes that fail lose their pods", "plain": "columns"}
    function = Function(
        """What becomes of the cluster when the steps of ``scenario`` happen one after another.

        A scenario is a path, the text of a file, plain data or a `Scenario`. What names nothing of the cluster is found
        before anything is played; what goes wrong on the way is said of its step. Where controllers delete some of
        several equal pods it is chance which; fewer than 8 deals are played where very many pods move.

        Raises ManifestError, SnapshotError and UsageError.
        """,
        "snapshot scenario scheduler",
        "namespace deals jobs timeout on_progress",
    )

    scenario: Annotated[
        Any, Scenario("File of kind Scenario, YAML or JSON; '-' for standard input.", metavar="SCENARIO")
    ]
    namespace: Annotated[
        str | None,
        Option(
            "Namespace of workloads that are named without one, unless the scenario sets it.",
            ("-n", "--namespace"),
            "NAME",
        ),
    ] = None
    fail_on: FailOn = ()
    deals: Deals = None
    at: Annotated[
        int | None,
        Option(
            "With --explain, the step after which to explain the pod (default: the last; 0: before the first).",
            metavar="STEP",
            least=0,
            is_for_scripts=True,
        ),
    ] = None
    explain: Annotated[
        str | None,
        Pod(
            "Explain a pod at one moment instead: a manifest, or KIND/NAME in the cluster at that moment.",
            metavar="POD",
            is_path=True,
        ),
    ] = None

    def is_yes(self, report: PlayReport) -> bool | None:
        return True if self.fail_on else None

    def instead(self, scene: Scene) -> Instead | None:
        if self.explain is None:
            return None
        return Instead("explain", *part("plan", "playing", "explained")(self, self.explain, scene))

    @property
    def names_in(self) -> str | None:
        return self.namespace

    @property
    def makes_room(self) -> bool:
        preempts: bool = self.preemption and self.scenario.preemption
        return preempts


class Plan(DrainingQuestion["PlanReport"], frozen=True, kw_only=True):
    """Plan everything that is about to change, and compare the cluster before and after.

    Manifests (-f, -k), edits, the steps of a scenario and pools to replace are played one after another: new nodes,
    manifests, edits in their order, the scenario, autoscaled workloads at their maximum, then nodes of replaced pools
    are drained and go; in another order where only that gets through, which the answer says. Both clusters are audited,
    lose each zone in turn, do without nodes and are mapped. The answer says whether every pod finds a node, which
    workloads change (ready pods, spread, what they survive), which nodes do, and which pods leave theirs; --steps shows
    what each step does instead, -o scenario prints the steps. With --autoscaler nodes are added after each step. Before
    is the cluster once what is under way is done, of its own release; after is that of --kube-version.

    \b
    Examples:
      kubespread plan --fail-hard zone=a --scale shop/deploy/web=12
      kubespread plan maintenance.yaml --steps
      kubespread plan -f k8s/ --add-node node-7:3 --drain pool=old -S cluster.json.gz
      kubespread plan --drain pool=old -o scenario > plan.yaml && kubespread play plan.yaml
      kubespread plan --replace-pool web=8x16 --hpa-max --prices prices.yaml
      kubespread plan --hpa-max --autoscaler karpenter --instance-types types.yaml
      kubespread plan --kube-version 1.37
    """

    name = "plan"
    summary = "Compare the cluster before and after all that is planned."
    yes, no = "each step is done, no more pods wait and no workload is worse", "one of these is not so"
    never_modelled = (*Play.never_modelled, *Audit.never_modelled, *Survive.never_modelled, *Removable.never_modelled)
    apart = (Apart("by_step", ("prices",), "costs are compared before and after"),)
    needs = OF_AUTOSCALER
    hands_out = True
    doing = "playing what is planned"
    outputs = {"table": "tables", "name": "prints the workloads that change, the worst first", "scenario": ""}
    function = Function(
        """What becomes of the cluster when everything that is planned is done: the edits of ``snapshot``, the manifests
        to apply, paths, text or plain data as `explain` takes them, and the steps of a scenario as `play` takes it.

        Raises ManifestError, SnapshotError and UsageError.
        """,
        "snapshot manifests scheduler",
        "scenario create_namespaces replace_pool hpa_max autoscaler node_groups instance_types prices namespace "
        "preemption ignore_daemonsets delete_emptydir_data force jobs timeout on_progress",
        types={"replace_pool": "str | Sequence[str]", "scenario": "ScenarioGiven | None", **AUTOSCALER_TYPES},
    )

    scenario: Annotated[
        Any, Scenario("File of kind Scenario whose steps are played after the edits.", metavar="[SCENARIO]")
    ] = None
    manifests: Annotated[
        tuple[Any, ...],
        Applied("Manifest, or directory of manifests, to apply: what is new is created, what runs is changed."),
    ] = ()
    create_namespaces: Annotated[
        bool, Option("Create the namespaces of the manifests that are missing; what is in them is refused without.")
    ] = False
    replace_pool: Annotated[
        tuple[str, ...],
        Option(
            "Replace the nodes of a pool, by its name or as KEY=VALUE, by as many or COUNT nodes of another size "
            "(8x16: 8 CPUs, 16 GiB), or by copies of a node or of a Node manifest.",
            metavar="POOL=CPUxGI[:COUNT][@KEY=VALUE]",
            is_path=True,
        ),
    ] = ()
    hpa_max: Annotated[bool, Option("Scale every workload with an autoscaler to its maximum, all together.")] = False
    by_step: Annotated[
        bool,
        Option(
            "Show what each step does to pods and their spread, as play does, instead of before and after.",
            ("--steps",),
            is_for_scripts=True,
            shown_in=("table", "plain", "json", "yaml", "markdown", "csv"),
        ),
    ] = False
    autoscaler: AutoscalerName = None
    node_groups: NodeGroupsFile = None
    instance_types: InstanceTypesFile = None
    prices: PriceFile = None
    namespace: Annotated[
        str | None,
        Option(
            "Namespace of workloads that are named without one, unless the scenario sets it.",
            ("-n", "--namespace"),
            "NAME",
        ),
    ] = None

    def instead(self, scene: Scene) -> Instead | None:
        return Instead("play", *part("plan", "answer", "shown")(self, scene)) if self.by_step else None

    def signed(self, answer: PlanReport, undone: Sequence[str] = ()) -> PlanReport:
        """Its edits are its steps, whose order it may change, and it judges them itself."""
        return super().signed(answer)

    def clusters(self, opened: Snapshot, scheduler: Scheduler) -> Sequence[tuple[Snapshot, Scheduler]]:
        """A page draws what is there before, and each step from then on."""
        return ((dataclasses.replace(opened, edits=()), scheduler),)

    @property
    def names_in(self) -> str | None:
        return self.namespace

    @property
    def makes_room(self) -> bool:
        return self.preemption and (self.scenario is None or self.scenario.preemption)

    @property
    def adds_no_nodes(self) -> bool:
        return self.autoscaler is None and (self.scenario is None or self.scenario.autoscaler is None)

    def next_command(self, report: PlanReport, commands: Commands) -> str:
        return "" if report.verdict == "yes" or self.prices is not None else commands.same("--steps")
