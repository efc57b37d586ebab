"""-w asks again when a file changes: redrawn in place on a terminal, printed again in a pipe."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.api.server import FakeApi, serving
from tests.builders import hosts, pod
from tests.cli.support import CLUSTER, FIXTURES, POD, Result, run


@pytest.fixture
def cluster(tmp_path: Path) -> Path:
    return Path(shutil.copy(CLUSTER, tmp_path / "cluster.yaml"))


def watched(
    monkeypatch: pytest.MonkeyPatch, *changes: Callable[[], object], terminal: int | None = None
) -> Callable[..., Result]:
    """The program watching while ``changes`` happen one after another, and then interrupted."""
    waiting = iter(changes)

    def pause(_seconds: float) -> None:
        change = next(waiting, None)
        if change is None:
            raise KeyboardInterrupt
        change()

    # Other tests leave threads behind, which sleep too.
    monkeypatch.setattr("kubespread.cli.watch.time", SimpleNamespace(sleep=pause))
    return lambda *arguments: run(*arguments, "-w", terminal=terminal)


def without_node4(cluster: Path) -> Callable[[], object]:
    return lambda: cluster.write_text(cluster.read_text().replace("name: node4", "name: node5"))


def test_a_changed_answer_is_printed_again_in_a_pipe(cluster: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    changes = (lambda: None, without_node4(cluster), lambda: None, lambda: cluster.touch())
    result = watched(monkeypatch, *changes)("explain", POD, "-S", cluster, "-o", "name")
    assert (result.code, result.out) == (0, "node4\nnode5\n")


def test_simulate_too(cluster: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = watched(monkeypatch, lambda: cluster.write_text(cluster.read_text().replace("node4", "node5")))(
        "simulate", POD, "--replicas", "max", "-S", cluster
    )
    assert result.err.count("437 fit") == 2


def test_audit_reads_no_manifest_and_is_watched_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Path(shutil.copy(FIXTURES / "clusters" / "audit.yaml", tmp_path / "cluster.yaml"))
    change = cluster.read_text().replace("maxSkew: 1", "maxSkew: 4")
    result = watched(monkeypatch, lambda: cluster.write_text(change))("audit", "-S", cluster)
    assert re.findall("[0-9].* of 4 workloads", result.err) == [
        "1 violated, 1 uneven, 1 at risk, 1 fine of 4 workloads",
        "1 uneven, 1 at risk, 2 fine of 4 workloads",
    ]


def test_a_terminal_is_redrawn_in_place(cluster: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = watched(monkeypatch, without_node4(cluster), terminal=100)("explain", POD, "-S", cluster)
    first, second = result.out.split("\x1b[H")[1:]
    assert "1 of 4 nodes fits: node4" in first
    assert "1 of 4 nodes fits: node5" in second
    assert second.endswith("· watching, Ctrl-C ends it\x1b[K\n\x1b[J")
    assert all(line.endswith("\x1b[K") for line in second.splitlines()[:-1])
    assert "\x1b[2J" not in second


def test_what_breaks_for_a_while_is_said_and_mended(cluster: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    good = cluster.read_text()
    changes = (lambda: cluster.write_text("kind: [\n"), lambda: cluster.write_text(good + "\n"))
    result = watched(monkeypatch, *changes)("explain", POD, "-S", cluster, "-q", "-o", "name")
    assert result.out == "node4\n" * 2
    assert result.err.startswith(f"error: {cluster}:2: YAML syntax: ")


def test_what_is_wrong_from_the_start_ends_it(tmp_path: Path) -> None:
    assert run("explain", POD, "-w", "-S", tmp_path / "none.yaml").code == 3
    once = "error: standard input can be read only once: --watch needs files or a running cluster\n"
    assert run("explain", POD, "-w", "-S", CLUSTER, "--scheduler-config", "-").err == once
    assert run("simulate", POD, "-w", "-S", CLUSTER, "--autoscaler", "ca", "--node-groups", "-").err == once
    assert run("explain", POD, "-w", "-S", "-") == (2, "", once)
    assert run("explain", "-w", "-S", CLUSTER, stdin=b"").err == once


DEPLOYMENT = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: new}\nspec: {replicas: %d, selector: {matchLabels: {a: b}}, "
DEPLOYMENT += "template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: x, resources: {requests: {cpu: 100m}}}]}}}\n"
SCHEDULER = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n- plugins: {filter: {disabled: [%s]}}\n"
NODE = "apiVersion: v1\nkind: Node\nmetadata: {name: extra}\nstatus: {allocatable: {cpu: %d, memory: 8Gi, pods: 9}}\n"
GROUPS = '{"apiVersion": "kubespread.dev/v1alpha1", "kind": "NodeGroups", "groups": [{"name": "g", "nodes": "zone=zoneA", "max": %d}]}'
READ: dict[str, tuple[str, tuple[str, str], list[str], list[str]]] = {
    "the manifest": ("pod.yaml", (DEPLOYMENT % 2, DEPLOYMENT % 3), ["simulate"], ["2 of 2 placed", "3 of 3 placed"]),
    "a scheduler configuration": (
        "config.yaml",
        (SCHEDULER % "", SCHEDULER % "{name: PodTopologySpread}"),
        ["explain", POD, "--scheduler-config", "config.yaml"],
        ["1 of 4 nodes fits: node4", "4 of 4 nodes fit: node4, node3, node1 and 1 more"],
    ),
    "a file of node groups": (
        "groups.json",
        (GROUPS % 2, GROUPS % 9),
        [
            "simulate",
            "web.yaml",
            "--set",
            "cpu=7",
            "--replicas",
            "6",
            "--autoscaler",
            "ca",
            "--node-groups",
            "groups.json",
        ],
        [
            "cluster-autoscaler adds no node for 2 pending pods, 2 still pending",
            "cluster-autoscaler adds 2 nodes for 2 pending pods, none still pending",
        ],
    ),
    "the manifest of a new node": (
        "node.yaml",
        (NODE % 1, NODE % 0),
        [
            "simulate",
            "web.yaml",
            "--replicas",
            "max",
            "--delete-node",
            "zone=zoneA",
            "--delete-node",
            "zone=zoneB",
            "--add-node",
            "node.yaml",
        ],
        ["9 fit", "0 fit"],
    ),
    "the configuration of kubespread": (
        ".kubespread.yaml",
        ("snapshot: cluster.yaml\n", "snapshot: other.yaml\n"),
        ["explain", POD],
        ["1 of 4 nodes fits: node4", "1 of 4 nodes fits: node5"],
    ),
}
"""A file that is read, its text before and after, a question, and what the answer begins with each time."""


@pytest.mark.parametrize("case", READ)
def test_every_file_that_an_answer_depends_on_is_watched(
    case: str, cluster: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, (before, after), question, answers = READ[case]
    (tmp_path / "web.yaml").write_text(DEPLOYMENT % 1)
    (tmp_path / "other.yaml").write_text(cluster.read_text().replace("name: node4", "name: node5"))
    (tmp_path / name).write_text(before)
    monkeypatch.chdir(tmp_path)
    source = [] if name == ".kubespread.yaml" else ["-S", "cluster.yaml"]
    changes = (lambda: None, lambda: (tmp_path / name).write_text(after + "\n"))
    result = watched(monkeypatch, *changes)(*question, *source)
    said = [re.sub("^(Yes|No|Unknown): ", "", line) for line in result.err.splitlines()]
    assert [line for line in said if line.startswith(tuple(answers))] == answers


@pytest.mark.slow
def test_a_running_cluster_is_read_anew_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(FakeApi(objects=[*hosts("a"), pod("p0", "n0"), pod("p1")])) as server:

        def happen() -> None:
            server.objects[-1] = pod("p1", "n0")

        result = watched(monkeypatch, happen, lambda: None)("pending", "--kubeconfig", server.kubeconfig(tmp_path))
    assert re.findall("1 pod pending for 1 cause|all pods have a node", result.err) == [
        "1 pod pending for 1 cause",
        "all pods have a node",
    ]
