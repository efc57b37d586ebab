"""The program against a running cluster: what it prints, how it exits, and when."""

from __future__ import annotations

import json
import os
import pty
import shlex
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.api.server import Answer, FakeApi, Request, always, serving, status
from tests.builders import Data, hosts, pod
from tests.cli.support import CLUSTER, POD, PROGRAM, run, run_process, shown_on, started


def _plugin(program: str) -> Data:
    return {
        "exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": sys.executable, "args": ["-c", program]}
    }


PENDING = {**pod("waiting", labels={"app": "x"}), "status": {"phase": "Pending"}}


@pytest.fixture
def server() -> Iterator[FakeApi]:
    objects = [
        *hosts("a", "b"),
        *({**pod(f"p{copy}", "n0"), "status": {"phase": "Running"}} for copy in range(3)),
        PENDING,
    ]
    with serving(FakeApi(objects=objects)) as api:
        yield api


def test_without_a_snapshot_the_current_context_is_asked(server: FakeApi, tmp_path: Path) -> None:
    result = run("explain", "pod/waiting", "-o", "name", env={"KUBECONFIG": str(server.kubeconfig(tmp_path))})
    assert result == (0, "n1\nn0\n", "2 of 2 nodes fit: n1, n0\n")


def test_a_snapshot_of_the_environment_comes_before_the_cluster(server: FakeApi, tmp_path: Path) -> None:
    env = {"KUBECONFIG": str(server.kubeconfig(tmp_path)), "KUBESPREAD_SNAPSHOT": CLUSTER}
    assert (run("explain", POD, "-o", "name", env=env).out, server.requests) == ("node4\n", [])


def test_strict_does_not_put_up_with_gaps(server: FakeApi, tmp_path: Path) -> None:
    server.faults.append(always("/api/v1/services", status(403, "no")))
    server.faults.append(always("/api/v1/persistentvolumes", status(403, "no")))
    kubeconfig = server.kubeconfig(tmp_path)
    gap = "gap: not allowed to list services: default constraints cannot be derived from Services\n"
    said = f"{gap}2 of 2 nodes fit: n1, n0\n"
    assert run("explain", "pod/waiting", "--kubeconfig", kubeconfig, "-o", "name") == (0, "n1\nn0\n", said)
    assert run("explain", "pod/waiting", "--kubeconfig", kubeconfig, "-o", "name", "--strict") == (3, "n1\nn0\n", said)
    assert run("snapshot", "--kubeconfig", kubeconfig, "-o", tmp_path / "s.json", "--strict", "-q") == (3, "", "")


def test_the_next_command_reads_the_cluster_by_the_same_kubeconfig(server: FakeApi, tmp_path: Path) -> None:
    kubeconfig = server.kubeconfig(tmp_path)
    shown = run("explain", "pod/waiting", "--kubeconfig", kubeconfig, terminal=300, env={"NO_COLOR": "1"}).out
    (line,) = [line for line in shown.splitlines() if line.startswith("next: ")]
    following = shlex.split(line.removeprefix("next: kubespread "))
    assert following[following.index("--kubeconfig") + 1] == str(kubeconfig)
    assert run(*following).code == 0


def test_a_kind_that_the_question_does_not_need_is_no_gap(server: FakeApi, tmp_path: Path) -> None:
    server.faults.append(always("/api/v1/persistentvolumes", status(403, "no")))
    kubeconfig = server.kubeconfig(tmp_path)
    assert run("explain", "pod/waiting", "--kubeconfig", kubeconfig, "-o", "name", "--strict", "-q") == (
        0,
        "n1\nn0\n",
        "",
    )


def test_a_live_cluster_and_its_snapshot_give_the_same_report(server: FakeApi, tmp_path: Path) -> None:
    kubeconfig, saved = server.kubeconfig(tmp_path, namespace="default"), tmp_path / "saved.json.gz"
    assert run("snapshot", "--kubeconfig", kubeconfig, "-o", saved).err == f"{saved}: 2 nodes, 4 pods\n"
    live = run("explain", POD, "--kubeconfig", kubeconfig, "-o", "json").report
    again = run("explain", POD, "-S", saved, "-o", "json").report
    assert (live["cluster"]["snapshot"], again["cluster"]["snapshot"]) == (None, str(saved))
    apart = {"cluster": None, "provenance": None}
    assert {**again, **apart} == {**live, **apart}


def test_an_unreachable_cluster_is_one_line_in_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # 192.0.2.0/24 is reserved for documentation: packets to it are dropped, or refused at once.
    api = FakeApi(url="https://192.0.2.1:6443")
    kubeconfig = api.kubeconfig(tmp_path, cluster={"server": api.url})
    monkeypatch.setattr("kubespread.snapshot.live.connection._REQUEST_TIMEOUT", 1.0)
    result = run("explain", POD, "--kubeconfig", kubeconfig)
    assert (result.code, result.out, result.err.count("\n")) == (3, "", 1)
    assert result.err.startswith("error: https://192.0.2.1:6443: ")


MISUSES = {
    "an unknown context": (
        ["--context", "nope"],
        2,
        'error: context "nope" does not exist in the kubeconfig; it has here\n',
    )
}


@pytest.mark.parametrize("case", MISUSES)
def test_misuse(case: str, server: FakeApi, tmp_path: Path) -> None:
    flags, code, message = MISUSES[case]
    assert run("explain", POD, "--kubeconfig", server.kubeconfig(tmp_path), *flags) == (code, "", message)


FOUND_BEFORE: dict[str, tuple[list[str], int, str]] = {
    "a configuration that is missing": (
        ["explain", POD, "--scheduler-config", "missing.yaml"],
        2,
        "missing.yaml: No such file or directory",
    ),
    "a release that does not exist": (
        ["explain", POD, "--kube-version", "latest"],
        2,
        "invalid Kubernetes version 'latest': expected 1.X or 1.X.Y",
    ),
    "an output folder that is missing": (
        ["snapshot", "-o", "/no/folder/s.json"],
        2,
        "/no/folder/s.json: No such file or directory",
    ),
    "an output of no known form": (
        ["snapshot", "-o", "s.txt"],
        2,
        "s.txt: expected a name that ends with .json, .json.gz, .yaml, .yml, or - for standard output",
    ),
}


@pytest.mark.parametrize("case", FOUND_BEFORE)
def test_what_is_wrong_without_a_cluster_is_said_before_it_is_asked(case: str, server: FakeApi, tmp_path: Path) -> None:
    arguments, code, message = FOUND_BEFORE[case]
    result = run(*arguments, "--kubeconfig", server.kubeconfig(tmp_path), cwd=tmp_path)
    assert (result, server.requests) == ((code, "", f"error: {message}\n"), [])


SECRET = "hunter2-0123456789"
LEAKS: dict[str, dict[str, Any]] = {
    "a token with a line break": {"user": {"token": f"a\n{SECRET}"}},
    "a token that is refused": {"user": {"token": SECRET}},
    "a plugin that complains": {"user": _plugin(f"import sys; sys.exit('no {SECRET}')")},
    "a plugin that prints something else": {"user": _plugin(f"print('{SECRET}')")},
    "a proxy that is not there": {
        "cluster": {"server": "https://example.com", "proxy-url": f"http://me:{SECRET}@127.0.0.1:9"}
    },
    "a server that is not there": {"cluster": {"server": f"https://me:{SECRET}@127.0.0.1:9"}},
    "a server that is no URL": {"cluster": {"server": f"https://me:{SECRET}@127.0.0.1:99999"}},
    "a token in a place of another type": {"user": {"exec": SECRET}},
    "a key that is not base64": {"user": {"client-key-data": SECRET}},
}


@pytest.mark.parametrize("case", LEAKS)
def test_credentials_are_not_shown_whatever_goes_wrong(case: str, server: FakeApi, tmp_path: Path) -> None:
    server.token = "another"
    kubeconfig = server.kubeconfig(tmp_path, **LEAKS[case])
    result = run("explain", POD, "--kubeconfig", kubeconfig, "-v", env={"KUBESPREAD_DEBUG": "1"})
    assert result.code in (2, 3)
    assert result.err.count("\n") == 1
    assert SECRET not in result.out + result.err


def test_a_snapshot_does_not_hold_the_credentials_of_its_servers_url(server: FakeApi, tmp_path: Path) -> None:
    cluster = {"server": server.url.replace("https://", f"https://me:{SECRET}@"), "insecure-skip-tls-verify": True}
    saved = tmp_path / "s.json"
    assert run("snapshot", "--kubeconfig", server.kubeconfig(tmp_path, cluster=cluster), "-o", saved, "-q").code == 0
    assert SECRET not in saved.read_text()


NOT_FOUND = {
    "pod/nope": 'pods "nope" not found in namespace default; there are p0, p1, p2, waiting',
    "deploy/web": 'deployments.apps "web" not found in namespace default; no Deployment was read at all, only 4 Pods',
    "cronjobs.batch/web": 'cronjobs.batch "web" not found in namespace default; no CronJob was read at all, only 4 Pods',
}


@pytest.mark.parametrize("reference", NOT_FOUND)
def test_what_is_not_in_the_cluster(reference: str, server: FakeApi, tmp_path: Path) -> None:
    result = run("explain", reference, "--kubeconfig", server.kubeconfig(tmp_path))
    assert result == (2, "", f"error: {NOT_FOUND[reference]}\n")


def test_an_interrupt_ends_at_once(server: FakeApi, tmp_path: Path) -> None:
    server.faults.append(always("/api/v1/pods", Answer(hang=True)))
    command = [str(PROGRAM), "explain", POD, "--kubeconfig", str(server.kubeconfig(tmp_path))]
    with started(*command) as process:
        while not any(request.path == "/api/v1/pods" for request in server.requests):
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        # Before the minute is over for which the server says nothing.
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (130, b"", b"error: interrupted\n")


def test_a_person_who_waits_sees_how_it_goes_on(server: FakeApi, tmp_path: Path) -> None:
    seen = threading.Event()

    def late(request: Request) -> None:
        if request.path == "/api/v1/pods":
            seen.wait()

    server.faults.append(late)
    command = [
        str(PROGRAM),
        "snapshot",
        "--kubeconfig",
        str(server.kubeconfig(tmp_path)),
        "-o",
        str(tmp_path / "s.json"),
    ]
    master, slave = pty.openpty()
    with started(*command, stderr=slave) as process:
        os.close(slave)
        shown = b""
        while b"reading the cluster: " not in shown:
            shown += os.read(master, 65536)
        seen.set()
        shown += shown_on(master)
        assert process.stdout is not None
        assert (process.stdout.read(), process.wait()) == (b"", 0)
    os.close(master)
    assert b"pages" in shown


def test_nothing_secret_is_left_behind(server: FakeApi, tmp_path: Path) -> None:
    """The Kubernetes client keeps certificates in files until the process ends."""
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    run_process(
        "snapshot",
        "--kubeconfig",
        server.kubeconfig(tmp_path),
        "-o",
        tmp_path / "s.json",
        env={"TMPDIR": str(temporary)},
    )
    assert (list(temporary.iterdir()), json.loads((tmp_path / "s.json").read_text())["kubespread"]["source"]) == (
        [],
        "context here",
    )
