"""Pods to evict so that topology spread constraints hold again, and the order to evict them in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

from kubespread.kube.owners import NamespacedName, WorkloadName
from kubespread.questions.question import Option, WorkloadsQuestion
from kubespread.reports.columns import Col, Fit, Readers
from kubespread.reports.outcome import PlacedPod
from kubespread.reports.parts import DomainChange, Judgment, OfWorkloads, Report
from kubespread.wording import count_of, short_key, some_of

if TYPE_CHECKING:
    from kubespread.questions.commands import Commands


def _names(workloads: tuple[WorkloadName, ...]) -> str:
    return some_of([workload.name for workload in workloads], 1)


class RebalancedConstraint(Report, frozen=True):
    """A constraint that is violated, or with counts that the plan changes."""

    workloads: Annotated[tuple[WorkloadName, ...], Col(text=_names, fit=Fit.NAMES)]
    """NAMESPACE/Kind/name of the workloads with the constraint."""
    topology_key: Annotated[str, Col(header="KEY", text=short_key)]
    max_skew: Annotated[int, Col()]
    when_unsatisfiable: Annotated[str, Col(readers=Readers.RECORDS)]
    selector: str
    skew_before: Annotated[int, Col(header="SKEW")]
    """Fullest domain's pods minus the global minimum, which is 0 below minDomains."""
    skew_after: Annotated[int, Col(short="AFTER")]
    """Skew after the plan."""
    domains: tuple[DomainChange, ...]
    """Counted domains, by value."""

    @property
    def holds_after(self) -> bool:
        return self.skew_after <= self.max_skew


class EvictionStep(Report, frozen=True):
    """One eviction, to be made once the previous replacement runs."""

    number: Annotated[int, Col(header="STEP")]
    pod: Annotated[NamespacedName, Col(text=lambda pod: pod.short_name, fit=Fit.NAMES)]
    """NAMESPACE/name."""
    node: Annotated[str, Col(fit=Fit.NAMES)]
    """Node the pod is on."""
    lands_on: Annotated[str, Col(fit=Fit.NAMES)]
    """Node that kube-scheduler chooses for the replacement."""
    workload: Annotated[WorkloadName, Col(readers=Readers.RECORDS)]
    commands: Annotated[tuple[str, ...], Col(readers=Readers.PAGES, value="\n".join, is_command=True)]
    """kubectl commands: evict through the API, wait until the pod is gone, wait until its workload is complete."""


class StayingPods(Report, frozen=True, gc=False):
    """Pods that are not evicted, for one reason."""

    why: str
    """Reason, in a few words."""
    pods: int
    """Number of these pods."""

    def __str__(self) -> str:
        return f"{self.pods:,} {self.why}"


class Obstacle(Report, frozen=True):
    """Reason tried evictions did not help constraints that stay violated."""

    workloads: tuple[WorkloadName, ...]
    """NAMESPACE/Kind/name of the workloads with the constraints."""
    why: str
    """Reason in one sentence."""
    tried: int
    """Number of tried evictions, of different kinds of pods, with this reason."""


class DeschedulerRound(Report, frozen=True):
    """One cycle of the descheduler, after which controllers recreate pods and kube-scheduler places them."""

    number: Annotated[int, Col(header="ROUND")]
    evicted: Annotated[tuple[NamespacedName, ...], Col(value=len)]
    """NAMESPACE/name of the evicted pods."""
    placed: tuple[PlacedPod, ...]
    """Their replacements, with their nodes."""
    pending: Annotated[int, Col(bad=True)]
    """Number of pods without a node afterwards."""
    violated: Annotated[int, Col(bad=True)]
    """Number of the question's constraints violated afterwards."""
    held: Annotated[tuple[StayingPods, ...], Col(value=lambda staying: list(map(str, staying)), fit=Fit.SENTENCE)]
    """Chosen pods that stay, by reason."""


class RebalanceReport(OfWorkloads, frozen=True, kw_only=True):
    kind: str = "RebalanceReport"
    soft: bool
    """True if constraints with ScheduleAnyway must hold too."""
    workloads: int
    nodes: int
    pending_before: int = 0
    """Pods pending before any eviction, once the cluster has settled."""
    constraints_in_force: int
    """Number of distinct constraints of the workloads."""
    violated_before: int
    """Number of these constraints violated now."""
    violated_after: int
    """Number of these constraints violated after the plan."""
    constraints: tuple[RebalancedConstraint, ...]
    steps: tuple[EvictionStep, ...]
    """The plan; empty if nothing needs to be done, or nothing helps."""
    at_least: int
    """Lower bound on evictions: no plan with fewer makes all constraints hold."""
    is_fewest: bool
    """True if the plan has that many steps and makes all constraints hold."""
    obstacles: tuple[Obstacle, ...]
    """Empty if all constraints hold in the end."""
    staying: tuple[StayingPods, ...]
    """Pods of the workloads that a plan may not evict."""
    rounds: tuple[DeschedulerRound, ...]
    """Rounds of the descheduler with the policy, up to the first without evictions and 20 at most; empty without a
    policy.
    """

    @property
    def holds(self) -> bool:
        """True if all constraints hold after the plan."""
        return not self.violated_after

    def judge(self) -> Judgment:
        return "yes" if self.holds else "no"

    def sentences(self) -> Iterator[str]:
        """Yield the outcome of the plan, the obstacles, and the outcome of the descheduler."""
        yield self._outcome
        if self.staying:
            pods = (f"{count_of(row.pods, 'pod')} {row.why}" for row in self.staying)
            yield f"never evicted: {', '.join(pods)}"
        for obstacle in self.obstacles:
            tried = count_of(obstacle.tried, "eviction")
            yield f"{', '.join(name.short_name for name in obstacle.workloads[:3])}: {tried} tried: {obstacle.why}"
        if self.rounds:
            yield self._descheduler

    @property
    def _outcome(self) -> str:
        number = self.constraints_in_force
        if not number:
            return "nothing to do: no such constraint is in force"
        whole = "the constraint holds" if number == 1 else f"all {number:,} constraints hold"
        if not self.violated_before:
            return f"nothing to do: {whole}"
        evictions = count_of(len(self.steps), "eviction")
        if self.holds:
            fewest = "the fewest possible" if self.is_fewest else f"at least {self.at_least} of which any plan needs"
            return f"{evictions}, {fewest}: then {whole}"
        stays = "stays" if self.violated_after == 1 else "stay"
        which = "the constraint" if number == 1 else f"{self.violated_after} of {number:,} constraints"
        after = f" after {evictions}" if self.steps else ""
        return f"{which} {stays} violated{after}, no better plan was found"

    @property
    def _descheduler(self) -> str:
        evictions, last = sum(len(cycle.evicted) for cycle in self.rounds), self.rounds[-1]
        stay = f"{count_of(last.violated, 'constraint')} {'stays' if last.violated == 1 else 'stay'} violated"
        result = stay if last.violated else "all constraints hold"
        when = f"after {count_of(len(self.rounds) - (not last.evicted), 'round')} and {count_of(evictions, 'eviction')}"
        if not evictions:
            return f"the descheduler evicts nothing: {result}"
        return f"the descheduler {'does not rest' if last.evicted else 'rests'} {when}: {result}"


class Rebalance(WorkloadsQuestion["RebalanceReport"], frozen=True, kw_only=True):
    """Find the fewest evictions, and their order, after which the topology spread constraints hold again.

    Each replacement is placed as kube-scheduler would place it, and no disruption budget is violated. The plan is
    printed with the kubectl commands that carry it out; nothing is evicted. Only pods of Deployments, ReplicaSets,
    ReplicationControllers and StatefulSets are evicted, each at most once.

    \b
    Examples:
      kubespread rebalance deploy/web
      kubespread rebalance -A -S cluster.json.gz
      kubespread rebalance -n shop --soft --descheduler policy.yaml
      kubespread rebalance deploy/web --uncordon node-7 -o json | jq '.steps[].pod'
    """

    name = "rebalance"
    summary = "Find the fewest evictions after which constraints hold."
    yes, no = "all constraints hold or can", "no plan found"
    never_modelled = (
        "replacements that come up while others are evicted: each step waits for the one before",
        "plans that evict a replacement again, or pods of workloads that are not asked about",
    )
    doing = "trying evictions"
    outputs = {
        "table": "tables and commands",
        "name": "prints the pods to evict, one namespace/pod a line",
        "csv": "has a row per eviction",
    }
    by_place = "workloads"

    soft: Annotated[
        bool, Option("Also satisfy soft constraints (ScheduleAnyway), including the scheduler's built-in ones.")
    ] = False
    descheduler: Annotated[
        str | None,
        Option(
            "Also show what the descheduler would do with this DeschedulerPolicy, round by round.",
            metavar="FILE",
            is_path=True,
        ),
    ] = None

    def next(self, report: RebalanceReport, commands: Commands) -> str:
        # The evictions themselves come next where there are any.
        stuck = [] if report.steps else [name for obstacle in report.obstacles for name in obstacle.workloads]
        return next((commands.of_workload("audit", name) for name in stuck), "")
