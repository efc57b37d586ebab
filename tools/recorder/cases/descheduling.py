"""Clusters that a descheduler balances, and its policies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from kubespread.kube.well_known import HOSTNAME, ZONE
from tools.recorder.cases.draw import Data, Draw
from tools.recorder.cases.workloads import owned_by, pod, uid
from tools.replay.cases import ago

_PLUGIN = "RemovePodsViolatingTopologySpreadConstraint"
_HARD, _SOFT = "DoNotSchedule", "ScheduleAnyway"
_UNSCHEDULABLE = {
    "unschedulable": True,
    "taints": [{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}],
}
_TOLERATED = (
    [{"key": "dedicated", "operator": "Exists"}],
    [{"key": "dedicated", "operator": "Equal", "value": "a", "effect": "NoSchedule"}],
    [{"operator": "Exists"}],
)


def descheduler(draw: Draw) -> Data:
    calm = draw.chance(0.4)  # then only what spreads varies
    nodes = _nodes(draw, calm=calm)
    namespaces = ["default"] if draw.chance(0.75) else ["default", "shop"]
    pods = [
        made
        for i in range(draw.one(1, 1, 1, 2, 2, 3))
        for made in _app(draw, f"app{i}", draw.one(*namespaces), nodes, calm=calm)
    ]
    return {
        "policy": _policy(draw, namespaces, calm=calm),
        "nodes": nodes,
        "pods": pods,
        "namespaces": [
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": {"team": name}}}
            for name in namespaces
        ],
    }


def _nodes(draw: Draw, *, calm: bool) -> list[Data]:
    count = draw.one(2, 2, 3, 3, 4, 4, 5, 6, 6, 7, 8, 9, 10, 12)
    zones = draw.number(1, min(5, count))
    return [
        _node(draw, i, i % zones if draw.chance(0.8) else draw.number(0, zones - 1), calm=calm) for i in range(count)
    ]


def _node(draw: Draw, number: int, zone: int, *, calm: bool) -> Data:
    labels = {HOSTNAME: f"n{number}", ZONE: f"z{zone}", "disk": draw.one("ssd", "hdd")}
    room = {
        "cpu": draw.one("4", "8", "16", "16"),
        "memory": draw.one("8Gi", "16Gi", "32Gi"),
        "pods": draw.one("110", "110", "30"),
    }
    status: Data = {"allocatable": room, "conditions": [{"type": "Ready", "status": "True"}]}
    found: Data = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": f"n{number}", "labels": labels},
        "spec": {},
        "status": status,
    }
    if calm:
        return found
    match draw.one(
        *["plain"] * 68, *["zoneless"] * 6, *["cordoned"] * 8, *["tainted"] * 10, *["not ready"] * 5, *["new"] * 3
    ):
        case "zoneless":
            del labels[ZONE]
        case "cordoned":
            found["spec"] = _UNSCHEDULABLE
        case "tainted":
            effect = draw.one("NoSchedule", "NoSchedule", "NoExecute", "PreferNoSchedule")
            found["spec"] = {"taints": [{"key": "dedicated", "value": draw.one("a", "b"), "effect": effect}]}
        case "not ready":
            status["conditions"] = [{"type": "Ready", "status": draw.one("False", "Unknown")}]
        case "new":
            status["conditions"] = []
    if draw.chance(0.12):
        room |= {"cpu": draw.one("1", "2"), "pods": draw.one("5", "8", "12")}
    if draw.chance(0.05):
        room["example.com/gpu"] = "2"
    return found


def _app(draw: Draw, app: str, namespace: str, nodes: Sequence[Data], *, calm: bool) -> list[Data]:
    constraints = _constraints(draw, app, calm=calm)
    owners = [(owned_by("ReplicaSet", f"{app}-{hash_}", uid(draw)), hash_) for hash_ in ("aaa", "bbb")]
    owners = owners[: draw.one(1, 1, 1, 2)]
    crowd = [node["metadata"]["name"] for node in nodes for _ in range(draw.one(0, 0, 1, 1, 3, 8, 16))]
    crowd = crowd or [draw.one(*nodes)["metadata"]["name"]]
    priorities = draw.one(*["zero"] * 4, "none", *["mixed"] * 3, "some", *["distinct"] * 3)
    ranks = draw.some(range(0, 3000, 10), 300, 300)
    shape = {} if calm else _shape(draw, app, len(nodes))
    found = []
    for i in range(draw.one(3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 20, 25, 30)):
        owner, hash_ = draw.one(*owners)
        made = pod(draw, f"{app}-{i:02d}", {"app": app, "pod-template-hash": hash_}, owner, namespace)
        made["metadata"]["creationTimestamp"] = ago(draw.number(100, 90000))
        spec = made["spec"]
        requests = {"cpu": draw.one("100m", "100m", "500m", "1"), "memory": "128Mi"}
        spec |= {
            "nodeName": draw.one(*crowd),
            "containers": [{"name": "c", "resources": {"requests": requests} if draw.chance(0.7) else {}}],
            "topologySpreadConstraints": constraints,
        }
        spec |= _priority(draw, priorities, ranks[i]) | {
            field: value for field, value in shape.items() if draw.chance(0.8)
        }
        if not calm:
            _odd(draw, made)
        found.append(made)
    return found


def _constraints(draw: Draw, app: str, *, calm: bool) -> list[Data]:
    mine = {"matchLabels": {"app": app}}
    selectors = (
        *[mine] * 7,
        {"matchExpressions": [{"key": "app", "operator": "In", "values": [app]}]},
        {"matchExpressions": [{"key": "app", "operator": "Exists"}]},
        {},
    )
    selecting = {} if not calm and draw.chance(0.04) else {"labelSelector": draw.one(*selectors)}
    found: list[Data] = []
    for _ in range(draw.one(1, 1, 1, 1, 2, 2, 3)):
        made: Data = {
            "maxSkew": draw.one(1, 1, 1, 1, 2, 2, 3),
            "topologyKey": draw.one(ZONE, ZONE, ZONE, HOSTNAME),
            "whenUnsatisfiable": draw.one(_HARD, _HARD, _HARD, _SOFT),
            **selecting,
        }
        made |= draw.fields({"matchLabelKeys": (0.15, [["pod-template-hash"]])})
        if made["whenUnsatisfiable"] == _HARD:
            made |= draw.fields({"minDomains": (0.12, [2, 3, 5])})
        if not calm:
            honored = {
                "nodeAffinityPolicy": (0.25, ["Honor", "Ignore"]),
                "nodeTaintsPolicy": (0.3, ["Honor", "Honor", "Ignore"]),
            }
            made |= draw.fields(honored)
        same = ("topologyKey", "whenUnsatisfiable")
        if not any([each[field] for field in same] == [made[field] for field in same] for each in found):
            found.append(made)
    return found


def _priority(draw: Draw, priorities: str, rank: int) -> Data:
    match priorities:
        case "zero":
            return {"priority": 0}
        case "mixed":
            return {"priority": draw.one(0, 0, 10, 100, 1000)}
        case "distinct":
            return {"priority": rank}
        case "some":
            return draw.fields({"priority": (0.6, [0, 0, 100])})
    return {}


def _shape(draw: Draw, app: str, zones: int) -> Data:
    in_zone = {"key": ZONE, "operator": draw.one("In", "NotIn"), "values": [f"z{draw.number(0, min(4, zones - 1))}"]}
    on_ssd = {"key": "disk", "operator": "In", "values": ["ssd"]}
    required = {"nodeSelectorTerms": [{"matchExpressions": [in_zone]}]}
    preferred = [{"weight": 1, "preference": {"matchExpressions": [on_ssd]}}]
    apart = [{"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": draw.one(HOSTNAME, ZONE)}]
    during = "DuringSchedulingIgnoredDuringExecution"
    affinity = draw.fields(
        {
            "nodeAffinity": (
                0.22,
                [{f"required{during}": required}, {f"required{during}": required}, {f"preferred{during}": preferred}],
            ),
            "podAntiAffinity": (0.1, [{f"required{during}": apart}]),
        }
    )
    return draw.fields(
        {"nodeSelector": (0.15, [{"disk": "ssd"}, {"disk": "hdd"}]), "tolerations": (0.2, [*_TOLERATED])}
    ) | ({"affinity": affinity} if affinity else {})


def _odd(draw: Draw, made: Data) -> None:
    """What keeps a pod from being evicted, or from being counted."""
    begin = "descheduler.alpha.kubernetes.io/"
    names = (
        "kubernetes.io/config.mirror",
        "kubernetes.io/config.source",
        f"{begin}evict",
        f"{begin}prefer-no-eviction",
    )
    scratch, host = {"name": "v", "emptyDir": {}}, {"name": "v", "hostPath": {"path": "/x"}}
    claim = {"name": "v", "persistentVolumeClaim": {"claimName": "c"}}
    gpu = {"name": "c", "resources": {"requests": {"example.com/gpu": "1"}}}
    metadata, spec, status = draw.one(
        *[({}, {}, {})] * 80,
        *[({}, {"volumes": [draw.one(scratch, host)]}, {})] * 4,
        *[({}, {"volumes": [claim]}, {})] * 2,
        *[({"ownerReferences": []}, {}, {})] * 2,
        ({"ownerReferences": [owned_by("DaemonSet", "ds", uid(draw))]}, {}, {}),
        *[({"deletionTimestamp": ago(-10), "finalizers": ["x/y"]}, {}, {})] * 2,
        *[({}, {}, {"phase": draw.one("Failed", "Succeeded", "Pending")})] * 2,
        ({}, {"priority": draw.one(2000000000, 2000001000, 1999999999)}, {}),
        ({"annotations": {draw.one(*names): "file"}}, {"volumes": draw.one([], [scratch])}, {}),
        ({}, {"nodeName": ""}, {"phase": "Pending"}),
        ({}, {"nodeName": "gone"}, {}),
        *[({}, {"topologySpreadConstraints": []}, {})] * 2,
        ({}, {"containers": [gpu]}, {}),
    )
    made["metadata"] |= metadata
    made["spec"] |= spec
    made["status"] |= status
    if draw.chance(0.03):
        del made["metadata"]["labels"]["pod-template-hash"]


def _policy(draw: Draw, namespaces: Sequence[str], *, calm: bool) -> Data:
    enforced = draw.one(None, None, None, [_HARD], [_HARD, _SOFT], [_HARD, _SOFT], [_SOFT])
    args: Data = {"constraints": enforced} if enforced else {}
    args |= draw.fields({"topologyBalanceNodeFit": (0.4, [False, False, False, True, True])})
    evictor: Data = {}
    limits: Data = {}
    if not calm:
        several = len(namespaces) > 1
        args |= draw.fields(
            {
                "labelSelector": (0.08, [{"matchLabels": {"app": "app0"}}]),
                "namespaces": (0.4 * several, lambda: {draw.one("include", "exclude"): [draw.one(*namespaces)]}),
            }
        )
        evictor = _evictor(draw, several=several)
        limits = draw.fields(
            {
                "maxNoOfPodsToEvictTotal": (0.05, [1, 2, 3]),
                "maxNoOfPodsToEvictPerNode": (0.05, [1, 2]),
                "maxNoOfPodsToEvictPerNamespace": (0.05, [1, 2, 4]),
                "nodeSelector": (0.25 if "nodeFit" in evictor else 0.03, ["disk=ssd"]),
            }
        )
    plugins = [{"name": "DefaultEvictor", "args": evictor}, {"name": _PLUGIN, "args": args}]
    profile = {"name": "default", "pluginConfig": plugins, "plugins": {"balance": {"enabled": [_PLUGIN]}}}
    return {**limits, "apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerPolicy", "profiles": [profile]}


def _evictor(draw: Draw, *, several: bool) -> Data:
    disabled = [[name] for name in ("PodsWithLocalStorage", "DaemonSetPods", "SystemCriticalPods", "FailedBarePods")]
    old: list[Any] = ["evictLocalStoragePods"] * 6 + ["evictDaemonSetPods"] * 3 + ["evictSystemCriticalPods"] * 3
    old += ["evictFailedBarePods"] * 2 + ["ignorePvcPods"] * 2
    found = draw.fields(
        {
            "nodeFit": (0.12, True),
            "minReplicas": (0.06, [2, 3, 5]),
            "priorityThreshold": (0.08, [{"value": 1}, {"value": 100}, {"value": 500}]),
            "labelSelector": (0.05, [{"matchLabels": {"app": "app0"}}]),
            "noEvictionPolicy": (0.04, "Mandatory"),
            "namespaceLabelSelector": (0.1 * several, [{"matchLabels": {"team": "shop"}}]),
        }
    )
    if "nodeFit" in found:
        found |= draw.fields({"nodeSelector": (0.25, "disk=ssd")})
    match draw.one(*["none"] * 77, *["old"] * 16, *["disabled"] * 4, *["enabled"] * 3):
        case "old":
            found[draw.one(*old)] = True
        case "disabled":
            found["podProtections"] = {"defaultDisabled": draw.one(*disabled)}
        case "enabled":
            found["podProtections"] = {"extraEnabled": ["PodsWithPVC"]}
    return found


DESCHEDULING: dict[str, Callable[[Draw], Data]] = {"descheduler": descheduler}
"""What ``cmd/record-descheduler`` answers."""
