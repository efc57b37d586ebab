"""What controllers and kubectl drain are asked: DaemonSets and nodes, a node that is drained, a ReplicaSet that shrinks."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from kubespread.kube.well_known import HOSTNAME, ZONE
from tests.golden.recorder.cases.cluster import PREFERRED, REQUIRED
from tests.golden.recorder.cases.draw import Data, Draw

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
_TAINTS = tuple(
    f"node.kubernetes.io/{name}"
    for name in (
        "not-ready", "unreachable", "disk-pressure", "memory-pressure", "pid-pressure", "unschedulable", "network-unavailable",
        "out-of-service",
    )
)  # fmt: skip
_EFFECTS = ("NoSchedule", "NoExecute", "PreferNoSchedule")


def _ago(seconds: int) -> str:
    return (NOW - timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")


def _uid(draw: Draw) -> str:
    return f"{draw.number(0, 16**12 - 1):012x}"


def _owner(kind: str, name: str, uid: str, version: str = "apps/v1", *, controller: bool = True) -> Data:
    found: Data = {"apiVersion": version, "kind": kind, "name": name, "uid": uid}
    return found | ({"controller": True} if controller else {})


# DaemonSets


def daemon_set(draw: Draw) -> Data:
    """On which of five nodes its pod belongs, and where it may stay."""
    tolerations = [
        {"key": "dedicated", "operator": "Exists"},
        {"key": "dedicated", "operator": "Equal", "value": "a", "effect": "NoSchedule"},
        {"key": "dedicated", "value": "b"},
        {"operator": "Exists", "effect": "NoExecute"},
        {"operator": "Exists"},
        {"key": draw.one(*_TAINTS), "operator": "Exists"},
        {"key": _TAINTS[0], "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 30},
    ]
    spec = {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": draw.one("10m", "100")}}}]}
    spec |= draw.fields(
        {
            "nodeSelector": (0.25, [{"disk": "ssd"}, {"disk": "hdd"}, {"missing": "ssd"}]),
            "affinity": (0.3, lambda: {"nodeAffinity": _node_affinity(draw)}),
            "tolerations": (0.5, lambda: draw.some(tolerations, 1, 3)),
            "nodeName": (0.1, ["n0", "n1", "n2"]),
            "hostNetwork": (0.2, True),
        }
    )
    template = {"metadata": {"labels": {"app": "ds"}}, "spec": spec}
    metadata = {"name": "ds", "namespace": "default", "uid": _uid(draw)}
    made = {"selector": {"matchLabels": {"app": "ds"}}, "template": template}
    return {
        "nodes": [_node(draw, f"n{i}") for i in range(5)],
        "daemonSet": {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": metadata, "spec": made},
    }


def _node(draw: Draw, name: str) -> Data:
    labels = {
        HOSTNAME: name,
        ZONE: draw.one("a", "b", "c"),
        "disk": draw.one("ssd", "hdd"),
        "cores": draw.one("4", "8", "16", "x"),
    }

    def taint() -> Data:
        if draw.chance(0.6):
            return {"key": draw.one(*_TAINTS), "effect": draw.one(*_EFFECTS)}
        return {"key": "dedicated", "value": draw.one("a", "b", "5"), "effect": draw.one(*_EFFECTS)}

    spec: Data = {"taints": draw.many(0, 3, taint)}
    if any(each["key"].endswith("unschedulable") for each in spec["taints"]):
        spec["unschedulable"] = True
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}, "spec": spec}


def _node_affinity(draw: Draw) -> Data:
    def expression() -> Data:
        operator = draw.one("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")
        if operator in ("Gt", "Lt"):
            return {"key": draw.one("cores", "disk"), "operator": operator, "values": [draw.one("4", "8", "10")]}
        found: Data = {"key": draw.one("disk", ZONE, "missing"), "operator": operator}
        return found | (
            {"values": draw.some(["ssd", "hdd", "a", "b", "c"], 1, 3)} if operator in ("In", "NotIn") else {}
        )

    def term() -> Data:
        fields = [{"key": "metadata.name", "operator": operator, "values": ["n1"]} for operator in ("In", "NotIn")]
        found = {"matchExpressions": draw.many(1, 2, expression)}
        return found | draw.fields({"matchFields": (0.2, [[each] for each in fields])})

    preferred = [{"weight": 5, "preference": {"matchExpressions": [expression()]}}]
    return {REQUIRED: {"nodeSelectorTerms": draw.many(1, 2, term)}} | draw.fields({PREFERRED: (0.3, [preferred])})


# kubectl drain


def drain(draw: Draw) -> Data:
    """Pods of every kind of owner on a node, and kubectl's flags."""
    sets = [{"name": f"ds{i}", "namespace": "kube-system", "uid": _uid(draw)} for i in range(2)]
    flags = draw.fields(
        {
            "force": (0.4, True),
            "ignore-daemonsets": (0.65, True),
            "delete-emptydir-data": (0.5, True),
            "pod-selector": (0.15, ["app=web", "app!=web", "app in (db)", "nothing=here"]),
            "skip-wait-for-delete-timeout": (0.2, [1, 60]),
        }
    )
    return {
        "node": "n1",
        "pods": [_drained_pod(draw, i, sets) for i in range(draw.number(0, 8))],
        "daemonSets": [{"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": metadata} for metadata in sets],
        "flags": flags,
    }


def _drained_pod(draw: Draw, i: int, sets: list[Data]) -> Data:
    of = draw.one(*sets)
    owners: dict[str, Data | None] = {
        "rs": _owner("ReplicaSet", "x", "u"),
        "sts": _owner("StatefulSet", "x", "u"),
        "job": _owner("Job", "x", "u", "batch/v1"),
        "custom": _owner("Widget", "x", "u", "example.com/v1"),
        "ds": _owner("DaemonSet", of["name"], of["uid"]),
        "dsgone": _owner("DaemonSet", "gone", "u"),
        "dsother": _owner("DaemonSet", of["name"], "another"),
        "extds": _owner("DaemonSet", "ds0", "u", "example.com/v1"),
        "notcontroller": _owner("ReplicaSet", "x", "u", controller=False),
        "mirror": _owner("Node", "n1", "u", "v1") if draw.chance(0.7) else None,
        "bare": None,
    }
    kind = draw.one("rs", "rs", "rs", "ds", *owners)
    of_system = kind in ("ds", "dsgone", "dsother", "mirror", "extds")
    metadata: Data = {
        "name": f"{kind}-{i}",
        "namespace": "kube-system" if of_system else draw.one("default", "shop"),
        "uid": _uid(draw),
        "labels": {"app": draw.one("web", "db")},
    }
    metadata |= draw.fields({"deletionTimestamp": (0.12, ["2020-01-01T00:00:00Z", "2099-01-01T00:00:00Z"])})
    if kind == "mirror":
        metadata["annotations"] = {"kubernetes.io/config.mirror": "abc", "kubernetes.io/config.source": "file"}
    if owner := owners[kind]:
        metadata["ownerReferences"] = [owner]
    volumes: list[Data] = [
        {"name": "a", "emptyDir": {}},
        {"name": "b", "emptyDir": {"medium": "Memory"}},
        {"name": "c", "hostPath": {"path": "/x"}},
        {"name": "d", "persistentVolumeClaim": {"claimName": "x"}},
        {"name": "e", "configMap": {"name": "x"}},
    ]
    spec = {
        "nodeName": "n1" if draw.chance(0.9) else "n2",
        "containers": [{"name": "c"}],
        "volumes": draw.some(volumes, 0, 2),
    }
    phase = draw.one(*["Running"] * 7, "Pending", "Succeeded", "Failed")
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": {"phase": phase}}


# ReplicaSets


_COSTS = ("1", "-1", "5", "10", "-100", "100", "2147483647", "-2147483648", "0", "3")
_BAD_COSTS = ("+10", "007", "-010", "abc", "", "2147483648", "1.5", " 5", "-", "-0", "1e3", "5 ", "0x10", "00")
_AGES = (
    5, 20, 34, 35, 60, 68, 69, 100, 137, 138, 274, 275, 549, 550, 1099, 1100, 2000, 4398, 4399, 17592, 17593, 70368, 70369, 86400,
    140737, 140738, 281474, 281475, 562949, 562950, 604800, 2592000, 31536000,
)  # fmt: skip
"""Around the ages at which the logarithm of an age changes by one."""


class _Crowd:
    """The pods of a ReplicaSet that shrinks and of its like: which criteria tell them apart is drawn for the whole case."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        self.namespace = draw.one("default", "shop")
        self.varies = draw.fields(
            {
                "node": (0.25, True), "phase": (0.3, True), "ready": (0.45, True), "cost": (0.35, True), "bad cost": (0.3, True),
                "crowd": (0.6, True), "ready since": (0.75, True), "restarts": (0.4, True), "sidecars": (0.25, True),
                "age": (0.7, True),
            }
        )  # fmt: skip
        few = draw.chance(0.5)
        self.since, self.ages = (draw.some(_AGES, 1, 3) if few else list(_AGES) for _ in range(2))
        self.nodes = [f"n{i}" for i in range(draw.number(1, 12))]
        self.count = 0

    def varied(self, criterion: str, probability: float) -> bool:
        return criterion in self.varies and self.draw.chance(probability)

    def pod(self, of: Data) -> Data:
        draw, number = self.draw, self.count
        self.count += 1
        metadata: Data = {
            "name": f"web-{number:02d}",
            "namespace": self.namespace,
            "uid": _uid(draw),
            "labels": dict(of["spec"]["selector"]["matchLabels"]),
            "ownerReferences": [_owner("ReplicaSet", of["metadata"]["name"], of["metadata"]["uid"])],
            "creationTimestamp": _ago(draw.one(*self.ages) if "age" in self.varies else self.ages[0]),
        }
        if self.varied("cost", 0.5):
            costs = _BAD_COSTS if self.varied("bad cost", 0.5) else _COSTS
            metadata["annotations"] = {"controller.kubernetes.io/pod-deletion-cost": draw.one(*costs)}
        spec: Data = {"containers": [{"name": "c"}]}
        if not self.varied("node", 0.25):
            spec["nodeName"] = draw.one(*self.nodes) if "crowd" in self.varies else self.nodes[number % len(self.nodes)]
        status = self._status(is_bound="nodeName" in spec)
        if "sidecars" in self.varies:
            spec["initContainers"] = [{"name": "side", "restartPolicy": "Always"}, {"name": "init"}]
            status["initContainerStatuses"] = [_restarted(draw, name, 0, 0, 3, 9) for name in ("side", "init")]
        return {"metadata": metadata, "spec": spec, "status": status}

    def _status(self, *, is_bound: bool) -> Data:
        draw = self.draw
        phase = "Running" if is_bound else "Pending"
        if is_bound and "phase" in self.varies:
            phase = draw.one("Running", "Running", "Running", "Running", "Pending", "Unknown")
        is_ready = not self.varied("ready", 0.35) and (phase == "Running" or draw.chance(0.1))
        ready: Data = {"type": "Ready", "status": "True" if is_ready else draw.one("False", "Unknown")}
        since = draw.one(*self.since) if "ready since" in self.varies else self.since[0]
        ready |= draw.fields({"lastTransitionTime": (0.9, _ago(since))})
        found: Data = {"phase": phase, "conditions": [ready]}
        if self.varied("restarts", 0.6):
            found["containerStatuses"] = [_restarted(draw, name, 0, 1, 1, 2, 5) for name in draw.some("cd", 1, 2)]
        return found


def _restarted(draw: Draw, name: str, *times: int) -> Data:
    return {"name": name, "restartCount": draw.one(*times), "image": "", "imageID": "", "ready": True}


def scale_down(draw: Draw) -> Data:
    """In which order a ReplicaSet deletes its pods, among those of siblings, of others, and those that are ending."""
    crowd = _Crowd(draw)
    deployment = _owner("Deployment", "web", _uid(draw)) if draw.chance(0.85) else None
    hashes = ("6d5f", "7c9b", "84aa")[: draw.number(1, 3) if deployment else 1]
    sets = [_replica_set(draw, crowd.namespace, "web", each, deployment) for each in hashes]
    main = draw.one(*sets)
    own = [crowd.pod(main) for _ in range(draw.number(2, 30))]
    siblings = [crowd.pod(each) for each in sets if each is not main for _ in range(draw.number(0, 8))]
    ending = [crowd.pod(draw.one(*sets)) for _ in range(draw.one(0, 0, 1, 3))]
    finished = [crowd.pod(draw.one(*sets)) for _ in range(draw.one(0, 0, 1, 2))]
    foreign = [crowd.pod(draw.one(*sets)) for _ in range(draw.one(0, 0, 1, 4))]
    elsewhere = [crowd.pod(main) for _ in range(draw.one(0, 0, 1, 3))]
    for pod in own:
        if draw.chance(0.03):
            del pod["metadata"]["ownerReferences"]  # it is adopted
        elif draw.chance(0.01):
            pod["metadata"]["labels"] = {"app": "debug"}  # it is released
    for pod in ending:
        pod["metadata"]["deletionTimestamp"] = _ago(-20)
    for pod in finished:
        pod["status"] = {"phase": draw.one("Failed", "Succeeded")}
    for pod in foreign:
        pod["metadata"]["ownerReferences"] = [_owner("Job", "j", _uid(draw), "batch/v1")]
    for pod in elsewhere:
        pod["metadata"]["namespace"] = "elsewhere"
    if draw.chance(0.15):
        sets.append(_replica_set(draw, crowd.namespace, "api", "1", _owner("Deployment", "api", _uid(draw))))
    pods = [*own, *siblings, *ending, *finished, *foreign, *elsewhere]
    now = (NOW + timedelta(milliseconds=draw.one(0, 0, 0, 1, 500, 999))).isoformat().replace("+00:00", "Z")
    return {
        "now": now,
        "replicaSet": main["metadata"]["name"],
        "replicaSets": sets,
        "pods": draw.some(pods, len(pods), len(pods)),
    }


def _replica_set(draw: Draw, namespace: str, app: str, template: str, deployment: Data | None) -> Data:
    labels = {"app": app} | ({"pod-template-hash": template} if deployment else {})
    metadata: Data = {"name": f"{app}-{template}", "namespace": namespace, "uid": _uid(draw), "labels": labels}
    metadata["creationTimestamp"] = _ago(90000)
    if deployment:
        metadata["ownerReferences"] = [deployment]
    made = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"replicas": 0, "selector": {"matchLabels": labels}, "template": made}
    return {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": metadata, "spec": spec}
