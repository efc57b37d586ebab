"""Requests to the application without a socket."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import anyio

from kubespread.questions.calls import Reading
from kubespread.questions.scheduler import Scheduler
from kubespread.serving.server import App, Guard
from kubespread.snapshot.snapshot import Snapshot

PORT, TOKEN = 8123, "of-this-run"
HOST = {"host": f"127.0.0.1:{PORT}"}
KNOWN = {**HOST, "authorization": f"Bearer {TOKEN}"}
ASKING = {**KNOWN, "content-type": "application/json"}


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    text: str

    @property
    def data(self) -> Any:
        return json.loads(self.text)


def app_of(snapshot: Snapshot) -> App:
    return App(Reading(lambda: snapshot, None), Scheduler(), Guard(PORT, TOKEN))


async def called(
    app: App, path: str, headers: dict[str, str], body: bytes | None = None, *, is_all: bool = True, reads: bool = True
) -> Answer:
    """A POST where there is a ``body``, of which ``is_all`` is sent or more never comes; ``reads`` says whether the
    answer is read.
    """
    sent: list[dict[str, Any]] = []
    waiting = [{"type": "http.request", "body": body or b"", "more_body": not is_all}]

    async def receive() -> dict[str, Any]:
        if waiting:
            return waiting.pop()
        await anyio.Event().wait()
        raise AssertionError("nobody goes away")

    async def send(message: dict[str, Any]) -> None:
        if not reads:
            await anyio.Event().wait()
        sent.append(message)

    path, _, query = path.partition("?")
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "method": "GET" if body is None else "POST",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }
    await app(scope, receive, send)
    told = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return Answer(sent[0]["status"], told, b"".join(message.get("body", b"") for message in sent[1:]).decode())


def call(app: App, path: str, headers: dict[str, str], body: Any = None) -> Answer:
    raw = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    return anyio.run(called, app, path, headers, raw)
