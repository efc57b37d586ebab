"""Families of cases on a running cluster: what is there, what happened before, and what is to happen."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from kubespread.kube.well_known import HOSTNAME, ZONE
from tools.recorder.cases.draw import Draw
from tools.recorder.running.steps import Step
from tools.replay.cases import Data

ROLLOUT: Step = {"rollout": "deploy/web"}
BUDGETS: Sequence[Data] = (
    {"maxUnavailable": 1},
    {"maxUnavailable": "25%"},
    {"minAvailable": "50%"},
    {"minAvailable": 1},
)


class Plan(NamedTuple):
    """All of a case that chance decides beforehand; the control plane's own chance comes on top."""

    objects: Sequence[Sequence[Data]]
    """Created one group after another, each once those before it rest."""
    scenarios: Sequence[Sequence[Step]]
    """Each makes a case, and finds the cluster as those before it leave it."""
    before: Sequence[Step] = ()
    """Done one after another before the first picture is taken."""
    under_way: Sequence[Step] = ()
    """Begun at once; after ``pause`` seconds the picture is taken, whatever is going on."""
    pause: float = 0
    delay: float = 0
    """Seconds until a pod is ready, from the last of ``before`` on."""
    manifests: Mapping[str, Data] = {}


# Objects


def nodes(draw: Draw, *, small: bool = False, odd: bool = True, least: int = 2) -> list[Data]:
    """One to three in each of two to four zones; ``odd`` ones may be cordoned, tainted, or in no zone."""
    made: list[Data] = []
    while len(made) < least:
        made = [
            _node(f"n-{zone}{i}", zone, draw.one(2, 3, 4) if small else draw.one(4, 6, 8, 16))
            for zone in "abcd"[: draw.number(2, 4)]
            for i in range(1, draw.number(1, 3) + 1)
        ]
    if odd and draw.chance(0.2):
        draw.one(*made)["spec"]["unschedulable"] = True
    if odd and draw.chance(0.15):
        effect = draw.one("NoSchedule", "PreferNoSchedule")
        draw.one(*made)["spec"]["taints"] = [{"key": "dedicated", "value": "x", "effect": effect}]
    if odd and draw.chance(0.1):
        made.append(_node("n-nozone", None, 4))
    return made


def _node(name: str, zone: str | None, cpu: int) -> Data:
    labels = {HOSTNAME: name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}
    if zone:
        labels[ZONE] = zone
    capacity = {"cpu": str(cpu), "memory": "64Gi", "pods": "110", "ephemeral-storage": "100Gi"}
    conditions = [{"type": "Ready", "status": "True", "reason": "KubeletReady"}]
    status = {"capacity": capacity, "allocatable": capacity, "conditions": conditions}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": {},
        "status": status,
    }


def constraint(app: str, key: str, max_skew: int, action: str, **more: Any) -> Data:
    selector = {"labelSelector": {"matchLabels": {"app": app}}}
    return {"maxSkew": max_skew, "topologyKey": key, "whenUnsatisfiable": action, **selector, **more}


def constraints(draw: Draw, app: str, *, by_revision: bool = True) -> list[Data]:
    """On zones mostly, on hosts often."""
    made = []
    for key, there, hard, skews in ((ZONE, 0.9, 0.75, (1, 1, 1, 2)), (HOSTNAME, 0.5, 0.4, (1, 1, 2, 3))):
        if not draw.chance(there):
            continue
        each = constraint(app, key, draw.one(*skews), "DoNotSchedule" if draw.chance(hard) else "ScheduleAnyway")
        if by_revision and draw.chance(0.3):
            each["matchLabelKeys"] = ["pod-template-hash"]
        if key == ZONE and each["whenUnsatisfiable"] == "DoNotSchedule" and draw.chance(0.12):
            each["minDomains"] = draw.number(2, 4)
        if draw.chance(0.15):
            each["nodeTaintsPolicy"] = "Honor"
        made.append(each)
    return made


def workload(kind: str, app: str, cpu: int, own: Sequence[Data] = (), *, pod: Data | None = None, **spec: Any) -> Data:
    """Of pods that ask for ``cpu`` millicores, with ``own`` constraints; ``pod`` is more of their spec."""
    container = {"name": "c", "image": "example.com/c:1", "resources": {"requests": {"cpu": f"{cpu}m"}}}
    template = {"metadata": {"labels": {"app": app}}, "spec": {"containers": [container], **(pod or {})}}
    if own:
        template["spec"]["topologySpreadConstraints"] = list(own)
    if kind != "Job":
        spec["selector"] = {"matchLabels": {"app": app}}
    if kind == "StatefulSet":
        spec["serviceName"] = app
    group = "batch/v1" if kind == "Job" else "apps/v1"
    return {"apiVersion": group, "kind": kind, "metadata": _named(app), "spec": {**spec, "template": template}}


def deployment(app: str, replicas: int, cpu: int, own: Sequence[Data] = (), **more: Any) -> Data:
    return workload("Deployment", app, cpu, own, replicas=replicas, **more)


def rolling(draw: Draw) -> Data:
    surge, unavailable = draw.one(
        ("25%", "25%"), (1, 0), (0, 1), (2, 1), (3, 2), ("100%", 0), (0, "50%"), (1, 1), ("25%", 0), (0, "100%")
    )
    return {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}}


def stateful_set(draw: Draw, app: str, replicas: int, cpu: int, own: Sequence[Data], **more: Any) -> Data:
    policy = draw.one("OrderedReady", "Parallel")
    return workload("StatefulSet", app, cpu, own, replicas=replicas, podManagementPolicy=policy, **more)


def budget(app: str, allowed: Data) -> Data:
    spec = {"selector": {"matchLabels": {"app": app}}, **allowed}
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": _named(app), "spec": spec}


def _named(name: str) -> Data:
    return {"name": name, "namespace": "default"}


PRIORITIES = [
    {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": value}
    for name, value in (("high", 1000), ("low", -10))
]


def apart(app: str) -> Data:
    """Pods of ``app`` are never together on a node."""
    term = {"topologyKey": HOSTNAME, "labelSelector": {"matchLabels": {"app": app}}}
    return {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}


def side(draw: Draw, probability: float) -> list[list[Data]]:
    """A Deployment that takes room, or nothing."""
    if not draw.chance(probability):
        return []
    return [[deployment("side", draw.number(1, 6), draw.one(100, 200, 300, 400))]]


def names(objects: Iterable[Data]) -> list[str]:
    return [str(each["metadata"]["name"]) for each in objects]


def room(among: Iterable[Data], cpu: int) -> int:
    """How many pods of ``cpu`` millicores fit."""
    free = [node for node in among if not node["spec"].get("unschedulable")]
    return sum(int(node["status"]["allocatable"]["cpu"]) * 1000 // cpu for node in free)


# Families


def rollout(draw: Draw) -> Plan:
    """A Deployment gets another template, or is restarted; the cluster is full or not."""
    tight = draw.chance(0.4)
    among = nodes(draw, small=tight)
    cpu = draw.one(250, 500, 900) if tight else draw.one(100, 250, 500)
    replicas = max(3, min(15, room(among, cpu) - draw.number(0, 2))) if tight else draw.number(3, 15)
    own = constraints(draw, "web") or constraints(draw, "web")
    before: list[Step] = []
    if draw.chance(0.3):
        before.append({"lose": f"web {draw.number(1, 3)}"})
    if draw.chance(0.15):
        before.append({"cordon": draw.one(*names(among))})
    return Plan(
        [among, *side(draw, 0.25), [deployment("web", replicas, cpu, own, strategy=rolling(draw))]],
        [[_rollout(draw, "deploy/web", cpu)]],
        before,
        delay=draw.one(0, 0, 0.5),
    )


def _rollout(draw: Draw, what: str, cpu: int) -> Step:
    """A restart, or another request."""
    asked = draw.one(None, None, cpu + 150, max(50, cpu - 100))
    return {"rollout": f"{what} cpu={asked}m" if asked else what}


def rollout2(draw: Draw) -> Plan:
    """Rollouts that are no plain ones."""
    among = nodes(draw, small=draw.chance(0.5))
    strategy = {"type": "Recreate"} if draw.chance(0.1) else rolling(draw)
    own = constraints(draw, "web")
    web = deployment("web", draw.number(3, 12), draw.one(200, 500, 900), own, strategy=strategy)
    plan = Plan([among, [web]], [[ROLLOUT]], delay=draw.one(0, 0, 0.4))
    return draw.one(*ROLLOUTS)(draw, web, plan)


def _scaled_too(draw: Draw, web: Data, plan: Plan) -> Plan:
    """Another template and another size at once; paused, the size alone changes."""
    changed = copy.deepcopy(web)
    changed["spec"] |= {"replicas": draw.number(1, 15), "paused": draw.chance(0.3)}
    requests = changed["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"]
    requests["cpu"] = f"{draw.one(100, 300, 600)}m"
    return plan._replace(scenarios=[[{"apply": "manifest-0.json"}]], manifests={"manifest-0.json": changed})


def _one_a_node(draw: Draw, web: Data, plan: Plan) -> Plan:
    web["spec"]["replicas"] = max(2, len(plan.objects[0]) - draw.number(0, 2))
    pod = web["spec"]["template"]["spec"]
    if draw.chance(0.5):
        pod |= apart("web")
    else:
        pod["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": 8080}]
    return plan


def _preempting(draw: Draw, web: Data, plan: Plan) -> Plan:
    web["spec"]["template"]["spec"]["priorityClassName"] = "high"
    own = constraints(draw, "filler", by_revision=False)
    filler = deployment(
        "filler", draw.number(8, 25), 300, own, pod={"priorityClassName": draw.one("low", "low", "high")}
    )
    budgets = [budget("filler", {"maxUnavailable": 1})] if draw.chance(0.5) else []
    return plan._replace(objects=[PRIORITIES, plan.objects[0], [filler], [*budgets, web]])


def _two_of_them(draw: Draw, web: Data, plan: Plan) -> Plan:
    api = deployment("api", draw.number(2, 8), 300, constraints(draw, "api"), strategy=rolling(draw))
    return plan._replace(objects=[plan.objects[0], [web], [api]], scenarios=[[ROLLOUT, {"rollout": "deploy/api"}]])


ROLLOUTS: Sequence[Callable[[Draw, Data, Plan], Plan]] = (
    _scaled_too,
    _scaled_too,
    _one_a_node,
    _preempting,
    _preempting,
    _two_of_them,
    # Some pods are not ready.
    lambda draw, web, plan: plan._replace(before=[{"unready": f"web {draw.number(1, 3)}"}]),
    # Over one that hangs; twice, for it leaves most to go wrong.
    *[lambda draw, web, plan: plan._replace(before=[{"hang": "web"}, ROLLOUT, {"recover": "web"}])] * 2,
    # One that hangs itself.
    *[lambda draw, web, plan: plan._replace(before=[{"hang": "web"}])] * 2,
    # Back to the revision before the last.
    lambda draw, web, plan: plan._replace(
        before=[ROLLOUT, {"rollout": f"deploy/web cpu={draw.one(300, 600)}m"}], scenarios=[[{"rollback": "deploy/web"}]]
    ),
)


def rolltight(draw: Draw) -> Plan:
    """A full cluster: which of several equal old pods goes first decides whether the rollout ends."""
    zones = "abc"[: draw.one(2, 3, 3)]
    among = [_node(f"n-{zone}{i}", zone, draw.one(2, 3, 4)) for zone in zones for i in range(1, draw.number(2, 3))]
    cpu = draw.one(900, 450)
    rooms = [room([node for node in among if node["metadata"]["labels"][ZONE] == zone], cpu) for zone in zones]
    fit = sum(min(each, min(rooms) + 1) for each in rooms)
    replicas = min(fit, sum(rooms) - draw.one(0, 0, 1))
    own = [constraint("web", ZONE, 1, "DoNotSchedule", matchLabelKeys=["pod-template-hash"])]
    surge, unavailable = draw.one((0, 1), (0, 1), (0, 2), (1, 1))
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}}
    objects = [among, [deployment("web", replicas, cpu, own, strategy=strategy)]]
    if replicas < sum(rooms):
        objects.append([deployment("side", sum(rooms) - replicas, cpu)])
    return Plan(objects, [[ROLLOUT]])


def scale(draw: Draw) -> Plan:
    """A Deployment or a ReplicaSet of its own shrinks or grows, whatever happened to its pods before."""
    among = nodes(draw, small=draw.chance(0.3))
    kind, what = draw.one(*[("Deployment", "deploy/web")] * 4, ("ReplicaSet", "rs/web"))
    now = draw.number(2, 14)
    more = {"strategy": rolling(draw)} if kind == "Deployment" else {}
    web = workload(kind, "web", draw.one(100, 250, 500), constraints(draw, "web"), replicas=now, **more)
    histories: tuple[list[Step], ...] = (
        [],
        [{"scale": f"{what}={max(1, now // 2)}"}, {"scale": f"{what}={now}"}],
        [{"unready": f"web {draw.number(1, 3)}"}],
        [{"cost": f"web {draw.number(1, 4)}"}],
        [{"lose": f"web {draw.number(1, 4)}"}],
        [{"hang": "web"}, ROLLOUT],
        [{"hang": "web"}, ROLLOUT],
    )
    before = list(draw.one(*(histories if kind == "Deployment" else histories[:5])))
    if draw.chance(0.15):
        before.append({"cordon": draw.one(*names(among))})
    wanted = draw.one(draw.number(0, now), draw.number(0, now), draw.number(now, 16))
    to = wanted if wanted != now else now - 1
    return Plan([among, [web]], [[{"scale": f"{what}={to}"}]], before)


def workloads(draw: Draw) -> Plan:
    """StatefulSets, DaemonSets and Jobs."""
    tight = draw.chance(0.4)
    among = nodes(draw, small=tight)
    plan = Plan([among, *side(draw, 0.4)], [])
    cpu = draw.one(300, 700, 1100) if tight else draw.one(100, 300)
    return draw.one(_stateful_set, _stateful_set, _stateful_set, _daemon_set, _job, _job)(draw, cpu, plan)


def _stateful_set(draw: Draw, cpu: int, plan: Plan) -> Plan:
    replicas = draw.number(2, 8)
    update = draw.one(
        {"type": "RollingUpdate"},
        {"type": "RollingUpdate"},
        {"type": "RollingUpdate", "rollingUpdate": {"partition": draw.number(0, replicas)}},
        {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": draw.one(1, 2, 3, "50%")}},
        {"type": "OnDelete"},
    )
    more = draw.fields({"ordinals": (0.2, {"start": 3})})
    db = stateful_set(
        draw, "db", replicas, cpu, constraints(draw, "db", by_revision=False), updateStrategy=update, **more
    )
    before: list[Step] = [{"unready": "db 1"}] if draw.chance(0.25) else []
    rolls = _rollout(draw, "sts/db", cpu)
    step = draw.one(rolls, rolls, rolls, {"scale": f"sts/db={draw.number(0, 11)}"}, {"delete": "app=db"})
    return plan._replace(objects=[*plan.objects, [db]], scenarios=[[step]], before=before)


def _daemon_set(draw: Draw, cpu: int, plan: Plan) -> Plan:
    among = plan.objects[0]
    change = draw.one(
        {"maxUnavailable": 1}, {"maxUnavailable": 2}, {"maxUnavailable": "50%"}, {"maxSurge": 1, "maxUnavailable": 0}
    )
    agent = workload("DaemonSet", "agent", cpu, updateStrategy={"type": "RollingUpdate", "rollingUpdate": change})
    step = _rollout(draw, "ds/agent", cpu)
    if draw.chance(0.4):
        agent["spec"]["template"]["spec"]["nodeSelector"] = {"pool": "x"}
        for node in draw.some(among, 1, len(among)):
            node["metadata"]["labels"]["pool"] = "x"
        step = {"label": f"{ZONE}={draw.one('a', 'b')} {draw.one('pool=x', 'pool-')}"}
    return plan._replace(objects=[*plan.objects, [agent]], scenarios=[[step]])


def _job(draw: Draw, cpu: int, plan: Plan) -> Plan:
    parallel = draw.number(2, 10)
    run = workload(
        "Job",
        "run",
        cpu,
        constraints(draw, "run", by_revision=False),
        pod={"restartPolicy": "Never"},
        parallelism=parallel,
        completions=parallel * draw.number(1, 2),
        completionMode=draw.one("NonIndexed", "Indexed"),
    )
    objects = plan.objects
    if draw.chance(0.5):
        objects, run = [*objects, [run]], copy.deepcopy(run)
        run["spec"]["parallelism"] = draw.number(0, 12)
    return plan._replace(
        objects=objects, scenarios=[[{"apply": "manifest-0.json"}]], manifests={"manifest-0.json": run}
    )


def guarded(draw: Draw) -> tuple[list[Data], list[list[Data]], list[str]]:
    """Nodes, workloads with budgets among other pods, and how a scenario calls them."""
    tight = draw.chance(0.4)
    among = nodes(draw, small=tight, odd=False, least=3)
    objects: list[list[Data]] = []
    called = []
    for app in draw.some(("web", "api", "db", "cache"), 1, 3):
        replicas = draw.number(1, 7)
        cpu = draw.one(200, 500, 800) if tight else draw.one(100, 300)
        pod = draw.fields({"volumes": (0.15, lambda: [{"name": "tmp", "emptyDir": {}}])})
        if draw.chance(0.15):
            pod |= apart(app)
        own = constraints(draw, app, by_revision=False)
        if app == "db":
            made = stateful_set(draw, app, replicas, cpu, own, pod=pod)
        else:
            made = deployment(app, replicas, cpu, own, pod=pod)
        objects.append([made])
        called.append(f"{'sts' if app == 'db' else 'deploy'}/{app}")
        if draw.chance(0.75):
            allowed = draw.one(*BUDGETS, {"minAvailable": max(0, replicas - 1)}, {"minAvailable": replicas})
            always = draw.fields({"unhealthyPodEvictionPolicy": (0.2, "AlwaysAllow")})
            objects[-1].append(budget(app, {**allowed, **always}))
    if draw.chance(0.25):
        objects.append([workload("DaemonSet", "agent", 50)])
    if draw.chance(0.12):
        pod = workload("Job", "bare", 50)["spec"]["template"]
        objects.append(
            [{"apiVersion": "v1", "kind": "Pod", **pod, "metadata": {**_named("bare"), "labels": {"app": "bare"}}}]
        )
    return among, objects, called


def drain(draw: Draw) -> Plan:
    """One to three nodes, one after another, and the first is used again or not."""
    among, objects, called = guarded(draw)
    flags = "".join(
        [" --ignore-daemonsets", *draw.some((" --delete-emptydir-data",), 0, 1), *draw.some((" --force",), 0, 1)]
    )
    drained = draw.some(names(among), 1, min(3, len(among) - 1))
    steps: list[Step] = [{"drain": node + flags} for node in drained]
    if draw.chance(0.4):
        steps.append({"uncordon": drained[0]})
    app = draw.one(*called).partition("/")[2]
    before: list[Step] = [{"unready": f"{app} 1"}] if draw.chance(0.2) else []
    return Plan([among, *objects], [steps], before)


def drainpar(draw: Draw) -> Plan:
    """Several pods of a workload under hard constraints on each drained node: kubectl evicts them all at once."""
    zones = "abc"[: draw.one(2, 3, 3)]
    among = [_node(f"n-{zone}{i}", zone, draw.one(4, 8)) for zone in zones for i in range(1, draw.number(2, 3))]
    among.append(_node("n-a9", "a", 8))
    objects = []
    for app in ("web", "api")[: draw.number(1, 2)]:
        own = [constraint(app, ZONE, draw.one(1, 2, 2, 3), "DoNotSchedule")]
        if draw.chance(0.2):
            own[0]["nodeTaintsPolicy"] = "Honor"
        if draw.chance(0.3):
            own.append(constraint(app, HOSTNAME, draw.one(2, 3), "DoNotSchedule"))
        objects.append([deployment(app, draw.number(len(zones) * 2, 12), 100, own)])
        allowed = draw.one(None, None, {"maxUnavailable": 2}, {"maxUnavailable": "50%"}, {"maxUnavailable": 1})
        if allowed:
            objects[-1].append(budget(app, allowed))
    one = draw.one(*among)
    zone = [node for node in among if node["metadata"]["labels"][ZONE] == one["metadata"]["labels"][ZONE]]
    drained = names(zone if draw.chance(0.7) else [one])
    return Plan([among, *objects], [[{"drain": f"{node} --ignore-daemonsets"} for node in drained]])


def midflight(draw: Draw) -> Plan:
    """The picture is taken in the middle of a rollout or of scaling; then all goes on as it was."""
    among, objects, called = guarded(draw)
    under_way: list[Step] = []
    for what in draw.some(called, 1, 2):
        rolls: list[Step] = [{"rollout": what}]
        scales: list[Step] = [{"scale": f"{what}={draw.number(0, 10)}"}]
        under_way += draw.one(rolls, rolls, scales, rolls + scales)
    if draw.chance(0.3):
        under_way.append({"cordon": draw.one(*names(among))})
    return Plan(
        [among, *objects],
        [[{"ready": called}]],
        under_way=under_way,
        pause=draw.one(0.05, 0.3, 0.8, 1.6, 2.4),
        delay=draw.one(0.8, 1.5),
    )


def volumes(draw: Draw) -> Plan:
    """A StatefulSet with claims for local volumes of a node or of a zone."""
    among = nodes(draw, odd=False)
    mode = draw.one(*["WaitForFirstConsumer"] * 3, "Immediate")
    storage = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "local"}}
    local = {**storage, "provisioner": "kubernetes.io/no-provisioner", "volumeBindingMode": mode}
    key = ZONE if draw.chance(0.4) else HOSTNAME
    places = [node["metadata"]["labels"][key] for node in among for _ in range(draw.number(0, 2))]
    disks = [_volume(f"pv{i}", draw.one("1Gi", "2Gi", "5Gi"), key, place) for i, place in enumerate(places)]
    replicas = draw.number(1, 6)
    size = {"requests": {"storage": draw.one("1Gi", "2Gi")}}
    claim = {"accessModes": ["ReadWriteOnce"], "storageClassName": "local", "resources": size}
    claims = [{"metadata": {"name": "data"}, "spec": claim}]
    own = constraints(draw, "db", by_revision=False)
    db = stateful_set(draw, "db", replicas, 200, own, volumeClaimTemplates=claims)
    before: list[Step] = [{"scale": f"sts/db={max(0, replicas - 2)}"}] if draw.chance(0.3) else []
    node = draw.one(*names(among))
    steps: tuple[Step, ...] = (
        {"drain": f"{node} --ignore-daemonsets"},
        {"scale": f"sts/db={draw.number(0, 8)}"},
        {"delete": "app=db"},
        {"rollout": "sts/db"},
        {"removeNodes": node},
        {"addNodes": f"{node}:1"},
    )
    return Plan([among, [local, *disks], [db]], [[draw.one(*steps, *steps[:2])]], before)


def _volume(name: str, size: str, key: str, place: str) -> Data:
    term = {"matchExpressions": [{"key": key, "operator": "In", "values": [place]}]}
    spec = {
        "capacity": {"storage": size},
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "local",
        "persistentVolumeReclaimPolicy": "Retain",
        "local": {"path": "/x"},
        "nodeAffinity": {"required": {"nodeSelectorTerms": [term]}},
    }
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": spec}


class _Mix:
    """What a mixed cluster has come to, as far as the next step depends on it."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        self.nodes = nodes(draw, small=draw.chance(0.6))
        self.names = names(self.nodes)
        self.cordoned = {
            name for name, node in zip(self.names, self.nodes, strict=True) if "unschedulable" in node["spec"]
        }
        self.tainted: set[str] = set()
        self.objects = [PRIORITIES, self.nodes]
        self.apps: dict[str, str] = {}
        self.revised: set[str] = set()
        self.manifests: dict[str, Data] = {}
        for app in draw.some(("web", "api", "db", "cache"), 2, 3):
            self.objects.append(self._app(app))

    def _app(self, app: str) -> list[Data]:
        draw = self.draw
        pod: Data = draw.fields(
            {
                "priorityClassName": (0.5, ["high", "low"]),
                "tolerations": (0.12, lambda: [{"key": "maint", "operator": "Exists"}]),
            }
        )
        if draw.chance(0.12):
            pod |= apart(app)
        replicas, cpu, own = draw.number(1, 8), draw.one(100, 300, 600), constraints(draw, app, by_revision=False)
        if app == "db":
            made = stateful_set(draw, app, replicas, cpu, own, pod=pod)
        else:
            strategy = {"type": "Recreate"} if draw.chance(0.15) else rolling(draw)
            made = deployment(app, replicas, cpu, own, pod=pod, strategy=strategy)
        self.apps[app] = f"{'sts' if app == 'db' else 'deploy'}/{app}"
        guards = [budget(app, draw.one(*BUDGETS, {"minAvailable": replicas}))] if draw.chance(0.5) else []
        return [made, *guards]

    def step(self) -> Step:
        draw = self.draw
        made: Step | None = None
        while made is None:
            made = draw.one(
                self._scale,
                self._scale,
                self._rollout,
                self._rollout,
                self._cordon,
                self._uncordon,
                self._taint,
                self._taint,
                self._untaint,
                self._label,
                self._remove,
                self._add,
                self._delete,
                self._drain,
                self._apply,
                self._evict,
                self._rollback,
            )()
        return made

    def _scale(self) -> Step:
        return {"scale": f"{self.draw.one(*self.apps.values())}={self.draw.number(0, 12)}"}

    def _rollout(self) -> Step:
        app = self.draw.one(*self.apps)
        self.revised.add(app)
        cpu = self.draw.one(None, 150, 400, 700)
        return {"rollout": self.apps[app] + (f" cpu={cpu}m" if cpu else "")}

    def _rollback(self) -> Step | None:
        revised = sorted(self.revised - {"db"})
        return {"rollback": self.apps[self.draw.one(*revised)]} if revised else None

    def _cordon(self) -> Step:
        node = self.draw.one(*self.names)
        self.cordoned.add(node)
        return {"cordon": node}

    def _uncordon(self) -> Step | None:
        if not self.cordoned:
            return None
        node = self.draw.one(*sorted(self.cordoned))
        self.cordoned.discard(node)
        return {"uncordon": node}

    def _taint(self) -> Step:
        node = self.draw.one(*self.names)
        self.tainted.add(node)
        return {
            "taint": f"{node}=maint=yes:{self.draw.one('NoSchedule', 'PreferNoSchedule', 'NoExecute', 'NoExecute')}"
        }

    def _untaint(self) -> Step | None:
        if not self.tainted:
            return None
        node = self.draw.one(*sorted(self.tainted))
        self.tainted.discard(node)
        return {"taint": f"{node}=maint-"}

    def _label(self) -> Step:
        return {"label": f"{self.draw.one(*self.names)}={ZONE}={self.draw.one(*'abcd')}"}

    def _remove(self) -> Step | None:
        if len(self.names) < 4:
            return None
        node = self.draw.one(*self.names)
        self.names.remove(node)
        self.cordoned.discard(node)
        self.tainted.discard(node)
        return {"removeNodes": node}

    def _add(self) -> Step:
        return {"addNodes": f"{self.draw.one(*self.names)}:1@{ZONE}={self.draw.one(*'abcd')}"}

    def _delete(self) -> Step:
        return {"delete": f"app={self.draw.one(*self.apps)}"}

    def _drain(self) -> Step:
        node = self.draw.one(*self.names)
        self.cordoned.add(node)
        return {"drain": f"{node} --ignore-daemonsets --force --delete-emptydir-data"}

    def _evict(self) -> Step:
        return {"evict": self.draw.one(*self.apps)}

    def _apply(self) -> Step:
        app, manifest = f"x{len(self.manifests)}", f"manifest-{len(self.manifests)}.json"
        self.manifests[manifest] = self._app(app)[0]
        return {"apply": manifest}


def mix_step(draw: Draw) -> Plan:
    """One step after another on a mixed cluster with priorities and budgets; each is a case."""
    mix = _Mix(draw)
    steps = draw.many(4, 6, mix.step)
    return Plan(mix.objects, [[step] for step in steps], manifests=mix.manifests)


FAMILIES: Mapping[str, Callable[[Draw], Plan]] = {
    "running/drain": drain,
    "running/drainpar": drainpar,
    "running/midflight": midflight,
    "running/mix-step": mix_step,
    "running/rollout": rollout,
    "running/rollout2": rollout2,
    "running/rolltight": rolltight,
    "running/scale": scale,
    "running/volumes": volumes,
    "running/workloads": workloads,
}


def plan(family: str, seed: int, number: int) -> Plan:
    """The same on every machine. Most have pods that end at once, as `kubespread plan` has them."""
    draw = Draw(f"{family}-{seed}-{number}")
    made = FAMILIES[family](draw)
    grace = draw.one(0, 0, 0, 30)
    for each in (*chain(*made.objects), *made.manifests.values()):
        if (template := each.get("spec", {}).get("template")) is not None:
            template["spec"]["terminationGracePeriodSeconds"] = grace
    return made
