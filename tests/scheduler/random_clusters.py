"""Random clusters, candidates, profiles and changes that give every plugin something to say."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import msgspec
from hypothesis import strategies as st

import kubespread
from kubespread.candidate.sources import Surroundings
from kubespread.kube.api.cluster_objects import ClusterObjects
from kubespread.kube.api.core import Node, Pod, Taint
from kubespread.kube.versions import LATEST
from kubespread.scheduler.cluster.cluster import Cluster, ClusterChange
from kubespread.scheduler.framework import Framework
from kubespread.scheduler.plugin import JUDGES, RANKS
from kubespread.scheduler.plugins.registry import REGISTRY
from kubespread.scheduler.profile.loading import load_profiles
from kubespread.scheduler.profile.profile import HANDOVERS, default_profile, framework
from tests.builders import hard, node, pod, soft, taint
from tests.candidate.objects import from_object

Data = dict[str, Any]

HEAD = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
MODELLED = sorted(plugin.name for plugin in REGISTRY if plugin.make is not None and plugin.points & (JUDGES | RANKS))
STORAGE = "storage.k8s.io/v1"
BIG_IMAGE = "example.com/big:1"


def api_object(kind: str, name: str, spec: Data, *, api_version: str = "v1", **more: Any) -> Data:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name, **more}, "spec": spec}


def claim(name: str, mode: str, **spec: Any) -> Data:
    full = {"accessModes": [mode], "resources": {"requests": {"storage": "10Gi"}}, **spec}
    bound = {"pv.kubernetes.io/bind-completed": "yes"} if "volumeName" in spec else {}
    return api_object("PersistentVolumeClaim", name, full, namespace="default", annotations=bound)


def in_zone(key: str, zone: str) -> Data:
    return {"nodeSelectorTerms": [{"matchExpressions": [{"key": key, "operator": "In", "values": [zone]}]}]}


def volume(name: str, zone: str, **labels: str) -> Data:
    spec = {
        "capacity": {"storage": "10Gi"},
        "accessModes": ["ReadWriteOnce", "ReadWriteOncePod"],
        "csi": {"driver": "d.csi", "volumeHandle": name},
        "nodeAffinity": {"required": in_zone("zone", zone)},
    }
    return api_object("PersistentVolume", name, spec, labels=labels)


OBJECTS: list[Data] = [
    api_object("Namespace", "default", {}, labels={"team": "a"}),
    api_object("Namespace", "other", {}, labels={"team": "b"}),
    claim("exclusive", "ReadWriteOncePod", volumeName="v-exclusive"),
    claim("shared", "ReadWriteOnce", volumeName="v-shared"),
    claim("waiting", "ReadWriteOnce", storageClassName="wait"),
    volume("v-exclusive", "a"),
    volume("v-shared", "b", **{"topology.kubernetes.io/zone": "b"}),
    {
        "apiVersion": STORAGE,
        "kind": "StorageClass",
        "metadata": {"name": "wait"},
        "provisioner": "d.csi",
        "volumeBindingMode": "WaitForFirstConsumer",
    },
    *(
        api_object(
            "CSINode", f"n{at}", {"drivers": [{"name": "d.csi", "allocatable": {"count": 1}}]}, api_version=STORAGE
        )
        for at in range(3)
    ),
    {
        **api_object("ResourceClaim", "device", {}, api_version="resource.k8s.io/v1", namespace="default"),
        # Somebody else uses it too: without users it would be given back, and a cluster built anew could not know.
        "status": {
            "allocation": {"nodeSelector": in_zone("zone", "a")},
            "reservedFor": [{"resource": "pods", "name": "elsewhere", "uid": "elsewhere"}],
        },
    },
]


@dataclass(frozen=True)
class Question:
    """A cluster and the pod that is to be placed in it."""

    nodes: list[Node]
    pods: list[Pod]
    objects: ClusterObjects
    candidate: Pod

    @property
    def cluster(self) -> Cluster:
        return Cluster.build(self.nodes, self.pods, self.objects)


ZONES = st.sampled_from([None, "", "a", "a", "b", "b"])
LABELS = st.sampled_from([{"app": "a"}, {"app": "a", "rev": "1"}, {"app": "b"}])
TERMS = st.builds(
    lambda key, app, namespaces: {"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}, **namespaces},
    st.sampled_from(["zone", "host", "missing"]),
    st.sampled_from(["a", "b"]),
    st.sampled_from([{}, {"namespaces": ["other"]}, {"namespaceSelector": {"matchLabels": {"team": "b"}}}]),
)
WEIGHTED = st.builds(lambda weight, term: {"weight": weight, "podAffinityTerm": term}, st.integers(1, 100), TERMS)
POD_AFFINITY = st.fixed_dictionaries(
    {},
    optional={
        "requiredDuringSchedulingIgnoredDuringExecution": st.lists(TERMS, max_size=1),
        "preferredDuringSchedulingIgnoredDuringExecution": st.lists(WEIGHTED, min_size=1, max_size=2),
    },
)
NODE_AFFINITY = st.fixed_dictionaries(
    {},
    optional={
        "requiredDuringSchedulingIgnoredDuringExecution": st.sampled_from(
            [
                in_zone("zone", "a"),
                {
                    "nodeSelectorTerms": [
                        {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n0"]}]}
                    ]
                },
            ]
        ),
        "preferredDuringSchedulingIgnoredDuringExecution": st.just(
            [{"weight": 5, "preference": in_zone("zone", "b")["nodeSelectorTerms"][0]}]
        ),
    },
)
AFFINITY = st.fixed_dictionaries({}, optional={"podAntiAffinity": POD_AFFINITY, "podAffinity": POD_AFFINITY})
REQUESTS = st.sampled_from([{}, {"cpu": "300m"}, {"cpu": "1", "memory": "1Gi"}, {"example.com/gpu": "1"}])
PORTS = st.sampled_from([[], [], [{"containerPort": 80, "hostPort": 80}]])
VOLUMES = st.sampled_from(
    [
        *[[]] * 4,
        *([{"name": "v", "persistentVolumeClaim": {"claimName": name}}] for name in ("exclusive", "shared", "waiting")),
        [{"name": "v", "gcePersistentDisk": {"pdName": "disk"}}],
    ]
)


@st.composite
def plain_nodes(draw: st.DrawFn) -> list[Data]:
    made = []
    for position in range(draw(st.sampled_from([3, 1, 2, 4, 5]))):
        taints = draw(st.sampled_from([[], [], [taint("gpu")], [taint("slow", "PreferNoSchedule")]]))
        cpu, cordoned = draw(st.sampled_from(["8", "2", "1"])), draw(st.sampled_from([False] * 4 + [True]))
        plain = node(f"n{position}", zone=draw(ZONES), cpu=cpu, taints=taints, unschedulable=cordoned)
        if draw(st.booleans()):
            plain["metadata"]["labels"] |= {"host": f"n{position}", "kubernetes.io/hostname": f"n{position}"}
        if draw(st.booleans()):
            plain["metadata"]["labels"]["topology.kubernetes.io/zone"] = draw(st.sampled_from(["b", "a"]))
            plain["status"]["allocatable"]["example.com/gpu"] = "2"
            plain["status"]["images"] = [{"names": [BIG_IMAGE], "sizeBytes": 500 * 2**20}]
            plain["status"]["declaredFeatures"] = ["RestartAllContainersOnContainerExits"]
        made.append(plain)
    return made


@st.composite
def plain_pods(draw: st.DrawFn, name: str, on: str | None = None) -> Data:
    """A pod that may have anything that matters to others."""
    made = pod(
        name,
        on,
        labels=draw(LABELS),
        namespace=draw(st.sampled_from(["default", "default", "other"])),
        affinity=draw(AFFINITY),
        volumes=draw(VOLUMES),
    )
    amounts = draw(REQUESTS)
    made["spec"]["containers"][0]["resources"] = {"requests": amounts, "limits": amounts}
    made["spec"]["containers"][0] |= {"ports": draw(PORTS), "image": draw(st.sampled_from([BIG_IMAGE, "small"]))}
    return made


@st.composite
def plain_candidates(draw: st.DrawFn) -> Data:
    """The same with what matters to itself."""
    made = draw(plain_pods("web"))
    made["metadata"]["namespace"] = "default"
    keys = st.sampled_from(["zone", "host", "kubernetes.io/hostname"])
    policies = st.sampled_from([{}, {"nodeTaintsPolicy": "Honor"}, {"nodeAffinityPolicy": "Ignore"}])
    constraints = [
        build(draw(keys), draw(st.integers(1, 2)), match={"app": "a"}, **draw(policies))
        for build in draw(st.lists(st.sampled_from([hard, soft]), max_size=3))
    ]
    distinct = {(each["topologyKey"], each["whenUnsatisfiable"]): each for each in constraints}
    spec = made["spec"]
    spec["topologySpreadConstraints"] = list(distinct.values())
    spec["affinity"] = {**spec["affinity"], "nodeAffinity": draw(NODE_AFFINITY)}
    spec["tolerations"] = draw(st.sampled_from([[{"operator": "Exists"}], []]))
    match draw(st.sampled_from([*[""] * 7, "claim", "feature", "name"])):
        case "claim":
            spec["resourceClaims"] = [{"name": "device", "resourceClaimName": "device"}]
        case "feature":
            rules = [{"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [1]}}]
            spec["containers"][0] |= {"restartPolicy": "Never", "restartPolicyRules": rules}
        case "name":
            spec["nodeName"] = "n0"
    return made


@st.composite
def questions(draw: st.DrawFn) -> Question:
    nodes = draw(plain_nodes())
    names = [each["metadata"]["name"] for each in nodes]
    pods = [draw(plain_pods(f"p{at}", draw(st.sampled_from(names)))) for at in range(draw(st.integers(0, 4)))]
    if draw(st.sampled_from([False, False, True])):
        pods.append({**draw(plain_pods("nominated")), "status": {"nominatedNodeName": draw(st.sampled_from(names))}})
    snapshot = kubespread.Snapshot.from_objects([*nodes, *pods, *OBJECTS])
    candidate = from_object(draw(plain_candidates()), Surroundings(snapshot)).pod
    return Question(list(snapshot.nodes), list(snapshot.pods), snapshot.objects, candidate)


PLUGIN_CONFIG = st.lists(
    st.sampled_from(
        [
            {
                "name": "NodeResourcesFit",
                "args": {"scoringStrategy": {"type": "MostAllocated", "resources": [{"name": "cpu", "weight": 3}]}},
            },
            {
                "name": "NodeResourcesFit",
                "args": {
                    "ignoredResources": ["example.com/gpu"],
                    "scoringStrategy": {
                        "type": "RequestedToCapacityRatio",
                        "resources": [{"name": "cpu", "weight": 1}, {"name": "memory", "weight": 2}],
                        "requestedToCapacityRatio": {
                            "shape": [{"utilization": 0, "score": 10}, {"utilization": 80, "score": 2}]
                        },
                    },
                },
            },
            {"name": "NodeResourcesBalancedAllocation", "args": {"resources": [{"name": "cpu", "weight": 1}]}},
            {
                "name": "InterPodAffinity",
                "args": {"hardPodAffinityWeight": 0, "ignorePreferredTermsOfExistingPods": True},
            },
            {"name": "PodTopologySpread", "args": {"defaultingType": "List", "defaultConstraints": []}},
            {
                "name": "NodeAffinity",
                "args": {"addedAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": in_zone("zone", "a")}},
            },
        ]
    ),
    max_size=3,
    unique_by=lambda config: str(config["name"]),
)
WEIGHTS = st.dictionaries(
    st.sampled_from(["PodTopologySpread", "InterPodAffinity", "ImageLocality", "NodeAffinity"]),
    st.integers(1, 9),
    max_size=2,
)
DISABLED = st.lists(st.sampled_from(MODELLED), max_size=3, unique=True)


@st.composite
def profiles(draw: st.DrawFn) -> Framework:
    """The default profile, or one with plugins switched off at all or at one point, reweighted and reconfigured."""
    if draw(st.booleans()):
        return framework(default_profile())
    plugins: Data = {}
    disabled = draw(DISABLED)
    plugins["multiPoint"] = {
        "disabled": [{"name": name} for name in disabled],
        "enabled": [
            {"name": name, "weight": weight} for name, weight in sorted(draw(WEIGHTS).items()) if name not in disabled
        ],
    }
    if draw(st.booleans()):
        point = draw(st.sampled_from(["filter", "preFilter", "preScore", "score"]))
        writing = {handover.plugin for handover in HANDOVERS if handover.written == point}
        plugins[point] = {"disabled": [{"name": name} for name in draw(DISABLED) if name not in writing]}
    config = {**HEAD, "profiles": [{"plugins": plugins, "pluginConfig": draw(PLUGIN_CONFIG)}]}
    return framework(load_profiles(json.loads(json.dumps(config)), LATEST)[0])


class World:
    """Nodes, pods with the node they are on, and pods that wait, as plain lists beside the clusters that follow them."""

    def __init__(self, question: Question) -> None:
        self.nodes = list(question.nodes)
        self.pods = [(each, each.spec.node_name) for each in question.pods if each.spec.node_name]
        self.waiting = [each for each in question.pods if not each.spec.node_name]
        self.objects = question.objects

    def anew(self) -> Cluster:
        """A cluster of objects of its own, none of which was seen before."""
        placed = []
        for each, name in self.pods:
            own = msgspec.json.decode(msgspec.json.encode(each), type=Pod)
            own.spec.node_name = name
            placed.append(own)
        return Cluster.build(self.nodes, [*placed, *self.waiting], self.objects)

    def place(self, placed: Pod, node: int) -> None:
        self.pods.append((placed, self.nodes[node].metadata.name))


@st.composite
def changes(draw: st.DrawFn, world: World, others: list[Pod], step: int) -> ClusterChange:
    """One change, made to the lists of ``world`` too. Any of ``others`` may come."""
    size = len(world.nodes)
    kind = draw(st.sampled_from(["come", "come", "go", "replace", "both", "add", "remove"]))
    come: list[tuple[Pod, int]] = []
    gone: set[int] = set()
    replaced: dict[int, Node] = {}
    added: list[Node] = []
    removed: set[int] = set()
    if kind in ("come", "both") and size:
        come = [(draw(st.sampled_from(others)), draw(st.integers(0, size - 1))) for _ in range(draw(st.integers(1, 3)))]
    if kind in ("go", "both") and world.pods:
        gone = draw(st.sets(st.integers(0, len(world.pods) - 1), max_size=3))
    if kind in ("replace", "both") and size:
        positions = draw(st.sets(st.integers(0, size - 1), max_size=2))
        replaced = {position: _changed(draw, world.nodes[position]) for position in positions}
    if kind == "add":
        zone, taints = draw(st.sampled_from(["a", "z"])), draw(st.sampled_from([[], [taint("gpu")]]))
        added = list(kubespread.Snapshot.from_objects([node(f"new{step}", zone=zone, taints=taints)]).nodes)
    if kind == "remove" and size > 1:
        removed = {draw(st.integers(0, size - 1))}
    names = [each.metadata.name for each in world.nodes]
    lost = {names[position] for position in removed}
    position_of = {name: position for position, name in enumerate(names)}
    left = [(world.pods[at][0], position_of[world.pods[at][1]]) for at in sorted(gone)]
    world.pods = [(each, on) for at, (each, on) in enumerate(world.pods) if at not in gone and on not in lost]
    world.pods += [(each, names[position]) for each, position in come]
    world.nodes = [replaced.get(at, each) for at, each in enumerate(world.nodes) if at not in removed] + added
    return ClusterChange(
        added_pods=come, removed_pods=left, replaced_nodes=replaced, added_nodes=added, removed_nodes=frozenset(removed)
    )


def _changed(draw: st.DrawFn, before: Node) -> Node:
    """The node as it is after one of the things that happen to nodes."""
    made = msgspec.json.decode(msgspec.json.encode(before), type=Node)
    match draw(st.sampled_from(["cordon", "taint", "untaint", "relabel", "unlabel", "resize", "images"])):
        case "cordon":
            made.spec.unschedulable = not made.spec.unschedulable
        case "taint":
            made.spec.taints = [*made.spec.taints, Taint(key="new", effect="NoSchedule")]
        case "untaint":
            made.spec.taints = []
        case "relabel":
            made.metadata.labels = {**made.metadata.labels, "zone": draw(st.sampled_from(["a", "b", "c"]))}
        case "unlabel":
            made.metadata.labels = {key: value for key, value in made.metadata.labels.items() if key != "zone"}
        case "resize":
            made.status.allocatable = {**made.status.allocatable, "cpu": draw(st.sampled_from(["1", "3", "64"]))}
        case "images":
            made.status.images = []
    return made


def terminating(running: Pod) -> Pod:
    made = msgspec.json.decode(msgspec.json.encode(running), type=Pod)
    made.metadata.deletion_timestamp = "2026-01-01T00:00:00Z"
    return made


def visitors(question: Question) -> list[Pod]:
    """Pods that may come to the cluster: like the candidate, like those that are there, and some on their way out."""
    others = [question.candidate, *question.pods]
    return [*others, *map(terminating, others[:2])]


def touches_nodes(change: ClusterChange) -> bool:
    return bool(change.replaced_nodes or change.added_nodes or change.removed_nodes)
