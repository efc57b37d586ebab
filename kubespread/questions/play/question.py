"""What is asked of a scenario."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from kubespread.questions.question import (
    CHANCE,
    REQUIREMENTS,
    Apart,
    Function,
    Instead,
    Option,
    PlayedQuestion,
    Pod,
    Scenario,
)
from kubespread.questions.registry import part

if TYPE_CHECKING:
    from kubespread.questions.play.report import PlayReport
    from kubespread.questions.scene import Scene


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
        metavar="N", heading=CHANCE, least=1,
    ),
]  # fmt: skip


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
            metavar="STEP", least=0, is_for_scripts=True,
        ),
    ] = None  # fmt: skip
    explain: Annotated[
        str | None,
        Pod(
            "Explain a pod at one moment instead: a manifest, or KIND/NAME in the cluster at that moment.",
            metavar="POD", is_path=True,
        ),
    ] = None  # fmt: skip

    def is_yes(self, report: PlayReport) -> bool | None:
        return True if self.fail_on else None

    def instead(self, scene: Scene) -> Instead | None:
        if self.explain is None:
            return None
        explained = part("play", "answer", "explained")(self, self.explain, scene.snapshot, scene.scheduler)
        return Instead("explain", *explained)

    @property
    def names_in(self) -> str | None:
        return self.namespace

    @property
    def makes_room(self) -> bool:
        preempts: bool = self.preemption and self.scenario.preemption
        return preempts
