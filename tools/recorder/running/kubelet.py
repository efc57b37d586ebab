"""A kubelet for all nodes of a control plane: it tells of each pod what a kubelet would, and runs nothing."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, datetime

from tools.recorder.running.plane import ControlPlane, RefusedError
from tools.replay.cases import Data

PODS = "/api/v1/namespaces/default/pods"
_GONE = (404, 409)


class Kubelet:
    """Pods start and go at once; ``delay`` seconds after their start they are ready, ``hung`` ones never."""

    def __init__(self, plane: ControlPlane) -> None:
        self._plane = plane
        self.delay = 0.0
        self.hung: set[str] = set()
        """Values of the label ``app``: pods of theirs that start from now on do not become ready."""
        self.errors: list[BaseException] = []
        """Faults of its own; a case they happened in shows nothing."""
        self.pods: dict[str, Data] = {}
        """By UID, as last seen."""
        self.changed = time.monotonic()
        self._due: set[str] = set()
        self._started: set[str] = set()
        self._stopped = threading.Event()
        self._hands = ThreadPoolExecutor(2)
        self._eyes = threading.Thread(target=self._see, daemon=True)

    def __enter__(self) -> Kubelet:
        self._eyes.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self.rest()

    def rest(self) -> None:
        """Returns once what is under way is done; nothing new is begun."""
        self._hands.shutdown()

    def reset(self) -> None:
        self.delay = 0.0
        self.hung.clear()
        self.errors.clear()
        self._started.clear()

    def waiting(self) -> str | None:
        """Why the cluster is not at rest: ``pending`` for pods that no node takes, else what is under way."""
        found = {self._state(pod) for pod in self.pods.copy().values()}
        return next((state for state in ("deleted", "unseen", "starting", "pending") if state in found), None)

    def _state(self, pod: Data) -> str | None:
        if "deletionTimestamp" in pod["metadata"]:
            return "deleted"
        if "nodeName" in pod["spec"]:
            starts = pod["status"]["phase"] == "Pending" or pod["metadata"]["uid"] in self._due
            return "starting" if starts else None
        return "pending" if condition(pod, "PodScheduled") else "unseen"

    def tell(self, pod: Data, *, ready: bool) -> None:
        """That a pod runs, and is ready or not."""
        now, state = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"), "True" if ready else "False"
        states = {"PodReadyToStartContainers": "True", "Initialized": "True", "Ready": state, "ContainersReady": state}
        containers = [
            {
                **{"name": each["name"], "image": each["image"], "imageID": each["image"], "restartCount": 0},
                **{"ready": ready, "started": True, "state": {"running": {"startedAt": now}}},
            }
            for each in pod["spec"]["containers"]
        ]
        status = {
            "phase": "Running",
            "startTime": now,
            "podIPs": [{"ip": "10.1.0.1"}],
            "podIP": "10.1.0.1",
            "conditions": [
                {"type": kind, "status": is_so, "lastTransitionTime": now} for kind, is_so in states.items()
            ],
            "containerStatuses": containers,
        }
        self._ask("PATCH", pod, "/status", {"metadata": {"uid": pod["metadata"]["uid"]}, "status": status})

    def end(self, pod: Data) -> None:
        """A pod is gone."""
        preconditions = {"uid": pod["metadata"]["uid"]}
        self._ask("DELETE", pod, "", {"gracePeriodSeconds": 0, "preconditions": preconditions})

    def _ask(self, method: str, pod: Data, what: str, body: Data) -> None:
        try:
            self._plane.call(method, f"{PODS}/{pod['metadata']['name']}{what}", body)
        except RefusedError as refused:
            if refused.status not in _GONE:
                raise

    def _see(self) -> None:
        while not self._stopped.is_set():
            try:
                found = json.loads(self._plane.call("GET", PODS))
                pods = {pod["metadata"]["uid"]: pod for pod in found["items"]}
                for uid in self.pods.keys() - pods.keys():
                    self.happened("DELETED", self.pods[uid])
                for pod in pods.values():
                    self.happened("ADDED", pod)
                for event in self._plane.watch(PODS, found["metadata"]["resourceVersion"]):
                    if event["type"] == "ERROR":
                        break
                    self.happened(event["type"], event["object"])
            except (OSError, http.client.HTTPException, RefusedError) as error:
                if not self._stopped.wait(0.3):
                    self.errors.append(error)

    def happened(self, what: str, pod: Data) -> None:
        """A pod came, changed or went."""
        uid = pod["metadata"]["uid"]
        if what == "DELETED":
            self.pods.pop(uid, None)
        elif self._version(uid) == pod["metadata"]["resourceVersion"]:
            return
        else:
            self.pods[uid] = pod
        self.changed = time.monotonic()
        if what == "DELETED" or "nodeName" not in pod["spec"]:
            return
        if "deletionTimestamp" in pod["metadata"]:
            self._do(self.end, pod)
        elif pod["status"]["phase"] == "Pending" and uid not in self._started:
            self._started.add(uid)
            self._do(self._start, pod)

    def _version(self, uid: str) -> str | None:
        return self.pods[uid]["metadata"]["resourceVersion"] if uid in self.pods else None

    def _do(self, what: Callable[[Data], None], pod: Data) -> None:
        if not self._stopped.is_set():
            self._hands.submit(what, pod).add_done_callback(self._done)

    def _done(self, work: Future[None]) -> None:
        if not work.cancelled() and (error := work.exception()):
            self.errors.append(error)

    def _start(self, pod: Data) -> None:
        hangs = pod["metadata"].get("labels", {}).get("app") in self.hung
        if self.delay and not hangs:
            self._due.add(pod["metadata"]["uid"])
            later = threading.Timer(self.delay, self._do, (self._ready, pod))
            later.daemon = True
            later.start()
        self.tell(pod, ready=not self.delay and not hangs)

    def _ready(self, pod: Data) -> None:
        try:
            now = self.pods.get(pod["metadata"]["uid"])
            if now is not None and "deletionTimestamp" not in now["metadata"]:
                self.tell(pod, ready=True)
        finally:
            self._due.discard(pod["metadata"]["uid"])
            self.changed = time.monotonic()


def condition(pod: Data, kind: str) -> Data | None:
    return next((each for each in pod["status"].get("conditions", ()) if each["type"] == kind), None)


def is_ready(pod: Data) -> bool:
    found = condition(pod, "Ready")
    return found is not None and found["status"] == "True"
