"""Clusters from files: every shape kubectl writes gives the same snapshot."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

import kubespread
from kubespread.manifest.writer import to_yaml
from tests.builders import node, owner, pod, pods_on

Data = dict[str, Any]

OBJECTS = [
    node("n1", zone="a"),
    node("n2"),
    *pods_on({"n1": 2}),
    owner("Service", "web", {"app": "web"}, api_version="v1"),
    owner("ReplicaSet", "rs", {"matchLabels": {"app": "web"}}),
    owner("StatefulSet", "sts", {"matchLabels": {"app": "db"}}),
    owner("ReplicationController", "rc", {"app": "old"}, api_version="v1"),
    {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"secret": "not kept"}},
]


def typed_lists(items: list[Data]) -> list[Data]:
    """One list a kind, whose items do not say what they are."""
    lists: dict[str, Data] = {}
    for item in items:
        made = lists.setdefault(item["kind"], {"apiVersion": item["apiVersion"], "kind": f"{item['kind']}List", "items": []})
        made["items"].append({key: value for key, value in item.items() if key not in ("apiVersion", "kind")})
    return list(lists.values())


A_LIST = {"apiVersion": "v1", "kind": "List", "items": OBJECTS}
SHAPES = {
    "JSON List": json.dumps(A_LIST),
    "YAML List": to_yaml(A_LIST),
    "JSON lines": "\n".join(map(json.dumps, OBJECTS)),
    "YAML documents": "---\n".join(map(to_yaml, OBJECTS)),
    "typed lists, JSON lines": "\n".join(map(json.dumps, typed_lists(OBJECTS))),
    "typed lists, YAML documents": "---\n".join(map(to_yaml, typed_lists(OBJECTS))),
    "lists in a list": json.dumps({"apiVersion": "v1", "kind": "List", "items": typed_lists(OBJECTS)}),
    "an array": json.dumps(OBJECTS),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("zipped", [False, True], ids=["plain", "gzip"])
def test_every_shape_gives_the_same_snapshot(shape: str, zipped: bool, tmp_path: Path) -> None:
    file = tmp_path / "cluster"
    raw = SHAPES[shape].encode()
    file.write_bytes(gzip.compress(raw) if zipped else raw)
    assert kubespread.load(file) == kubespread.Snapshot.from_objects(OBJECTS)


def test_what_is_kept_and_what_is_counted() -> None:
    snapshot = kubespread.Snapshot.from_objects(OBJECTS)
    others = snapshot.objects
    kept = (snapshot.nodes, snapshot.pods, others.services, others.replica_sets, others.stateful_sets, others.replication_controllers)
    assert ([len(found) for found in kept], snapshot.skipped) == ([2, 2, 1, 1, 1, 1], {"ConfigMap": 1})


def version(name: str, resource_version: str, zone: str) -> Data:
    plain = node(name, zone=zone)
    return {**plain, "metadata": {**plain["metadata"], "resourceVersion": resource_version}}


@pytest.mark.parametrize(
    ("versions", "kept"),
    [([("9", "a"), ("10", "b")], "b"), ([("10", "a"), ("9", "b")], "a"), ([("", "a"), ("", "b")], "b"), ([("10", "a"), ("", "b")], "b")],
)
def test_of_an_object_read_twice_the_newest_counts(versions: list[tuple[str, str]], kept: str) -> None:
    snapshot = kubespread.Snapshot.from_objects(version("n", number, zone) for number, zone in versions)
    assert [found.metadata.labels for found in snapshot.nodes] == [{"zone": kept}]


def test_directories_are_walked(tmp_path: Path) -> None:
    (tmp_path / "ns" / "default").mkdir(parents=True)
    (tmp_path / "nodes.json").write_text(json.dumps(typed_lists(OBJECTS[:2])[0]))
    (tmp_path / "ns" / "default" / "pods.yaml").write_text(yaml.safe_dump_all(OBJECTS[2:4]))
    (tmp_path / "notes.txt").write_text("not read")
    snapshot = kubespread.load(tmp_path)
    assert (len(snapshot.nodes), len(snapshot.pods)) == (2, 2)


def test_nulls_are_absent_fields() -> None:
    data = {
        **node("n"),
        "spec": {"taints": None, "unschedulable": None},
        "metadata": {"name": "n", "labels": {"a": None}, "creationTimestamp": None},
    }
    (found,) = kubespread.Snapshot.from_objects([data]).nodes
    assert (found.spec.taints, found.metadata.labels) == ([], {"a": ""})


def test_objects_get_the_api_servers_defaults() -> None:
    (found,) = kubespread.Snapshot.from_objects([{**pod("p", "n1"), "metadata": {"name": "p"}}]).pods
    assert found.metadata.namespace == "default"


def test_a_wrong_type_names_the_object_and_the_field() -> None:
    with pytest.raises(kubespread.SnapshotError) as refused:
        kubespread.Snapshot.from_objects([{**pod("p"), "spec": {"nodeName": 7}}])
    assert str(refused.value) == (
        "Pod default/p: spec.nodeName: json: cannot unmarshal number into Go struct field PodSpec.spec.nodeName of type string"
    )


VERSIONS = {
    "longer than Python reads": ("9" * 5000, "1" + "0" * 5000, True),
    "shorter, and read later": ("1" + "0" * 5000, "9" * 5000, False),
    "zeros in front": ("0" * 5000 + "7", "8", True),
}


@pytest.mark.parametrize("case", VERSIONS)
def test_resource_versions_of_any_length_are_compared(case: str) -> None:
    first, second, later_wins = VERSIONS[case]
    versions = [{**node("n"), "metadata": {"name": "n", "resourceVersion": version}} for version in (first, second)]
    (kept,) = kubespread.Snapshot.from_objects(versions).nodes
    assert kept.metadata.resource_version == (second if later_wins else first)
