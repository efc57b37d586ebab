"""What the disruption controller writes into budgets, and what the API server says to evictions, beside ours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from msgspec.structs import replace

import kubespread
from kubespread.controllers.disruption import (
    LET_THROUGH,
    ClusterScales,
    Eviction,
    PodScale,
    ScaleError,
    budget_status,
    condition_of,
    evict,
    no_such_pod,
    protects,
)
from kubespread.kube.api.cluster_objects import ClusterObjects, PodDisruptionBudget
from kubespread.kube.api.core import Pod
from kubespread.kube.api.meta import OwnerReference
from kubespread.kube.owners import WorkloadName
from tools.replay.cases import Data, Difference, Recorded

_VERSION = "example.com/v1"


def differences(recorded: Recorded, _kube_version: str | None = None) -> Iterator[Difference]:
    """Every status and every eviction in turn; where the recorded text is one of several, ours must be among them."""
    case, expect = recorded
    replay = _Replay(case)
    if case["sync"]:
        replay.sync()
        yield from _compared(recorded.name, "status", expect["status"], replay.statuses())
    for position, (name, wanted) in enumerate(zip(case["evictions"], expect["evictions"], strict=True)):
        said = {"pod": name, **_answer(replay.evict(name)), "allowed": replay.allowed()}
        yield from _compared(recorded.name, f"evictions[{position}]", wanted, said)


class _Replay:
    def __init__(self, case: Data) -> None:
        snapshot = kubespread.Snapshot.from_objects([*case["objects"], *case["podDisruptionBudgets"], *case["pods"]])
        self.pods: list[Pod] = list(snapshot.pods)
        self.budgets: Sequence[PodDisruptionBudget] = snapshot.objects.get(PodDisruptionBudget)
        self._scales = _Scales(snapshot.objects, case["objects"])
        self._now = datetime.fromisoformat(case["now"])
        self._resync = case["resync"]

    def sync(self) -> None:
        self.budgets = [
            replace(budget, status=budget_status(budget, self._matching(budget), self._scales, self._now))
            for budget in self.budgets
        ]

    def evict(self, name: str) -> Eviction:
        pod = next((pod for pod in self.pods if _name(pod) == name), None)
        if pod is None:
            return no_such_pod(name.partition("/")[2])
        said = evict(pod, [budget for budget in self.budgets if protects(budget, pod)], self._now)
        if said.code != LET_THROUGH:
            return said
        if said.budget_after is not None:
            charged = said.budget_after
            self.budgets = [charged if _name(each) == _name(charged) else each for each in self.budgets]
        at = self.pods.index(pod)
        deleted = replace(pod, metadata=replace(pod.metadata, deletion_timestamp=self._now.isoformat()))
        self.pods[at : at + 1] = [] if said.is_immediate else [deleted]
        if self._resync:
            self.sync()
        return said

    def statuses(self) -> Data:
        return {_name(budget): _status(budget) for budget in self.budgets}

    def allowed(self) -> Data:
        return {_name(budget): budget.status.disruptions_allowed for budget in self.budgets}

    def _matching(self, budget: PodDisruptionBudget) -> list[Pod]:
        return [pod for pod in self.pods if protects(budget, pod)]


class _Scales(ClusterScales):
    """The API of the recordings serves Widgets, which have a scale, and Gadgets, which have none."""

    def __init__(self, objects: ClusterObjects, recorded: Sequence[Data]) -> None:
        super().__init__(objects)
        self._widgets = {
            (found["metadata"]["namespace"], found["metadata"]["name"]): found
            for found in recorded
            if (found["apiVersion"], found["kind"]) == (_VERSION, "Widget")
        }

    def __call__(self, controller: OwnerReference, namespace: str) -> PodScale | None:
        if controller.api_version != _VERSION or controller.kind not in ("Widget", "Gadget"):
            return super().__call__(controller, namespace)
        if controller.kind == "Gadget":
            raise ScaleError("gadgets.example.com does not implement the scale subresource")
        widget = self._widgets.get((namespace, controller.name))
        uid = "" if widget is None else widget["metadata"].get("uid", "")
        if widget is None or (uid and controller.uid not in ("", uid)):
            return None
        name = WorkloadName("Widget.example.com", namespace, controller.name)
        return PodScale(name, widget["spec"].get("replicas", 0))


def _status(budget: PodDisruptionBudget) -> Data:
    status, condition = budget.status, condition_of(budget.status)
    assert condition is not None
    return {
        "expectedPods": status.expected_pods,
        "currentHealthy": status.current_healthy,
        "desiredHealthy": status.desired_healthy,
        "disruptionsAllowed": status.disruptions_allowed,
        "reason": condition.reason,
        "message": condition.message or None,
    }


def _answer(said: Eviction) -> Data:
    return {
        "code": said.code,
        "message": said.message,
        "cause": said.cause,
        "retryAfterSeconds": said.retry_after_seconds,
        # Only of what was let through.
        "gone": said.is_immediate if said.code == LET_THROUGH else None,
    }


def _name(found: Pod | PodDisruptionBudget) -> str:
    return f"{found.metadata.namespace}/{found.metadata.name}"


def _compared(case: str, what: str, wanted: Any, ours: Any) -> Iterator[Difference]:
    if isinstance(wanted, dict) and "anyOf" in wanted:
        if ours not in wanted["anyOf"]:
            yield Difference(case, what, wanted, ours)
    elif isinstance(wanted, dict) and isinstance(ours, dict):
        for key in dict.fromkeys((*wanted, *ours)):
            yield from _compared(case, f"{what}.{key}", wanted.get(key), ours.get(key))
    elif wanted != ours:
        yield Difference(case, what, wanted, ours)
