"""An API server on loopback, over TLS: serves lists in pages, plays recorded answers, and misbehaves on request."""

from __future__ import annotations

import base64
import gzip
import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import trustme

Data = dict[str, Any]

RECORDINGS = json.loads((Path(__file__).parent / "recordings.json").read_text())
RESOURCE_VERSION = "254"
_PATIENCE = 5.0
"""Seconds: longer than any request takes that is still answered."""


def recorded(note: str) -> Answer:
    """A real API server's answer, by the beginning of what is noted beside it."""
    (found,) = [each for each in RECORDINGS if each["note"].startswith(note)]
    body = found["body"]
    return Answer(found["status"], body if isinstance(body, str) else json.dumps(body))


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, list[str]]
    peer: str | None


@dataclass(frozen=True)
class Answer:
    status: int = 200
    body: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    cut: bool = False
    """Whether the connection dies in the middle of the body."""
    hang: bool = False
    """Whether nothing is ever said."""
    trickle: bool = False
    """Whether the body comes one byte a tenth of a second."""


Fault = Callable[[Request], Answer | None]


def failing(path: str, *answers: Answer) -> Fault:
    """The first requests for ``path`` get ``answers``, further ones what they ask for."""
    left = list(answers)

    def fault(request: Request) -> Answer | None:
        return left.pop(0) if request.path == path and left else None

    return fault


def always(path: str, answer: Answer) -> Fault:
    return lambda request: answer if request.path == path else None


def status(code: int, message: str, **headers: str) -> Answer:
    return Answer(code, json.dumps({"kind": "Status", "apiVersion": "v1", "message": message, "code": code}), headers)


@dataclass
class FakeApi:
    """What the server holds, how it fails, and what it was asked."""

    objects: list[Data] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    version: Data = field(default_factory=lambda: {"major": "1", "minor": "36", "gitVersion": "v1.36.2"})
    token: str | None = None
    requests: list[Request] = field(default_factory=list)
    url: str = ""
    ca: bytes = b""
    other_ca: bytes = b""
    client_cert: bytes = b""
    client_key: bytes = b""
    stopping: threading.Event = field(default_factory=threading.Event)

    def answer(self, request: Request) -> Answer:
        self.requests.append(request)
        if request.method != "GET":
            return status(405, "only GET is served here")
        if self.token is not None and request.headers.get("authorization") != [f"Bearer {self.token}"]:
            return status(401, "Unauthorized")
        for fault in self.faults:
            if (answer := fault(request)) is not None:
                return answer
        if request.path == "/version":
            return Answer(body=json.dumps(self.version))
        return self._page(request)

    def _page(self, request: Request) -> Answer:
        *_, plural = request.path.split("/")
        version = request.path.removeprefix("/apis/").removeprefix("/api/").removesuffix(f"/{plural}")
        items = [
            found for found in self.objects if found["apiVersion"] == version and plural_of(found["kind"]) == plural
        ]
        if plural == "podgroups" and not items:
            return status(404, "the server could not find the requested resource")
        if "fieldSelector" in request.query:
            items = [found for found in items if found.get("status", {}).get("phase") not in ("Succeeded", "Failed")]
        start = int(request.query.get("continue", "0"))
        limit = int(request.query.get("limit", "0")) or len(items)
        metadata = {"resourceVersion": RESOURCE_VERSION}
        if start + limit < len(items):
            metadata["continue"] = str(start + limit)
        kind = KINDS_BY_PLURAL.get(plural, plural.capitalize())
        page = [
            {key: value for key, value in item.items() if key not in ("apiVersion", "kind")}
            for item in items[start : start + limit]
        ]
        return Answer(
            body=json.dumps({"kind": f"{kind}List", "apiVersion": version, "metadata": metadata, "items": page})
        )

    def kubeconfig(
        self, directory: Path, *, user: Data | None = None, cluster: Data | None = None, namespace: str = ""
    ) -> Path:
        """A kubeconfig file that leads here."""
        given = (
            {"server": self.url, "certificate-authority-data": base64.b64encode(self.ca).decode()}
            if cluster is None
            else cluster
        )
        context = {"cluster": "test", "user": "tester", **({"namespace": namespace} if namespace else {})}
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "test", "cluster": given}],
            "users": [{"name": "tester", "user": user or {}}],
            "contexts": [{"name": "here", "context": context}],
            "current-context": "here",
        }
        path = directory / "kubeconfig.json"
        path.write_text(json.dumps(config))
        return path


def plural_of(kind: str) -> str:
    name = kind.lower()
    return f"{name[:-1]}ies" if name.endswith("y") else f"{name}es" if name.endswith("s") else f"{name}s"


KINDS_BY_PLURAL = {
    plural_of(kind): kind
    for kind in (
        "Node",
        "Pod",
        "Service",
        "ReplicationController",
        "ReplicaSet",
        "StatefulSet",
        "Namespace",
        "PersistentVolumeClaim",
        "PersistentVolume",
        "StorageClass",
        "CSINode",
        "CSIDriver",
        "CSIStorageCapacity",
        "VolumeAttachment",
        "PodDisruptionBudget",
        "PriorityClass",
        "RuntimeClass",
        "LimitRange",
        "ResourceQuota",
        "DeviceClass",
        "DeviceTaintRule",
        "ResourceClaim",
        "ResourceClaimTemplate",
        "ResourceSlice",
        "Deployment",
        "DaemonSet",
        "Job",
        "CronJob",
        "MutatingWebhookConfiguration",
        "ValidatingWebhookConfiguration",
        "MutatingAdmissionPolicy",
        "ValidatingAdmissionPolicy",
        "HorizontalPodAutoscaler",
        "PodGroup",
    )
}


class _OwnThread(threading.Thread):
    """One that the server started, as opposed to those of its clients."""


class _Server(ThreadingHTTPServer):
    def __init__(self, api: FakeApi, context: ssl.SSLContext) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.api, self._context = api, context

    def process_request(self, request: Any, client_address: Any) -> None:
        _OwnThread(target=self.process_request_thread, args=(request, client_address), daemon=True).start()

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass

    def get_request(self) -> tuple[Any, Any]:
        connection, address = super().get_request()
        # The handshake belongs to the connection's own thread: a client that refuses it must not stop the server.
        return self._context.wrap_socket(connection, server_side=True, do_handshake_on_connect=False), address


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    # Head and body are two writes: with Nagle's algorithm the second waits 40 ms for the first one's acknowledgement.
    disable_nagle_algorithm = True

    def _handle(self) -> None:
        parts = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        headers: dict[str, list[str]] = {}
        for name, value in self.headers.items():
            headers.setdefault(name.lower(), []).append(value)
        peer = self.connection.getpeercert() if isinstance(self.connection, ssl.SSLSocket) else None
        self._send(
            self.server.api.answer(Request(self.command, parts.path, query, headers, str(peer) if peer else None))
        )

    def _send(self, answer: Answer) -> None:
        if answer.hang:
            self.server.api.stopping.wait(60)
            self.close_connection = True
            return
        # A lone surrogate stands for a byte that is not UTF-8.
        body = answer.body.encode(errors="surrogateescape")
        zipped = len(body) > 1000 and "gzip" in self.headers.get("Accept-Encoding", "")
        body = gzip.compress(body) if zipped else body
        self.send_response(answer.status)
        length = {"Content-Length": str(len(body))}
        for name, value in {"Content-Type": "application/json", **length, **answer.headers}.items():
            self.send_header(name.replace("_", "-"), value)
        if zipped:
            self.send_header("Content-Encoding", "gzip")
        self.end_headers()
        if answer.cut:
            self.wfile.write(body[: len(body) // 2])
            self.wfile.flush()
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
        elif answer.trickle:
            self._trickle(body)
        else:
            self.wfile.write(body)

    def _trickle(self, body: bytes) -> None:
        for position in range(len(body)):
            if self.server.api.stopping.wait(0.1):
                self.close_connection = True
                return
            self.wfile.write(body[position : position + 1])
            self.wfile.flush()

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = _handle  # noqa: N815 - names that http.server asks for

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def serving(api: FakeApi, *, client_certificates: bool = False) -> Iterator[FakeApi]:
    """``api`` on a free port of loopback until the block ends."""
    authority, stranger = trustme.CA(), trustme.CA()
    own, client = authority.issue_cert("localhost", "127.0.0.1"), authority.issue_cert("tester@example.com")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    own.configure_cert(context)
    if client_certificates:
        authority.configure_trust(context)
        context.verify_mode = ssl.CERT_REQUIRED

    server = _Server(api, context)
    earlier = threading.enumerate()
    # What shutdown() waits for; the default of half a second is paid by every test.
    _OwnThread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    api.url = f"https://127.0.0.1:{server.server_port}"
    api.ca, api.other_ca = authority.cert_pem.bytes(), stranger.cert_pem.bytes()
    api.client_key, api.client_cert = (
        client.private_key_pem.bytes(),
        b"".join(blob.bytes() for blob in client.cert_chain_pems),
    )
    try:
        yield api
    finally:
        api.stopping.set()
        # Requests that a failed read left to themselves end first: closing the listener resets a connection that is
        # just being made, and the ssl module loses the socket of one that is reset before its handshake.
        for thread in threading.enumerate():
            if thread not in earlier and not isinstance(thread, _OwnThread):
                thread.join(_PATIENCE)
        server.shutdown()
        server.server_close()
