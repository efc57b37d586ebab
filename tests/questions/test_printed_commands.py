"""Every command that an answer prints is one that runs: it ends with an answer, yes or no."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from shlex import quote
from typing import Any

import pytest

import kubespread
from kubespread.kube.api.workloads import Deployment
from kubespread.questions.commands import option_of
from tests.builders import Data, node, pod
from tests.cli.support import FIXTURES, run
from tests.questions.clouds import CLOUDS, ZONE, cluster

EVERYDAY = FIXTURES / "cases" / "everyday"
DUMPS = [
    "aws12.json.gz",
    "02-rollout-pods-are-missing/cluster.json",
    "06-limitrange-refuses/cluster.json",
    "16-report-names-commands-that-fail/cluster.json",
]
ASKED = ("report -A", "pending -A", "audit -A -v", "survive -A", "removable", "rebalance -A")


def _texts(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            yield from (text for key, each in value.items() if key != "provenance" for text in _texts(each))
        case list():
            yield from (text for each in value for text in _texts(each))


def _printed(snapshot: str) -> set[str]:
    answers = [run(*asked.split(), "-S", snapshot, "-o", "json") for asked in ASKED]
    assert {answer.code for answer in answers} <= {0, 1, 3}
    texts = {text for answer in answers for text in _texts(json.loads(answer.out))}
    return {text for text in texts if text.startswith("kubespread ")}


def _fail(commands: set[str]) -> list[tuple[str, int, str]]:
    """Those that end with no answer."""
    ends = [(command, run(*shlex.split(command)[1:], "-o", "json")) for command in sorted(commands)]
    return [(command, end.code, end.err) for command, end in ends if end.code not in (0, 1)]


@pytest.mark.parametrize("dump", DUMPS)
def test_what_is_printed_of_a_dump_runs(dump: str) -> None:
    assert _fail(_printed(str(EVERYDAY / dump))) == []


@pytest.mark.parametrize("asked", ["pending -A", "check -A", "report -A", "pending -A -v", "check -A -v"])
def test_fields_of_pods_are_set_only_by_commands_that_have_the_option(asked: str) -> None:
    command = (*asked.split(), "-S", str(EVERYDAY / "aws12.json.gz"))
    screen, pipe = (run(*command, terminal=width, env={"NO_COLOR": "1"}).out for width in (80, None))
    lines = [line for line in (screen + pipe).splitlines() if "minDomains" in line]
    assert lines
    assert all("kubespread simulate " in line.partition("--set ")[0] for line in lines if "--set " in line)


def test_where_the_next_pod_fits_and_no_pending_one_does_the_first_of_these_is_next() -> None:
    dump = str(EVERYDAY / "01-sts-autoscaler-ignores-pending" / "cluster.json")
    screen = run("explain", "sts/postgres", "-n", "data", "-S", dump, terminal=200, env={"NO_COLOR": "1"})
    assert screen.code == 0
    assert f"next: kubespread explain po/postgres-0 -n data -S {dump}" in screen.out.splitlines()
    assert run("explain", "po/postgres-0", "-n", "data", "-S", dump).code == 1


@pytest.mark.parametrize("verb", ["fail", "fail-hard"])
def test_of_a_cluster_with_an_edit_that_is_no_option_no_command_is_printed(verb: str) -> None:
    edited = kubespread.load(EVERYDAY / "aws12.json.gz").edited(f"{verb} zone=eu-west-1c")
    lines = kubespread.report(edited).lines
    assert {bool(line.command) for line in lines} == {verb == "fail"}


@pytest.fixture(params=CLOUDS)
def path(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The dump of a cloud's cluster."""
    file = tmp_path / "cluster.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": cluster(request.param)}))
    return str(file)


def test_what_is_printed_of_a_cloud_s_cluster_runs(path: str) -> None:
    printed = _printed(path)
    assert printed, "there is something to run"
    assert _fail(printed) == []


def _options(asked: Sequence[str], report: Data) -> Iterator[str]:
    """What reproduces a change, as options of a command about its workload: those of advice and of findings."""
    for suggestion in (report.get("advice") or {}).get("enough", ()):
        for options in (" ".join(suggestion["options"]), *suggestion["alternatives"][:1]):
            yield " ".join(["simulate", *(word for word in asked[1:] if word != "--fix"), options])
    for finding in report.get("findings", ()):
        remedy, (namespace, _, whose) = finding["remedy"], finding["workload"].partition("/")
        options = [*(f"--set {quote(each)}" for each in remedy["settings"]), *map(option_of, remedy["edits"])]
        if options:
            yield " ".join(["simulate", whose, "-n", namespace, *options])


def _run_out(path: str, *asked: str) -> None:
    """Ask, and run one of each form that the answers print."""
    printed = dict[tuple[str, ...], list[str]]()
    for words in map(str.split, asked):
        answer = run(*words, "-S", path, "-o", "json")
        assert answer.code in (0, 1), (words, answer.err)
        report = json.loads(answer.out)
        texts = (text.removeprefix("kubespread ") for text in _texts(report) if text.startswith("kubespread "))
        for line in (*texts, *(f"{line} -S {path}" for line in _options(words, report))):
            first, *others = shlex.split(line)
            fields = (other.partition("=")[0] for other in others if "[" in other)
            printed.setdefault((first, *(word for word in others if word.startswith("--")), *fields), [first, *others])
    ends = [(words, run(*words, "-o", "json")) for words in printed.values()]
    assert [(words, end.code, end.err) for words, end in ends if end.code not in (0, 1)] == []
    assert printed, "there is something to run"


def test_what_is_printed_of_what_ifs_of_a_cloud_s_cluster_runs(path: str) -> None:
    snapshot = kubespread.load(path)
    first, web = snapshot.nodes[0].metadata, snapshot.objects.get(Deployment)[0].metadata
    workload = f"deploy/{web.name} -n {web.namespace}"
    _run_out(
        path,
        f"plan --drain {first.name}",
        f"upgrade {first.name}",
        f"check -A --cordon {ZONE}={first.labels[ZONE]}",
        "capacity",
        f"simulate {workload}",
        f"explain {workload}",
        f"compare {workload} --cordon {first.name}",
        f"explain {workload} --fix",
    )


@pytest.mark.slow
def test_what_is_printed_of_promises_and_advice_runs(tmp_path: Path) -> None:
    path, promises = tmp_path / "cluster.json", tmp_path / "promises.yaml"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": cluster("GKE")}))
    promise = {"workload": "shop/deploy/web", "survives": "any zone", "ready": "100%", "drain": "never blocked"}
    head = {"apiVersion": "kubespread.dev/v1alpha1", "kind": "Promises"}
    promises.write_text(json.dumps({**head, "promises": [promise]}))
    _run_out(
        str(path),
        f"verify {promises} --fail {ZONE}=europe-west4-a",
        "explain deploy/web -n shop --fix --replicas 12 --set cpu=3",
    )


def test_an_edit_of_several_words_is_one_for_a_shell(tmp_path: Path) -> None:
    path, manifest = tmp_path / "cluster.json", tmp_path / "pod.json"
    path.write_text(json.dumps(node("n1", zone="a")))
    manifest.write_text(json.dumps(pod(nodeSelector={"pool": "x"})))
    shown = run("check", manifest, "-S", path, "-o", "table").out
    (option,) = (line.strip() for line in shown.splitlines() if line.strip().startswith("--label"))
    assert run("simulate", manifest, "-S", path, *shlex.split(option)).code == 0
