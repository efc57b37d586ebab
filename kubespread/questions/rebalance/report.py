"""Which pods to evict so that topology spread constraints hold again, and what the descheduler would do instead."""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.kube.owners import NamespacedName, WorkloadName
from kubespread.kube.well_known import DO_NOT_SCHEDULE
from kubespread.reports.parts import DomainChange, Judgment, OfWorkloads, Report
from kubespread.wording import count_of


class RebalancedConstraint(Report, frozen=True):
    """A constraint that is violated, or whose counts the plan changes."""

    workloads: tuple[WorkloadName, ...]
    """NAMESPACE/Kind/name of those that have it."""
    topology_key: str
    when_unsatisfiable: str
    max_skew: int
    min_domains: int | None
    selector: str
    source: str
    """``pod``, ``profile`` or ``system``: whether it is the pod's own or a default one."""
    minimum_before: int
    """The global minimum, which is 0 while there are fewer domains than minDomains."""
    minimum_after: int
    """The global minimum once the plan is done."""
    skew_before: int
    """The fullest domain's pods minus the global minimum."""
    skew_after: int
    """The skew once the plan is done."""
    domains: tuple[DomainChange, ...]
    """Those that count, by value."""

    @property
    def is_hard(self) -> bool:
        return self.when_unsatisfiable == DO_NOT_SCHEDULE

    @property
    def held_before(self) -> bool:
        return self.skew_before <= self.max_skew

    @property
    def holds_after(self) -> bool:
        return self.skew_after <= self.max_skew

    @property
    def steady(self) -> bool:
        """Whether the plan changes none of its counts."""
        return all(domain.before == domain.after for domain in self.domains)


class DomainMove(Report, frozen=True, gc=False):
    """The domains of a pod and of its replacement; null where the node lacks the label."""

    topology_key: str
    before: str | None
    """The value of the pod's node."""
    after: str | None
    """The value of its replacement's node."""


class EvictionStep(Report, frozen=True):
    """One eviction, to be made once the replacement of the one before runs."""

    number: int
    """From 1."""
    pod: NamespacedName
    """NAMESPACE/name."""
    workload: WorkloadName
    """NAMESPACE/Kind/name."""
    node: str
    """Where the pod is."""
    lands_on: str
    """The node that kube-scheduler chooses for the replacement."""
    domains: tuple[DomainMove, ...]
    """Of the topology keys of the constraints."""
    waits_for: str | None
    """The budget that refuses until the pods evicted before are replaced."""
    edit: str
    """The edit that plays the step: ``evict NAMESPACE/NAME``."""
    commands: tuple[str, ...]
    """kubectl's: evict through the API, wait until the pod is gone, wait until its workload is whole."""


class StayingPods(Report, frozen=True, gc=False):
    """Pods that are not evicted for the same reason."""

    why: str
    """What keeps them, in a few words."""
    pods: int
    """How many."""


class Obstacle(Report, frozen=True):
    """The fault of the evictions tried for constraints that stay violated."""

    workloads: tuple[WorkloadName, ...]
    """NAMESPACE/Kind/name of those that have the constraints."""
    why: str
    """In one sentence."""
    tried: int
    """How many of the tried evictions, of different sorts of pods, had this fault."""


class MarkedPod(Report, frozen=True, gc=False):
    pod: NamespacedName
    """NAMESPACE/name."""
    deletion_cost: int
    """The annotation ``controller.kubernetes.io/pod-deletion-cost``: the controller deletes the lowest first."""


class ScaleDown(Report, frozen=True):
    """A smaller workload whose constraints hold without any eviction, when its controller deletes the right pods.

    Marked like this it deletes pods of the fullest domains first, also where it is scaled down by less.
    """

    workload: WorkloadName
    """NAMESPACE/Kind/name."""
    replicas: int
    """The desired number now."""
    replicas_after: int
    """With how many its constraints hold."""
    pods: tuple[MarkedPod, ...]
    """In the order in which they are deleted."""
    commands: tuple[str, ...]
    """The commands that mark each of them; the scale-down itself is not among them."""


class DeschedulerRound(Report, frozen=True):
    """One cycle of the descheduler, after which controllers recreate pods and kube-scheduler places them."""

    number: int
    """From 1."""
    evicted: tuple[NamespacedName, ...]
    """NAMESPACE/name."""
    held: tuple[StayingPods, ...]
    """Chosen pods that stay, by reason."""
    pending: int
    """Pods without a node afterwards."""
    violated: int
    """Constraints of the question that do not hold afterwards."""


class DeschedulerReport(Report, frozen=True):
    policy: str
    """The file it was read from."""
    rounds: tuple[DeschedulerRound, ...]
    """Up to the first one that evicts nothing, that brings back an earlier state, or that is the last one played."""
    evictions: int
    """Of all rounds."""
    settles: bool
    """Whether a round evicts nothing."""
    repeats: int | None
    """The round after which everything was as it is after the last one; null where that did not happen."""
    holds: bool
    """Whether all constraints of the question hold in the end."""
    not_modelled: tuple[str, ...]


class RebalanceReport(OfWorkloads, frozen=True, kw_only=True):
    kind: str = "RebalanceReport"
    soft: bool
    """Whether constraints with ScheduleAnyway must hold too."""
    workloads: int
    """How many workloads were looked at."""
    nodes: int
    """How many the cluster has."""
    pending_before: int = 0
    """Pods that are pending before anything is evicted, once the cluster has settled."""
    constraints_in_force: int
    """How many constraints the workloads have, each counted once."""
    violated_before: int
    """How many of these constraints do not hold now."""
    violated_after: int
    """How many do not once the plan is done."""
    constraints: tuple[RebalancedConstraint, ...]
    """In the order of their letters."""
    steps: tuple[EvictionStep, ...]
    """The plan; empty where nothing needs to be done, or nothing helps."""
    at_least: int
    """No plan of any order evicts fewer pods and makes all constraints hold."""
    is_fewest: bool
    """Whether that is proven to be the number of steps; where constraints stay violated, that no plan does better."""
    waits: int
    """How many steps have to wait for a budget."""
    obstacles: tuple[Obstacle, ...]
    """Empty where all constraints hold in the end."""
    staying: tuple[StayingPods, ...]
    """Pods of the workloads that no plan evicts."""
    scale_downs: tuple[ScaleDown, ...]
    """Scale-downs that would work instead of evictions."""
    descheduler: DeschedulerReport | None
    """Null where no policy was given."""

    @property
    def holds(self) -> bool:
        """Whether all constraints hold once the plan is done."""
        return not self.violated_after

    def judged(self) -> Judgment:
        return "yes" if self.holds else "no"

    def sentences(self) -> Iterator[str]:
        """Whether the constraints hold, or what it takes; the obstacles, and what the descheduler does."""
        yield self._outcome
        if self.staying:
            pods = (f"{count_of(row.pods, 'pod')} {row.why}" for row in self.staying)
            yield f"never evicted: {', '.join(pods)}"
        for obstacle in self.obstacles:
            tried = count_of(obstacle.tried, "eviction")
            yield f"{', '.join(workload.called for workload in obstacle.workloads[:3])}: {tried} tried: {obstacle.why}"
        if self.descheduler is not None:
            yield _descheduler(self.descheduler)

    @property
    def _outcome(self) -> str:
        number = self.constraints_in_force
        if not number:
            return "nothing to do: no such constraint is in force"
        whole = "the constraint holds" if number == 1 else f"all {number:,} constraints hold"
        if not self.violated_before:
            return f"nothing to do: {whole}"
        waits = f", {self.waits} of which {'waits' if self.waits == 1 else 'wait'} for a budget" if self.waits else ""
        evictions = count_of(len(self.steps), "eviction")
        if self.holds:
            fewest = "the fewest possible" if self.is_fewest else f"at least {self.at_least} of which any plan needs"
            return f"{evictions}, {fewest}{waits}: then {whole}"
        stays = "stays" if self.violated_after == 1 else "stay"
        which = "the constraint" if number == 1 else f"{self.violated_after} of {number:,} constraints"
        else_ = "else " if self.staying else ""
        proven = f"whatever {else_}is evicted in whatever order" if self.is_fewest else "no better plan was found"
        after = f" after {evictions}{waits}" if self.steps else ""
        return f"{which} {stays} violated{after}, {proven}"


def _descheduler(descheduler: DeschedulerReport) -> str:
    rounds = count_of(len(descheduler.rounds) - descheduler.settles, "round")
    evictions = count_of(descheduler.evictions, "eviction")
    violated = descheduler.rounds[-1].violated
    stay = f"{count_of(violated, 'constraint')} {'stays' if violated == 1 else 'stay'} violated"
    result = "all constraints hold" if descheduler.holds else stay
    if descheduler.settles and not descheduler.evictions:
        return f"the descheduler evicts nothing: {result}"
    if descheduler.settles:
        return f"the descheduler rests after {rounds} and {evictions}: {result}"
    if descheduler.repeats is not None:
        repeated = f"after {rounds} all is as after round {descheduler.repeats}"
        return f"the descheduler never rests: {repeated} ({evictions} so far)"
    return f"the descheduler does not rest within {rounds} ({evictions} so far): {result}"
