"""Budgets with evictions, and nodes to drain."""

from __future__ import annotations

from collections.abc import Sequence

from tools.recorder.cases.draw import Data, Draw
from tools.recorder.cases.workloads import owned_by, owner_of, pod, ready, selecting, terminating, uid, workload
from tools.replay.cases import NOW, ago

_OWNERS = (
    *["Deployment"] * 7,
    "ReplicaSet",
    "ReplicaSet",
    "StatefulSet",
    "StatefulSet",
    "ReplicationController",
    "none",
    "none",
    "Job",
    "DaemonSet",
    "Widget",
    "Gadget",
    "Rollout",
    "Node",
    "gone",
    "of a Deployment that is gone",
    "of another uid",
)
_PERCENT = (0, 1, 5, 10, 20, 25, 30, 33, 34, 40, 41, 50, 60, 66, 67, 75, 80, 90, 99, 100)
_UNSYNCED = {"currentHealthy": 0, "desiredHealthy": 0, "disruptionsAllowed": 0, "expectedPods": 0}


def budgets(draw: Draw) -> Data:
    objects: list[Data] = []
    pods: list[Data] = []
    apps = [f"app{i}" for i in range(draw.one(1, 1, 1, 2, 2, 3))]
    for app in apps:
        labels = {"app": app, "tier": draw.one("a", "b")}
        count = draw.number(0, 8)
        made, owners = _owners(draw, app, labels, count)
        objects += made
        health = draw.one(0.95, 0.8, 0.5, 1.0, 1.0)
        pods += [_protected(draw, f"{app}-{i}", labels, owners, health) for i in range(count)]
    names = [f"{each['metadata']['namespace']}/{each['metadata']['name']}" for each in pods]
    evictions = draw.some(names, 1, 10)
    if evictions and draw.chance(0.15):
        evictions.append(draw.one(*evictions))
    if draw.chance(0.04):
        evictions.append("default/nobody")
    return {
        "now": f"{NOW:%Y-%m-%dT%H:%M:%SZ}",
        "objects": objects,
        "pods": pods,
        "podDisruptionBudgets": [_budget(draw, i, apps, pods) for i in range(draw.one(0, 1, 1, 1, 1, 1, 2, 2, 3))],
        "evictions": evictions,
        "sync": draw.chance(0.95),
        "resync": draw.chance(0.6),
    }


def _owners(draw: Draw, app: str, labels: Data, count: int) -> tuple[list[Data], list[Data]]:
    """The workloads of ``count`` pods, and what can own them."""
    kind = draw.one(*_OWNERS)
    spec: Data = {"replicas": count if draw.chance(0.6) else max(0, count + draw.one(-3, -2, -1, 1, 2, 4))}
    if kind == "ReplicationController":
        spec |= {**selecting(labels), "selector": {"app": app}}
    elif kind not in ("Widget", "Gadget"):
        spec |= {**selecting(labels), "selector": {"matchLabels": {"app": app}}}
    if kind in ("Deployment", "of a Deployment that is gone"):
        deployment = workload(draw, "Deployment", app, spec)
        replica_sets = [
            workload(draw, "ReplicaSet", f"{app}-rs{i}", spec | {"replicas": draw.number(0, 6)})
            for i in range(draw.one(1, 1, 2))
        ]
        for each in replica_sets:
            each["metadata"]["ownerReferences"] = [owner_of(deployment)]
        there = [deployment] if kind == "Deployment" else []
        return there + replica_sets, [owner_of(each) for each in replica_sets]
    if kind in ("ReplicaSet", "StatefulSet", "ReplicationController", "Widget", "Gadget"):
        made = workload(draw, kind, app, spec | ({"serviceName": app} if kind == "StatefulSet" else {}))
        return [made], [owner_of(made)]
    if kind == "of another uid":
        return [workload(draw, "ReplicaSet", app, spec)], [owned_by("ReplicaSet", app, uid(draw))]
    if kind == "gone":
        return [], [owned_by(draw.one("ReplicaSet", "StatefulSet"), app, uid(draw))]
    if kind == "Node":
        return [], [owned_by("Node", "n1", uid(draw))]
    return [], [] if kind == "none" else [owned_by(kind, app, uid(draw))]


def _protected(draw: Draw, name: str, labels: Data, owners: Sequence[Data], health: float) -> Data:
    owner = dict(draw.one(*owners)) if owners else None
    if owner and draw.chance(0.02):
        owner["controller"] = False
    found = pod(draw, name, labels, owner)
    found["spec"]["nodeName"] = "n1"
    if draw.chance(0.06):
        found["status"]["phase"] = draw.one("Succeeded", "Failed")
    elif draw.chance(0.07):
        found["status"]["phase"] = "Pending"
        if draw.chance(0.6):
            del found["spec"]["nodeName"]
    else:
        found["status"]["conditions"] = [ready("True" if draw.chance(health) else "False")]
    if draw.chance(0.06):
        terminating(found)
    if draw.chance(0.05):
        found["metadata"]["labels"]["tier"] = draw.one("a", "b", "c")
    return found


def _budget(draw: Draw, i: int, apps: Sequence[str], pods: Sequence[Data]) -> Data:
    selectors: list[Data | None] = [{"matchLabels": {"app": draw.one(*apps)}}] * 6
    selectors += [{"matchLabels": {"tier": "a"}}, {}, None]
    selectors += [{"matchExpressions": [{"key": "app", "operator": "In", "values": ["app0", "app1"]}]}]
    selectors += [{"matchExpressions": [{"key": "tier", "operator": "NotIn", "values": ["a"]}]}]
    spec = draw.fields({"unhealthyPodEvictionPolicy": (0.5, ["IfHealthyBudget", "AlwaysAllow"])})
    if (selector := draw.one(*selectors)) is not None:
        spec["selector"] = selector
    if draw.chance(0.96):
        value = f"{draw.one(*_PERCENT)}%" if draw.chance(0.5) else draw.one(0, 1, 1, 2, 2, 3, 4, 5, 8)
        spec[draw.one("minAvailable", "maxUnavailable")] = value
    status: Data = {}
    if pods and draw.chance(0.12):
        names = [each["metadata"]["name"] for each in draw.some(pods, 1, 2)]
        status |= _UNSYNCED | {"disruptedPods": {name: ago(draw.one(10, 60, 119, 121, 300)) for name in names}}
    if draw.chance(0.65):
        status = _UNSYNCED | status | {"observedGeneration": 1}
        if draw.chance(0.5):
            healthy, desired = draw.number(0, 5), draw.number(0, 5)
            status |= {"currentHealthy": healthy, "desiredHealthy": desired, "expectedPods": max(healthy, desired)}
            status |= {"disruptionsAllowed": max(0, healthy - desired)}
    namespace = "default" if draw.chance(0.95) else "elsewhere"
    metadata = {"name": f"pdb{i}", "namespace": namespace, "uid": uid(draw), "generation": 1}
    found = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": metadata, "spec": spec}
    return found | ({"status": status} if status else {})


def drain(draw: Draw) -> Data:
    labels = [{"ds": "0"}, {"ds": "1"}]
    daemon_sets = [
        workload(draw, "DaemonSet", f"ds{i}", selecting(each), "kube-system") for i, each in enumerate(labels)
    ]
    flags: Data = draw.fields(
        {
            "force": (0.4, True),
            "ignore-daemonsets": (0.65, True),
            "delete-emptydir-data": (0.5, True),
            "pod-selector": (0.15, ["app=web", "app!=web", "app in (db)", "nothing=here"]),
            "skip-wait-for-delete-timeout": (0.2, [1, 60]),
        }
    )
    pods = [_drained(draw, i, daemon_sets) for i in range(draw.one(0, 1, 2, 3, 4, 5, 6, 8))]
    return {"node": "n1", "pods": pods, "daemonSets": daemon_sets, "flags": flags}


def _drained(draw: Draw, i: int, daemon_sets: Sequence[Data]) -> Data:
    kind = draw.one(*_DRAINED)
    there = draw.one(*daemon_sets)
    owners = {
        "rs": owned_by("ReplicaSet", "x", uid(draw)),
        "sts": owned_by("StatefulSet", "x", uid(draw)),
        "job": owned_by("Job", "x", uid(draw)),
        "custom": owned_by("Widget", "x", uid(draw)),
        "ds": owner_of(there) | ({} if draw.chance(0.9) else {"uid": uid(draw)}),
        "dsgone": owned_by("DaemonSet", "gone", uid(draw)),
        "extds": owned_by("DaemonSet", "ds0", uid(draw)) | {"apiVersion": "example.com/v1"},
        "notcontroller": owned_by("ReplicaSet", "x", uid(draw)) | {"controller": False},
        "mirror": owned_by("Node", "n1", uid(draw)) if draw.chance(0.7) else None,
    }
    namespace = "kube-system" if kind in ("ds", "dsgone", "mirror", "extds") else draw.one("default", "shop")
    found = pod(draw, f"{kind}-{i}", {"app": draw.one("web", "db")}, owners.get(kind), namespace)
    if kind == "mirror":
        found["metadata"]["annotations"] = {"kubernetes.io/config.mirror": "abc", "kubernetes.io/config.source": "file"}
    found["spec"]["nodeName"] = "n1" if draw.chance(0.9) else "n2"
    found["status"]["phase"] = draw.one(*["Running"] * 7, "Pending", "Succeeded", "Failed")
    if volumes := draw.some(_VOLUMES, 0, 2):
        found["spec"]["volumes"] = volumes
    if draw.chance(0.12):
        found["metadata"]["deletionTimestamp"] = draw.one("2020-01-01T00:00:00Z", "2099-01-01T00:00:00Z")
    return found


_DRAINED = (*["rs"] * 4, "sts", "job", "ds", "ds", "dsgone", "mirror", "bare", "custom", "extds", "notcontroller")
_VOLUMES: tuple[Data, ...] = (
    {"name": "a", "emptyDir": {}},
    {"name": "b", "emptyDir": {"medium": "Memory"}},
    {"name": "c", "hostPath": {"path": "/x"}},
    {"name": "d", "persistentVolumeClaim": {"claimName": "x"}},
    {"name": "e", "configMap": {"name": "x"}},
)
