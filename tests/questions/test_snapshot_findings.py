"""Dumps with holes, as people send them: what is missing is said above the answer, and no answer is sure of itself."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import kubespread
from kubespread import SnapshotError
from kubespread.questions.findings import findings_of
from tests.builders import Data
from tests.cli.support import run
from tests.questions.clouds import CLOUDS, ZONE, cluster
from tests.tiers import slow_but


def _list(objects: list[Data], **metadata: Any) -> str:
    return json.dumps({"apiVersion": "v1", "kind": "List", "metadata": metadata, "items": objects})


def _without(objects: list[Data], leave_out: Callable[[Data], bool]) -> str:
    return _list([each for each in objects if not leave_out(each)])


def _of_kind(*kinds: str) -> Callable[[Data], bool]:
    return lambda each: each["kind"] in kinds


def _nodes_of(objects: list[Data]) -> list[Data]:
    return [each for each in objects if each["kind"] == "Node"]


def _other(objects: list[Data]) -> list[Data]:
    """The nodes of another provider's cluster."""
    is_gke = any("cloud.google.com" in label for each in _nodes_of(objects) for label in each["metadata"]["labels"])
    return _nodes_of(cluster("AKS" if is_gke else "GKE"))


def _later(objects: list[Data]) -> str:
    for each in objects:
        if each["kind"] == "Pod":
            each["metadata"]["creationTimestamp"] = "2026-11-26T19:00:00Z"
    return _list(objects)


def _twice(objects: list[Data]) -> str:
    systems = [each for each in objects if each["kind"] == "Namespace"]
    again = [{**each, "metadata": {**each["metadata"], "uid": "another"}} for each in systems]
    return _list([*objects, *again])


def _is_on_first(objects: list[Data]) -> Callable[[Data], bool]:
    first = _nodes_of(objects)[0]["metadata"]["name"]
    return lambda each: each["kind"] == "Pod" and each["spec"].get("nodeName") == first


HOLES: Mapping[str, tuple[str, Callable[[list[Data]], str]]] = {
    "one node is missing": ("nodes", lambda objects: _without(objects, lambda each: each is _nodes_of(objects)[0])),
    "only the pods of one namespace, without -A": (
        "namespaces",
        lambda objects: _without(objects, lambda each: each["metadata"].get("namespace") == "kube-system"),
    ),
    "no pods": ("pods", lambda objects: _without(objects, _of_kind("Pod"))),
    "the pods of a controller are missing": (
        "pods",
        lambda objects: _without(
            objects, lambda each: each["kind"] == "Pod" and each["metadata"]["namespace"] == "shop"
        ),
    ),
    "no pods of one node": ("daemonPods", lambda objects: _without(objects, _is_on_first(objects))),
    "no claims": ("claims", lambda objects: _without(objects, _of_kind("PersistentVolumeClaim"))),
    "no volumes": ("volumes", lambda objects: _without(objects, _of_kind("PersistentVolume"))),
    "no ReplicaSets": ("owners", lambda objects: _without(objects, _of_kind("ReplicaSet"))),
    "no Deployments": ("owners", lambda objects: _without(objects, _of_kind("Deployment"))),
    "one StatefulSet is missing": ("owners", lambda objects: _without(objects, _of_kind("StatefulSet"))),
    "nodes of another provider": ("clusters", lambda objects: _list([*objects, *_other(objects)])),
    "namespaces with other UIDs": ("clusters", _twice),
    "a list that goes on": (
        "truncated",
        lambda objects: _list(objects, **{"continue": "eyJ2", "remainingItemCount": 40}),
    ),
    "pods that are younger than the nodes' last word": ("times", _later),
    "an error of kubectl after the objects": (
        "errors",
        lambda objects: f'{_list(objects)}\nError from server (Forbidden): pods is forbidden: User "x" cannot list\n',
    ),
    "an error of kubectl right behind the objects": (
        "errors",
        lambda objects: f"{_list(objects)}Unable to connect to the server: EOF",
    ),
    "an answer of the API server that is none": (
        "errors",
        lambda objects: _list(
            [*objects, {"apiVersion": "v1", "kind": "Status", "status": "Failure", "message": "forbidden"}]
        ),
    ),
    "an error of kubectl before the objects": (
        "errors",
        lambda objects: f'error: the server doesn\'t have a resource type "pdbs"\n{_list(objects)}\n',
    ),
}
ASKED: Mapping[str, Callable[[Any, str], Any]] = {
    "survive": lambda snapshot, _: kubespread.survive(snapshot, keys=(ZONE,)),
    "audit": lambda snapshot, _: kubespread.audit(snapshot),
    "removable": lambda snapshot, _: kubespread.removable(snapshot),
    "plan": lambda snapshot, first: kubespread.plan(snapshot.edited(f"drain {first} --ignore-daemonsets")),
    "capacity": lambda snapshot, _: kubespread.capacity(snapshot),
}


@cache
def _verdicts(cloud: str) -> Mapping[str, str]:
    """Of the whole dump."""
    whole, last = kubespread.Snapshot.from_objects(cluster(cloud)), _nodes_of(cluster(cloud))[-1]["metadata"]["name"]
    return {name: ask(whole, last).verdict for name, ask in ASKED.items()}


def _written(tmp_path: Path, text: str) -> str:
    path = tmp_path / "cluster.json"
    path.write_text(text)
    return str(path)


@pytest.mark.parametrize("cloud", CLOUDS)
def test_nothing_is_in_doubt_about_a_whole_dump(cloud: str, tmp_path: Path) -> None:
    path = _written(tmp_path, _list(cluster(cloud)))
    assert run("snapshot", "--check", path, "--strict") == (0, "nothing is in doubt\n", "")
    for line in run("survive", "--key", ZONE, "-A", "-S", path, "-v").err.splitlines():
        assert not line.startswith("gap: "), "what the README's own command leaves out is nothing to act on"


@pytest.mark.parametrize("hole", slow_but(["one node is missing", "no pods"], HOLES))
@pytest.mark.parametrize("cloud", slow_but(["GKE"], CLOUDS))
def test_a_hole_in_a_dump_is_said_and_leaves_no_answer_sure_of_itself(cloud: str, hole: str, tmp_path: Path) -> None:
    code, cut = HOLES[hole]
    last = _nodes_of(cluster(cloud))[-1]["metadata"]["name"]
    damaged = kubespread.load(_written(tmp_path, cut(cluster(cloud))))
    assert code in [finding.code for finding in findings_of(damaged)]
    for name, ask in ASKED.items():
        report = ask(damaged, last)
        assert report.verdict in ("unknown", _verdicts(cloud)[name]), name
        assert report.verdict != "yes" or not report.doubts, name
        if code not in ("claims", "volumes", "owners") or name != "capacity":
            assert code in [finding.code for finding in report.snapshot_findings], name


def test_a_finding_is_loud_above_the_answer_and_a_field(tmp_path: Path) -> None:
    objects = cluster("GKE")
    path = _written(tmp_path, HOLES["one node is missing"][1](objects))
    lost = _nodes_of(objects)[0]["metadata"]["name"]
    said = f"2 pods are bound to 1 node not in the snapshot, so neither they nor its room count: {lost}"
    assert run("snapshot", "--check", path) == (0, f"{said}\n", "")
    assert run("snapshot", "--check", path, "--strict").code == 3
    table = run("plan", "--cordon", _nodes_of(objects)[1]["metadata"]["name"], "-S", path, "-o", "table")
    assert (table.code, table.out.splitlines()[0]) == (3, said)
    piped = run("plan", "--cordon", _nodes_of(objects)[1]["metadata"]["name"], "-S", path)
    assert (piped.code, f"in doubt: {said}" in piped.err.splitlines()) == (3, True)
    report = json.loads(run("audit", "-A", "-S", path, "-o", "json").out)
    assert report["verdict"] == "unknown"
    assert report["doubts"] == [said]
    (finding,) = report["snapshotFindings"]
    assert (finding["code"], finding["text"], finding["workloads"]) == ("nodes", said, [])
    assert finding["numbers"]["pods"] == 2
    assert run("capacity", "-S", path, "--strict", "-o", "json").code == 3


def test_an_answer_about_others_does_not_rest_on_what_is_missing_of_one(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = _written(tmp_path, HOLES["no claims"][1](cluster("AKS")))
    snapshot = kubespread.load(path)
    assert kubespread.audit(snapshot, workloads=("deploy/web",), namespace="shop").doubts == ()
    assert kubespread.audit(snapshot, workloads=("sts/db",), namespace="shop").verdict == "unknown"
    without = kubespread.load(_written(tmp_path_factory.mktemp("without"), HOLES["no ReplicaSets"][1](cluster("AKS"))))
    assert kubespread.survive(without, workloads=("deploy/web",), namespace="shop").doubts
    assert run("explain", "deploy/web", "-n", "shop", "-S", path, "-o", "json").code == 0
    assert run("explain", "sts/db", "-n", "shop", "-S", path, "-o", "json").code == 3


def test_a_file_of_nothing_but_an_error_of_kubectl_is_refused_with_it(tmp_path: Path) -> None:
    path = _written(tmp_path, "Unable to connect to the server: dial tcp 10.0.0.1:443: i/o timeout\n")
    with pytest.raises(SnapshotError) as raised:
        kubespread.load(path)
    assert str(raised.value) == (
        f"{path}: kubectl wrote an error in the place of objects: Unable to connect to the server: dial tcp "
        "10.0.0.1:443: i/o timeout"
    )
