"""``kubespread mcp`` and what is not the protocol, nor a question that can be answered: it lives on, and says why."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from kubespread import Scheduler, load
from kubespread.assistants.server import tools
from kubespread.errors import KubespreadError
from kubespread.kube.versions import all_changes
from tests.cli.support import FIXTURES, PROGRAM, environment

SHOP = str(FIXTURES / "clusters" / "shop.yaml")
HELLO = {
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}},
}
NO_MESSAGES = (b"", b"not json", b"{not json", b"[1, 2]", b"null", b"\xff\xfe{}", b'{"id": 9, "method": "ping"}')


def message(number: int, **content: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": number, **content}).encode()


def call(number: int, tool: str, **arguments: Any) -> bytes:
    return message(number, method="tools/call", params={"name": tool, "arguments": arguments})


def test_what_is_no_message_ends_nothing() -> None:
    """Two questions at once, one of them taken back, between lines of garbage: each number gets one answer."""
    lines = [
        message(1, **HELLO),
        b'{"jsonrpc": "2.0", "method": "notifications/initialized"}',
        *NO_MESSAGES,
        message(2, method="tools/remove"),
        message(3, method="tools/call"),
        call(4, "explain", workload=5),
        call(5, "survive"),
        call(6, "check"),
        b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 6}}',
        message(7, method="ping"),
    ]
    with subprocess.Popen(
        [str(PROGRAM), "mcp", "-S", SHOP],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(b"\n".join(lines) + b"\n")
        server.stdin.flush()
        answers: dict[int, dict[str, Any]] = {}
        while not {1, 2, 3, 4, 5, 7} <= answers.keys():
            answer = json.loads(server.stdout.readline())
            answers[answer["id"]] = answer
        _, said = server.communicate(timeout=60)
    assert [answers[number]["error"]["code"] for number in (2, 3)] == [-32601, -32602]
    assert answers[4]["result"]["isError"]
    assert answers[5]["result"]["structuredContent"]["kind"] == "SurviveReport"
    assert answers[7]["result"] == {}
    assert (server.returncode, said) == (0, b"")


PATHS: dict[str, tuple[str, dict[str, Any]]] = {
    "a node's manifest": ("survive", {"edits": ["add-node {}:2"]}),
    "the same among steps": ("play", {"steps": ["add-node {}"]}),
    "a step's manifest": ("play", {"steps": ["apply {}"]}),
    "a manifest": ("explain", {"manifest": "{}"}),
    "a workload": ("explain", {"workload": "{}"}),
    "a rollout": ("play", {"steps": ["rollout {}"]}),
    "a field": ("explain", {"workload": "deploy/web", "set": ["@{}"]}),
    "a label": ("check", {"selector": "{}"}),
}


@pytest.mark.parametrize("case", PATHS)
def test_no_argument_opens_a_file(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool, arguments = PATHS[case]
    secret = tmp_path / "secret.yaml"
    secret.write_text("token: hunter2\n")
    cluster = load(SHOP)
    # Files of our own, which are read once.
    all_changes()
    opened: list[str] = []
    monkeypatch.setattr(Path, "open", lambda path, *_: opened.append(str(path)))
    asked = json.loads(json.dumps(arguments).replace("{}", str(secret)))
    with pytest.raises(KubespreadError) as refused:
        tools()[tool].call(cluster, Scheduler(), asked)
    assert (opened, "hunter2" in str(refused.value)) == ([], False)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)])
def test_a_server_that_is_ended_says_nothing_more(number: int, code: int) -> None:
    with subprocess.Popen(
        [str(PROGRAM), "mcp", "-S", SHOP],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
        preexec_fn=lambda: [
            signal.signal(each, signal.SIG_DFL) for each in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
        ],
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(message(1, **HELLO) + b"\n")
        server.stdin.flush()
        assert b'"result"' in server.stdout.readline()
        server.send_signal(number)
        try:
            out, said = server.communicate(timeout=20)
        finally:
            server.kill()
    assert (server.returncode, out) == (code, b"")
    assert said == (b"error: interrupted\n" if code == 130 else b"")
