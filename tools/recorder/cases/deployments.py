"""Deployments in the middle of something, and whole rollouts."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from kubespread.kube.well_known import DESIRED_REPLICAS, MAX_REPLICAS, REVISION
from tools.recorder.cases.draw import Data, Draw
from tools.recorder.cases.workloads import owner_of, pod, selecting, terminating, workload
from tools.replay.cases import ago

_APP = {"app": "web"}
_RECREATE = {"type": "Recreate"}
_PERCENT = (0, 1, 5, 10, 12, 20, 25, 25, 25, 30, 33, 34, 40, 50, 50, 66, 75, 99, 100)


def _strategy(draw: Draw, recreate: float) -> Data | None:
    """None is what the API server makes a rolling update of 25 %."""
    if draw.chance(recreate):
        return dict(_RECREATE)
    if draw.chance(0.2):
        return draw.one({"type": "RollingUpdate"}, None)
    surge, unavailable = _number_or_percent(draw), _number_or_percent(draw)
    if surge in (0, "0%") and unavailable in (0, "0%"):
        surge = 1  # the API refuses none of both
    return {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}}


def _number_or_percent(draw: Draw) -> int | str:
    return f"{draw.one(*_PERCENT)}%" if draw.chance(0.45) else draw.one(0, 1, 1, 1, 2, 2, 3, 4, 5, 6)


def _surge(deployment: Data, replicas: int) -> int:
    strategy = deployment["spec"].get("strategy", {})
    if strategy == _RECREATE:
        return 0
    surge = strategy.get("rollingUpdate", {}).get("maxSurge", "25%")
    return ceil(replicas * int(surge[:-1]) / 100) if isinstance(surge, str) else surge


def _deployment(draw: Draw, replicas: int, revision: str, *, recreate: float) -> Data:
    spec = {"replicas": replicas, **selecting(_APP, f"app:{revision}")}
    if (strategy := _strategy(draw, recreate)) is not None:
        spec["strategy"] = strategy
    return workload(draw, "Deployment", "web", spec, creationTimestamp=ago(500_000))


def _replica_set(draw: Draw, deployment: Data, revision: str, size: int, available: int, **annotations: object) -> Data:
    """``revision`` is its template's; the number of the revision is among the annotations."""
    labels = _APP | {"pod-template-hash": f"h{revision}"}
    found = workload(
        draw,
        "ReplicaSet",
        f"web-h{revision}",
        {"replicas": size, **selecting(labels, f"app:{revision}")},
        labels=labels,
        annotations={name: str(value) for name, value in annotations.items() if value is not None},
        ownerReferences=[owner_of(deployment)],
    )
    found["status"] = {"replicas": size, "readyReplicas": available, "availableReplicas": available}
    return found


def step(draw: Draw) -> Data:
    """One pass, with sizes as a rollout, a scaling or somebody's meddling may have left them."""
    replicas = draw.one(0, 1, 1, 2, 3, 3, 4, 5, 6, 7, 8, 10, 10, 12, 15, 20, 30, 50, 100)
    deployment = _deployment(draw, replicas, "v3", recreate=0.12)
    spec = deployment["spec"]
    spec |= draw.fields({"paused": (0.12, True), "minReadySeconds": (0.1, 0)})
    spec["revisionHistoryLimit"] = draw.one(10, 10, 10, 0, 1, 2)
    before = replicas
    if draw.chance(0.4):
        others = (
            replicas - 1,
            replicas + 1,
            replicas + 5,
            replicas - 5,
            replicas // 2,
            replicas * 2,
            draw.number(0, 60),
        )
        before = max(0, draw.one(*others))
    revisions = [f"o{i}" for i in range(draw.one(0, 1, 1, 1, 2, 2, 3))] + (["v3"] if draw.chance(0.75) else [])
    replica_sets = _replica_sets(draw, deployment, revisions, before)
    found: Data = {"deployment": deployment, "replicaSets": replica_sets}
    is_recreate = spec.get("strategy") == _RECREATE
    if pods := [each for rs in replica_sets if is_recreate or draw.chance(0.03) for each in _pods(draw, rs)]:
        found["pods"] = pods
    if is_recreate and draw.chance(0.6):
        for old in replica_sets:
            if old["metadata"]["name"] != "web-hv3":
                old["spec"]["replicas"] = 0
                old["status"] = {"replicas": 0 if draw.chance(0.8) else 1}
    if draw.chance(0.5):
        deployment["status"] = {"replicas": sum(each["status"].get("replicas", 0) for each in replica_sets)}
    if any(each["status"].get("availableReplicas", 0) > each["spec"]["replicas"] for each in replica_sets):
        found["statusLag"] = True
    return found


def _replica_sets(draw: Draw, deployment: Data, revisions: Sequence[str], before: int) -> list[Data]:
    """``before`` is what the Deployment's replicas were when it was last scaled."""
    most = before + _surge(deployment, before)
    sizes = _sizes(draw, len(revisions), most)
    numbers = list(range(1, len(revisions) + 1))
    if draw.chance(0.25):  # a rollback: the new ReplicaSet is not the youngest
        numbers = draw.some(numbers, len(numbers), len(numbers))
    ages = sorted(draw.some(range(1000, 400_000), len(revisions), len(revisions)), reverse=True)
    if draw.chance(0.1):
        ages = [5000] * len(revisions)
    health = draw.one("all", "all", "none-new", "random", "random")
    found = []
    for revision, size, number in zip(revisions, sizes, numbers, strict=True):
        available = draw.number(0, size) if health == "random" else size
        if health == "none-new" and revision == "v3":
            available = 0
        if draw.chance(0.04):
            available = size + draw.number(1, 2)
        left: Data = {DESIRED_REPLICAS: before, MAX_REPLICAS: most}
        if draw.chance(0.06):
            left = {}
        elif draw.chance(0.06):
            left[MAX_REPLICAS] = draw.one(0, 1, before, before + 3)
        made = _replica_set(draw, deployment, revision, size, available, **{REVISION: number, **left})
        made["metadata"]["creationTimestamp"] = ago(ages[number - 1])
        if size != available and draw.chance(0.3):
            made["status"]["replicas"] = draw.number(min(size, available), max(size, available))
        found.append(made)
    return draw.some(found, len(found), len(found))


def _sizes(draw: Draw, count: int, most: int) -> list[int]:
    """Together mostly at most ``most``."""
    sizes: list[int] = []
    for i in range(count):
        left = most - sum(sizes)
        sizes.append(left if i == count - 1 and draw.chance(0.5) else draw.number(0, left))
    if sizes and draw.chance(0.15):
        sizes[draw.number(0, count - 1)] += draw.number(1, 6)
    return draw.some(sizes, count, count)


def _pods(draw: Draw, replica_set: Data) -> list[Data]:
    found = []
    for i in range(draw.one(0, 0, 1, 2)):
        name, labels = replica_set["metadata"]["name"], replica_set["metadata"]["labels"]
        made = pod(draw, f"{name}-{i}", labels, owner_of(replica_set))
        made["spec"]["nodeName"] = "n1"
        made["status"]["phase"] = draw.one("Running", "Running", "Failed", "Succeeded", "Pending", "Unknown")
        if draw.chance(0.5):
            terminating(made)
        found.append(made)
    return found


class _Rollout:
    """Events, and after how many passes that change something the next one comes; 0 is after all."""

    def __init__(self) -> None:
        self.steps: list[Data] = []
        self.passes: list[int] = []

    def image(self, revision: str, passes: int = 0) -> None:
        self.sets("image", f"app:{revision}", passes)

    def sets(self, field: str, value: object, passes: int = 0) -> None:
        self.event("set", {field: value}, passes)

    def event(self, kind: str, what: Data, passes: int = 0) -> None:
        self.steps.append({kind: what})
        self.passes.append(passes)


def rollout(draw: Draw) -> Data:
    replicas = draw.one(1, 1, 2, 3, 3, 4, 4, 5, 6, 6, 7, 8, 9, 10, 10, 12, 15, 20, 25, 40)
    deployment = _deployment(draw, replicas, "v1", recreate=0.08)
    deployment["spec"]["revisionHistoryLimit"] = 10
    most = replicas + _surge(deployment, replicas)
    annotations = {REVISION: 1, DESIRED_REPLICAS: replicas, MAX_REPLICAS: most}
    first = _replica_set(draw, deployment, "v1", replicas, replicas, **annotations)
    first["metadata"]["creationTimestamp"] = ago(300_000)
    kind = draw.one(*_KINDS, "never", "rollback", "three", "scale", "mix", "schedule", "schedule")
    events = _Rollout()
    found: Data = {"kind": kind, "deployment": deployment, "replicaSets": [first], "readiness": "instant"}
    found |= _KINDS[kind](draw, events, replicas)
    found["steps"] = events.steps
    if any(events.passes):
        found["maxPasses"] = events.passes
    return found


def _stuck(draw: Draw, *revisions: str) -> Data:
    """In half of the cases pods of these revisions never become available."""
    return {"stuck": list(revisions)} if draw.chance(0.5) else {}


def _plain(_draw: Draw, events: _Rollout, _replicas: int) -> Data:
    events.image("v2")
    return {}


def _never(draw: Draw, events: _Rollout, replicas: int) -> Data:
    events.image("v2")
    if draw.chance(0.5):
        events.image(draw.one("v1", "v3"))
    if draw.chance(0.3):
        events.sets("replicas", max(0, replicas + draw.one(-3, -1, 2, 5, 10)))
    return {"stuck": ["v2"]}


def _rollback(draw: Draw, events: _Rollout, _replicas: int) -> Data:
    events.image("v2", draw.number(1, 4))
    events.image("v1")
    if draw.chance(0.3):
        events.image("v2")
    return _stuck(draw, "v2")


def _three(draw: Draw, events: _Rollout, _replicas: int) -> Data:
    events.image("v2", draw.number(1, 4))
    events.image("v3", draw.one(0, 0, 2, 3))
    if draw.chance(0.4):
        events.image(draw.one("v1", "v2", "v4"))
    return _stuck(draw, *draw.one(["v2"], ["v3"], ["v2", "v3"]))


def _scale(draw: Draw, events: _Rollout, replicas: int) -> Data:
    events.image("v2", draw.number(1, 4))
    others = (replicas + 1, replicas + 3, replicas * 2, replicas - 1, replicas // 2, replicas + 10, 0, 1)
    events.sets("replicas", draw.one(*others), draw.one(0, 0, 1, 2))
    if draw.chance(0.4):
        events.sets("replicas", max(0, replicas + draw.one(0, 2, -2)))
    return _stuck(draw, "v2")


def _pause(draw: Draw, events: _Rollout, replicas: int) -> Data:
    events.image("v2", draw.number(1, 3))
    events.sets("paused", True)
    if draw.chance(0.6):
        events.sets("replicas", max(0, replicas + draw.one(-2, 3, 7)))
    events.sets("paused", False)
    return {}


def _schedule(draw: Draw, events: _Rollout, replicas: int) -> Data:
    """Pods become available, and stop to be, one event after the other."""
    events.image("v2")
    for _ in range(draw.number(4, 14)):
        _change_of_readiness(draw, events, replicas, "v2")
    _all_ready(draw, events)
    return {"readiness": "events"}


def _mix(draw: Draw, events: _Rollout, replicas: int) -> Data:
    events.image("v2")
    revision = "v2"
    for _ in range(draw.number(4, 14)):
        if draw.chance(0.12):
            revision = draw.one("v1", "v2", "v3")
            events.image(revision)
        elif draw.chance(0.12):
            events.sets("replicas", max(0, replicas + draw.number(-4, 8)))
        else:
            _change_of_readiness(draw, events, replicas, revision)
    _all_ready(draw, events)
    return {"readiness": "events"}


def _change_of_readiness(draw: Draw, events: _Rollout, replicas: int, revision: str) -> None:
    if draw.chance(0.8):
        events.event("ready", {revision: draw.number(1, max(1, replicas // 2))})
    elif draw.chance(0.5):
        events.event("unready", {draw.one("v1", "v2"): draw.number(1, 2)})
    else:
        events.event("ready", {"v1": 1, "v2": 1})


def _all_ready(draw: Draw, events: _Rollout) -> None:
    if draw.chance(0.7):
        for _ in range(12):
            events.event("ready", {"v1": 50, "v2": 50, "v3": 50})


_KINDS = {
    "plain": _plain,
    "never": _never,
    "rollback": _rollback,
    "three": _three,
    "scale": _scale,
    "pause": _pause,
    "schedule": _schedule,
    "mix": _mix,
}
