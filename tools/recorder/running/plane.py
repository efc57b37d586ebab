"""A control plane on loopback: etcd, kube-apiserver, kube-controller-manager, kube-scheduler, and kubectl for it."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import ssl
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

from tools.replay.cases import Data

PROGRAMS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl")
_TOKEN = "nothing-secret-on-loopback"
_CONTROLLERS = (
    "daemonset",
    "deployment",
    "disruption",
    "garbage-collector",
    "job",
    "namespace",
    "node-lifecycle",
    "persistentvolume-binder",
    "persistentvolume-protection",
    "persistentvolumeclaim-protection",
    "replicaset",
    "replicationcontroller",
    "statefulset",
    "taint-eviction",
)
_STARTS = 120
"""Seconds that kube-apiserver may take until it is ready."""


class PlaneError(Exception):
    """Something of the control plane does not do what it has to; the text is its own."""


class RefusedError(Exception):
    """The API server or kubectl says no; the text is its own."""

    def __init__(self, text: str, status: int | None = None) -> None:
        super().__init__(text[-500:])
        self.status = status


class ControlPlane:
    """``with ControlPlane(folder) as plane:`` all its processes end with the block, and what they wrote is removed."""

    def __init__(self, programs: Path) -> None:
        self._programs = programs
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._etcd, self._peers, self._port = _free_ports(3)
        self._trust = ssl._create_unverified_context()  # its certificate is its own
        self._connections = threading.local()

    def __enter__(self) -> ControlPlane:
        with contextlib.ExitStack() as stack:
            self._folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="control-plane-")))
            stack.callback(self._stop)
            self._start_all()
            self._stack = stack.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stack.close()

    def _start_all(self) -> None:
        store = f"http://127.0.0.1:{self._etcd}"
        self._start("etcd", str(self._folder / "etcd"), store, f"http://127.0.0.1:{self._peers}")
        tokens = self._written("tokens.csv", f'{_TOKEN},admin,admin,"system:masters"\n')
        # The key for service accounts, of which there are none, is the one that it makes for its own certificate.
        certificates = self._folder / "certificates"
        self._start(
            "kube-apiserver",
            f"--etcd-servers={store}",
            "--bind-address=127.0.0.1",
            "--advertise-address=127.0.0.1",
            "--endpoint-reconciler-type=none",
            f"--secure-port={self._port}",
            f"--cert-dir={certificates}",
            f"--token-auth-file={tokens}",
            "--authorization-mode=RBAC",
            "--disable-admission-plugins=ServiceAccount",
            "--service-account-issuer=https://localhost",
            f"--service-account-signing-key-file={certificates / 'apiserver.key'}",
            f"--service-account-key-file={certificates / 'apiserver.key'}",
            "--service-cluster-ip-range=10.0.0.0/24",
            "--max-requests-inflight=800",
        )
        server = {"server": f"https://127.0.0.1:{self._port}", "insecure-skip-tls-verify": True}
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "plane",
            "clusters": [{"name": "plane", "cluster": server}],
            "users": [{"name": "admin", "user": {"token": _TOKEN}}],
            "contexts": [{"name": "plane", "context": {"cluster": "plane", "user": "admin"}}],
        }
        self._kubeconfig = self._written("kubeconfig", json.dumps(config))
        self._await_ready()
        self._start(
            "kube-controller-manager",
            f"--kubeconfig={self._kubeconfig}",
            f"--controllers={','.join(f'{name}-controller' for name in _CONTROLLERS)}",
            "--leader-elect=false",
            "--secure-port=0",
            "--kube-api-qps=2000",
            "--kube-api-burst=4000",
            # Nobody renews leases: nodes are what their conditions say.
            "--node-monitor-grace-period=100h",
            "--node-monitor-period=1s",
            "--node-eviction-rate=1000",
        )
        scheduler = {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "parallelism": 1,
            "leaderElection": {"leaderElect": False},
            "clientConnection": {"kubeconfig": str(self._kubeconfig), "qps": 2000, "burst": 4000},
            "podInitialBackoffSeconds": 1,
            "podMaxBackoffSeconds": 1,
        }
        self._start(
            "kube-scheduler", f"--config={self._written('scheduler.json', json.dumps(scheduler))}", "--secure-port=0"
        )

    def _written(self, name: str, text: str) -> Path:
        path = self._folder / name
        path.write_text(text)
        return path

    def _start(self, program: str, *arguments: str) -> None:
        with self._log(program).open("wb") as log:
            # Ctrl-C is for this process alone, which stops the others in their order.
            self._running[program] = subprocess.Popen(
                [str(self._programs / program), *arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def _log(self, program: str) -> Path:
        return self._folder / f"{program}.log"

    def _await_ready(self) -> None:
        end = time.monotonic() + _STARTS
        while time.monotonic() < end:
            self.check()
            with contextlib.suppress(OSError, http.client.HTTPException, RefusedError):
                self.call("GET", "/readyz")
                return
            time.sleep(0.3)
        raise PlaneError(f"kube-apiserver is not ready after {_STARTS} seconds: {self._last_words('kube-apiserver')}")

    def check(self) -> None:
        """Raises PlaneError when a process has ended."""
        for program, process in self._running.items():
            if process.poll() is not None:
                raise PlaneError(f"{program} ended with {process.returncode}: {self._last_words(program)}")

    def _last_words(self, program: str) -> str:
        return self._log(program).read_text(errors="replace")[-1500:]

    def _stop(self) -> None:
        for process in reversed(self._running.values()):
            process.kill()  # it has nothing to keep
            process.wait()

    # Talking to it

    def kubectl(self, *words: str, given: Data | None = None, may_fail: bool = False) -> str:
        """What it prints. ``given`` is its standard input. Raises RefusedError."""
        command = [str(self._programs / "kubectl"), f"--kubeconfig={self._kubeconfig}", f"--cache-dir={self._folder}"]
        text = None if given is None else json.dumps(given)
        done = subprocess.run([*command, *words], input=text, capture_output=True, text=True, check=False)
        if done.returncode and not may_fail:
            self.check()
            raise RefusedError(f"kubectl {' '.join(words)}: {done.stderr.strip()}")
        return done.stdout

    def give(self, verb: str, *objects: Data) -> None:
        """``create`` or ``apply`` them without validation, for which some builds of kube-apiserver have no schema."""
        given = {"apiVersion": "v1", "kind": "List", "items": list(objects)}
        self.kubectl(verb, "--validate=false", "-f", "-", given=given)

    def items(self, kinds: str, *words: str) -> list[Data]:
        """What ``kubectl get`` finds."""
        found: list[Data] = json.loads(self.kubectl("get", kinds, "-o", "json", *words))["items"]
        return found

    def call(self, method: str, path: str, body: Data | None = None) -> bytes:
        """For what kubelets say, which kubectl does not. Raises RefusedError."""
        connection = getattr(self._connections, "kept", None) or self._connection()
        self._connections.kept = None
        try:
            answer = _asked(connection, method, path, body)
        except (OSError, http.client.HTTPException):  # it was not used for too long
            connection = self._connection()
            answer = _asked(connection, method, path, body)
        text = answer.read()
        if answer.status >= 300:
            raise RefusedError(text.decode(), answer.status)
        self._connections.kept = connection
        return text

    def watch(self, path: str, version: str) -> Iterator[Data]:
        """What happens to the objects at ``path`` since ``version``, for half a minute."""
        connection = self._connection()
        try:
            answer = _asked(connection, "GET", f"{path}?watch=1&resourceVersion={version}&timeoutSeconds=30", None)
            for line in answer:
                yield json.loads(line)
        finally:
            connection.close()

    def _connection(self) -> http.client.HTTPSConnection:
        return http.client.HTTPSConnection("127.0.0.1", self._port, context=self._trust, timeout=60)


def _asked(
    connection: http.client.HTTPConnection, method: str, path: str, body: Data | None
) -> http.client.HTTPResponse:
    kind = "application/strategic-merge-patch+json" if method == "PATCH" else "application/json"
    headers = {"Authorization": f"Bearer {_TOKEN}", "Content-Type": kind, "Accept": "application/json"}
    connection.request(method, path, None if body is None else json.dumps(body), headers)
    return connection.getresponse()


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
