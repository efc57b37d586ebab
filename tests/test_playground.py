"""What a browser runs: Pyodide, without processes, threads and some packages."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from docs.playground.playground import LEFT_OUT, needed
from tests.api.server import FakeApi
from tests.cli.support import CLUSTER, FIXTURES, POD, ROOT, environment, run
from tests.elsewhere import Platform

pytestmark = pytest.mark.slow

PYODIDE = Platform(
    modules={"kubernetes", "urllib3", "re2", "resource", "pwd", "grp", "multiprocessing.resource_tracker"},
    failing=("threading.Thread.start", "subprocess.Popen.__init__", "os.fork", "os.posix_spawn"),
)
SHOP = str(FIXTURES / "clusters" / "shop.yaml")
ASKED: dict[str, tuple[str, ...]] = {
    "explain": ("explain", POD, "-S", CLUSTER),
    "explain, as JSON": ("explain", POD, "-S", CLUSTER, "-o", "json"),
    "explain, as a page": ("explain", POD, "-S", CLUSTER, "-o", "html"),
    "simulate": ("simulate", POD, "--replicas", "6", "-S", CLUSTER),
    "plan, step by step": ("plan", "scale deploy/web=9", "fail zone=c", "-S", SHOP),
    "survive": ("survive", "-S", SHOP),
    "check": ("check", POD, "-S", CLUSTER),
}


@pytest.mark.parametrize("question", ASKED)
def test_a_browser_gets_the_same_answer(question: str) -> None:
    """Wherever it is asked."""
    assert PYODIDE.run(*ASKED[question]) == run(*ASKED[question])


def test_without_processes_the_parts_are_done_one_after_another() -> None:
    asked = ("plan", "scale deploy/web=4", "--runs", "3", "-S", SHOP)
    alone, together = run(*asked), PYODIDE.run(*asked, "--jobs", "2")
    assert (together.code, together.out) == (alone.code, alone.out)
    assert "no workers: " in together.err


def test_a_running_cluster_is_refused_in_one_line(tmp_path: Path) -> None:
    api = FakeApi(url="https://cluster.example.com")
    kubeconfig = api.kubeconfig(tmp_path, cluster={"server": api.url})
    refused = PYODIDE.run("explain", POD, "--kubeconfig", str(kubeconfig))
    assert (refused.code, refused.out) == (2, "")
    assert refused.err.startswith("error: a running cluster takes the package kubernetes")
    assert refused.err.count("\n") == 1


def test_the_page_asks_again_and_again_in_one_process() -> None:
    """As often as its button is pressed."""
    asked = f"explain {POD} -S {CLUSTER}"
    program = f"from docs.playground.playground import answered\nfor _ in '12': print(answered({asked!r}))"
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env=environment(PYTHONPATH=str(ROOT)),
    )
    once = run(*asked.split())
    assert sorted(done.stdout.splitlines()) == sorted([*once.err.splitlines(), *once.out.splitlines(), ""] * 2)


def test_the_page_installs_all_that_is_required_but_what_browsers_lack() -> None:
    required = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    assert {Requirement(line).name for line in needed()} == {Requirement(line).name for line in required} - LEFT_OUT
