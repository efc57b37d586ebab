"""What a browser runs: Pyodide, without processes, threads and some packages."""

from __future__ import annotations

import pytest

from tests.cli.support import CLUSTER, FIXTURES, POD, run
from tests.elsewhere import Platform

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
    "simulate, with steps after it": ("simulate", "deploy/web", "--then", "fail=zone=c", "-S", SHOP),
    "survive": ("survive", "-S", SHOP),
    "check": ("check", POD, "-S", CLUSTER),
}


@pytest.mark.parametrize("question", ASKED)
def test_a_browser_gets_the_same_answer(question: str) -> None:
    """Wherever it is asked."""
    assert PYODIDE.run(*ASKED[question]) == run(*ASKED[question])


def test_without_processes_the_parts_are_done_one_after_another() -> None:
    asked = ("simulate", POD, "--replicas", "6", "--runs", "3", "-S", CLUSTER)
    alone, together = run(*asked), PYODIDE.run(*asked, "--jobs", "2")
    assert (together.code, together.out) == (alone.code, alone.out)
    assert "no workers: " in together.err


def test_a_running_cluster_is_refused_in_one_line() -> None:
    refused = PYODIDE.run("explain", POD, "--server", "https://cluster.example.com", "--token", "t")
    assert (refused.code, refused.out) == (2, "")
    assert refused.err.startswith("error: a running cluster takes the package kubernetes")
    assert refused.err.count("\n") == 1
