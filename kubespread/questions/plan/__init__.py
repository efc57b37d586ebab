"""Plan of everything that is about to change, and the effect of each step on pods, nodes and spread."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from shlex import quote, split
from typing import TYPE_CHECKING, Annotated, Any, Literal

from msgspec.structs import replace

from kubespread.errors import UsageError
from kubespread.kube.owners import NamespacedName, WorkloadName
from kubespread.questions.question import (
    CHANCE,
    REQUIREMENTS,
    AutoscalerName,
    DrainingQuestion,
    InstanceTypesFile,
    Manifests,
    NodeGroupsFile,
    Option,
    ScenarioFile,
    Seed,
)
from kubespread.reports.columns import Col, Fit, Readers
from kubespread.reports.outcome import (
    LACKING,
    REFUSALS,
    GonePod,
    Outcome,
    PlacedPod,
    Trouble,
    TroubleKind,
    WorkloadChange,
    by_why,
    down_meanwhile,
    explanation,
    in_brief,
    of_unknown,
    phrase,
    phrase_of,
    sentences,
    uneven,
)
from kubespread.reports.parts import Judgment, Range, Report, ScheduledReport, preempted_pods
from kubespread.reports.rollout import RolloutReport
from kubespread.snapshot.edits.pods import Spread
from kubespread.snapshot.edits.verb import Edit
from kubespread.wording import count_of, says, some_of, verb_of

if TYPE_CHECKING:
    from kubespread.questions.commands import Commands

FailOn = Literal["pending", "blocked", "nothing"]
_MAX_NAMED, _MAX_STEPS = 3, 8
_LEFT: Sequence[TroubleKind] = ("lost", *LACKING)


class PlanStep(Outcome, frozen=True, kw_only=True):
    """One step, after everything has settled. Its troubles are relative to the state before the first step."""

    number: Annotated[int, Col(header="STEP")]
    title: str | None = None
    """Title of the step in the scenario; null without one."""
    failed: str | None = None
    """Reason it was not done, or not in full: something does not exist by then."""
    rollouts: tuple[RolloutReport, ...] = ()
    """Rollouts of the workloads with another template."""
    pods_gone: tuple[GonePod, ...] = ()
    """Pods that left their nodes, in order."""
    pods_placed: tuple[PlacedPod, ...] = ()
    """Pods that found a node, in order."""
    replaces: dict[str, str] = {}
    """Name of the replaced node, by that of each node that joined in its place."""
    pending_runs: Range | None = None
    """Additional pending pods since before the first step, over all runs; null for one run, or if all runs agree."""
    stuck_runs: int = 0
    """Number of runs in which it is not done in full, or leaves pods missing or workloads degraded."""

    @property
    def text(self) -> Annotated[str, Col(header="WHAT", fit=Fit.NAMES)]:
        """Event of the step, after its title."""
        return f"{self.title}: {self.name}" if self.title else self.name

    @property
    def skew(self) -> Annotated[str, Col(readers=Readers.RECORDS)]:
        """Hard constraints further above maxSkew than before it."""
        return "; ".join(uneven([self]))

    @property
    def is_done(self) -> Annotated[bool, Col(header="DONE", good=True)]:
        """True if nothing was refused, blocked or cut short."""
        return self.failed is None and all(rollout.complete for rollout in self.rollouts) and not self.get(*REFUSALS)

    @property
    def is_stuck(self) -> bool:
        """True if it is not done in full, or leaves more pods missing or workloads degraded than at first."""
        return not self.is_done or bool(self.get(*LACKING))

    @property
    def may_be_done(self) -> bool:
        """True if nothing keeps it from being done in full for certain."""
        is_complete = self.failed is None and all(rollout.complete for rollout in self.rollouts)
        return is_complete and not any(trouble.certain for trouble in self.get(*REFUSALS))

    @property
    def explanation(self) -> Annotated[str, Col(header="WHY", readers=Readers.RECORDS)]:
        """Reason it was not done, and the troubles it leaves, the worst first."""
        return "; ".join(self.left_over)

    @property
    def left_over(self) -> list[str]:
        """Reason and troubles, one text each; degraded workloads only if no pod of theirs explains it."""
        failed = [] if self.failed is None else self.failed.split("\n")
        kinds = dict.fromkeys(trouble.kind for trouble in self.troubles if trouble.kind not in REFUSALS)
        refused = map(explanation, by_why(self.get(*REFUSALS)).values())
        return [*(f"not done: {line}" for line in failed), *refused, *(phrase(self, kind) for kind in kinds)]

    def merge(self, others: Sequence[PlanStep]) -> PlanStep:
        """The step, combined with its other runs."""
        played = [self, *others]
        return replace(
            self,
            workloads=tuple(
                _merge(own, [same for other in others for same in other.workloads if same.workload == own.workload])
                for own in self.workloads
            ),
            rollouts=tuple(
                rollout.merge(
                    [same for other in others for same in other.rollouts if same.workload == rollout.workload]
                )
                for rollout in self.rollouts
            ),
            pending_runs=Range.from_differing(run.pending for run in played),
            stuck_runs=sum(run.is_stuck for run in played),
        )


def _merge(own: WorkloadChange, others: Sequence[WorkloadChange]) -> WorkloadChange:
    """The workload with the skews of other runs, in which pods of another revision may have been moved."""
    skews = [skew for other in others for skew in other.skew]
    return replace(own, skew=tuple(skew.merge([same for same in skews if same.is_of(skew)]) for skew in own.skew))


class PlanRemedy(Report, frozen=True):
    """Options that make all steps complete in full, verified by playing the plan again."""

    options: str
    """``--budget NAMESPACE/NAME:maxUnavailable=1``, to be put before other options."""
    lost: tuple[NamespacedName, ...] = ()
    """NAMESPACE/name of the pods that are then lost for good."""
    left: str = ""
    """Trouble that is then left, though each step is done in full; empty for none."""

    def __str__(self) -> str:
        verb = verb_of(len(self.lost), "are")
        return f"{self.options} ({some_of(self.lost, _MAX_NAMED)} {verb} lost for good)" if self.lost else self.options


class PlanReport(ScheduledReport, frozen=True, kw_only=True):
    kind: str = "PlanReport"
    name: str | None = None
    """Name of the scenario; null without one."""
    node_count: int
    """Number of nodes in the cluster at first."""
    waiting: tuple[Trouble, ...] = ()
    """Pods pending, or not created, before the first step."""
    start: Outcome
    """Outcome of settling before the first step: pending pods are placed if they fit."""
    steps: tuple[PlanStep, ...]
    """In order."""
    undone: tuple[str, ...] = ()
    """Steps not begun because one before them is blocked."""
    runs: int = 1
    """Number of runs; the first is shown.

    By default there are several where a choice among equal pods, nodes or volumes, or the order of events, is
    arbitrary. Each of the others has a seed, which also decides ties between nodes.
    """
    stuck_runs: int = 0
    """Number of runs with the answer no."""
    remedies: tuple[PlanRemedy, ...] = ()
    """Each alone has all steps done in full, if the plan does not get through as it is."""
    tried: tuple[str, ...] = ()
    """Options tried for remedies, each alone."""

    @property
    def all_notes(self) -> tuple[str, ...]:
        of_steps = (
            note if note.startswith(step.name) else f"step {step.number}: {note}"
            for step in self.steps
            for note in step.notes
        )
        return (*self.notes, *self.start.notes, *of_steps)

    @property
    def whole(self) -> Outcome:
        """Outcome of all steps together: refusals and damage of each, and pods missing after the last."""
        last = self.steps[-1] if self.steps else self.start
        troubles = [trouble for step in self.steps for trouble in step.troubles if trouble.kind not in LACKING]
        return Outcome(name="", troubles=(*troubles, *last.get(*LACKING)), workloads=last.workloads)

    @property
    def step_count(self) -> int:
        """Number of steps, including steps not begun."""
        return len(self.steps) + len(self.undone)

    @property
    def pending(self) -> int:
        """Number of additional pods pending in the end, compared with before."""
        return self.whole.pending

    @property
    def unmade(self) -> int:
        """Number of additional pods not created in the end, compared with before."""
        return self.whole.unmade

    @property
    def blocked_steps(self) -> tuple[int, ...]:
        """Numbers of the steps that were not done in full."""
        return tuple(step.number for step in self.steps if not step.is_done)

    @property
    def worse(self) -> tuple[WorkloadName, ...]:
        """Workloads that are worse in the end than before."""
        lacking = self.whole.get("lost", *LACKING)
        return tuple(dict.fromkeys(trouble.subject for trouble in lacking if isinstance(trouble.subject, WorkloadName)))

    @property
    def stand_ins(self) -> dict[str, str]:
        """Name of the replaced node, by that of each node that replaces it."""
        return {new: old for step in self.steps for new, old in step.replaces.items()}

    @property
    def lost_pods(self) -> list[NamespacedName]:
        """Pods that are gone and that no controller recreates, intended or not."""
        return [pod for step in self.steps for pod in step.lost]

    def failures(self, fail_on: Sequence[FailOn]) -> list[str]:
        """Conditions of ``fail_on`` that are met. Raises UsageError."""
        if "nothing" in fail_on and len(fail_on) > 1:
            raise UsageError("--fail-on nothing does not go with another --fail-on")
        whole = self.whole
        lacking = [phrase_of(alike) for kind in _LEFT if (alike := whole.get(kind))]
        broken = [phrase_of(alike)] if (alike := whole.get("budget")) else []
        unmet = {"pending": lacking, "blocked": [*self._not_done, *broken]}
        return [
            f"--fail-on {key}: {', '.join([*unmet[key], *self.chances])}"
            for key in dict.fromkeys(fail_on)
            if key != "nothing" and (unmet[key] or self.chances)
        ]

    def merge(self, others: Sequence[PlanReport]) -> PlanReport:
        """The report, combined with its other runs."""
        played = [self, *others]
        steps = zip(self.steps, *(other.steps for other in others), strict=True)
        return replace(
            self,
            steps=tuple(own.merge(same) for own, *same in steps),
            runs=len(played),
            stuck_runs=sum(run.judge() == "no" for run in played),
        )

    @property
    def chances(self) -> list[str]:
        """Phrase on how many runs fail, if chance decides; else empty."""
        if not 0 < self.stuck_runs < self.runs:
            return []
        steps = ", ".join(str(step.number) for step in self.steps if step.stuck_runs)
        place = f", in step{'' if len(steps) == 1 else 's'} {steps}" if steps else ""
        return [f"may get stuck ({self.stuck_runs} of {self.runs} runs{place})"]

    def judge(self) -> Judgment:
        if self.stuck_runs or not all(step.may_be_done for step in self.steps):
            return "no"
        return self.whole.verdict

    @property
    def _not_done(self) -> list[str]:
        """Phrase on the number of steps done in full; empty if all were."""
        full = len(self.steps) - len(self.blocked_steps)
        return [] if full == self.step_count else [f"{full:,} of {count_of(self.step_count, 'step')} done in full"]

    @property
    def of_steps(self) -> list[str]:
        """Sentences about steps; steps with the same one share it."""
        failed = (f"step {step.number}: not done: {step.failed}" for step in self.steps if step.failed is not None)
        return [*failed, *sentences(self.steps, _step_names, in_brief(self.whole))]

    def sentences(self) -> Iterator[str]:
        left, preempted = in_brief(self.whole), sum(len(step.preempted) for step in self.steps)
        beside = [] if left else [*([says(preempted, "pod", "were preempted")] if preempted else []), *self._uneven]
        bad = [*self._not_done, *([left] if left else [])] or ["every step done in full"]
        ending = [
            "in the end nothing is worse"
            if self.of_steps or any(step.down for step in self.steps)
            else "nothing is worse"
        ]
        yield "; ".join((*self.chances, *bad, *(beside or ([] if self.blocked_steps or left else ending))))
        yield from self.of_steps
        yield from self._remedies()
        yield from of_unknown(self.whole)
        for step in self.steps:
            if step.preempted:
                yield f"step {step.number} preempts {preempted_pods(step.preempted, _MAX_NAMED)}"
            yield from (f"step {step.number}: {text}" for text in down_meanwhile(step.down))
        if len(self.lost_pods) > self.whole.count("lost"):
            yield f"{says(len(self.lost_pods), 'pod', 'are')} gone for good: {some_of(self.lost_pods, _MAX_NAMED)}"
        if self.undone:
            yield f"not begun: {some_of(self.undone, _MAX_STEPS)}"
        if self.start.placed:
            yield f"{says(self.start.placed, 'waiting pod', 'were placed')} before the first step"
        if waited := sum(trouble.count for trouble in self.waiting):
            yield f"{count_of(waited, 'pod')} pending before the first step"
        if (others := self.tried[_MAX_NAMED:]) and not self.remedies:
            yield f"tried too: {', '.join(others)}"

    @property
    def _uneven(self) -> list[str]:
        skews = [*uneven(self.steps)]
        return [some_of(skews, 1)] if skews else []

    def _remedies(self) -> Iterator[str]:
        through = [str(remedy) for remedy in self.remedies if not remedy.left]
        if len(through) == 1:
            yield f"with {through[0]} it gets through"
        elif through:
            yield f"with any one of these it gets through: {' · '.join(through)}"
        elif self.tried and not self.remedies:
            tried = says(len(self.tried), "change", "were tried")
            yield f"{tried}, and none gets it through: {some_of(self.tried, _MAX_NAMED)}"
        for remedy in [remedy for remedy in self.remedies if remedy.left]:
            yield f"every step is done in full with {remedy}; then {remedy.left}"


def _step_names(steps: Sequence[Outcome]) -> str:
    """``step 2``, ``steps 2, 3 and 5``."""
    numbers = sorted(step.number for step in steps if isinstance(step, PlanStep))
    return f"step{'' if len(numbers) == 1 else 's'} {some_of([str(number) for number in numbers], _MAX_STEPS)}"


OF_STEPS = (
    "timers and rate limits (evictions, back-offs, progress deadlines): every step runs until nothing changes",
    "what autoscalers of pods, and the descheduler, do meanwhile; nodes are added only where an autoscaler is named",
    "which of several nodes with equal scores a pod gets: it is arbitrary, and other runs take others",
)
"""Behavior of clusters that steps do not model."""


class Plan(DrainingQuestion[PlanReport], frozen=True, kw_only=True):
    """Plan everything that is about to change, and show the effect of each step on pods, nodes and spread.

    Steps can scale, roll out or apply workloads; drain, cordon, taint, label, fail, restore, add, replace or delete
    nodes; and delete pods. After each the controllers and kube-scheduler run until nothing changes anymore. They happen
    one after another: constraints (--spread), new nodes, manifests (-f), edits in their order, the steps, autoscaled
    workloads at their maximum. The answer says whether each step is done, whether every pod finds a node, which
    workloads are worse than before, and shows rollouts pass by pass. With --autoscaler nodes are added after each step.
    Before the first step, what is under way is completed.

    \b
    Examples:
      kubespread plan --fail zone=a --scale shop/deploy/web=12
      kubespread plan maintenance.yaml -S cluster.json.gz --fail-on pending
      kubespread plan -f web.yaml 'scale deploy/web=9' 'rollout deploy/web' 'fail zone=a'
      kubespread plan -f k8s/ --add-node node-7:3@pool=new --drain pool=old -S cluster.json.gz
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
        ScenarioFile(
            "Steps after the edits, in order: 'scale deploy/web=9', 'rollout deploy/web', 'fail zone=a', or a file of "
            "kind Scenario ('-': standard input).",
            metavar="[STEP|SCENARIO]...",
        ),
    ] = None
    manifests: Annotated[
        tuple[Any, ...],
        Manifests("Manifest, or directory of manifests, to apply: new objects are created, existing ones changed."),
    ] = ()
    create_namespaces: Annotated[
        bool, Option("Create missing namespaces of what is applied; otherwise objects in them are refused.")
    ] = False
    hpa_max: Annotated[bool, Option("Scale every workload with an autoscaler to its maximum, all together.")] = False
    autoscaler: AutoscalerName = None
    node_groups: NodeGroupsFile = None
    instance_types: InstanceTypesFile = None
    namespace: Annotated[
        str | None,
        Option("Namespace of workloads named without one, unless the scenario sets it.", ("-n", "--namespace"), "NAME"),
    ] = None

    fail_on: Annotated[
        tuple[FailOn, ...],
        Option(
            "Exit with 1 when pods are left pending or not created (pending), or when a step was "
            "blocked, refused or not done in full, or preemption broke a disruption budget (blocked). Default: both; "
            "'nothing': never.",
            heading=REQUIREMENTS,
            is_for_scripts=True,
        ),
    ] = ()
    runs: Annotated[
        int | None,
        Option(
            "Run N times, up to 10000, each with the next seed, and report the range (default: 2 to 8 where a "
            "choice among equals or the order of events is arbitrary, else 1).",
            metavar="N",
            heading=CHANCE,
            least=1,
        ),
    ] = None
    seed: Seed = None

    def check(self, report: PlanReport) -> Iterator[str]:
        yield from report.failures(self.fail_on)

    def next(self, report: PlanReport, commands: Commands) -> str:
        if report.verdict == "yes":
            return ""
        if report.remedies and commands.typed:
            command, *words = commands.typed
            # Budgets are changed before nodes are drained.
            typed = (command, *split(report.remedies[0].options), *words)
            return replace(commands, typed=typed).same()
        return next_of(report, commands)


def next_of(report: PlanReport, commands: Commands) -> str:
    """Command that shows how the first refused node could go, or why the first pending pod waits."""
    from kubespread.questions.commands import option_of

    refused = next((step for step in report.steps if not step.is_done), None)
    steps = report.steps if refused is None else report.steps[: refused.number - 1]
    options = [option_of(step.name) for step in steps]
    waiting = next((trouble.subject for trouble in report.whole.get("pending")), None)
    if commands.cluster is not None and all(options):
        before = replace(commands, cluster=replace(commands.cluster, edits=before_all(commands.cluster.edits)))
        if refused is not None and refused.name.startswith("drain "):
            return before.of_nodes("removable", quote(refused.name.split(" ", 1)[1].partition(" --")[0]), *options)
        if refused is None and isinstance(waiting, WorkloadName):
            return before.of_workload("explain", waiting, *options)
    return ""


def before_all(edits: Sequence[Edit]) -> tuple[Edit, ...]:
    """Edits that are no steps: constraints, which workloads have from the beginning."""
    return tuple(edit for edit in edits if isinstance(edit, Spread))
