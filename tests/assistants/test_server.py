"""``kubespread mcp`` as an assistant meets it: over standard input and output, asked by the protocol's own client."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, types
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError

from docs.generators.fields import report_schema
from kubespread.questions.calls import LEFT_OUT, tools
from tests.api.server import FakeApi, serving
from tests.builders import hosts
from tests.cli.support import FIXTURES, POD, PROGRAM, Result, environment, run

SHOP = str(FIXTURES / "clusters" / "shop.yaml")
MANIFEST = Path(POD).read_text()
PROMISES = json.dumps(
    {
        "apiVersion": "kubespread.dev/v1alpha1",
        "kind": "Promises",
        "promises": [{"workload": "deploy/web", "survives": "any zone"}],
    }
)
ASKED: Mapping[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "explain": (
        {"workload": "deploy/web", "set": ["cpu=90"], "namespace": "default", "fix": True, "kubeVersion": "1.34"},
        ("explain", "deploy/web", "--fix", "--set", "cpu=90", "-n", "default", "--kube-version", "1.34"),
    ),
    "simulate": (
        {"workload": "deploy/web", "replicas": 9, "edits": ["cordon zone=c"]},
        ("simulate", "deploy/web", "--replicas", "9", "--cordon", "zone=c"),
    ),
    "compare": ({"workload": "deploy/web", "toSet": ["cpu=1"]}, ("compare", "Deployment/web", "--set", "cpu=1")),
    "pending": ({"edits": ["fail zone=c"]}, ("pending", "-A", "--fail", "zone=c")),
    "audit": ({"workloads": ["deploy/web"]}, ("audit", "deploy/web")),
    "report": ({}, ("report", "-A")),
    "survive": ({}, ("survive", "-A")),
    "plan": ({"edits": ["fail-hard zone=c"]}, ("plan", "fail-hard zone=c")),
    "map": ({"workload": "deploy/web", "keys": ["zone"]}, ("map", "deploy/web", "--key", "zone")),
    "rebalance": ({"workloads": ["deploy/web"], "soft": True}, ("rebalance", "deploy/web", "--soft")),
    "capacity": (
        {"request": "cpu=1", "by": "hostname", "tolerate": ["gpu"]},
        ("capacity", "--request", "cpu=1", "--by", "hostname", "--tolerate", "gpu"),
    ),
    "removable": ({"nodes": ["zone=c"], "force": True}, ("removable", "zone=c", "--force")),
    "upgrade": ({"nodes": "zone=c", "surge": 1}, ("upgrade", "zone=c", "--surge", "1")),
    "check": ({"namespace": "default"}, ("check",)),
    "verify": ({"promises": PROMISES}, ("verify", PROMISES)),
}
"""The arguments of a tool, and the command that asks the same."""
Calls = list[tuple[str, dict[str, Any]]]
Answers = list[types.CallToolResult | MCPError]


def conversation(arguments: tuple[str, ...], calls: Calls, **variables: str) -> tuple[types.ListToolsResult, Answers]:
    """What ``kubespread mcp`` lists, and its answers to ``calls``."""

    async def talk() -> tuple[types.ListToolsResult, Answers]:
        server = StdioServerParameters(command=str(PROGRAM), args=["mcp", *arguments], env=environment(**variables))
        answers: Answers = []
        async with Client(stdio_client(server), read_timeout_seconds=60) as client:
            listed = await client.list_tools()
            for name, asked in calls:
                try:
                    answers.append(await client.call_tool(name, asked))
                except MCPError as error:
                    answers.append(error)
        return listed, answers

    return anyio.run(talk)


MOST_LISTED = 40_000
"""Bytes of the list of all tools, which an assistant reads before it asks anything."""


def text_of(answer: types.CallToolResult | MCPError) -> str:
    assert isinstance(answer, types.CallToolResult)
    content, _ = answer.content
    assert isinstance(content, types.TextContent)
    return content.text


@pytest.mark.slow
def test_each_tool_is_listed_and_answers_as_its_command_does() -> None:
    """The client itself holds each answer to what the tool is listed with."""
    wrong: Calls = [("explain", {"workload": "deploy/wep"}), ("explain", {"manifest": "kind: Pod"}), ("nothing", {})]
    play: Calls = [("plan", {"steps": ["scale deploy/web=12", "fail zone=c"]})]
    of_all: Calls = [("compare", {"kubeVersion": "1.30", "toKubeVersion": "1.36", "namespace": "default"})]
    listed, answers = conversation(
        ("-S", SHOP), [*((name, asked) for name, (asked, _) in ASKED.items()), *play, *of_all, *wrong]
    )
    for listed_tool, name in zip(listed.tools, tools(), strict=True):
        assert listed_tool.name == name
    assert len(listed.model_dump_json(by_alias=True, exclude_none=True)) < MOST_LISTED
    assert all(tool.annotations is not None and tool.annotations.read_only_hint for tool in listed.tools)
    for answer, (_, command) in zip(answers, ASKED.values(), strict=False):
        assert isinstance(answer, types.CallToolResult)
        assert not answer.is_error, (command, answer)
        printed = {**json.loads(run(*command, "-S", SHOP, "-o", "json", "-q").out), "provenance": None}
        assert json.loads(text_of(answer)) == answer.structured_content == printed, command
    played, compared, absent, refused, unknown = answers[len(ASKED) :]
    workloads = run(
        "compare", "--all", "--kube-version", "1.30", "--to-kube-version", "1.36", "-S", SHOP, "-o", "json", "-q"
    )
    assert json.loads(text_of(compared)) == {**json.loads(workloads.out), "provenance": None}
    assert [step["name"] for step in json.loads(text_of(played))["steps"]] == play[0][1]["steps"]
    assert isinstance(absent, types.CallToolResult)
    assert isinstance(refused, types.CallToolResult)
    assert (absent.is_error, refused.is_error) == (True, True)
    assert "\n" not in text_of(absent)
    assert text_of(refused).startswith("manifest")
    assert str(unknown).startswith("unknown tool 'nothing'; the tools are explain, ")


def test_every_tool_is_asked() -> None:
    assert {*ASKED} == set(tools())


def test_no_report_has_a_field_where_an_answer_counts_what_is_left_out() -> None:
    assert [name for name, tool in tools().items() if LEFT_OUT in report_schema(tool.asks.report())["properties"]] == []


@pytest.mark.slow
def test_a_running_cluster_is_reached_with_live_alone(tmp_path: Path) -> None:
    with serving(FakeApi(objects=hosts("a", "b"))) as api:
        kubeconfig = str(api.kubeconfig(tmp_path))
        calls: Calls = [("explain", {"manifest": MANIFEST})]
        _, (from_file,) = conversation(("-S", SHOP), calls, KUBECONFIG=kubeconfig)
        assert isinstance(from_file, types.CallToolResult)
        assert api.requests == []
        _, (first, second) = conversation(("--live", "--kubeconfig", kubeconfig), calls * 2)
        reads = [request for request in api.requests if "/nodes" in str(request)]
    assert [len(json.loads(text_of(each))["nodes"]) for each in (from_file, first, second)] == [6, 2, 2]
    assert len(reads) == 1


CANNOT: Mapping[str, tuple[tuple[str, ...], int, str]] = {
    "no cluster": (
        (),
        2,
        "no cluster given: name a file or directory with -S/--snapshot, or read a running one with --live",
    ),
    "a context without --live": (
        ("--context", "c"),
        2,
        "no cluster given: name a file or directory with -S/--snapshot, or read a running one with --live",
    ),
    "a kubeconfig without --live": (
        ("--kubeconfig", "c", "-S", "cluster.json"),
        2,
        "-S/--snapshot and --kubeconfig do not go together: both say which cluster is read",
    ),
    "two clusters": (
        ("-S", SHOP, "--live"),
        2,
        "-S/--snapshot and --live do not go together: both say which cluster is read",
    ),
    "standard input": (("-S", "-"), 2, "standard input is where the assistant asks: name a file with -S/--snapshot"),
    "a file that is not there": (("-S", "missing.yaml"), 3, "missing.yaml: No such file or directory"),
}


@pytest.mark.parametrize("case", CANNOT)
def test_what_cannot_be_served_is_said_at_once(case: str) -> None:
    arguments, code, message = CANNOT[case]
    assert run("mcp", *arguments) == Result(code, "", f"error: {message}\n")


def test_without_the_package_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ["mcp", *(each for each in sys.modules if each.startswith("mcp."))]:
        monkeypatch.setitem(sys.modules, name, None)
    message = "error: kubespread mcp needs a package that is not installed: pip install 'kubespread[mcp]'\n"
    assert run("mcp", "-S", SHOP) == Result(2, "", message)
