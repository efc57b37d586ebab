"""The library as type checkers and editors see it: `make docs` makes it from the questions."""

import datetime
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TypeVar, overload

from kubespread.candidate.sources import ClusterWorkloads as ClusterWorkloads, PodGiven
from kubespread.errors import KubespreadError as KubespreadError, ManifestError as ManifestError, SnapshotError as SnapshotError, UnansweredError as UnansweredError, UsageError as UsageError
from kubespread.questions.audit.report import AuditReport as AuditReport
from kubespread.questions.autoscaling.asked import GroupsGiven
from kubespread.questions.capacity.report import CapacityReport as CapacityReport
from kubespread.questions.check.answer import rule as rule, rules as rules
from kubespread.questions.check.report import CheckReport as CheckReport, Finding as Finding, RuleReport as RuleReport, Severity
from kubespread.questions.compare.answer import Side as Side
from kubespread.questions.compare.report import CompareReport as CompareReport
from kubespread.questions.costs import PricesGiven
from kubespread.questions.editing import after_edits as after_edits, connect as connect, load as load
from kubespread.questions.explain.report import ExplainReport as ExplainReport
from kubespread.questions.fleet.answer import fleet as fleet
from kubespread.questions.fleet.report import FleetReport as FleetReport
from kubespread.questions.map.report import TopologyMap as TopologyMap
from kubespread.questions.pending.report import PendingReport as PendingReport
from kubespread.questions.plan.playing import after_steps as after_steps
from kubespread.questions.plan.report import PlanReport as PlanReport
from kubespread.questions.rebalance.report import RebalanceReport as RebalanceReport
from kubespread.questions.removable.report import RemovableReport as RemovableReport
from kubespread.questions.report.report import Scorecard as Scorecard
from kubespread.questions.scene import OnProgress, OnRefused, ask as ask
from kubespread.questions.scheduler import Scheduler as Scheduler
from kubespread.questions.simulate.report import SimulateReport as SimulateReport
from kubespread.questions.survive.report import SurviveReport as SurviveReport
from kubespread.questions.tasks import Workers as Workers
from kubespread.questions.verify.report import VerifyReport as VerifyReport
from kubespread.scenario.instance_types import InstanceTypesGiven
from kubespread.scenario.promises import PromisesGiven
from kubespread.scenario.reading import Scenario as Scenario, ScenarioGiven
from kubespread.snapshot.snapshot import Snapshot as Snapshot

G = TypeVar("G", bound=PodGiven)

__version__: str
_HOMES: dict[str, str]
_FUNCTIONS: dict[str, str]
__all__ = ["AuditReport", "CapacityReport", "CheckReport", "ClusterWorkloads", "CompareReport", "ExplainReport", "Finding", "FleetReport", "KubespreadError", "ManifestError", "PendingReport", "PlanReport", "RebalanceReport", "RemovableReport", "RuleReport", "Scenario", "Scheduler", "Scorecard", "Side", "SimulateReport", "Snapshot", "SnapshotError", "SurviveReport", "TopologyMap", "UnansweredError", "UsageError", "VerifyReport", "Workers", "__version__", "after_edits", "after_steps", "ask", "audit", "capacity", "check", "compare", "connect", "explain", "fleet", "load", "pending", "plan", "rebalance", "removable", "report", "rule", "rules", "simulate", "survive", "topology_map", "upgrade", "verify"]

def explain(
    snapshot: Snapshot,
    pod: PodGiven | Sequence[PodGiven],
    scheduler: Scheduler | None = None,
    *,
    name: str | None = None,
    namespace: str | None = None,
    recursive: bool = False,
    template_path: str = "",
    set: Sequence[str] = (),
    preemption: bool = False,
    pods: bool = False,
    why_here: bool = False,
    fix: bool = False,
    replicas: int | None = None,
) -> ExplainReport:
    """What kube-scheduler would decide for ``pod`` on every node of ``snapshot``, and the arithmetic behind it.

    The best nodes are first, those that fail last, the nearest to fitting first. Of several manifests one may hold
    a workload, or ``name`` says which. ``pods`` names the pods that each domain of a constraint counts. With
    ``fix`` its ``advice`` are the smallest changes after which the pod fits, or all ``replicas`` of its workload
    find a node; combinations only where no single change suffices.

    Raises ManifestError, SnapshotError and UsageError.

    - ``name``: Workload to use when there are several (NAME, Kind/NAME or NS/Kind/NAME).
    - ``namespace``: Namespace to use when the manifest sets none.
    - ``recursive``: Also read subdirectories.
    - ``template_path``: Path of the pod template in kinds unknown to kubespread (default: spec.template).
    - ``set``: Change the pod first: maxSkew[zone]=2, minDomains=3, whenUnsatisfiable=ScheduleAnyway, nodeTaintsPolicy=Honor, nodeAffinityPolicy=Ignore, topologySpreadConstraints=zone:1, cpu=500m, memory[CONTAINER]=1Gi, tolerations=KEY=VALUE:EFFECT, nodeSelector[KEY]=VALUE, nodeAffinity[KEY]=null, podAffinity[KEY]=null, podAntiAffinity[KEY]=null, priorityClassName=NAME, schedulerName=NAME, replicas=N.
    - ``preemption``: When no node fits, predict what preemption would do.
    - ``why_here``: Tell why the node of a running pod won, by the scores of today's cluster without the pod.
    - ``fix``: Find the smallest changes that make the pod, or all replicas of its workload, fit.
    - ``replicas``: With --fix, ask about N replicas in total, including running ones (default: the workload's; of a DaemonSet one more pod).
    """

def pending(
    snapshot: Snapshot,
    scheduler: Scheduler | None = None,
    *,
    workloads: str | Sequence[str] = (),
    namespace: str | None = None,
    selector: str = "",
    preemption: bool = True,
    autoscaler: str | None = None,
    node_groups: GroupsGiven = None,
    instance_types: InstanceTypesGiven | None = None,
    on_progress: OnProgress | None = None,
) -> PendingReport:
    """The pods of ``snapshot`` without a node, by what keeps them from one, each group with the least change that
    frees it.

    A change is proven by making it and letting all pods of the group be placed. Pods that fit as things are, that
    have scheduling gates, lack a claim or name another scheduler are groups of their own. With an
    ``autoscaler`` the report also says which nodes it adds for all that wait, and who still waits then.

    ``workloads`` are [NAMESPACE/]KIND/NAME, ``deploy/web``; without any all of the namespace are asked about, and
    without a namespace those of all.

    Raises UsageError, SnapshotError and ManifestError.

    - ``workloads``: Workloads as KIND/NAME (deploy/web, sts/db). Default: all of the namespace.
    - ``namespace``: Ask about the workloads of this namespace.
    - ``selector``: Ask about the workloads with these labels (app=web,tier!=db).
    - ``preemption``: Let pods that fit nowhere evict pods of lower priority; kube-scheduler lets them.
    - ``autoscaler``: Let cluster-autoscaler or Karpenter add nodes for pods that find none.
    - ``node_groups``: Node groups the autoscaler may grow (default: the snapshot's MachineDeployments or NodePools).
    - ``instance_types``: Instance types Karpenter may launch ('kubespread snapshot --instance-types' prints such a file).
    - ``on_progress``: Called now and then with how far the answer is.
    """

@overload
def simulate(
    snapshot: Snapshot,
    pods: PodGiven,
    replicas: int | Literal['max'] | None = None,
    scheduler: Scheduler | None = None,
    *,
    from_scratch: bool = False,
    runs: int | None = None,
    seed: int | None = None,
    preemption: bool = True,
    autoscaler: str | None = None,
    node_groups: GroupsGiven = None,
    instance_types: InstanceTypesGiven | None = None,
    gang: str | None = None,
    name: str | None = None,
    namespace: str | None = None,
    selector: str = "",
    recursive: bool = False,
    template_path: str = "",
    set: Sequence[str] = (),
    jobs: int | None = 1,
    timeout: float | None = None,
    on_progress: OnProgress | None = None,
    on_refused: OnRefused | None = None,
) -> SimulateReport:
    """Where kube-scheduler would put ``replicas`` copies of each workload, one after another, and what would stop
    it.

    A list or tuple of ``pods`` gives a report for each of their workloads, several in a manifest among them;
    anything else has to be one workload and gives its report. All stand in one queue, by priority, then in the
    order given, and each pod finds those before it in the cluster. ``replicas`` is each workload's own number
    unless given. A workload that runs in the cluster already is grown to that number from the replicas it has; a
    template that differs from the running one takes those away first.

    ``node_groups`` is the path of a NodeGroups file, or the groups, ``instance_types`` that of an InstanceTypes
    file, or the types.

    Raises ManifestError, SnapshotError and UsageError.

    - ``pods``: Manifests, '-' for standard input, or KIND/NAME in the cluster (deploy/web, deploy web). All workloads in a manifest are placed. Default: standard input when piped, else pod.yaml.
    - ``replicas``: Desired replicas, or 'max': as many as fit, preempting nothing (default: the workload's own).
    - ``from_scratch``: Also re-place the replicas already running.
    - ``runs``: Run N times, up to 10000, each with the next seed, and report the range (default: 8 where controllers pick among equal pods or nodes, else 1).
    - ``seed``: Leave to chance what is arbitrary, seeded with N: ties, which of equal pods and nodes controllers pick, and where kube-scheduler begins to look in a cluster so large that it scores a sample.
    - ``preemption``: Let pods that fit nowhere evict pods of lower priority; kube-scheduler lets them.
    - ``autoscaler``: Let cluster-autoscaler or Karpenter add nodes for pods that find none.
    - ``node_groups``: Node groups the autoscaler may grow (default: the snapshot's MachineDeployments or NodePools).
    - ``instance_types``: Instance types Karpenter may launch ('kubespread snapshot --instance-types' prints such a file).
    - ``gang``: Place N replicas together or none of them, with a topology key in one of its domains. With --replicas, a multiple of N: one gang after another.
    - ``name``: Workload to use when there are several (NAME, Kind/NAME or NS/Kind/NAME).
    - ``namespace``: Namespace to use when the manifest sets none.
    - ``selector``: Place only workloads with these labels (app=web,tier!=db).
    - ``recursive``: Also read subdirectories.
    - ``template_path``: Path of the pod template in kinds unknown to kubespread (default: spec.template).
    - ``set``: Change the pod first: maxSkew[zone]=2, minDomains=3, whenUnsatisfiable=ScheduleAnyway, nodeTaintsPolicy=Honor, nodeAffinityPolicy=Ignore, topologySpreadConstraints=zone:1, cpu=500m, memory[CONTAINER]=1Gi, tolerations=KEY=VALUE:EFFECT, nodeSelector[KEY]=VALUE, nodeAffinity[KEY]=null, podAffinity[KEY]=null, podAntiAffinity[KEY]=null, priorityClassName=NAME, schedulerName=NAME, replicas=N.
    - ``jobs``: How many processes work on the answer, which is the same for any number; None: one for each core, where that saves time.
    - ``timeout``: Seconds after which parts of the answer that are not finished are given up; it is then about the others, its verdict no or unknown, and ``unfinished`` says what is missing.
    - ``on_progress``: Called now and then with how far the answer is.
    - ``on_refused``: Called with each workload that the API server would not take; else the first one raises.
    """

@overload
def simulate(
    snapshot: Snapshot,
    pods: list[G] | tuple[G, ...],
    replicas: int | Literal['max'] | None = None,
    scheduler: Scheduler | None = None,
    *,
    from_scratch: bool = False,
    runs: int | None = None,
    seed: int | None = None,
    preemption: bool = True,
    autoscaler: str | None = None,
    node_groups: GroupsGiven = None,
    instance_types: InstanceTypesGiven | None = None,
    gang: str | None = None,
    name: str | None = None,
    namespace: str | None = None,
    selector: str = "",
    recursive: bool = False,
    template_path: str = "",
    set: Sequence[str] = (),
    jobs: int | None = 1,
    timeout: float | None = None,
    on_progress: OnProgress | None = None,
    on_refused: OnRefused | None = None,
) -> tuple[SimulateReport, ...]:
    """Where kube-scheduler would put ``replicas`` copies of each workload, one after another, and what would stop
    it.

    A list or tuple of ``pods`` gives a report for each of their workloads, several in a manifest among them;
    anything else has to be one workload and gives its report. All stand in one queue, by priority, then in the
    order given, and each pod finds those before it in the cluster. ``replicas`` is each workload's own number
    unless given. A workload that runs in the cluster already is grown to that number from the replicas it has; a
    template that differs from the running one takes those away first.

    ``node_groups`` is the path of a NodeGroups file, or the groups, ``instance_types`` that of an InstanceTypes
    file, or the types.

    Raises ManifestError, SnapshotError and UsageError.

    - ``pods``: Manifests, '-' for standard input, or KIND/NAME in the cluster (deploy/web, deploy web). All workloads in a manifest are placed. Default: standard input when piped, else pod.yaml.
    - ``replicas``: Desired replicas, or 'max': as many as fit, preempting nothing (default: the workload's own).
    - ``from_scratch``: Also re-place the replicas already running.
    - ``runs``: Run N times, up to 10000, each with the next seed, and report the range (default: 8 where controllers pick among equal pods or nodes, else 1).
    - ``seed``: Leave to chance what is arbitrary, seeded with N: ties, which of equal pods and nodes controllers pick, and where kube-scheduler begins to look in a cluster so large that it scores a sample.
    - ``preemption``: Let pods that fit nowhere evict pods of lower priority; kube-scheduler lets them.
    - ``autoscaler``: Let cluster-autoscaler or Karpenter add nodes for pods that find none.
    - ``node_groups``: Node groups the autoscaler may grow (default: the snapshot's MachineDeployments or NodePools).
    - ``instance_types``: Instance types Karpenter may launch ('kubespread snapshot --instance-types' prints such a file).
    - ``gang``: Place N replicas together or none of them, with a topology key in one of its domains. With --replicas, a multiple of N: one gang after another.
    - ``name``: Workload to use when there are several (NAME, Kind/NAME or NS/Kind/NAME).
    - ``namespace``: Namespace to use when the manifest sets none.
    - ``selector``: Place only workloads with these labels (app=web,tier!=db).
    - ``recursive``: Also read subdirectories.
    - ``template_path``: Path of the pod template in kinds unknown to kubespread (default: spec.template).
    - ``set``: Change the pod first: maxSkew[zone]=2, minDomains=3, whenUnsatisfiable=ScheduleAnyway, nodeTaintsPolicy=Honor, nodeAffinityPolicy=Ignore, topologySpreadConstraints=zone:1, cpu=500m, memory[CONTAINER]=1Gi, tolerations=KEY=VALUE:EFFECT, nodeSelector[KEY]=VALUE, nodeAffinity[KEY]=null, podAffinity[KEY]=null, podAntiAffinity[KEY]=null, priorityClassName=NAME, schedulerName=NAME, replicas=N.
    - ``jobs``: How many processes work on the answer, which is the same for any number; None: one for each core, where that saves time.
    - ``timeout``: Seconds after which parts of the answer that are not finished are given up; it is then about the others, its verdict no or unknown, and ``unfinished`` says what is missing.
    - ``on_progress``: Called now and then with how far the answer is.
    - ``on_refused``: Called with each workload that the API server would not take; else the first one raises.
    """

def check(
    snapshot: Snapshot | None,
    manifests: PodGiven | Sequence[PodGiven] = (),
    scheduler: Scheduler | None = None,
    *,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    base: str | None = None,
    fail_on: Severity | str = "error",
    namespace: str | None = None,
    selector: str = "",
    recursive: bool = False,
    template_path: str = "",
    jobs: int | None = 1,
    timeout: float | None = None,
    on_progress: OnProgress | None = None,
) -> CheckReport:
    """What is wrong with the workloads of ``manifests``, and of directories of them, each fault with its remedy.

    With a ``snapshot`` they are tried on its cluster, and without manifests its own workloads are checked, in all
    namespaces if none is said; without one only rules that need no cluster are asked. A file that cannot be read,
    or an object that the API server would refuse, is a finding and does not keep the others from being checked.
    Nothing to check is an error, never a yes.

    Raises UsageError and SnapshotError.

    - ``select``: Check only these rules, by code or prefix (KS101,KS2).
    - ``ignore``: Skip these rules.
    - ``base``: Leave out what is also found in this git revision, where HEAD left it.
    - ``fail_on``: Say no, and exit with 1, when a finding is at least this severe.
    - ``namespace``: Namespace of manifests that set none, or of the cluster's workloads.
    - ``selector``: Check the workloads with these labels (app=web,tier!=db).
    - ``recursive``: Also read subdirectories.
    - ``template_path``: Path of the pod template in kinds unknown to kubespread (default: spec.template).
    - ``jobs``: How many processes work on the answer, which is the same for any number; None: one for each core, where that saves time.
    - ``timeout``: Seconds after which parts of the answer that are not finished are given up; it is then about the others, its verdict no or unknown, and ``unfinished`` says what is missing.
    - ``on_progress``: Called now and then with how far the answer is.
    """

def report(
    snapshot: Snapshot,
    scheduler: Scheduler | None = None,
    *,
    workloads: str | Sequence[str] = (),
    namespace: str | None = None,
    selector: str = "",
    preemption: bool = True,
    autoscaler: str | None = None,
    node_groups: GroupsGiven = None,
    instance_types: InstanceTypesGiven | None = None,
    jobs: int | None = 1,
    timeout: float | None = None,
    on_progress: OnProgress | None = None,
) -> Scorecard:
    """What is wrong with ``snapshot``, or would be after one more failure, the worst first, with a score for each
    area.

    ``workloads`` are [NAMESPACE/]KIND/NAME, ``deploy/web``; without any all of the namespace are asked about, and
    without a namespace those of all. Raises UsageError, SnapshotError and ManifestError.

    - ``workloads``: Areas (running, losses ...), which alone are asked about then, or workloads as KIND/NAME (deploy/web). Default: a page on all of the namespace.
    - ``namespace``: Ask about the workloads of this namespace.
    - ``selector``: Ask about the workloads with these labels (app=web,tier!=db).
    - ``preemption``: Let pods that fit nowhere evict pods of lower priority; kube-scheduler lets them.
    - ``autoscaler``: Let cluster-autoscaler or Karpenter add nodes for pods that find none.
    - ``node_groups``: Node groups the autoscaler may grow (default: the snapshot's MachineDeployments or NodePools).
    - ``instance_types``: Instance types Karpenter may launch ('kubespread snapshot --instance-types' prints such a file).
    - ``jobs``: How many processes work on the answer, which is the same for any number; None: one for each core, where that saves time.
    - ``timeout``: Seconds after which parts of the answer that are not finished are given up; it is then about the others, its verdict no or unknown, and ``unfinished`` says what is missing.
    - ``on_progress``: Called now and then with how far the answer is.
    """

def survive(
    snapshot: Snapshot,
    keys: Sequence[str] = (),
    scheduler: Scheduler | None = None,
    *,
    namespace: str | None = None,
    workloads: str | Sequence[str] = (),
    selector: str = "",
    pairs: bool = False,
    nodes_deleted: bool = False,
    preemption: bool = True,
    autoscaler: str | None = None,
    node_groups: GroupsGiven = None,
    instance_types: InstanceTypesGiven | None = None,
    jobs: int | None = 1,
    timeout: float | None = None,
    on_progress: OnProgress | None = None,
) -> SurviveReport:
    """What losing each domain of the topology ``keys`` does to the workloads of ``snapshot``, each domain by
    itself.

    ``workloads`` are [NAMESPACE/]KIND/NAME, ``deploy/web``; without any all of the namespace are asked about, and
    without a namespace those of all. Raises UsageError, SnapshotError and ManifestError.

    - ``keys``: Lose each domain of this topology key (default: zone, else what pods are spread over, else hostname).
    - ``namespace``: Ask about the workloads of this namespace.
    - ``workloads``: Workloads as KIND/NAME (deploy/web, sts/db). Default: all of the namespace.
    - ``selector``: Ask about the workloads with these labels (app=web,tier!=db).
    - ``pairs``: Lose every two domains of a key together, instead of each by itself.
    - ``nodes_deleted``: Delete the Node objects of a lost domain too; without, they stay and do not answer.
    - ``preemption``: Let pods that fit nowhere evict pods of lower priority; kube-scheduler lets them.
    - ``autoscaler``: Let cluster-autoscaler or Karpenter add nodes for pods that find none.
    - ``node_groups``: Node groups the autoscaler may grow (default: the snapshot's MachineDeployments or NodePools).
    - ``instance_types``: Instance types Karpenter may launch ('kubespread snapshot --instance-types' prints such a file).
    - ``jobs``: How many processes work on the answer, which is the same for any number; None: one for each core, where that saves time.
    - ``timeout``: Seconds after which parts of the answer that are not finished are given up; it is then about the others, its verdict no or unknown, and ``unfinished`` says what is missing.
    - ``on_progress``: Called now and then with how far the answer is.
    """

def upgrade(
    snapshot: Snapshot,
    nodes: str,
    scheduler: Scheduler | None = None,
    *,
    workloads: str | Sequence[str] = (),
    namespace: str | None = None,
    selector: str = "",
    to: str = "",
    surge: int = 0,
    batch: int = 1,
    ignore_daemonsets: bool = True,
    delete_emptydir_data: bool = True,
    force: bool = False,
    preemption: bool = True,
    autoscaler: str | None = None,
    node_groups: GroupsGiven = None,
    instance_types: InstanceTypesGiven | None = None,
    prices: PricesGiven | None = None,
    remedies: bool = True,
    jobs: int | None = 1,
    timeout: float | None = None,
    on_progress: OnProgress | None = None,
) -> PlanReport:
    """Replace nodes of ``snapshot`` batch by batch as disruption budgets allow: cordon, drain, delete, add a copy,
    or a node of another kind (``to``: ``8x16``, ``TEMPLATE[@KEY=VALUE]``).

    Where that is blocked, ``remedies`` are looked for: what would get it through. Each is an upgrade of its own,
    which ``jobs`` and ``timeout`` are for; in one upgrade each batch begins with what the one before has left.

    ``workloads`` are [NAMESPACE/]KIND/NAME, ``deploy/web``: with them, or with a namespace or a selector, only pods
    of these count for the verdict.

    Raises UsageError, SnapshotError and ManifestError.

    - ``nodes``: Nodes to replace: a name, or labels (pool=a).
    - ``workloads``: Judge it by these workloads alone, as KIND/NAME (deploy/web, sts/db).
    - ``namespace``: Judge it by the workloads of this namespace alone; that of names without one (default: all).
    - ``selector``: Judge it by the workloads with these labels alone.
    - ``to``: What the new nodes are, instead of copies: of another size (8x16: 8 CPUs, 16 GiB), or copies of a node or of a Node manifest, each in the zone of the old one.
    - ``surge``: New nodes that join before the ones they replace are drained.
    - ``batch``: Nodes replaced at a time.
    - ``ignore_daemonsets``: Ignore DaemonSet pods; without it kubectl refuses to drain a node that has any.
    - ``delete_emptydir_data``: Also evict pods with emptyDir volumes; without it kubectl refuses.
    - ``force``: Also evict pods without a controller; without it kubectl refuses.
    - ``preemption``: Let pods that fit nowhere evict pods of lower priority; kube-scheduler lets them.
    - ``autoscaler``: Let cluster-autoscaler or Karpenter add nodes for pods that find none.
    - ``node_groups``: Node groups the autoscaler may grow (default: the snapshot's MachineDeployments or NodePools).
    - ``instance_types``: Instance types Karpenter may launch ('kubespread snapshot --instance-types' prints such a file).
    - ``prices``: File of kind Prices, YAML or JSON, to say what nodes cost too.
    - ``jobs``: How many processes work on the answer, which is the same for any number; None: one for each core, where that saves time.
    - ``timeout``: Seconds after which parts of the answer that are not finished are given up; it is then about the others, its verdict no or unknown, and ``unfinished`` says what is missing.
    - ``on_progress``: Called now and then with how far the answer is.
    """

def removable(
    snapshot: Snapshot,
    nodes: str | Sequence[str] = (),
    scheduler: Scheduler | None = None,
    *,
    ignore_daemonsets: bool = True,
    delete_emptydir_data: bool = True,
    force: bool = False,
    preemption: bool = True,
    prices: PricesGiven | None = None,
    jobs: int | None = 1,
    timeout: float | None = None,
    on_progress: OnProgress | None = None,
) -> RemovableReport:
    """Which ``nodes`` of ``snapshot`` can be drained and deleted so that every pod finds another node.

    Raises UsageError, SnapshotError and ManifestError.

    - ``nodes``: Nodes to ask about: a name, or labels (pool=a). Default: all.
    - ``ignore_daemonsets``: Ignore DaemonSet pods; without it kubectl refuses to drain a node that has any.
    - ``delete_emptydir_data``: Also evict pods with emptyDir volumes; without it kubectl refuses.
    - ``force``: Also evict pods without a controller; without it kubectl refuses.
    - ``preemption``: Let pods that fit nowhere evict pods of lower priority; kube-scheduler lets them.
    - ``prices``: File of kind Prices, YAML or JSON, to say what nodes cost too.
    - ``jobs``: How many processes work on the answer, which is the same for any number; None: one for each core, where that saves time.
    - ``timeout``: Seconds after which parts of the answer that are not finished are given up; it is then about the others, its verdict no or unknown, and ``unfinished`` says what is missing.
    - ``on_progress``: Called now and then with how far the answer is.
    """

def capacity(
    snapshot: Snapshot,
    request: str | None = None,
    scheduler: Scheduler | None = None,
    *,
    pod: PodGiven | None = None,
    name: str | None = None,
    namespace: str | None = None,
    tolerate: Sequence[str] = (),
    by: str | None = None,
) -> CapacityReport:
    """What the nodes of ``snapshot`` have left, in all and for each domain, and how many pods of one size fit.

    Such a pod has no labels or constraints. In the place of ``request`` copies of ``pod`` are counted, a manifest
    or KIND/NAME as for `simulate`. Without either no size of a pod is guessed, and only what no pod at all can use
    is stranded. Raises UsageError, SnapshotError and ManifestError.

    - ``request``: Count pods that each request this much (cpu=2,memory=4Gi,nvidia.com/gpu=1).
    - ``name``: Workload to use when the manifest has several.
    - ``namespace``: Namespace of the pods (default: the current one).
    - ``tolerate``: A taint that the pods tolerate.
    - ``by``: Topology key of the domains to total (default: zone, if nodes have one).
    """

def audit(
    snapshot: Snapshot,
    workloads: str | Sequence[str] = (),
    scheduler: Scheduler | None = None,
    *,
    namespace: str | None = None,
    selector: str = "",
    key: str = "",
    preemption: bool = True,
    jobs: int | None = 1,
    timeout: float | None = None,
    on_progress: OnProgress | None = None,
) -> AuditReport:
    """How the workloads of ``snapshot`` are spread: what their constraints count, which of them do not hold and
    why.

    ``workloads`` are [NAMESPACE/]KIND/NAME, ``deploy/web``; without any all are asked
    about that have pods or are to have some, and pods without a controller by their labels. The namespace is that
    of names without one, else the only one asked about; without it all are.

    Raises UsageError, SnapshotError and ManifestError.

    - ``workloads``: Workloads as KIND/NAME (deploy/web, sts/db). Default: all of the namespace.
    - ``namespace``: Ask about the workloads of this namespace.
    - ``selector``: Ask about the workloads with these labels (app=web,tier!=db).
    - ``key``: Count and lose the domains of this node label, such as a rack or capacity type (default: zones, and hosts where there are not several).
    - ``preemption``: Let pods that fit nowhere evict pods of lower priority; kube-scheduler lets them.
    - ``jobs``: How many processes work on the answer, which is the same for any number; None: one for each core, where that saves time.
    - ``timeout``: Seconds after which parts of the answer that are not finished are given up; it is then about the others, its verdict no or unknown, and ``unfinished`` says what is missing.
    - ``on_progress``: Called now and then with how far the answer is.
    """

def plan(
    snapshot: Snapshot,
    scenario: ScenarioGiven | None = None,
    scheduler: Scheduler | None = None,
    *,
    by_step: bool = False,
    manifests: PodGiven | Sequence[PodGiven] = (),
    create_namespaces: bool = False,
    hpa_max: bool = False,
    autoscaler: str | None = None,
    node_groups: GroupsGiven = None,
    instance_types: InstanceTypesGiven | None = None,
    prices: PricesGiven | None = None,
    runs: int | None = None,
    seed: int | None = None,
    namespace: str | None = None,
    preemption: bool = True,
    ignore_daemonsets: bool = True,
    delete_emptydir_data: bool = True,
    force: bool = False,
    jobs: int | None = 1,
    timeout: float | None = None,
    on_progress: OnProgress | None = None,
) -> PlanReport:
    """What becomes of the cluster when everything that is planned is done: the edits of ``snapshot``, the
    ``manifests`` to apply, paths, text or plain data as `explain` takes them, and the steps of ``scenario``.

    A scenario is a path, the text of a file, plain data, a `Scenario`, or a list of steps such as ``scale
    deploy/web=9``. What names nothing of the cluster is found before anything happens; what goes wrong on the way
    is said of its step. Where controllers delete some of several equal pods it is chance which; fewer than 8 runs
    are made where very many pods move.

    Raises ManifestError, SnapshotError and UsageError.

    - ``scenario``: Steps after the edits, in order: 'scale deploy/web=9', 'rollout deploy/web', 'fail zone=a', or a file of kind Scenario ('-': standard input).
    - ``by_step``: Show what each step does to pods and their spread, instead of before and after.
    - ``manifests``: Manifest, or directory of manifests, to apply: what is new is created, what runs is changed.
    - ``create_namespaces``: Create the namespaces of the manifests that are missing; what is in them is refused without.
    - ``hpa_max``: Scale every workload with an autoscaler to its maximum, all together.
    - ``autoscaler``: Let cluster-autoscaler or Karpenter add nodes for pods that find none.
    - ``node_groups``: Node groups the autoscaler may grow (default: the snapshot's MachineDeployments or NodePools).
    - ``instance_types``: Instance types Karpenter may launch ('kubespread snapshot --instance-types' prints such a file).
    - ``prices``: File of kind Prices, YAML or JSON, to say what nodes cost too.
    - ``runs``: Run N times, up to 10000, each with the next seed, and report the range (default: 8 where controllers pick among equal pods or nodes, else 1).
    - ``seed``: Leave to chance what is arbitrary, seeded with N: ties, which of equal pods and nodes controllers pick, and where kube-scheduler begins to look in a cluster so large that it scores a sample.
    - ``namespace``: Namespace of workloads that are named without one, unless the scenario sets it.
    - ``preemption``: Let pods that fit nowhere evict pods of lower priority; kube-scheduler lets them.
    - ``ignore_daemonsets``: Ignore DaemonSet pods; without it kubectl refuses to drain a node that has any.
    - ``delete_emptydir_data``: Also evict pods with emptyDir volumes; without it kubectl refuses.
    - ``force``: Also evict pods without a controller; without it kubectl refuses.
    - ``jobs``: How many processes work on the answer, which is the same for any number; None: one for each core, where that saves time.
    - ``timeout``: Seconds after which parts of the answer that are not finished are given up; it is then about the others, its verdict no or unknown, and ``unfinished`` says what is missing.
    - ``on_progress``: Called now and then with how far the answer is.
    """

def compare(
    before: Side,
    after: Side,
    *,
    replicas: int | None = None,
    from_scratch: bool = False,
    preemption: bool = True,
    name: str | None = None,
    namespace: str | None = None,
    selector: str = "",
    recursive: bool = False,
    template_path: str = "",
) -> CompareReport:
    """The rows that differ between ``before`` and ``after``: of each node, and of the workload with its replicas.

    Each `Side` is explained and, where both releases' scores are modeled, its replicas are placed. What both sides
    are given alike is read once. Of `ClusterWorkloads` all replicas are placed from scratch. The keywords are for
    both sides.

    Raises ManifestError, SnapshotError and UsageError.

    - ``replicas``: Desired replicas (default: the workload's own).
    - ``from_scratch``: Also re-place the replicas already running.
    - ``preemption``: Let pods that fit nowhere evict pods of lower priority; kube-scheduler lets them.
    - ``name``: Workload to use when there are several (NAME, Kind/NAME or NS/Kind/NAME).
    - ``namespace``: Namespace of manifests that set none, or of the cluster's workloads.
    - ``selector``: Ask about the cluster's workloads with these labels (app=web,tier!=db).
    - ``recursive``: Also read subdirectories.
    - ``template_path``: Path of the pod template in kinds unknown to kubespread (default: spec.template).
    """

def rebalance(
    snapshot: Snapshot,
    workloads: str | Sequence[str] = (),
    scheduler: Scheduler | None = None,
    *,
    namespace: str | None = None,
    selector: str = "",
    soft: bool = False,
    descheduler: str | Path | None = None,
    preemption: bool = True,
    on_progress: OnProgress | None = None,
) -> RebalanceReport:
    """The fewest evictions, in an order that disruption budgets allow, after which the spread constraints hold.

    ``workloads`` are [NAMESPACE/]KIND/NAME, ``deploy/web``; without any, all are asked about that ``namespace`` and
    ``selector`` choose. Each replacement is placed as kube-scheduler would. Nothing is evicted anywhere. The
    namespace is that of names without one, else the only one asked about; ``descheduler`` is the path of a
    DeschedulerPolicy (descheduler/v1alpha2).

    Raises UsageError, SnapshotError and ManifestError.

    - ``workloads``: Workloads as KIND/NAME (deploy/web, sts/db). Default: all of the namespace.
    - ``namespace``: Ask about the workloads of this namespace.
    - ``selector``: Ask about the workloads with these labels (app=web,tier!=db).
    - ``soft``: Also satisfy soft constraints (ScheduleAnyway), including the scheduler's built-in ones.
    - ``descheduler``: Also show what the descheduler would do with this DeschedulerPolicy, round by round.
    - ``preemption``: Let pods that fit nowhere evict pods of lower priority; kube-scheduler lets them.
    - ``on_progress``: Called now and then with how far the answer is.
    """

def topology_map(
    snapshot: Snapshot,
    pod: PodGiven | Sequence[PodGiven] | None = None,
    scheduler: Scheduler | None = None,
    *,
    keys: Sequence[str] = (),
    selector: str = "",
    name: str | None = None,
    namespace: str | None = None,
    recursive: bool = False,
    template_path: str = "",
    set: Sequence[str] = (),
) -> TopologyMap:
    """The nodes of ``snapshot`` by topology domain, how full they are, and where the pods of a workload run.

    ``pod`` is the workload, as `explain` takes it: what its first constraint counts is marked, or its own pods
    where it has none. Raises ManifestError, SnapshotError and UsageError.

    - ``keys``: Group nodes by this topology key, widest first (default: region, zone, rack and the keys of the constraints).
    - ``selector``: Without a workload, mark the pods with these labels (app=web,tier!=db).
    - ``name``: Workload to use when there are several (NAME, Kind/NAME or NS/Kind/NAME).
    - ``namespace``: Namespace to use when the manifest sets none.
    - ``recursive``: Also read subdirectories.
    - ``template_path``: Path of the pod template in kinds unknown to kubespread (default: spec.template).
    - ``set``: Change the pod first: maxSkew[zone]=2, minDomains=3, whenUnsatisfiable=ScheduleAnyway, nodeTaintsPolicy=Honor, nodeAffinityPolicy=Ignore, topologySpreadConstraints=zone:1, cpu=500m, memory[CONTAINER]=1Gi, tolerations=KEY=VALUE:EFFECT, nodeSelector[KEY]=VALUE, nodeAffinity[KEY]=null, podAffinity[KEY]=null, podAntiAffinity[KEY]=null, priorityClassName=NAME, schedulerName=NAME, replicas=N.
    """

def verify(
    snapshot: Snapshot,
    promises: PromisesGiven | None = None,
    scheduler: Scheduler | None = None,
    *,
    filename: Sequence[str] = (),
    preemption: bool = True,
    today: datetime.date | None = None,
    jobs: int | None = 1,
    timeout: float | None = None,
    on_progress: OnProgress | None = None,
) -> VerifyReport:
    """Which ``promises`` hold in ``snapshot``, by how much, and what breaks the others.

    Promises are a path, the text of a file, plain data or a `Promises`; ``today`` decides which are accepted.
    Raises ManifestError, SnapshotError and UsageError.

    - ``promises``: File of kind Promises, YAML or JSON; '-' for standard input.
    - ``filename``: Manifests, or directories of them, to apply before.
    - ``preemption``: Let pods that fit nowhere evict pods of lower priority; kube-scheduler lets them.
    - ``jobs``: How many processes work on the answer, which is the same for any number; None: one for each core, where that saves time.
    - ``timeout``: Seconds after which parts of the answer that are not finished are given up; it is then about the others, its verdict no or unknown, and ``unfinished`` says what is missing.
    - ``on_progress``: Called now and then with how far the answer is.
    """
