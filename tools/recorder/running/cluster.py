"""A cluster on a control plane: how it is made, comes to rest, has its picture taken, and what is done to it."""

from __future__ import annotations

import json
import random
import shlex
import time

from kubespread.snapshot.snapshot import LIST_COMMAND
from tools.recorder.running.kubelet import Kubelet
from tools.recorder.running.plane import ControlPlane
from tools.replay.cases import Data

_QUIET = 1.5
"""Seconds without a change of a pod after which no more come."""
_QUIET_PENDING = 3.5
"""The same while pods wait for a node: kube-scheduler tries them again after a second."""
_RESTS = 90
"""Seconds in which a cluster comes to rest, or not at all."""
_KINDS = "deploy,sts,ds,jobs,rs,pods,pdb,pvc,pv,sc,nodes"
"""All that is made here, but for PriorityClasses, of which Kubernetes has its own."""
_LIST = shlex.split(LIST_COMMAND.partition(">")[0])[1:]
_UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
_NOT_READY = "node.kubernetes.io/not-ready"


class UnsettledError(Exception):
    """The cluster does not come to rest; the text says what goes on."""


class Cluster:
    """One at a time on a control plane. Its name decides which of several pods something happens to."""

    def __init__(self, plane: ControlPlane, kubelet: Kubelet, name: str) -> None:
        self.plane = plane
        self.kubelet = kubelet
        self.name = name
        self.random = random.Random(name)
        self._empty()

    def _empty(self) -> None:
        self.kubelet.reset()
        end = time.monotonic() + _RESTS
        while self.plane.items(_KINDS):
            self.plane.check()
            if time.monotonic() > end:
                raise UnsettledError("what was there before is still there")
            gone = ("--ignore-not-found", "--force", "--grace-period=0", "--wait=false")
            self.plane.kubectl("delete", _KINDS, "--all", *gone, may_fail=True)
        made = [each for each in self.plane.items("priorityclasses") if not name_of(each).startswith("system-")]
        if made:
            self.plane.kubectl("delete", "priorityclasses", *map(name_of, made))

    def create(self, *objects: Data) -> None:
        """They are there, and the cluster rests. Raises UnsettledError."""
        self.plane.give("create", *objects)
        self.settle()

    def settle(self) -> None:
        """Returns when nothing happens any more. Raises UnsettledError."""
        self.kubelet.changed = begin = time.monotonic()
        while (now := time.monotonic()) < begin + _RESTS:
            found = self.kubelet.waiting()
            quiet = {None: _QUIET, "pending": _QUIET_PENDING}.get(found, _RESTS)
            if now - self.kubelet.changed > quiet and self._observed():
                return
            time.sleep(0.1)
        self.plane.check()
        raise UnsettledError(f"after {_RESTS} seconds there still are pods {self.kubelet.waiting() or 'to come'}")

    def _observed(self) -> bool:
        """Whether the controllers have seen all there is."""
        for each in self.plane.items("deploy,sts,ds,rs,pdb,nodes"):
            if each["kind"] == "Node":
                taints = {taint["key"] for taint in each["spec"].get("taints", ())}
                if _NOT_READY in taints or (_UNSCHEDULABLE in taints) != each["spec"].get("unschedulable", False):
                    return False
            elif each["metadata"].get("generation", 0) > each.get("status", {}).get("observedGeneration", 0):
                return False
        return True

    def picture(self) -> Data:
        """The List that users are told to take."""
        found: Data = json.loads(self.plane.kubectl(*_LIST))
        return found

    def pods(self, app: str, count: int) -> list[Data]:
        """Some of its pods that run, as chance has it."""
        pods = self.kubelet.pods.copy().values()
        own = [pod for pod in pods if pod["metadata"].get("labels", {}).get("app") == app and "nodeName" in pod["spec"]]
        return self.random.sample(sorted(own, key=name_of), min(count, len(own)))


def name_of(each: Data) -> str:
    return str(each["metadata"]["name"])
