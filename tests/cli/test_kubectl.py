"""The program as a plugin of a real kubectl."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.cli.support import CLUSTER, POD, PROGRAM, ROOT, Result, environment, run

pytestmark = pytest.mark.slow

KUBECTL = shutil.which("kubectl")
needs_kubectl = pytest.mark.skipif(KUBECTL is None, reason="no kubectl (Debian: apt install kubernetes-client)")


def kubectl(*words: str, path: str = "", **more: str) -> Result:
    """``kubectl WORDS`` with the plugin on the PATH."""
    parts = [path, str(PROGRAM.parent), os.environ["PATH"]]
    env = environment(PATH=os.pathsep.join(filter(None, parts)), **more)
    done = subprocess.run(
        [str(KUBECTL), *words], capture_output=True, text=True, env=env, cwd=ROOT, timeout=60, check=False
    )
    return Result(done.returncode, done.stdout, done.stderr)


CASES = {
    "yes": (["explain", POD, "-S", CLUSTER, "-o", "name"], 0),
    "no": (["simulate", POD, "-S", CLUSTER, "--require-placed", "9", "-o", "name"], 1),
    "bad input": (["explain", POD, "-S", CLUSTER, "--replicas", "many"], 2),
    "no cluster": (["explain", POD, "-S", "/nonexistent"], 3),
}


@needs_kubectl
@pytest.mark.parametrize("case", CASES)
def test_answers_and_exit_codes_are_those_of_the_program(case: str) -> None:
    words, code = CASES[case]
    alone, plugin = run(*words, cwd=ROOT), kubectl("kubespread", *words)
    assert (alone.code, plugin.code, plugin.out) == (code, code, alone.out)
    assert plugin.err == alone.err.replace("'kubespread ", "'kubectl kubespread ")


@needs_kubectl
def test_usage_says_how_it_was_run() -> None:
    assert kubectl("kubespread", "explain", "--help").out.startswith("Usage: kubectl kubespread explain [OPTIONS]")


@needs_kubectl
def test_kubectl_takes_the_cluster_role(tmp_path: Path) -> None:
    file = tmp_path / "rbac.yaml"
    file.write_text(kubectl("kubespread", "rbac").out)
    # Without a server kubectl can still say what it reads.
    listed = kubectl("label", "--local", "-f", str(file), "-o", "name", "app=x")
    assert listed.out.splitlines() == [
        "clusterrole.rbac.authorization.k8s.io/kubespread",
        "clusterrolebinding.rbac.authorization.k8s.io/kubespread",
    ]


def test_as_a_plugin_it_calls_itself_so(tmp_path: Path) -> None:
    plugin = PROGRAM.with_name("kubectl-kubespread")
    done = subprocess.run(
        [str(plugin), "explain", "--foo"], capture_output=True, env=environment(), text=True, check=False, cwd=tmp_path
    )
    assert (done.returncode, done.stderr.endswith("(see 'kubectl kubespread explain --help')\n")) == (2, True)
