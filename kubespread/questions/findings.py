"""Findings about snapshots that lack objects or mix clusters, made before a question is answered.

A finding is about the snapshot, whatever the question: bound pods without their nodes, claims without their volumes,
lists that end too early. A kind that was not listed is a gap of the answers that need it instead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Literal

from msgspec import Struct, field

from kubespread.controllers.daemonset import should_run, with_added_tolerations
from kubespread.kube.api.cluster_objects import PersistentVolume, PersistentVolumeClaim
from kubespread.kube.api.core import Namespace, Pod
from kubespread.kube.api.kinds import POD_CREATORS
from kubespread.kube.api.workloads import DaemonSet, ReplicaSet, StatefulSet
from kubespread.kube.owners import NamespacedName, WorkloadName, controller_of, is_active
from kubespread.kube.providers import PROVIDERS
from kubespread.kube.versions import KubeVersion
from kubespread.node_groups import uncounted_groups
from kubespread.reports.findings import FindingCode
from kubespread.reports.parts import SnapshotFinding, closing_states
from kubespread.snapshot.snapshot import Snapshot, are_apart
from kubespread.wording import some_of

_MAX_NAMED = 3
_MOST_MINORS = 3
"""Number of minor versions that a kubelet may lag behind the API server, and so behind another kubelet.

Source: https://kubernetes.io/releases/version-skew-policy/
"""
_MANAGED = ("EKS", "GKE", "AKS")
"""Providers of managed clusters; labels of their nodes begin with the first of their prefixes."""
_BUILDS = ("-eks-", "-gke.")
"""Parts of the versions of kubelets that a provider builds, in all kubelets of its cluster."""
_CLUSTER_LABELS = ("alpha.eksctl.io/cluster-name", "kubernetes.azure.com/cluster")
"""Labels of nodes that name their cluster."""
_SYSTEM = "kube-system"
_DAEMON_SET = DaemonSet.__name__


def findings_in(snapshot: Snapshot) -> Sequence[SnapshotFinding]:
    """Findings that put answers from the snapshot in doubt."""
    return snapshot.cache.get_or_make("findings", lambda: tuple(findings_of(snapshot)))


def hints_in(snapshot: Snapshot) -> Sequence[str]:
    """Notes that NodePools could add nodes, as no autoscaler is named."""
    return tuple(uncounted_groups(snapshot.objects))


class _Pods(Struct):
    """Facts about all active pods, gathered in one pass."""

    number: int = 0
    namespaces: set[str] = field(default_factory=set)
    elsewhere: Counter[str] = field(default_factory=Counter)
    """Number of pods bound to each missing node."""
    daemon_nodes: set[str] = field(default_factory=set)
    """The nodes with some DaemonSet's pod."""
    claims: dict[NamespacedName, Pod] = field(default_factory=dict)
    """One pod of each claim, one that is bound where there is any."""
    controllers: Counter[WorkloadName] = field(default_factory=Counter)
    """Number of pods of each controller of Kubernetes' own kinds."""
    newest: str = ""
    """Time at which the last of them was created."""


def findings_of(snapshot: Snapshot) -> Iterator[SnapshotFinding]:
    """Yield the findings, the worst first. Fields that a hand-written cluster may omit are not missed there."""
    pods = _pod_facts(snapshot)
    doubts = snapshot.origin.doubts
    for error in doubts.get("errors", ()):
        yield _finding("errors", why=error)
    for cut in doubts.get("truncated", ()):
        yield _finding("truncated", why=cut)
    yield from _nodes(pods)
    if any(node.status.node_info.container_runtime_version for node in snapshot.nodes):
        yield from _namespaces(snapshot, pods)
        yield from _unseen_controllers(snapshot, pods)
        yield from _daemon_pods(snapshot, pods)
        yield from _owners(snapshot, pods)
    yield from _clusters(snapshot)
    yield from _times(snapshot, pods)
    yield from _claims(snapshot, pods)


def _pod_facts(snapshot: Snapshot) -> _Pods:
    names = {node.metadata.name for node in snapshot.nodes}
    pods = list(filter(is_active, snapshot.pods))
    # Names are built for each group of pods, not for each pod.
    owned = Counter(
        (
            owner.api_version,
            owner.kind,
            pod.metadata.namespace,
            owner.name,
            pod.spec.node_name if owner.kind == _DAEMON_SET else "",
        )
        for pod in pods
        for owner in pod.metadata.owner_references
        if owner.controller
    )
    on_nodes = Counter(pod.spec.node_name for pod in pods)
    facts = _Pods(
        number=len(pods),
        namespaces={pod.metadata.namespace for pod in pods},
        elsewhere=Counter({node: number for node, number in on_nodes.items() if node and node not in names}),
        daemon_nodes={node for _, kind, *_, node in owned if kind == _DAEMON_SET},
        newest=max((pod.metadata.creation_timestamp for pod in pods), default=""),
    )
    for (api_version, kind, namespace, name, _), number in owned.items():
        # Operators have kinds of their own under these names.
        if (row := POD_CREATORS.get(kind)) is not None and row.api_version == api_version:
            facts.controllers[WorkloadName(kind, namespace, name)] += number
    for pod in pods:
        for volume in pod.spec.volumes:
            if (source := volume.persistent_volume_claim) is not None:
                claim = NamespacedName(pod.metadata.namespace, source.claim_name)
                facts.claims[claim] = pod if pod.spec.node_name else facts.claims.get(claim, pod)
    return facts


def _nodes(pods: _Pods) -> Iterator[SnapshotFinding]:
    """Pods on missing nodes: neither they nor their room are counted."""
    if pods.elsewhere:
        total, nodes = pods.elsewhere.total(), sorted(pods.elsewhere)
        yield _finding("nodes", pods=total, nodes=len(nodes), names=nodes)


def _namespaces(snapshot: Snapshot, pods: _Pods) -> Iterator[SnapshotFinding]:
    """No pods, or pods of one namespace only, although real nodes run pods of kube-system."""
    others = {namespace.metadata.name for namespace in snapshot.objects.get(Namespace)} - pods.namespaces
    is_known = snapshot.objects.knows(Namespace) and not others
    if not snapshot.pods:
        yield _finding("pods", pods=0, controllers=0, names=[])
    if len(pods.namespaces) == 1 and _SYSTEM not in pods.namespaces and not is_known:
        yield _finding("namespaces", namespace=min(pods.namespaces))


def _unseen_controllers(snapshot: Snapshot, pods: _Pods) -> Iterator[SnapshotFinding]:
    """Controllers with pods in their status, but none in the snapshot."""
    objects = snapshot.objects
    counting: Iterable[ReplicaSet | StatefulSet] = chain(objects.get(ReplicaSet), objects.get(StatefulSet))
    counted = {
        name: obj.status.replicas
        for obj in counting
        if (name := WorkloadName(type(obj).__name__, obj.metadata.namespace, obj.metadata.name)) not in pods.controllers
        and obj.status.replicas
    }
    if counted and pods.number:
        yield _finding("pods", pods=sum(counted.values()), controllers=len(counted), names=sorted(counted))


def _daemon_pods(snapshot: Snapshot, pods: _Pods) -> Iterator[SnapshotFinding]:
    """Nodes without any pod of a DaemonSet, though DaemonSets of the snapshot should run on them."""
    if not pods.number:
        return
    daemon_sets = snapshot.objects.get(DaemonSet)
    templates = [
        Pod(spec=with_added_tolerations(template.spec))
        for daemon_set in daemon_sets
        if (template := daemon_set.spec.template) is not None
    ]
    lacking = [
        node.metadata.name
        for node in snapshot.nodes
        if node.metadata.name not in pods.daemon_nodes
        and not any(closing_states(node))
        and any(should_run(pod, node) for pod in templates)
    ]
    if lacking:
        yield _finding("daemonPods", nodes=len(lacking), daemonSets=len(daemon_sets), names=sorted(lacking))


def _clusters(snapshot: Snapshot) -> Iterator[SnapshotFinding]:
    """Objects of several clusters: one object with two UIDs, or providers or kubelets that no cluster combines."""
    signs = list(snapshot.origin.doubts.get("clusters", ())[:1])
    labels = {label for node in snapshot.nodes for label in node.metadata.labels}
    providers = [name for name in _MANAGED if any(label.startswith(PROVIDERS[name].prefixes[0]) for label in labels)]
    if len(providers) > 1:
        signs.append(f"nodes of {' and '.join(providers)}")
    clusters = {
        node.metadata.labels[key] for node in snapshot.nodes for key in _CLUSTER_LABELS if key in node.metadata.labels
    }
    if len(clusters) > 1:
        signs.append(f"nodes of {some_of(sorted(clusters), _MAX_NAMED)}")
    versions = {node.status.node_info.kubelet_version for node in snapshot.nodes} - {""}
    builds = {next((build for build in _BUILDS if build in version), ""): version for version in versions}
    if len(builds) > 1:
        signs.append(f"kubelets of {' and '.join(sorted(builds.values()))}")
    minors = sorted((minor, version) for version in versions if (minor := KubeVersion.minor_of(version)) is not None)
    if minors and minors[-1][0] - minors[0][0] > _MOST_MINORS:
        signs.append(f"kubelets of {minors[0][1]} and {minors[-1][1]}")
    if signs:
        yield _finding("clusters", signs=", ".join(signs))


def _times(snapshot: Snapshot, pods: _Pods) -> Iterator[SnapshotFinding]:
    """Lists read hours apart: objects created in between are in only one of them."""
    signs = list(snapshot.origin.doubts.get("times", ())[:_MAX_NAMED])
    # The kubelet sends a heartbeat every few minutes.
    heartbeats = (condition.last_heartbeat_time for node in snapshot.nodes for condition in node.status.conditions)
    last_heartbeat = max(heartbeats, default="")
    if last_heartbeat < pods.newest and are_apart(last_heartbeat, pods.newest):
        signs.append(f"nodes of {last_heartbeat} and pods of {pods.newest}")
    if signs:
        yield _finding("times", signs=", ".join(signs))


def _claims(snapshot: Snapshot, pods: _Pods) -> Iterator[SnapshotFinding]:
    """Missing claims of pods, and missing volumes of claims: which nodes their pods can use is unknown."""
    objects = snapshot.objects
    if objects.partly_known:
        return
    lists_claims = objects.knows(PersistentVolumeClaim)
    claims = {name: objects.find(PersistentVolumeClaim, name.name, name.namespace) for name in pods.claims}
    # With claims listed, a pod that waits may wait for its own.
    unclaimed = [
        name
        for name, claim in claims.items()
        if claim is None and (pods.claims[name].spec.node_name or not lists_claims)
    ]
    yield from _lacking(snapshot, "claims", {name: [pods.claims[name]] for name in unclaimed})
    missing = dict[str, list[Pod]]()
    for name, claim in claims.items():
        volume = "" if claim is None else claim.spec.volume_name
        if volume and objects.find(PersistentVolume, volume) is None:
            missing.setdefault(volume, []).append(pods.claims[name])
    yield from _lacking(snapshot, "volumes", missing)


def _lacking(
    snapshot: Snapshot, code: Literal["claims", "volumes"], pods: Mapping[str, Iterable[Pod]]
) -> Iterator[SnapshotFinding]:
    if pods:
        workloads = sorted({_workload_of(snapshot, pod) for users in pods.values() for pod in users})
        yield _finding(code, workloads, number=len(pods), names=sorted(pods))


def _owners(snapshot: Snapshot, pods: _Pods) -> Iterator[SnapshotFinding]:
    """Missing controllers of pods: the number of replacements that they create is unknown."""
    lacking = Counter[WorkloadName]()
    for name, number in pods.controllers.items():
        controller = snapshot.objects.find(POD_CREATORS[name.kind].cls, name.name, name.namespace)
        above = None if controller is None else controller_of(controller)
        if controller is None:
            lacking[name] += number
        elif (
            above is not None
            and (row := POD_CREATORS.get(above.kind)) is not None
            and row.api_version == above.api_version
            and snapshot.objects.find(row.cls, above.name, name.namespace) is None
        ):
            lacking[WorkloadName(above.kind, name.namespace, above.name)] += number
    if lacking:
        kinds = " or ".join(sorted({name.kind for name in lacking}))
        yield _finding("owners", sorted(lacking), kinds=kinds, pods=lacking.total(), names=sorted(lacking))


def _finding(code: FindingCode, workloads: Iterable[WorkloadName] = (), **numbers: object) -> SnapshotFinding:
    return SnapshotFinding.make(code, "warning", numbers=numbers, workloads=tuple(workloads))


def _workload_of(snapshot: Snapshot, pod: Pod) -> WorkloadName:
    """Find the workload that a question about the pod's workload names."""
    meta, owner = pod.metadata, controller_of(pod)
    if owner is None:
        return WorkloadName("Pod", meta.namespace, meta.name)
    above = None
    if owner.kind == ReplicaSet.__name__:
        replica_set = snapshot.objects.find(ReplicaSet, owner.name, meta.namespace)
        above = None if replica_set is None else controller_of(replica_set)
    return WorkloadName((above or owner).kind, meta.namespace, (above or owner).name)
