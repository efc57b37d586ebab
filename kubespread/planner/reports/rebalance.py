"""Which pods to evict so that topology spread constraints hold again, and what the descheduler would do instead."""

from __future__ import annotations

from kubespread.kube.well_known import DO_NOT_SCHEDULE
from kubespread.planner.reports.parts import API_VERSION, ClusterReference, DomainChange, Report


class RebalancedConstraint(Report, frozen=True):
    """A constraint that is violated, or whose counts the plan changes."""

    workloads: tuple[str, ...]
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
    """The same once the plan is done."""
    skew_before: int
    """The fullest domain's pods minus the global minimum."""
    skew_after: int
    """The same once the plan is done."""
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
    """Where a pod was and where its replacement is; null where the node lacks the label."""

    topology_key: str
    before: str | None
    """The value of the pod's node."""
    after: str | None
    """The value of its replacement's node."""


class EvictionStep(Report, frozen=True):
    """One eviction, to be made once the replacement of the one before runs."""

    number: int
    """From 1."""
    pod: str
    """NAMESPACE/name."""
    workload: str
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
    """What is wrong with the evictions that were tried for constraints that stay violated."""

    workloads: tuple[str, ...]
    """NAMESPACE/Kind/name of those that have the constraints."""
    why: str
    """In one sentence."""
    tried: int
    """How many evictions, of pods that are not alike, it was wrong with."""


class MarkedPod(Report, frozen=True, gc=False):
    pod: str
    """NAMESPACE/name."""
    deletion_cost: int
    """The annotation ``controller.kubernetes.io/pod-deletion-cost``: the controller deletes the lowest first."""


class ScaleDown(Report, frozen=True):
    """A smaller workload whose constraints hold without any eviction, when its controller deletes the right pods.

    Marked like this it deletes pods of the fullest domains first, also where it is scaled down by less.
    """

    workload: str
    """NAMESPACE/Kind/name."""
    replicas: int
    """How many it is to have now."""
    replicas_after: int
    """With how many its constraints hold."""
    pods: tuple[MarkedPod, ...]
    """In the order in which they are deleted."""
    commands: tuple[str, ...]
    """Those that mark each of them; the scale-down itself is not among them."""


class DeschedulerRound(Report, frozen=True):
    """One cycle of the descheduler, after which controllers make other pods and kube-scheduler places them."""

    number: int
    """From 1."""
    evicted: tuple[str, ...]
    """NAMESPACE/name."""
    held: tuple[StayingPods, ...]
    """Pods that it chose and that stay, by why."""
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


class RebalanceReport(Report, frozen=True, kw_only=True):
    api_version: str = API_VERSION
    kind: str = "RebalanceReport"
    kube_version: str
    cluster: ClusterReference | None = None
    asked: tuple[str, ...] = ()
    """The workloads named in the question, NAMESPACE/Kind/name; empty if all selected ones were considered."""
    namespace: str | None
    """The namespace whose workloads are asked about, null for all."""
    selector: str
    """The labels of those workloads, empty for all."""
    soft: bool
    """Whether constraints with ScheduleAnyway are to hold too."""
    workloads: int
    """How many workloads are asked about."""
    nodes: int
    """How many the cluster has."""
    constraints_in_force: int
    """How many constraints the workloads have, each counted once."""
    violated_before: int
    """How many of these constraints do not hold now."""
    violated_after: int
    """How many do not once the plan is done."""
    constraints: tuple[RebalancedConstraint, ...]
    """In the order of their letters."""
    steps: tuple[EvictionStep, ...]
    """The plan; empty where nothing is to be done, or nothing helps."""
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
    """What would do instead of evictions."""
    descheduler: DeschedulerReport | None
    """Null where no policy was given."""
    gaps: tuple[str, ...] = ()
    not_modelled: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether all constraints hold once the plan is done."""
        return not self.violated_after
