"""The library as type checkers and editors see it: `make docs` makes it from the questions."""

import datetime
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TypeVar, overload

from kubespread.candidate.sources import ClusterWorkloads as ClusterWorkloads, PodGiven
from kubespread.errors import KubespreadError as KubespreadError, ManifestError as ManifestError, SnapshotError as SnapshotError, UnansweredError as UnansweredError, UsageError as UsageError
from kubespread.questions.audit import AuditReport as AuditReport
from kubespread.questions.autoscaling.autoscale import GroupsGiven
from kubespread.questions.capacity import CapacityReport as CapacityReport
from kubespread.questions.check import CheckFinding as CheckFinding, CheckReport as CheckReport, Severity
from kubespread.questions.check.answer import rule as rule, rules as rules
from kubespread.questions.compare import CompareReport as CompareReport
from kubespread.questions.editing import after_edits as after_edits, connect as connect, load as load
from kubespread.questions.explain.report import ExplainReport as ExplainReport
from kubespread.questions.fleet import FleetReport as FleetReport, fleet as fleet
from kubespread.questions.map.report import TopologyMap as TopologyMap
from kubespread.questions.pending import PendingReport as PendingReport
from kubespread.questions.plan import PlanReport as PlanReport
from kubespread.questions.plan.playing import after_steps as after_steps
from kubespread.questions.rebalance import RebalanceReport as RebalanceReport
from kubespread.questions.removable import RemovableReport as RemovableReport
from kubespread.questions.report import Scorecard as Scorecard
from kubespread.questions.scene import OnProgress, OnRefused, Side as Side, ask as ask
from kubespread.questions.scheduler import Scheduler as Scheduler
from kubespread.questions.simulate import SimulateReport as SimulateReport
from kubespread.questions.survive import SurviveReport as SurviveReport
from kubespread.questions.tasks import Workers as Workers
from kubespread.questions.verify import VerifyReport as VerifyReport
from kubespread.reports.parts import Finding as Finding, RuleReport as RuleReport
from kubespread.scenario.autoscaler import InstanceTypesGiven
from kubespread.scenario.promises import PromisesGiven
from kubespread.scenario.reading import Scenario as Scenario, ScenarioGiven
from kubespread.snapshot.snapshot import Snapshot as Snapshot

G = TypeVar("G", bound=PodGiven)

__version__: str
_HOMES: dict[str, str]
_FUNCTIONS: dict[str, str]
__all__ = ["AuditReport", "CapacityReport", "CheckFinding", "CheckReport", "ClusterWorkloads", "CompareReport", "ExplainReport", "Finding", "FleetReport", "KubespreadError", "ManifestError", "PendingReport", "PlanReport", "RebalanceReport", "RemovableReport", "RuleReport", "Scenario", "Scheduler", "Scorecard", "Side", "SimulateReport", "Snapshot", "SnapshotError", "SurviveReport", "TopologyMap", "UnansweredError", "UsageError", "VerifyReport", "Workers", "__version__", "after_edits", "after_steps", "ask", "audit", "capacity", "check", "compare", "connect", "explain", "fleet", "load", "pending", "plan", "rebalance", "removable", "report", "rule", "rules", "simulate", "survive", "topology_map", "upgrade", "verify"]

def explain(
    snapshot: Snapshot,
    pod: PodGiven | Sequence[PodGiven],
    scheduler: Scheduler | None = None,
    *,
    recursive: bool = False,
    namespace: str | None = None,
    name: str | None = None,
    set: Sequence[str] = (),
    nodes: Sequence[str] = (),
    with_pods: bool = False,
    why_here: bool = False,
    fix: bool = False,
    replicas: int | None = None,
    on_progress: OnProgress | None = None,
) -> ExplainReport:
    """Show which nodes a pod fits and why the others fail, constraint by constraint with the numbers.

    Raises UsageError, SnapshotError and ManifestError.

    - ``pod``: Manifest of a Pod or workload, '-' for standard input, or KIND/NAME in the cluster (pod/web-0, deploy/web). Default: standard input when piped, else pod.yaml.
    - ``recursive``: Also read subdirectories.
    - ``namespace``: Namespace to use when the manifest sets none.
    - ``name``: Workload to use when there are several (NAME, Kind/NAME or NS/Kind/NAME).
    - ``set``: Change the pod first: maxSkew[zone]=2, minDomains=3, whenUnsatisfiable=ScheduleAnyway, nodeTaintsPolicy=Honor, nodeAffinityPolicy=Ignore, topologySpreadConstraints=zone:1, cpu=500m, memory[CONTAINER]=1Gi, tolerations=KEY=VALUE:EFFECT, nodeSelector[KEY]=VALUE, nodeAffinity[KEY]=null, podAffinity[KEY]=null, podAntiAffinity[KEY]=null, priorityClassName=NAME, schedulerName=NAME, replicas=N.
    - ``nodes``: Explain this node in full, in sentences.
    - ``with_pods``: List the matching pods of each domain.
    - ``why_here``: Show why the node of a running pod won: scores in today's cluster without the pod.
    - ``fix``: Find the smallest changes that make the pod, or all replicas of its workload, fit.
    - ``replicas``: With --fix, ask about N replicas in total, including running ones (default: the workload's; of a DaemonSet one more pod).
    - ``on_progress``: Called now and then with the progress.
    """

def pending(
    snapshot: Snapshot,
    scheduler: Scheduler | None = None,
    *,
    workloads: str | Sequence[str] = (),
    preemption: bool = True,
    namespace: str | None = None,
    selector: str = "",
    autoscaler: str | None = None,
    node_groups: GroupsGiven | None = None,
    instance_types: InstanceTypesGiven | None = None,
    on_progress: OnProgress | None = None,
) -> PendingReport:
    """Show the pods without a node, grouped by cause, with the smallest change that unblocks each group.

    Raises UsageError, SnapshotError and ManifestError.

    - ``workloads``: Workloads as KIND/NAME (deploy/web, sts/db). Default: all of the namespace.
    - ``preemption``: Let pods that fit nowhere preempt pods of lower priority.
    - ``namespace``: Ask about the workloads of this namespace.
    - ``selector``: Ask about the workloads with these labels (app=web,tier!=db).
    - ``autoscaler``: Let cluster-autoscaler or Karpenter add nodes for pods that find none.
    - ``node_groups``: Node groups the autoscaler may grow (default: the snapshot's NodePools).
    - ``instance_types``: Instance types Karpenter may launch.
    - ``on_progress``: Called now and then with the progress.
    """

@overload
def simulate(
    snapshot: Snapshot,
    pods: PodGiven,
    replicas: int | str | None = None,
    scheduler: Scheduler | None = None,
    *,
    recursive: bool = False,
    namespace: str | None = None,
    name: str | None = None,
    set: Sequence[str] = (),
    selector: str = "",
    from_scratch: bool = False,
    seed: int | None = None,
    preemption: bool = True,
    autoscaler: str | None = None,
    node_groups: GroupsGiven | None = None,
    instance_types: InstanceTypesGiven | None = None,
    gang: str | None = None,
    on_progress: OnProgress | None = None,
    on_refused: OnRefused | None = None,
) -> SimulateReport:
    """Place replicas one after another as kube-scheduler would, and show where they land and why some stay pending.

    Raises UsageError, SnapshotError and ManifestError.

    - ``pods``: Manifests, '-' for standard input, or KIND/NAME in the cluster (deploy/web). All workloads in a manifest are placed. Default: standard input when piped, else pod.yaml.
    - ``replicas``: Desired replicas, or 'max': as many as fit, preempting nothing (default: the workload's own).
    - ``recursive``: Also read subdirectories.
    - ``namespace``: Namespace to use when the manifest sets none.
    - ``name``: Workload to use when there are several (NAME, Kind/NAME or NS/Kind/NAME).
    - ``set``: Change the pod first: maxSkew[zone]=2, minDomains=3, whenUnsatisfiable=ScheduleAnyway, nodeTaintsPolicy=Honor, nodeAffinityPolicy=Ignore, topologySpreadConstraints=zone:1, cpu=500m, memory[CONTAINER]=1Gi, tolerations=KEY=VALUE:EFFECT, nodeSelector[KEY]=VALUE, nodeAffinity[KEY]=null, podAffinity[KEY]=null, podAntiAffinity[KEY]=null, priorityClassName=NAME, schedulerName=NAME, replicas=N.
    - ``selector``: Place only workloads with these labels (app=web,tier!=db).
    - ``from_scratch``: Also re-place the replicas already running.
    - ``seed``: Randomize what is arbitrary, seeded with N: ties, which of equal pods and nodes controllers pick, and the first node kube-scheduler looks at where it scores a sample.
    - ``preemption``: Let pods that fit nowhere preempt pods of lower priority.
    - ``autoscaler``: Let cluster-autoscaler or Karpenter add nodes for pods that find none.
    - ``node_groups``: Node groups the autoscaler may grow (default: the snapshot's NodePools).
    - ``instance_types``: Instance types Karpenter may launch.
    - ``gang``: Place N replicas together or none of them; with a topology key, in one of its domains. With --replicas, a multiple of N: one gang after another.
    - ``on_progress``: Called now and then with the progress.
    - ``on_refused``: Called with each workload that the API server would refuse; without it, the first one raises.
    """

@overload
def simulate(
    snapshot: Snapshot,
    pods: list[G] | tuple[G, ...],
    replicas: int | str | None = None,
    scheduler: Scheduler | None = None,
    *,
    recursive: bool = False,
    namespace: str | None = None,
    name: str | None = None,
    set: Sequence[str] = (),
    selector: str = "",
    from_scratch: bool = False,
    seed: int | None = None,
    preemption: bool = True,
    autoscaler: str | None = None,
    node_groups: GroupsGiven | None = None,
    instance_types: InstanceTypesGiven | None = None,
    gang: str | None = None,
    on_progress: OnProgress | None = None,
    on_refused: OnRefused | None = None,
) -> tuple[SimulateReport, ...]:
    """Place replicas one after another as kube-scheduler would, and show where they land and why some stay pending.

    Raises UsageError, SnapshotError and ManifestError.

    - ``pods``: Manifests, '-' for standard input, or KIND/NAME in the cluster (deploy/web). All workloads in a manifest are placed. Default: standard input when piped, else pod.yaml.
    - ``replicas``: Desired replicas, or 'max': as many as fit, preempting nothing (default: the workload's own).
    - ``recursive``: Also read subdirectories.
    - ``namespace``: Namespace to use when the manifest sets none.
    - ``name``: Workload to use when there are several (NAME, Kind/NAME or NS/Kind/NAME).
    - ``set``: Change the pod first: maxSkew[zone]=2, minDomains=3, whenUnsatisfiable=ScheduleAnyway, nodeTaintsPolicy=Honor, nodeAffinityPolicy=Ignore, topologySpreadConstraints=zone:1, cpu=500m, memory[CONTAINER]=1Gi, tolerations=KEY=VALUE:EFFECT, nodeSelector[KEY]=VALUE, nodeAffinity[KEY]=null, podAffinity[KEY]=null, podAntiAffinity[KEY]=null, priorityClassName=NAME, schedulerName=NAME, replicas=N.
    - ``selector``: Place only workloads with these labels (app=web,tier!=db).
    - ``from_scratch``: Also re-place the replicas already running.
    - ``seed``: Randomize what is arbitrary, seeded with N: ties, which of equal pods and nodes controllers pick, and the first node kube-scheduler looks at where it scores a sample.
    - ``preemption``: Let pods that fit nowhere preempt pods of lower priority.
    - ``autoscaler``: Let cluster-autoscaler or Karpenter add nodes for pods that find none.
    - ``node_groups``: Node groups the autoscaler may grow (default: the snapshot's NodePools).
    - ``instance_types``: Instance types Karpenter may launch.
    - ``gang``: Place N replicas together or none of them; with a topology key, in one of its domains. With --replicas, a multiple of N: one gang after another.
    - ``on_progress``: Called now and then with the progress.
    - ``on_refused``: Called with each workload that the API server would refuse; without it, the first one raises.
    """

def check(
    snapshot: Snapshot | None,
    manifests: PodGiven | Sequence[PodGiven] = (),
    scheduler: Scheduler | None = None,
    *,
    recursive: bool = False,
    namespace: str | None = None,
    selector: str = "",
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    fail_on: str = "error",
    jobs: int | None = 1,
    timeout: float | None = None,
    on_progress: OnProgress | None = None,
) -> CheckReport:
    """Find topology spread problems in manifests, or in a cluster's workloads, each with a code, numbers and a remedy.

    Raises UsageError, SnapshotError and ManifestError.

    - ``manifests``: Manifests, directories of them, '-', or KIND/NAME in the cluster. Default: standard input when piped, else the cluster's workloads.
    - ``recursive``: Also read subdirectories.
    - ``namespace``: Namespace of manifests that set none, or of the cluster's workloads.
    - ``selector``: Check the workloads with these labels (app=web,tier!=db).
    - ``select``: Check only these rules, by code or prefix (KS101,KS2).
    - ``ignore``: Skip these rules.
    - ``fail_on``: Say no, and exit with 1, when a finding is at least this severe.
    - ``jobs``: Number of worker processes; the answer is the same for any number. None: one per core, where that saves time.
    - ``timeout``: Time limit in seconds: the answer then covers what is finished, is no or unknown, and ``unfinished`` says what is missing.
    - ``on_progress``: Called now and then with the progress.
    """

def report(
    snapshot: Snapshot,
    scheduler: Scheduler | None = None,
    *,
    workloads: str | Sequence[str] = (),
    preemption: bool = True,
    namespace: str | None = None,
    selector: str = "",
    autoscaler: str | None = None,
    node_groups: GroupsGiven | None = None,
    instance_types: InstanceTypesGiven | None = None,
    jobs: int | None = 1,
    timeout: float | None = None,
    on_progress: OnProgress | None = None,
) -> Scorecard:
    """Put everything that is wrong with a cluster, or would be, on one page, the worst first.

    Raises UsageError, SnapshotError and ManifestError.

    - ``workloads``: Only these areas (running, losses ...), or workloads as KIND/NAME (deploy/web). Default: everything in the namespace.
    - ``preemption``: Let pods that fit nowhere preempt pods of lower priority.
    - ``namespace``: Ask about the workloads of this namespace.
    - ``selector``: Ask about the workloads with these labels (app=web,tier!=db).
    - ``autoscaler``: Let cluster-autoscaler or Karpenter add nodes for pods that find none.
    - ``node_groups``: Node groups the autoscaler may grow (default: the snapshot's NodePools).
    - ``instance_types``: Instance types Karpenter may launch.
    - ``jobs``: Number of worker processes; the answer is the same for any number. None: one per core, where that saves time.
    - ``timeout``: Time limit in seconds: the answer then covers what is finished, is no or unknown, and ``unfinished`` says what is missing.
    - ``on_progress``: Called now and then with the progress.
    """

def survive(
    snapshot: Snapshot,
    keys: Sequence[str] = (),
    scheduler: Scheduler | None = None,
    *,
    workloads: str | Sequence[str] = (),
    preemption: bool = True,
    namespace: str | None = None,
    selector: str = "",
    pairs: bool = False,
    nodes_deleted: bool = False,
    autoscaler: str | None = None,
    node_groups: GroupsGiven | None = None,
    instance_types: InstanceTypesGiven | None = None,
    jobs: int | None = 1,
    timeout: float | None = None,
    on_progress: OnProgress | None = None,
) -> SurviveReport:
    """Lose each zone in turn, and show which pods find another node, which stay pending and which workloads degrade.

    Raises UsageError, SnapshotError and ManifestError.

    - ``keys``: Lose each domain of this topology key (default: zone, else what pods are spread over, else hostname).
    - ``workloads``: Workloads as KIND/NAME (deploy/web, sts/db). Default: all of the namespace.
    - ``preemption``: Let pods that fit nowhere preempt pods of lower priority.
    - ``namespace``: Ask about the workloads of this namespace.
    - ``selector``: Ask about the workloads with these labels (app=web,tier!=db).
    - ``pairs``: Lose every two domains of a key together, instead of each by itself.
    - ``nodes_deleted``: Also delete the Node objects of a lost domain; by default they stay, silent.
    - ``autoscaler``: Let cluster-autoscaler or Karpenter add nodes for pods that find none.
    - ``node_groups``: Node groups the autoscaler may grow (default: the snapshot's NodePools).
    - ``instance_types``: Instance types Karpenter may launch.
    - ``jobs``: Number of worker processes; the answer is the same for any number. None: one per core, where that saves time.
    - ``timeout``: Time limit in seconds: the answer then covers what is finished, is no or unknown, and ``unfinished`` says what is missing.
    - ``on_progress``: Called now and then with the progress.
    """

def upgrade(
    snapshot: Snapshot,
    nodes: str,
    scheduler: Scheduler | None = None,
    *,
    preemption: bool = True,
    ignore_daemonsets: bool = True,
    delete_emptydir_data: bool = True,
    force: bool = False,
    to: str = "",
    surge: int = 0,
    batch: int = 1,
    autoscaler: str | None = None,
    node_groups: GroupsGiven | None = None,
    instance_types: InstanceTypesGiven | None = None,
    remedies: bool = True,
    jobs: int | None = 1,
    timeout: float | None = None,
    on_progress: OnProgress | None = None,
) -> PlanReport:
    """Replace the nodes in a pool: cordon, drain as budgets allow, delete, add a copy, and show the obstacles.

    Raises UsageError, SnapshotError and ManifestError.

    - ``nodes``: Nodes to replace: a name, or labels (pool=a).
    - ``preemption``: Let pods that fit nowhere preempt pods of lower priority.
    - ``ignore_daemonsets``: Ignore DaemonSet pods; without it kubectl refuses to drain a node that has any.
    - ``delete_emptydir_data``: Also evict pods with emptyDir volumes; without it kubectl refuses.
    - ``force``: Also evict pods without a controller; without it kubectl refuses.
    - ``to``: New nodes, instead of copies: a size (8x16: 8 CPUs, 16 GiB), or a node or Node manifest to copy, each in the zone of the old one.
    - ``surge``: New nodes that join before the ones they replace are drained.
    - ``batch``: Nodes replaced at a time.
    - ``autoscaler``: Let cluster-autoscaler or Karpenter add nodes for pods that find none.
    - ``node_groups``: Node groups the autoscaler may grow (default: the snapshot's NodePools).
    - ``instance_types``: Instance types Karpenter may launch.
    - ``remedies``: For Python callers only.
    - ``jobs``: Number of worker processes; the answer is the same for any number. None: one per core, where that saves time.
    - ``timeout``: Time limit in seconds: the answer then covers what is finished, is no or unknown, and ``unfinished`` says what is missing.
    - ``on_progress``: Called now and then with the progress.
    """

def removable(
    snapshot: Snapshot,
    nodes: str | Sequence[str] = (),
    scheduler: Scheduler | None = None,
    *,
    preemption: bool = True,
    ignore_daemonsets: bool = True,
    delete_emptydir_data: bool = True,
    force: bool = False,
    most: int | None = None,
    remedies: bool = True,
    jobs: int | None = 1,
    timeout: float | None = None,
    on_progress: OnProgress | None = None,
) -> RemovableReport:
    """Find the nodes that can be drained and deleted, alone and together, and say why the others cannot.

    Raises UsageError, SnapshotError and ManifestError.

    - ``nodes``: Nodes to ask about: a name, or labels (pool=a). Default: all.
    - ``preemption``: Let pods that fit nowhere preempt pods of lower priority.
    - ``ignore_daemonsets``: Ignore DaemonSet pods; without it kubectl refuses to drain a node that has any.
    - ``delete_emptydir_data``: Also evict pods with emptyDir volumes; without it kubectl refuses.
    - ``force``: Also evict pods without a controller; without it kubectl refuses.
    - ``most``: For Python callers only.
    - ``remedies``: For Python callers only.
    - ``jobs``: Number of worker processes; the answer is the same for any number. None: one per core, where that saves time.
    - ``timeout``: Time limit in seconds: the answer then covers what is finished, is no or unknown, and ``unfinished`` says what is missing.
    - ``on_progress``: Called now and then with the progress.
    """

def capacity(
    snapshot: Snapshot,
    request: str | None = None,
    scheduler: Scheduler | None = None,
    *,
    tolerate: Sequence[str] = (),
    by: str | None = None,
    on_progress: OnProgress | None = None,
) -> CapacityReport:
    """Show free resources of nodes, how much of them no pod can use and why, and how many pods of one size fit.

    Raises UsageError, SnapshotError and ManifestError.

    - ``request``: Count pods that each request this much (cpu=2,memory=4Gi,nvidia.com/gpu=1).
    - ``tolerate``: Taint that the pods tolerate.
    - ``by``: Topology key of the domains to total (default: zone, if nodes have one).
    - ``on_progress``: Called now and then with the progress.
    """

def audit(
    snapshot: Snapshot,
    workloads: str | Sequence[str] = (),
    scheduler: Scheduler | None = None,
    *,
    preemption: bool = True,
    namespace: str | None = None,
    selector: str = "",
    key: str = "",
    jobs: int | None = 1,
    timeout: float | None = None,
    on_progress: OnProgress | None = None,
) -> AuditReport:
    """Audit every workload: its own or default constraints, their skew, and why a constraint does not hold.

    Raises UsageError, SnapshotError and ManifestError.

    - ``workloads``: Workloads as KIND/NAME (deploy/web, sts/db). Default: all of the namespace.
    - ``preemption``: Let pods that fit nowhere preempt pods of lower priority.
    - ``namespace``: Ask about the workloads of this namespace.
    - ``selector``: Ask about the workloads with these labels (app=web,tier!=db).
    - ``key``: Count and lose the domains of this node label, such as a rack or capacity type (default: zones, or hosts if there is only one zone).
    - ``jobs``: Number of worker processes; the answer is the same for any number. None: one per core, where that saves time.
    - ``timeout``: Time limit in seconds: the answer then covers what is finished, is no or unknown, and ``unfinished`` says what is missing.
    - ``on_progress``: Called now and then with the progress.
    """

def plan(
    snapshot: Snapshot,
    scenario: ScenarioGiven | None = None,
    scheduler: Scheduler | None = None,
    *,
    preemption: bool = True,
    ignore_daemonsets: bool = True,
    delete_emptydir_data: bool = True,
    force: bool = False,
    manifests: PodGiven | Sequence[PodGiven] = (),
    create_namespaces: bool = False,
    hpa_max: bool = False,
    autoscaler: str | None = None,
    node_groups: GroupsGiven | None = None,
    instance_types: InstanceTypesGiven | None = None,
    namespace: str | None = None,
    runs: int | None = None,
    seed: int | None = None,
    jobs: int | None = 1,
    timeout: float | None = None,
    on_progress: OnProgress | None = None,
) -> PlanReport:
    """Plan everything that is about to change, and show the effect of each step on pods, nodes and spread.

    Raises UsageError, SnapshotError and ManifestError.

    - ``scenario``: Steps after the edits, in order: 'scale deploy/web=9', 'rollout deploy/web', 'fail zone=a', or a file of kind Scenario ('-': standard input).
    - ``preemption``: Let pods that fit nowhere preempt pods of lower priority.
    - ``ignore_daemonsets``: Ignore DaemonSet pods; without it kubectl refuses to drain a node that has any.
    - ``delete_emptydir_data``: Also evict pods with emptyDir volumes; without it kubectl refuses.
    - ``force``: Also evict pods without a controller; without it kubectl refuses.
    - ``manifests``: Manifest, or directory of manifests, to apply: new objects are created, existing ones changed.
    - ``create_namespaces``: Create missing namespaces of what is applied; otherwise objects in them are refused.
    - ``hpa_max``: Scale every workload with an autoscaler to its maximum, all together.
    - ``autoscaler``: Let cluster-autoscaler or Karpenter add nodes for pods that find none.
    - ``node_groups``: Node groups the autoscaler may grow (default: the snapshot's NodePools).
    - ``instance_types``: Instance types Karpenter may launch.
    - ``namespace``: Namespace of workloads named without one, unless the scenario sets it.
    - ``runs``: Run N times, up to 10000, each with the next seed, and report the range (default: 2 to 8 where a choice among equals or the order of events is arbitrary, else 1).
    - ``seed``: Randomize what is arbitrary, seeded with N: ties, which of equal pods and nodes controllers pick, and the first node kube-scheduler looks at where it scores a sample.
    - ``jobs``: Number of worker processes; the answer is the same for any number. None: one per core, where that saves time.
    - ``timeout``: Time limit in seconds: the answer then covers what is finished, is no or unknown, and ``unfinished`` says what is missing.
    - ``on_progress``: Called now and then with the progress.
    """

def compare(
    before: Side,
    after: Side,
    *,
    recursive: bool = False,
    namespace: str | None = None,
    name: str | None = None,
    replicas: int | None = None,
    from_scratch: bool = False,
    preemption: bool = True,
    selector: str = "",
    on_progress: OnProgress | None = None,
) -> CompareReport:
    """Ask one question BEFORE and AFTER a change, and show the rows that differ.

    Raises UsageError, SnapshotError and ManifestError.

    - ``recursive``: Also read subdirectories.
    - ``namespace``: Namespace of manifests that set none, or of the cluster's workloads.
    - ``name``: Workload to use when there are several (NAME, Kind/NAME or NS/Kind/NAME).
    - ``replicas``: Desired replicas (default: the workload's own).
    - ``from_scratch``: Also re-place the replicas already running.
    - ``preemption``: Let pods that fit nowhere preempt pods of lower priority.
    - ``selector``: Ask about the cluster's workloads with these labels (app=web,tier!=db).
    - ``on_progress``: Called now and then with the progress.
    """

def rebalance(
    snapshot: Snapshot,
    workloads: str | Sequence[str] = (),
    scheduler: Scheduler | None = None,
    *,
    preemption: bool = True,
    namespace: str | None = None,
    selector: str = "",
    soft: bool = False,
    descheduler: Path | str | None = None,
    on_progress: OnProgress | None = None,
) -> RebalanceReport:
    """Find the fewest evictions, and their order, after which the topology spread constraints hold again.

    Raises UsageError, SnapshotError and ManifestError.

    - ``workloads``: Workloads as KIND/NAME (deploy/web, sts/db). Default: all of the namespace.
    - ``preemption``: Let pods that fit nowhere preempt pods of lower priority.
    - ``namespace``: Ask about the workloads of this namespace.
    - ``selector``: Ask about the workloads with these labels (app=web,tier!=db).
    - ``soft``: Also satisfy soft constraints (ScheduleAnyway), including the scheduler's built-in ones.
    - ``descheduler``: Also show what the descheduler would do with this DeschedulerPolicy, round by round.
    - ``on_progress``: Called now and then with the progress.
    """

def topology_map(
    snapshot: Snapshot,
    workload: PodGiven | Sequence[PodGiven] = (),
    scheduler: Scheduler | None = None,
    *,
    recursive: bool = False,
    namespace: str | None = None,
    name: str | None = None,
    set: Sequence[str] = (),
    keys: Sequence[str] = (),
    selector: str = "",
    on_progress: OnProgress | None = None,
) -> TopologyMap:
    """Draw the topology of a cluster: domains as boxes, nodes as cells, pods as marks.

    Raises UsageError, SnapshotError and ManifestError.

    - ``workload``: Workload with the pods to mark: KIND/NAME in the cluster (deploy/web), a manifest, or '-' for standard input.
    - ``recursive``: Also read subdirectories.
    - ``namespace``: Namespace to use when the manifest sets none.
    - ``name``: Workload to use when there are several (NAME, Kind/NAME or NS/Kind/NAME).
    - ``set``: Change the pod first: maxSkew[zone]=2, minDomains=3, whenUnsatisfiable=ScheduleAnyway, nodeTaintsPolicy=Honor, nodeAffinityPolicy=Ignore, topologySpreadConstraints=zone:1, cpu=500m, memory[CONTAINER]=1Gi, tolerations=KEY=VALUE:EFFECT, nodeSelector[KEY]=VALUE, nodeAffinity[KEY]=null, podAffinity[KEY]=null, podAntiAffinity[KEY]=null, priorityClassName=NAME, schedulerName=NAME, replicas=N.
    - ``keys``: Group nodes by this topology key, widest first (default: region, zone, rack and the keys of the constraints).
    - ``selector``: Without a workload, mark the pods with these labels (app=web,tier!=db).
    - ``on_progress``: Called now and then with the progress.
    """

def verify(
    snapshot: Snapshot,
    promises: PromisesGiven | None = None,
    scheduler: Scheduler | None = None,
    *,
    preemption: bool = True,
    filename: Path | Sequence[str] = (),
    today: datetime.date | None = None,
    jobs: int | None = 1,
    timeout: float | None = None,
    on_progress: OnProgress | None = None,
) -> VerifyReport:
    """Verify promises about workloads, in a file kept beside their manifests.

    Raises UsageError, SnapshotError and ManifestError.

    - ``promises``: File of kind Promises, YAML or JSON, such as {apiVersion: kubespread.dev/v1alpha1, kind: Promises, promises: [{workload: deploy/web, survives: any zone}]}; '-' for standard input.
    - ``preemption``: Let pods that fit nowhere preempt pods of lower priority.
    - ``filename``: Manifests, or directories of them, to apply first.
    - ``today``: For Python callers only.
    - ``jobs``: Number of worker processes; the answer is the same for any number. None: one per core, where that saves time.
    - ``timeout``: Time limit in seconds: the answer then covers what is finished, is no or unknown, and ``unfinished`` says what is missing.
    - ``on_progress``: Called now and then with the progress.
    """
