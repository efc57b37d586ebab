"""Credential plugins: once, in bounded time and memory, and no more than one masked line of what they complain."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

import kubespread
from kubespread.snapshot.live import credential_plugin
from kubespread.snapshot.live.credential_plugin import run_plugin
from kubespread.snapshot.live.kubeconfig import AuthInfo, Cluster, ExecConfig
from tests.builders import Data

V1 = "client.authentication.k8s.io/v1"
NAME = f"credential plugin {sys.executable}"


def answer(**status: str) -> str:
    """A program that gives ``status``."""
    credential = {"apiVersion": V1, "kind": "ExecCredential", "status": status}
    return f"print({json.dumps(credential)!r})"


def ask(program: str, tmp_path: Path, cluster: Data | None = None, **config: Any) -> AuthInfo:
    path = tmp_path / "plugin.py"
    path.write_text(program)
    plugin = {"apiVersion": V1, "command": sys.executable, "args": [str(path)], **config}
    user = AuthInfo()
    run_plugin(user, msgspec.convert(plugin, ExecConfig), msgspec.convert(cluster or {}, Cluster), os.environ)
    return user


FAILURES: dict[str, tuple[str, dict[str, Any], str]] = {
    "it fails": ("import sys; sys.exit('log in\\nthen again')", {}, f"{NAME}: it ended with 1: log in"),
    "it fails and tells a token": (
        "import sys; sys.exit('refused: Bearer hunter2 of eyJhbGciOi.J9eyJzdWI1.c2lnbmF0dXJl with password=hunter2')",
        {},
        f"{NAME}: it ended with 1: refused: Bearer [redacted] of [redacted] with password=[redacted]",
    ),
    "it fails and tells a URL with a password": (
        "import sys; sys.exit('no answer from https://me:hunter2@example.com/')",
        {},
        f"{NAME}: it ended with 1: no answer from https://example.com/",
    ),
    "it tells a variable of its own": (
        "import os, sys; sys.exit('bad ' + os.environ['MY_TOKEN'])",
        {"env": [{"name": "MY_TOKEN", "value": "hunter2-0123456789"}]},
        f"{NAME}: it ended with 1: bad [redacted]",
    ),
    "it says nothing": ("", {}, f"{NAME}: what it prints is not an ExecCredential"),
    "it prints a token alone": ("print('hunter2')", {}, f"{NAME}: what it prints is not an ExecCredential"),
    "it gives nothing": (answer(), {}, f"{NAME}: it gave neither a token nor a client certificate with its key"),
    "it gives a certificate without key": (
        answer(clientCertificateData="c"),
        {},
        f"{NAME}: it gave neither a token nor a client certificate with its key",
    ),
    "its token is expired": (
        answer(token="hunter2", expirationTimestamp="2020-01-02T03:04:05Z"),
        {"installHint": "see example.com"},
        f"{NAME}: what it gave expired at 2020-01-02T03:04:05+00:00; log in again; see example.com",
    ),
    "its expiry is before the first second of UTC": (
        answer(token="hunter2", expirationTimestamp="0001-01-01T00:00:00+14:00"),
        {},
        f"{NAME}: what it gave expired at 0001-01-01T00:00:00+14:00; log in again",
    ),
    "its expiry is no time": (
        answer(token="hunter2", expirationTimestamp="soon"),
        {},
        f"{NAME}: what it prints is not an ExecCredential",
    ),
    "it answers in another version": (
        answer(token="hunter2"),
        {"apiVersion": "client.authentication.k8s.io/v1beta1"},
        f"{NAME}: its answer is not of the apiVersion client.authentication.k8s.io/v1beta1 that the kubeconfig names",
    ),
    "a version that is gone": (
        "",
        {"apiVersion": "client.authentication.k8s.io/v1alpha1"},
        f"{NAME}: apiVersion must be client.authentication.k8s.io/v1 or client.authentication.k8s.io/v1beta1",
    ),
    "it wants a terminal": (
        "",
        {"interactiveMode": "Always"},
        f"{NAME}: it wants a terminal (interactiveMode: Always), which kubespread does not give it",
    ),
    "it is not there": ("", {"command": "/no/plugin"}, "credential plugin /no/plugin: No such file or directory"),
    "it prints without end": (
        "import sys\nwhile True: sys.stdout.write('x' * 65536)",
        {},
        f"{NAME}: it prints more than 1 MiB",
    ),
}


@pytest.mark.parametrize("case", FAILURES)
def test_a_plugin_that_gives_no_credentials(case: str, tmp_path: Path) -> None:
    program, config, message = FAILURES[case]
    with pytest.raises(kubespread.SnapshotError) as error:
        ask(program, tmp_path, **config)
    assert str(error.value) == message


HANGING = {
    "it hangs": "import time; print('x', flush=True); hangs(); time.sleep(10**6)",
    # More than a pipe holds: somebody has read the first line.
    "it hangs and complains without end": (
        "import sys; sys.stderr.write('waiting for a login\\n' + 'x' * 2**18); hangs()\nwhile True: sys.stderr.write('x')"
    ),
    "it leaves a program behind that hangs": (
        "import subprocess, sys; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(10**6)']); hangs()"
    ),
}


@pytest.mark.parametrize("case", HANGING)
def test_a_plugin_that_does_not_end(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The time is up once it hangs, on whatever machine."""
    hanging = tmp_path / "hanging"
    monkeypatch.setattr("kubespread.deadline.monotonic", lambda: credential_plugin.TIME_LIMIT * hanging.exists())
    with pytest.raises(kubespread.SnapshotError) as error:
        ask(f"def hangs(): open({str(hanging)!r}, 'x')\n{HANGING[case]}", tmp_path)
    said = ": waiting for a login" if "login" in HANGING[case] else ""
    assert (
        str(error.value)
        == f"{NAME}: no credentials within 60s{said}; if it waits for a login, log in with kubectl first"
    )


def test_what_a_plugin_is_told(tmp_path: Path) -> None:
    told = tmp_path / "told.json"
    program = f"import os, pathlib\npathlib.Path({str(told)!r}).write_text(os.environ['KUBERNETES_EXEC_INFO'])\n{answer(token='t')}"
    extension = {"name": "client.authentication.k8s.io/exec", "extension": {"audience": "a"}}
    cluster = {"server": "https://x", "extensions": [extension]}
    assert ask(program, tmp_path, cluster, provideClusterInfo=True) == AuthInfo(token="t")
    assert json.loads(told.read_text()) == {
        "apiVersion": V1,
        "kind": "ExecCredential",
        "spec": {"interactive": False, "cluster": {"server": "https://x", "config": {"audience": "a"}}},
    }


def test_an_interrupt_while_it_starts_leaves_nothing_running(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[subprocess.Popen[bytes]] = []

    def interrupted(*arguments: Any, **options: Any) -> subprocess.Popen[bytes]:
        started.append(start(*arguments, **options))
        os.kill(os.getpid(), signal.SIGINT)
        return started[0]

    start = subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", interrupted)
    # A shell's job in the background ignores interrupts.
    inherited = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            ask("import time; time.sleep(10**6)", tmp_path)
        assert (started[0].returncode, signal.getsignal(signal.SIGINT)) == (-signal.SIGKILL, signal.default_int_handler)
    finally:
        signal.signal(signal.SIGINT, inherited)
