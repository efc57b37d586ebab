"""Questions over HTTP on the loopback interface: the page that asks them, and ``POST /ask/NAME`` with the arguments of
a tool.

Whoever asks has the token of this run, and no browser sends it for another site: it is in the fragment of the printed
URL, and a header of each request. Names of hosts that were made to point here (DNS rebinding) and other origins are
refused, whatever they know. GET changes nothing, and no request changes a cluster.
"""

from __future__ import annotations

import gc
import hmac
import json
import os
import secrets
import shlex
import socket
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from importlib.resources import files
from math import inf
from shlex import quote
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import FieldInfo

from kubespread.errors import KubespreadError, ManifestError, UsageError
from kubespread.escaping import json_escaped
from kubespread.kube.api.core import Pod
from kubespread.kube.api.kinds import REFERABLE
from kubespread.kube.owners import controller_of, is_active
from kubespread.questions.calls import Reading, Turn, pose, truncate
from kubespread.questions.commands import Commands, with_provenance, words_for
from kubespread.questions.question import Option, Question, only_report, options_of
from kubespread.questions.registry import QUESTIONS
from kubespread.questions.registry import question as question_of
from kubespread.questions.scene import ask, cluster_reference
from kubespread.questions.scheduler import Scheduler
from kubespread.redaction import mask
from kubespread.snapshot.snapshot import Snapshot

_MISSING = "kubespread serve needs a package that is not installed: pip install 'kubespread[serve]'"
HOST = "127.0.0.1"
_MOST = 1 << 20
"""Bytes of a question, which may hold manifests."""
_PATIENCE = 10.0
"""Seconds that a client has to send its whole request, and to read each part of the response."""
_AT_ONCE, _CONNECTIONS = 16, 256
PARTS: Mapping[str, str] = {
    "/": "index.html",
    "/page/hands.js": "hands.js",
    "/page/map.js": "map.js",
    "/page/common.js": "common.js",
    "/page/style.css": "style.css",
}
_TYPES = {"html": "text/html", "js": "text/javascript", "css": "text/css"}
Receive = Callable[[], Any]
Send = Callable[[Any], Any]
Scope = dict[str, Any]


class Refusal(Exception):  # noqa: N818 - a way out, as KubespreadError is one
    """Refusal of a request, with its status."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Guard:
    """Check of requests: they have the token, and come from no other site."""

    def __init__(self, port: int, token: str) -> None:
        self.hosts = {f"{name}:{port}" for name in (HOST, "localhost")}
        self._token = token.encode()

    def check_site(self, headers: Mapping[bytes, bytes]) -> None:
        """Raise Refusal for a foreign host name, and for requests from another site."""
        if headers.get(b"host", b"").decode("latin-1") not in self.hosts:
            raise Refusal(403, "this is not the host that is served")
        origin = headers.get(b"origin")
        if origin is not None and origin.decode("latin-1").removeprefix("http://") not in self.hosts:
            raise Refusal(403, "another site may not ask")
        if headers.get(b"sec-fetch-site", b"none") not in (b"none", b"same-origin"):
            raise Refusal(403, "another site may not ask")

    def check_token(self, headers: Mapping[bytes, bytes]) -> None:
        """Raise Refusal for a wrong token."""
        scheme, _, token = headers.get(b"authorization", b"").partition(b" ")
        if scheme.lower() != b"bearer" or not hmac.compare_digest(token.strip(), self._token):
            raise Refusal(401, "no token, or not the one of the URL that kubespread serve printed")


class ServedWorkload(Struct, frozen=True):
    """Workload of the cluster, with the numbers that the page can change."""

    name: str
    """NAMESPACE/KIND/NAME, KIND as kubectl abbreviates it."""
    replicas: int
    requests: Mapping[str, str]
    """Requests of its only container; empty if there are several."""
    waiting: int
    """Number of its pending pods: the page opens on the first workload with any."""


class PageState(Struct, frozen=True, rename="camel"):
    """State of the page."""

    number: int
    """Number of different snapshots read so far, from 1."""
    time: str
    source: str
    nodes: int
    pods: int
    workloads: tuple[ServedWorkload, ...]
    """By name."""
    is_live: bool


def page_state(reading: Reading) -> PageState:
    """Current state of the cluster. Raises SnapshotError, UsageError and ManifestError."""
    snapshot = reading.snapshot()
    reference = cluster_reference(snapshot)
    return PageState(
        reading.number,
        reference.time or "",
        reference.context or reference.snapshot or "",
        len(snapshot.nodes),
        len(snapshot.pods),
        tuple(sorted(_workloads(snapshot), key=lambda one: one.name)),
        reading.max_age is not None,
    )


def _workloads(snapshot: Snapshot) -> Iterator[ServedWorkload]:
    """Yield the workloads that no other one made."""
    objects = [obj for row in REFERABLE for obj in snapshot.of_kind(row)]
    makers = {obj.metadata.uid: maker.uid for obj in objects if (maker := controller_of(obj))}
    owners = [controller_of(pod) for pod in snapshot.pods if not pod.spec.node_name and is_active(pod)]
    waiting = Counter(makers.get(owner.uid, owner.uid) for owner in owners if owner is not None)
    for row in REFERABLE:
        for obj in snapshot.of_kind(row) if row.cls is not Pod else ():
            if controller_of(obj) is None and (template := row.pod_template(obj)) is not None:
                containers = template.spec.containers
                requests = containers[0].resources.requests if len(containers) == 1 else {}
                replicas: int | None = getattr(getattr(obj, "spec", None), "replicas", None)
                called = f"{obj.metadata.namespace}/{row.short}/{obj.metadata.name}"
                texts = {name: str(amount) for name, amount in requests.items()}
                yield ServedWorkload(called, 1 if replicas is None else replicas, texts, waiting[obj.metadata.uid])


def answer_of(name: str, arguments: Mapping[str, Any], snapshot: Snapshot, scheduler: Scheduler) -> str:
    """JSON answer to the arguments of a tool; with a ``limit`` among them, lists are cut. Raises KubespreadError."""
    question = question_of(name)
    instance, cluster, scheduling, _ = pose(question, snapshot, scheduler, arguments)
    answer = only_report(ask(cluster, instance, scheduling, timeout=arguments.get("timeout")))
    command = command_of(question, arguments, cluster, scheduling)
    plain, limit = with_provenance(answer, shlex.split(command)[1:]).to_dict(), arguments.get("limit")
    text = msgspec.json.encode(plain if limit is None else truncate(plain, limit))
    return json_escaped(msgspec.json.format(text, indent=2).decode()) + "\n"


_FILES = {"manifest": "manifest.yaml", "promises": "promises.yaml"}
"""Files on the command line for arguments that a call passes as text."""


def command_of(
    question: type[Question[Any]], arguments: Mapping[str, Any], cluster: Snapshot, scheduler: Scheduler
) -> str:
    """Command that asks the same as a call with these ``arguments``; empty without one.

    ``cluster`` and ``scheduler`` have the edits and the release of the arguments. Text becomes the name of a file.
    """
    options = [(field, option) for field, _, option in options_of(question) if option.is_for_assistants]
    words, names_some = list[str](), False
    for field, option in options:
        if option.form == "sides":
            # A command line names two clusters, a call the edits of one.
            return ""
        own = [*_words(field, option, arguments)]
        names_some |= option.is_subject and bool(own)
        if option.form == "namespace" and not own and not names_some:
            own = ["-A"]
        words += own
    if question.hands_out and arguments.get("timeout"):
        words += ["--timeout", f"{arguments['timeout']}s"]
    return Commands(cluster, scheduler).ask(question.name, *map(quote, words))


def _words(field: FieldInfo, option: Option, arguments: Mapping[str, Any]) -> Iterator[str]:
    match option.form:
        case "pods" | "applied":
            for name in ("manifest", "workload"):
                if value := arguments.get(name):
                    yield from (*(["-f"] if option.form == "applied" else []), _FILES.get(name, value))
        case "scenario":
            yield from arguments.get("steps") or ()
        case _:
            value = arguments.get(field.encode_name)
            if value not in (None, "", [], field.default):
                file = _FILES.get(field.encode_name)
                yield from words_for(field, option, value) if file is None else [file]


class App:
    """The ASGI application."""

    def __init__(self, cluster: Reading, scheduler: Scheduler, guard: Guard) -> None:
        from anyio import CapacityLimiter
        from starlette.applications import Starlette
        from starlette.routing import Route

        self._cluster, self._scheduler, self._guard = cluster, scheduler, guard
        self._limiter = CapacityLimiter(_AT_ONCE)
        parts = [Route(path, partial(self._part, name), methods=["GET"]) for path, name in PARTS.items()]
        self._routes = Starlette(
            routes=[
                *parts,
                Route("/cluster", self._look, methods=["GET"]),
                Route("/ask/{name}", self._ask, methods=["POST"]),
            ],
            exception_handlers={Refusal: _refuse, 404: _not_there, 405: _not_there},
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        answer: Any = self._routes
        try:
            self._guard.check_site(dict(scope["headers"]))
        except Refusal as error:
            answer = _json(error.status, {"error": str(error)})
        await answer(scope, receive, partial(_send, send))

    async def _part(self, name: str, _request: Any) -> Any:
        from starlette.responses import Response

        return Response(_resource(name), media_type=_TYPES[name.rpartition(".")[2]])

    async def _look(self, request: Any) -> Any:
        """Serve the state of the cluster, read again where that is due."""
        self._guard.check_token(dict(request.scope["headers"]))
        return Working(self._limiter, lambda: msgspec.json.encode(page_state(self._cluster)).decode())

    async def _ask(self, request: Any) -> Any:
        headers = dict(request.scope["headers"])
        self._guard.check_token(headers)
        name = request.path_params["name"]
        if name not in QUESTIONS:
            raise Refusal(404, f"unknown question {name!r}; the questions are {', '.join(QUESTIONS)}")
        arguments = await _arguments(request, headers)
        return Working(self._limiter, lambda: answer_of(name, arguments, self._cluster.snapshot(), self._scheduler))


async def _arguments(request: Any, headers: Mapping[bytes, bytes]) -> dict[str, Any]:
    """Arguments of the request. Raises Refusal."""
    import anyio

    if headers.get(b"content-type", b"").partition(b";")[0].strip() != b"application/json":
        raise Refusal(415, "expected content-type: application/json")
    body = b""
    with anyio.move_on_after(_PATIENCE) as waiting:
        async for chunk in request.stream():
            body += chunk
            if len(body) > _MOST:
                raise Refusal(413, f"a question has at most {_MOST >> 10} KiB")
    if waiting.cancelled_caught:
        raise Refusal(408, f"the question did not come within {_PATIENCE:g} seconds")
    try:
        arguments = json.loads(body or b"{}")
    except (ValueError, RecursionError) as error:
        raise Refusal(400, f"no JSON: {error}") from None
    if not isinstance(arguments, dict):
        raise Refusal(400, "expected an object of arguments")
    return arguments


class Working:
    """Response of work in a thread, which ends when the client disconnects."""

    def __init__(self, limiter: Any, work: Callable[[], str]) -> None:
        self._limiter, self._work, self._turn = limiter, work, Turn(inf)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        import anyio

        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._until_disconnect, receive, tasks.cancel_scope)
                status, text = await anyio.to_thread.run_sync(
                    self._answer, limiter=self._limiter, abandon_on_cancel=True
                )
                await send(_start(status, "application/json"))
                body = text.encode("utf-8", "backslashreplace")
                await send({"type": "http.response.body", "body": body})
                tasks.cancel_scope.cancel()
        finally:
            self._turn.until = 0.0

    async def _until_disconnect(self, receive: Receive, scope: Any) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        scope.cancel()

    def _answer(self) -> tuple[int, str]:
        """Status and body of the response, computed in a thread."""
        try:
            with self._turn:
                return 200, self._work()
            return 503, _error("nobody waits for the answer any more")
        except (UsageError, ManifestError) as error:
            return 400, _error(str(error))
        except KubespreadError as error:
            return 503, _error(str(error))
        except Exception as error:  # noqa: BLE001 - the last resort: a bug ends one answer, not the server
            message = " ".join(str(error).split())
            return 500, _error(mask(f"this is a bug in kubespread: {type(error).__name__}: {message}"))


def _error(message: str) -> str:
    return json.dumps({"error": message})


async def _send(send: Send, message: Any) -> None:
    """Send with the headers of every response, or give up on a client that does not read."""
    import anyio

    if message["type"] == "http.response.start":
        message = {**message, "headers": [*message["headers"], *_headers()]}
    with anyio.fail_after(_PATIENCE):
        await send(message)


@cache
def _headers() -> list[tuple[bytes, bytes]]:
    headers = {
        "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cache-control": "no-store",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "x-frame-options": "DENY",
    }
    return [(name.encode(), value.encode()) for name, value in headers.items()]


def _start(status: int, kind: str) -> dict[str, Any]:
    return {"type": "http.response.start", "status": status, "headers": [(b"content-type", kind.encode())]}


def _json(status: int, value: Any) -> Any:
    from starlette.responses import Response

    return Response(msgspec.json.encode(value), status, media_type="application/json")


async def _refuse(_request: Any, error: Any) -> Any:
    return _json(error.status, {"error": str(error)})


async def _not_there(_request: Any, error: Any) -> Any:
    return _json(error.status_code, {"error": "POST /ask/NAME asks a question"})


@cache
def _resource(name: str) -> str:
    return (files(__package__) / "page" / name).read_text(encoding="utf-8")


def serve(cluster: Reading, scheduler: Scheduler, port: int, on_ready: Callable[[str], object]) -> None:
    """Serve until interrupted; ``on_ready`` is called with the URL. Port 0 is a free one.

    Raises UsageError without the packages of the extra and for a port in use, and SnapshotError for a cluster that
    cannot be read.
    """
    try:
        import uvicorn
    except ModuleNotFoundError:
        raise UsageError(_MISSING) from None

    # Faults of a file are reported before the first question.
    cluster.snapshot()
    # This process is long-lived: garbage of its questions has to be collected; the cluster stays.
    gc.freeze()
    gc.enable()
    try:
        listening = socket.create_server((HOST, port))
    except OSError as error:
        raise UsageError(f"port {port}: {os.strerror(error.errno or 0)}") from None
    port, token = listening.getsockname()[1], secrets.token_urlsafe(24)
    app = App(cluster, scheduler, Guard(port, token))
    server = uvicorn.Server(
        uvicorn.Config(
            app,
            http="h11",
            ws="none",
            lifespan="off",
            log_config=None,
            log_level="critical",
            access_log=False,
            server_header=False,
            limit_concurrency=_CONNECTIONS,
            timeout_graceful_shutdown=0,
        )
    )
    # Its threads may be in the middle of an answer: none of them keeps the program from exiting.
    running = threading.Thread(target=partial(server.run, [listening]), daemon=True)
    running.start()
    on_ready(f"http://{HOST}:{port}/#token={token}")
    try:
        while running.is_alive():
            running.join(1.0)
    except KeyboardInterrupt:
        server.should_exit = True
        running.join(_TO_END)
        raise


_TO_END = 0.5
"""Seconds for connections to be closed."""
