"""What controllers answer: cases about the pods of one workload, and the table of all families."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta

from kubespread.kube.well_known import HOSTNAME, ZONE
from tools.recorder.cases.cluster import PREFERRED, REQUIRED
from tools.recorder.cases.deployments import rollout, step
from tools.recorder.cases.disruptions import budgets, drain
from tools.recorder.cases.draw import Data, Draw
from tools.recorder.cases.workloads import (
    finished,
    owned_by,
    owner_of,
    pod,
    ran,
    ready,
    selecting,
    template,
    terminating,
    uid,
    workload,
)
from tools.replay.cases import NOW, ago

_INDEX = "batch.kubernetes.io/job-completion-index"
_COST = "controller.kubernetes.io/pod-deletion-cost"
_COSTS = ("1", "-1", "5", "10", "-100", "100", "2147483647", "-2147483648", "0", "3")
_ODD_COSTS = (
    "+10",
    "007",
    "-010",
    "abc",
    "",
    "2147483648",
    "-2147483649",
    "1.5",
    " 5",
    "-",
    "-0",
    "1e3",
    "5 ",
    "0x10",
    "00",
)
_AGES = (
    5,
    20,
    34,
    35,
    60,
    62,
    68,
    69,
    72,
    100,
    120,
    137,
    138,
    200,
    274,
    275,
    300,
    549,
    550,
    600,
    1099,
    1100,
    2000,
    3600,
    4398,
    4399,
    9000,
    17592,
    17593,
    40000,
    70368,
    70369,
    86400,
    140737,
    140738,
    200000,
    281474,
    281475,
    562949,
    562950,
    604800,
    2592000,
    31536000,
)
"""In seconds: around the powers of two of nanoseconds, at which the controller's scale steps, and common ones."""

_VARIES = {
    "unassigned": 0.25,
    "phase": 0.3,
    "readiness": 0.45,
    "cost": 0.35,
    "odd costs": 0.3,
    "nodes": 0.6,
    "ready since": 0.75,
    "restarts": 0.4,
    "sidecars": 0.25,
    "age": 0.7,
    "terminating": 0.3,
    "finished": 0.2,
    "orphans": 0.12,
    "foreign": 0.15,
    "elsewhere": 0.1,
    "no ready time": 0.1,
}
"""What decides in a scale-down, and how likely pods of a case differ in it at all."""


def scale_down(draw: Draw) -> Data:
    now = NOW + timedelta(milliseconds=draw.number(1, 999) if draw.chance(0.15) else 0)
    namespace = draw.one("default", "shop")
    replica_sets = _siblings(draw, namespace)
    main = draw.one(*replica_sets)
    crowd = _Crowd(draw, namespace)
    pods = [
        crowd.pod(main, "web")
        for _ in range(draw.one(2, 3, 3, 4, 5, 5, 6, 7, 8, 9, 10, 12, 12, 13, 15, 18, 20, 25, 30))
    ]
    if draw.chance(0.05) and len(pods) > 2:
        pods[0]["metadata"]["labels"] = {"app": "debug"}  # owned, but released
    for each in pods:
        if "orphans" in crowd.varies and draw.chance(0.2):
            del each["metadata"]["ownerReferences"]
    for sibling in replica_sets:
        if sibling is not main:
            pods += [crowd.pod(sibling) for _ in range(draw.number(0, 8))]
    pods += _others(draw, crowd, replica_sets, main)
    if len(replica_sets) > 1 and draw.chance(0.15):
        stranger = workload(draw, "ReplicaSet", "api-1", {"replicas": 1, **selecting({"app": "api"})}, namespace)
        stranger["metadata"]["ownerReferences"] = [owned_by("Deployment", "api", uid(draw))]
        replica_sets.append(stranger)
    return {
        "now": now.isoformat(timespec="milliseconds" if now.microsecond else "seconds").replace("+00:00", "Z"),
        "replicaSet": main["metadata"]["name"],
        "replicaSets": replica_sets,
        "pods": draw.some(pods, len(pods), len(pods)),
    }


def _siblings(draw: Draw, namespace: str) -> list[Data]:
    """The ReplicaSets of a Deployment, or one of none."""
    if draw.chance(0.15):
        return [workload(draw, "ReplicaSet", "web-6d5f", {"replicas": 0, **selecting({"app": "web"})}, namespace)]
    deployment = owned_by("Deployment", "web", uid(draw))
    found = []
    for revision in ("6d5f", "7c9b", "84aa")[: draw.one(1, 1, 2, 2, 3)]:
        labels = {"app": "web", "pod-template-hash": revision}
        spec = {"replicas": 0, **selecting(labels)}
        owner = {"ownerReferences": [deployment]}
        found.append(workload(draw, "ReplicaSet", f"web-{revision}", spec, namespace, labels=labels, **owner))
    return found


class _Crowd:
    """Pods that differ in some of what decides, and have the rest in common."""

    def __init__(self, draw: Draw, namespace: str) -> None:
        self._draw = draw
        self._namespace = namespace
        self.varies = {what for what, probability in _VARIES.items() if draw.chance(probability)}
        self._nodes = [f"n{i}" for i in range(draw.number(1, 12))]
        most = draw.one(3, 12)
        self._ages = draw.many(1, most, self._age)
        self._ready_since = draw.many(1, most, self._age)
        self._made = 0

    def _age(self) -> int:
        return self._draw.one(*_AGES) if self._draw.chance(0.7) else self._draw.number(1, 700_000)

    def pod(self, replica_set: Data, name: str = "x") -> Data:
        draw, varies = self._draw, self.varies
        self._made += 1
        labels = replica_set["spec"]["selector"]["matchLabels"]
        made = pod(draw, f"{name}-{self._made:02d}", labels, owner_of(replica_set), self._namespace)
        status = made["status"]
        if "unassigned" in varies and draw.chance(0.25):
            status["phase"] = "Pending"
        else:
            crowded = "nodes" in varies
            made["spec"]["nodeName"] = draw.one(*self._nodes) if crowded else self._nodes[self._made % len(self._nodes)]
            if "phase" in varies:
                status["phase"] = draw.one("Running", "Running", "Running", "Pending", "Unknown", "Running")
        is_ready = not ("readiness" in varies and draw.chance(0.35))
        if status["phase"] != "Running" and draw.chance(0.9):
            is_ready = False
        if is_ready or draw.chance(0.8):
            status["conditions"] = [self._condition(is_ready=is_ready)]
            if draw.chance(0.3):
                status["conditions"].insert(0, {"type": "PodScheduled", "status": "True"})
        if "cost" in varies and draw.chance(0.5):
            odd = "odd costs" in varies and draw.chance(0.5)
            made["metadata"]["annotations"] = {_COST: draw.one(*(_ODD_COSTS if odd else _COSTS))}
        self._restart(made, is_ready=is_ready)
        if "age" in varies:
            made["metadata"]["creationTimestamp"] = ago(draw.one(*self._ages))
        elif draw.chance(0.9):
            made["metadata"]["creationTimestamp"] = ago(self._ages[0])
        return made

    def _restart(self, pod: Data, *, is_ready: bool) -> None:
        draw, status = self._draw, pod["status"]
        if "restarts" in self.varies and draw.chance(0.6):
            status["containerStatuses"] = [ran(draw.one(0, 1, 1, 2, 5), is_ready=is_ready)]
            if draw.chance(0.3):
                status["containerStatuses"].append(ran(draw.one(0, 1, 3), name="d", is_ready=is_ready))
        if "sidecars" in self.varies:
            pod["spec"]["initContainers"] = [{"name": "side", "restartPolicy": "Always"}, {"name": "init"}]
            sidecar, init = draw.one(0, 0, 1, 4), draw.one(0, 3, 9)
            status["initContainerStatuses"] = [ran(sidecar, name="side"), ran(init, name="init")]

    def _condition(self, *, is_ready: bool) -> Data:
        draw, varies = self._draw, self.varies
        since: float | None = None
        if "ready since" in varies:
            since = draw.one(*self._ready_since)
        elif draw.chance(0.5):
            since = self._ready_since[0]
        if "no ready time" in varies and draw.chance(0.2):
            since = None
        return ready("True" if is_ready else draw.one("False", "False", "Unknown"), since)


def _others(draw: Draw, crowd: _Crowd, replica_sets: Sequence[Data], main: Data) -> list[Data]:
    """Pods that never go, some of which count for how crowded a node is."""
    found: list[Data] = []
    for what in ("terminating", "finished", "foreign", "elsewhere"):
        for _ in range(draw.number(1, 4) if what in crowd.varies else 0):
            made = crowd.pod(main if what == "elsewhere" else draw.one(*replica_sets))
            if what == "terminating":
                terminating(made)
            elif what == "finished":
                made["status"] = {"phase": draw.one("Failed", "Succeeded")}
            elif what == "foreign":
                made["metadata"]["ownerReferences"] = [owned_by("Job", "j", uid(draw))]
            else:
                made["metadata"]["namespace"] = "elsewhere"
            found.append(made)
    return found


def stateful_set(draw: Draw) -> Data:
    """One in the middle of a rollout, a scaling or nothing, with pods as these may have left them."""
    replicas, start = draw.one(0, 1, 2, 3, 3, 3, 4, 4, 5, 5, 6, 8), draw.one(0, 0, 0, 0, 0, 1, 5)
    templates = draw.one(1, 2, 2, 2, 3)
    current, update = (draw.one(1, 2) if templates == 3 else 1), templates
    if templates > 1 and draw.chance(0.1):  # a rollback
        current, update = draw.one(1, 2), 1
    spec: Data = {"replicas": replicas, "serviceName": "st", **selecting({"app": "st"}, f"app:v{update}")}
    spec |= draw.fields({"podManagementPolicy": (0.35, "Parallel"), "updateStrategy": (0.55, lambda: _update(draw))})
    if start:
        spec["ordinals"] = {"start": start}
    found = workload(draw, "StatefulSet", "st", spec, generation=2)
    owner = owner_of(found)
    ordinals = _ordinals(draw, replicas, start)
    updated_from = draw.one(start, start + replicas // 2, start + replicas, start + replicas + 9, None)
    initial = draw.chance(0.08)
    health = draw.one(1.0, 1.0, 1.0, 0.9, 0.7, 0.4)
    pods = []
    for ordinal in ordinals:
        revision = draw.number(1, templates) if updated_from is None else update if ordinal >= updated_from else current
        pods.append(_numbered(draw, ordinal, f"st-r{update if initial else revision}", owner, health))
    found["status"] = {"replicas": len(pods)} if initial else _status(pods, f"st-r{current}", f"st-r{update}")
    revisions = [
        {
            "apiVersion": "apps/v1",
            "kind": "ControllerRevision",
            "metadata": {
                "name": f"st-r{i}",
                "namespace": "default",
                "labels": {"app": "st"},
                "ownerReferences": [owner],
            },
            "data": {"spec": {"template": template({"app": "st"}, f"app:v{i}")}},
            "revision": i,
        }
        for i in range(1, templates + 1)
    ]
    return {"statefulSet": found, "pods": draw.some(pods, len(pods), len(pods)), "controllerRevisions": revisions}


def _update(draw: Draw) -> Data:
    if draw.chance(0.25):
        return {"type": "OnDelete"}
    partition = draw.fields({"maxUnavailable": (0.1, [2, "50%"])})
    return {"type": "RollingUpdate", "rollingUpdate": {"partition": draw.one(0, 1, 1, 2, 2, 3, 4, 7), **partition}}


def _ordinals(draw: Draw, replicas: int, start: int) -> list[int]:
    found = list(range(start, start + replicas + draw.one(0, 0, 0, 1, 2, 3)))
    if start and draw.chance(0.3):
        found = [*range(max(0, start - 2), start), *found]
    style = draw.one("full", "full", "full", "holes", "holes", "prefix", "empty")
    if style == "holes":
        return [each for each in found if not draw.chance(0.3)]
    return found[: {"full": len(found), "prefix": draw.number(0, len(found)), "empty": 0}[style]]


def _numbered(draw: Draw, ordinal: int, revision: str, owner: Data, health: float) -> Data:
    name = f"st-{ordinal}"
    labels = {
        "app": "st",
        "statefulset.kubernetes.io/pod-name": name,
        "apps.kubernetes.io/pod-index": f"{ordinal}",
        "controller-revision-hash": revision,
    }
    made = pod(draw, name, labels, owner)
    made["spec"] |= {"nodeName": "n1", "hostname": name, "subdomain": "st"}
    status = made["status"]
    if draw.chance(health):
        status["conditions"] = [ready(since=1000)]
    else:
        what = draw.one(*["Pending"] * 5, *["not ready"] * 11, "Failed", "Succeeded", "Unknown", "Running")
        if what == "not ready":
            status["conditions"] = [ready("False", 100)]
        else:
            status["phase"] = what
        if what == "Pending" and draw.chance(0.5):
            del made["spec"]["nodeName"]
    if draw.chance(0.05):
        terminating(made)
    return made


def _status(pods: Sequence[Data], current: str, update: str) -> Data:
    revisions = [each["metadata"]["labels"]["controller-revision-hash"] for each in pods]
    return {
        "replicas": len(pods),
        "currentRevision": current,
        "updateRevision": update,
        "observedGeneration": 1,
        "currentReplicas": revisions.count(current),
        "updatedReplicas": revisions.count(update),
    }


_WELL_KNOWN = (
    *(
        f"node.kubernetes.io/{condition}"
        for condition in (
            "not-ready",
            "unreachable",
            "disk-pressure",
            "memory-pressure",
            "pid-pressure",
            "unschedulable",
            "network-unavailable",
            "out-of-service",
        )
    ),
    "node.cloudprovider.kubernetes.io/uninitialized",
)


def daemon_set(draw: Draw) -> Data:
    nodes = [_tainted(draw, i) for i in range(5)]
    required = {"nodeSelectorTerms": draw.many(1, 2, lambda: _term(draw))}
    preferred = [{"weight": 5, "preference": {"matchExpressions": [_expression(draw)]}}]
    affinity = draw.fields({REQUIRED: (0.3, required), PREFERRED: (0.1, [preferred])})
    spec = draw.fields(
        {
            "nodeSelector": (0.25, lambda: {draw.one("disk", "disk", "missing"): draw.one("ssd", "hdd")}),
            "tolerations": (0.5, lambda: draw.many(1, 3, lambda: draw.one(*_TOLERATIONS))),
            "nodeName": (0.1, [each["metadata"]["name"] for each in nodes]),
            "hostNetwork": (0.2, True),
        }
    )
    if affinity:
        spec["affinity"] = {"nodeAffinity": affinity}
    made = workload(draw, "DaemonSet", "ds", selecting({"app": "ds"}, **spec))
    requests = {"cpu": draw.one("10m", "100")}
    made["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": requests}
    return {"daemonSet": made, "nodes": nodes}


def _tainted(draw: Draw, i: int) -> Data:
    labels = {
        HOSTNAME: f"n{i}",
        ZONE: draw.one("a", "b", "c"),
        "disk": draw.one("ssd", "hdd"),
        "cores": draw.one("4", "8", "16", "x"),
    }
    spec: Data = {}
    for _ in range(draw.one(0, 0, 1, 1, 2, 3)):
        taint = {"effect": draw.one("NoSchedule", "NoExecute", "PreferNoSchedule")}
        if draw.chance(0.6):
            taint["key"] = draw.one(*_WELL_KNOWN)
        else:
            taint |= {"key": "dedicated", "value": draw.one("a", "b", "5")}
        spec.setdefault("taints", []).append(taint)
        if taint["key"] == "node.kubernetes.io/unschedulable":
            spec["unschedulable"] = True
    status = {"allocatable": {"cpu": "1", "memory": "1Gi", "pods": "10"}}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": f"n{i}", "labels": labels},
        "spec": spec,
        "status": status,
    }


def _term(draw: Draw) -> Data:
    found: Data = {"matchExpressions": draw.many(1, 2, lambda: _expression(draw))}
    if draw.chance(0.2):
        operator, name = draw.one("In", "NotIn"), f"n{draw.number(0, 4)}"
        found["matchFields"] = [{"key": "metadata.name", "operator": operator, "values": [name]}]
    return found


def _expression(draw: Draw) -> Data:
    operator = draw.one("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")
    if operator in ("Gt", "Lt"):
        return {"key": draw.one("cores", "disk"), "operator": operator, "values": [draw.one("4", "8", "10")]}
    found: Data = {"key": draw.one("disk", ZONE, "missing"), "operator": operator}
    if operator in ("In", "NotIn"):
        found["values"] = draw.some(("ssd", "hdd", "a", "b", "c"), 1, 3)
    return found


_TOLERATIONS: tuple[Data, ...] = (
    {"operator": "Exists"},
    {"operator": "Exists", "effect": "NoExecute"},
    {"key": "dedicated", "operator": "Exists"},
    {"key": "dedicated", "operator": "Equal", "value": "a", "effect": "NoSchedule"},
    {"key": "dedicated", "value": "b"},
    {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 30},
    *({"key": key, "operator": "Exists"} for key in _WELL_KNOWN),
)


def job(draw: Draw) -> Data:
    """At most twelve pods: the controller sorts more of them in an order that nobody promises."""
    own = uid(draw)
    labels = {"controller-uid": own, "job-name": "j"}
    indexed = draw.chance(0.35)
    completions = draw.one(1, 2, 3, 4, 5, 6, 8, 10, 12)
    spec: Data = {
        "parallelism": draw.one(0, 1, 2, 3, 4, 5, 8, 10),
        "backoffLimit": draw.one(6, 6, 20),
        **selecting({"controller-uid": own}, restartPolicy="Never"),
        **({"completionMode": "Indexed"} if indexed else {}),
        **({"completions": completions} if indexed or draw.chance(0.65) else {}),
    }
    spec |= draw.fields(
        {
            "suspend": (0.1, True),
            "podReplacementPolicy": (0.25, ["Failed", "TerminatingOrFailed"]),
            "manualSelector": (0.1, False),
        }
    )
    if draw.chance(0.08):
        disrupted = {"type": "DisruptionTarget", "status": "True"}
        spec["podFailurePolicy"] = {"rules": [{"action": "Ignore", "onPodConditions": [disrupted]}]}
        spec["podReplacementPolicy"] = "Failed"
    found = workload(draw, "Job", "j", spec, creationTimestamp=ago(5000))
    found["metadata"]["uid"] = own
    found["status"] = {"startTime": ago(5000), "succeeded": 0 if indexed else draw.one(0, 0, 0, 1, 2)}
    alike = draw.chance(0.4)
    pods = [
        _worker(draw, i, labels, completions if indexed else None, alike=alike)
        for i in range(draw.one(0, 1, 2, 3, 4, 5, 6, 8, 10, 12))
    ]
    shuffled = draw.some(pods, len(pods), len(pods))
    return {"now": f"{NOW:%Y-%m-%dT%H:%M:%SZ}", "job": found, "pods": shuffled}


def _worker(draw: Draw, i: int, labels: Data, completions: int | None, *, alike: bool) -> Data:
    made = pod(draw, f"j-{i:02d}", labels, owned_by("Job", "j", labels["controller-uid"]))
    made["metadata"] |= {
        "finalizers": ["batch.kubernetes.io/job-tracking"],
        "creationTimestamp": ago(500 if alike else draw.one(60, 100, 500, 1000, 1001)),
    }
    if completions is not None and draw.chance(0.97):
        index = draw.number(0, completions) if draw.chance(0.4) else i
        made["metadata"]["annotations"] = {_INDEX: f"{index}"}
    made["spec"] |= {"nodeName": f"n{i % 3}", "restartPolicy": "Never"}
    status = made["status"]
    match draw.one(*["ready"] * 50, *["Pending"] * 12, *["Succeeded"] * 13, *["Failed"] * 5, *["not ready"] * 20):
        case "ready":
            status["conditions"] = [ready(since=400 if alike else draw.one(10, 50, 90, 300))]
        case "Pending":
            status["phase"] = "Pending"
            if draw.chance(0.5):
                del made["spec"]["nodeName"]
        case "Succeeded":
            status |= {"phase": "Succeeded", "containerStatuses": [finished(0, 3000)]}
        case "Failed":
            status |= {"phase": "Failed", "containerStatuses": [finished(1, draw.one(2, 30, 3000))]}
    if "containerStatuses" not in status and draw.chance(0.25):
        status["containerStatuses"] = [ran(draw.one(0, 1, 3))]
    if draw.chance(0.08):
        terminating(made)
    return made


CONTROLLERS: dict[str, Callable[[Draw], Data]] = {
    "scaledown": scale_down,
    "deploystep": step,
    "rollout": rollout,
    "statefulset": stateful_set,
    "pdb": budgets,
    "drain": drain,
    "daemonset": daemon_set,
    "job": job,
}
"""What ``cmd/record-controllers`` answers."""
