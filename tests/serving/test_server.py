"""``kubespread serve`` over HTTP: what it answers, whom it refuses, and what whoever goes away leaves behind."""

from __future__ import annotations

import json
import signal
import socket
import sys
import threading
import urllib.request
from collections.abc import Callable
from functools import partial
from typing import Any

import anyio
import pytest

import kubespread
from kubespread.deadline import check
from kubespread.questions.calls import arguments_from, arguments_of
from kubespread.questions.question import edits_of
from kubespread.questions.registry import QUESTIONS, question
from kubespread.serving.server import PARTS, Working, command_of
from tests.assistants.test_server import ASKED
from tests.cli.support import FIXTURES, Result, run
from tests.serving.asgi import ASKING, HOST, KNOWN, app_of, call, called
from tests.serving.running import served

SHOP = FIXTURES / "clusters" / "shop.yaml"
APP = app_of(kubespread.load(SHOP))
WEB = {"workload": "deploy/web"}


@pytest.mark.parametrize("name", ASKED)
def test_a_question_is_answered_as_its_command_prints_it(name: str) -> None:
    arguments, command = ASKED[name]
    answer = call(APP, f"/ask/{name}", ASKING, arguments)
    printed = run(*command, "-S", SHOP, "-o", "json", "-q", env={"SOURCE_DATE_EPOCH": "1700000000"}).out
    assert answer.status == 200, answer.text
    assert _without_provenance(answer.text) == _without_provenance(printed)


def _without_provenance(text: str) -> list[str]:
    """The lines, but for the words of the command and the time."""
    return [line for line in text.splitlines() if '"command": ' not in line and '"time": "20' not in line]


TYPED: dict[str, tuple[str, dict[str, Any], str]] = {
    "edits and what drains do": (
        "simulate",
        {**WEB, "replicas": 9, "set": ["maxSkew[zone]=2"], "edits": ["fail zone=c", "drain a1"], "force": True},
        "simulate deploy/web --fail zone=c --drain 'a1 --force' --set 'maxSkew[zone]=2' --replicas 9 -S shop.yaml",
    ),
    "an edit that is no option": ("audit", {"edits": ["fail zone=c", "fail-hard zone=b"]}, ""),
    "a manifest is a file": ("explain", {"manifest": "kind: Pod"}, "explain manifest.yaml -S shop.yaml"),
    "all workloads": ("survive", {}, "survive -A -S shop.yaml"),
    "a namespace": ("audit", {"namespace": "shop"}, "audit --namespace shop -S shop.yaml"),
    "a flag that is on by default": ("survive", {"preemption": False}, "survive --no-preemption -A -S shop.yaml"),
    "what is typed by its place": ("upgrade", {"nodes": "zone=c", "surge": 1}, "upgrade zone=c --surge 1 -S shop.yaml"),
    "steps are typed": ("plan", {"steps": ["fail zone=c"]}, "plan 'fail zone=c' -S shop.yaml"),
    "two sides, which a call says in other arguments": ("compare", {**WEB, "toSet": ["cpu=2"]}, ""),
    "a release": ("explain", {**WEB, "kubeVersion": "1.34"}, "explain deploy/web --kube-version 1.34 -S shop.yaml"),
}


@pytest.mark.parametrize("case", TYPED)
def test_the_command_that_asks_the_same_is_said(case: str) -> None:
    name, arguments, command = TYPED[case]
    edits = edits_of(arguments_from(arguments_of(question(name)), arguments), arguments.get("edits", []))
    cluster = kubespread.Snapshot(files=("shop.yaml",)).edited(*edits)
    scheduler = kubespread.Scheduler(kube_version=arguments.get("kubeVersion"))
    assert command_of(question(name), arguments, cluster, scheduler) == (f"kubespread {command}" if command else "")


REFUSED: dict[str, tuple[str, dict[str, str], Any, int, str]] = {
    "no token": (
        "/ask/explain",
        {**HOST, "content-type": "application/json"},
        WEB,
        401,
        "no token, or not the one of the URL that kubespread serve printed",
    ),
    "another token": (
        "/cluster",
        {**HOST, "authorization": "Bearer of-another-run"},
        None,
        401,
        "no token, or not the one of the URL that kubespread serve printed",
    ),
    "a name that was made to point here": (
        "/cluster",
        {**KNOWN, "host": "evil.example.com:8123"},
        None,
        403,
        "this is not the host that is served",
    ),
    "another port's page": (
        "/cluster",
        {**KNOWN, "origin": "http://127.0.0.1:9999"},
        None,
        403,
        "another site may not ask",
    ),
    "a page without an origin": ("/ask/explain", {**ASKING, "origin": "null"}, WEB, 403, "another site may not ask"),
    "a form of another site": (
        "/ask/explain",
        {**ASKING, "sec-fetch-site": "cross-site"},
        WEB,
        403,
        "another site may not ask",
    ),
    "a part of the page for another host": (
        "/",
        {"host": "evil.example.com"},
        None,
        403,
        "this is not the host that is served",
    ),
    "a form": (
        "/ask/explain",
        {**KNOWN, "content-type": "text/plain"},
        WEB,
        415,
        "expected content-type: application/json",
    ),
    "more than a question": (
        "/ask/explain",
        ASKING,
        {"manifest": "x" * (1 << 20)},
        413,
        "a question has at most 1024 KiB",
    ),
    "no JSON": (
        "/ask/explain",
        ASKING,
        b"{",
        400,
        "no JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)",
    ),
    "JSON that nests without end": ("/ask/explain", ASKING, b"[" * 100_000, 400, "no JSON: "),
    "a list": ("/ask/explain", ASKING, [], 400, "expected an object of arguments"),
    "no question": (
        "/ask/nothing",
        ASKING,
        {},
        404,
        f"unknown question 'nothing'; the questions are {', '.join(QUESTIONS)}",
    ),
    "a workload that is not there": (
        "/ask/explain",
        ASKING,
        {"workload": "deploy/wep"},
        400,
        'deployments.apps "wep" not found in namespace default; there are api, web',
    ),
    "an argument that does not exist": (
        "/ask/explain",
        ASKING,
        {"workloads": "x"},
        400,
        "unknown argument 'workloads', did you mean \"workload\"?",
    ),
    "a question that is got": ("/ask/explain", KNOWN, None, 405, "POST /ask/NAME asks a question"),
    "a file beside the page": ("/page/../server.py", HOST, None, 404, "POST /ask/NAME asks a question"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused_is_said_in_one_line(case: str) -> None:
    path, headers, body, status, message = REFUSED[case]
    answer = call(APP, path, headers, body)
    said = answer.data["error"]
    assert (answer.status, said if said == message else said[: len(message)]) == (status, message)
    assert "access-control-allow-origin" not in answer.headers


def test_a_client_that_never_sends_all_of_its_question_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kubespread.serving.server._PATIENCE", 0.01)
    answer = anyio.run(partial(called, APP, "/ask/explain", ASKING, b"{", is_all=False))
    assert (answer.status, answer.data) == (408, {"error": "the question did not come within 0.01 seconds"})


def test_a_client_that_reads_nothing_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kubespread.serving.server._PATIENCE", 0.01)
    with pytest.raises(TimeoutError):
        anyio.run(partial(called, APP, "/", HOST, reads=False))


@pytest.mark.parametrize("path", PARTS)
def test_the_page_needs_no_token_and_says_nothing_of_the_cluster(path: str) -> None:
    answer = call(APP, path, HOST)
    assert answer.status == 200
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; ")
    assert "unsafe" not in policy
    assert {name: answer.headers[name] for name in ("x-content-type-options", "referrer-policy", "cache-control")} == {
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cache-control": "no-store",
    }


def test_what_is_served_is_named() -> None:
    assert call(APP, "/cluster", KNOWN).data == {
        "number": 1,
        "time": "",
        "source": str(SHOP),
        "nodes": 6,
        "pods": 12,
        "isLive": False,
        "workloads": [
            {"name": "default/deploy/api", "replicas": 3, "requests": {"cpu": "1", "memory": "256Mi"}, "waiting": 0},
            {"name": "default/deploy/web", "replicas": 9, "requests": {"cpu": "500m", "memory": "256Mi"}, "waiting": 0},
        ],
    }


def test_whoever_goes_away_is_answered_no_more() -> None:
    """The thread ends between two things, whatever is left to do."""
    begun, ended = threading.Event(), threading.Event()

    async def ask() -> None:
        leaves = anyio.Event()

        def work() -> str:
            begun.set()
            try:
                while True:
                    check()
            finally:
                ended.set()

        async def leave() -> None:
            await anyio.to_thread.run_sync(begun.wait)
            leaves.set()

        async def receive() -> dict[str, str]:
            await leaves.wait()
            return {"type": "http.disconnect"}

        async def send(_message: Any) -> None:
            raise AssertionError("nobody is there")

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(leave)
            tasks.start_soon(Working(anyio.CapacityLimiter(1), work).__call__, {}, receive, send)

    anyio.run(ask)
    assert ended.wait(60)


def asked(port: int, token: str, name: str = "explain") -> bytes:
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/ask/{name}",
        json.dumps(WEB).encode(),
        {"authorization": f"Bearer {token}", "content-type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        content: bytes = answer.read()
        return content


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 0), (signal.SIGTERM, 143)])
def test_it_ends_whatever_is_open(number: signal.Signals, code: int) -> None:
    with served(SHOP) as (process, port, token):
        first, slow = asked(port, token), socket.create_connection(("127.0.0.1", port))
        slow.sendall(b"POST /ask/explain HTTP/1.1\r\nHost: 127.0.0.1")
        answers: list[bytes] = []
        threads = [threading.Thread(target=lambda: answers.append(asked(port, token))) for _ in range(100)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [json.loads(answer)["nodes"] for answer in answers] == [json.loads(first)["nodes"]] * 100
        process.send_signal(number)
        # The connection on which half a request was sent would be waited for without end.
        assert process.wait(60) == code
        assert process.stderr is not None
        assert process.stderr.read() == b""
        slow.close()


@pytest.mark.parametrize(("options", "opened"), [((), ["http://127.0.0.1:1/#token=t"]), (("--no-browser",), [])])
def test_one_url_is_printed_and_opened(
    options: tuple[str, ...], opened: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def serve(_cluster: object, _scheduler: object, _port: int, on_ready: Callable[[str], object]) -> None:
        on_ready("http://127.0.0.1:1/#token=t")
        raise KeyboardInterrupt

    urls: list[str] = []
    monkeypatch.setattr("kubespread.serving.server.serve", serve)
    monkeypatch.setattr("webbrowser.open", urls.append)
    assert run("serve", "-S", SHOP, *options) == Result(0, "http://127.0.0.1:1/#token=t\n", "")
    assert urls == opened


def test_standard_input_is_no_cluster_to_serve() -> None:
    refused = "error: standard input can be read only once: name a file with -S/--snapshot\n"
    assert run("serve", "-S", "-", stdin=b"{}") == Result(2, "", refused)


def test_a_port_that_is_taken_is_said() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        refused = Result(2, "", f"error: port {port}: Address already in use\n")
        assert run("serve", "-S", SHOP, "--no-browser", "--port", str(port)) == refused


def test_without_its_packages_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ["uvicorn", *(each for each in sys.modules if each.startswith("uvicorn."))]:
        monkeypatch.setitem(sys.modules, name, None)
    message = "error: kubespread serve needs a package that is not installed: pip install 'kubespread[serve]'\n"
    assert run("serve", "-S", SHOP, "--no-browser") == Result(2, "", message)
