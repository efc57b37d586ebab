"""Clusters from files: every shape kubectl writes gives the same snapshot."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

import kubespread
from kubespread.kube.api.core import Service
from kubespread.kube.api.workloads import Job, ReplicaSet, ReplicationController, StatefulSet
from kubespread.manifest.writer import to_yaml
from kubespread.snapshot.anonymize import anonymize
from kubespread.snapshot.save import save
from tests.builders import node, owner, pod, pods_on
from tests.cli.support import FIXTURES, run

Data = dict[str, Any]


def of_pods(owner: Data) -> Data:
    """``owner`` with the template that the API server asks for."""
    owner["spec"]["template"] = {"spec": {"containers": [{"name": "main", "image": "example"}]}}
    return owner


OBJECTS = [
    node("n1", zone="a"),
    node("n2"),
    *pods_on({"n1": 2}),
    owner("Service", "web", {"app": "web"}, api_version="v1"),
    of_pods(owner("ReplicaSet", "rs", {"matchLabels": {"app": "web"}})),
    of_pods(owner("StatefulSet", "sts", {"matchLabels": {"app": "db"}})),
    of_pods(owner("ReplicationController", "rc", {"app": "old"}, api_version="v1")),
    {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"secret": "not kept"}},
]


def typed_lists(items: list[Data]) -> list[Data]:
    """One list a kind, whose items do not say what they are."""
    lists: dict[str, Data] = {}
    for item in items:
        made = lists.setdefault(
            item["kind"], {"apiVersion": item["apiVersion"], "kind": f"{item['kind']}List", "items": []}
        )
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
    kept = (
        snapshot.nodes,
        snapshot.pods,
        others.get(Service),
        others.get(ReplicaSet),
        others.get(StatefulSet),
        others.get(ReplicationController),
    )
    assert ([len(found) for found in kept], snapshot.skipped) == ([2, 2, 1, 1, 1, 1], {"ConfigMap": 1})


def version(name: str, resource_version: str, zone: str) -> Data:
    plain = node(name, zone=zone)
    return {**plain, "metadata": {**plain["metadata"], "resourceVersion": resource_version}}


@pytest.mark.parametrize(
    ("versions", "kept"),
    [
        ([("9", "a"), ("10", "b")], "b"),
        ([("10", "a"), ("9", "b")], "a"),
        ([("", "a"), ("", "b")], "b"),
        ([("10", "a"), ("", "b")], "b"),
    ],
)
def test_of_an_object_read_twice_the_newest_counts(versions: list[tuple[str, str]], kept: str) -> None:
    snapshot = kubespread.Snapshot.from_objects(version("n", number, zone) for number, zone in versions)
    assert [found.metadata.labels for found in snapshot.nodes] == [{"zone": kept}]


DOUBLED = (
    "more than once in the snapshot, with different content and no resourceVersion that tells which is newer, so the "
    "last one counts: "
)
GIVEN_AGAIN: dict[str, tuple[list[Data], str | None]] = {
    "the same content says nothing new": ([version("n", "", "a"), version("n", "", "a")], None),
    "a newer version says which counts": ([version("n", "9", "a"), version("n", "10", "b")], None),
    "an older version says which counts": ([version("n", "10", "a"), version("n", "9", "b")], None),
    "the same name of another kind, or in another namespace, is another object": (
        [version("n", "", "a"), pod("n"), {**pod("n"), "metadata": {"name": "n", "namespace": "shop"}}],
        None,
    ),
    "without versions": ([version("n", "", "a"), version("n", "", "b")], f"{DOUBLED}Node n"),
    "with one version": ([version("n", "10", "a"), version("n", "", "b")], f"{DOUBLED}Node n"),
    "with the same version": ([version("n", "10", "a"), version("n", "10", "b")], f"{DOUBLED}Node n"),
    "three times": ([version("n", "", zone) for zone in "abc"], f"{DOUBLED}Node n"),
    "in a namespace": ([pod("p", "n1"), pod("p", "n2")], f"{DOUBLED}Pod default/p"),
    "many": (
        [version(f"n{number}", "", zone) for number in range(5) for zone in "ab"],
        f"{DOUBLED}Node n0, Node n1, Node n2 and 2 more",
    ),
}


@pytest.mark.parametrize("case", GIVEN_AGAIN)
def test_that_nothing_tells_which_of_two_counts_is_a_gap(case: str) -> None:
    objects, gap = GIVEN_AGAIN[case]
    found = kubespread.Snapshot.from_objects(objects).origin
    assert (found.gaps, found.notes) == (() if gap is None else (gap,), ())


def test_what_a_later_source_replaces_is_said_of_every_answer(tmp_path: Path) -> None:
    for name, objects in {
        "first": [version("n1", "", "a"), version("n2", "", "a")],
        "later": [version("n1", "", "b")],
    }.items():
        (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump_all(objects))
    loaded = kubespread.load(tmp_path / "first.yaml", tmp_path / "later.yaml")
    said = "replaced by what a later source says of the same object: Node n1"
    assert [node.metadata.name for node in loaded.nodes] == ["n1", "n2"]
    assert (DOUBLED in str(loaded.origin.gaps), loaded.origin.notes) == (False, (said,))
    assert said in kubespread.capacity(loaded).notes
    assert said in kubespread.capacity(loaded.edited("cordon n1")).notes


def test_directories_are_walked(tmp_path: Path) -> None:
    (tmp_path / "ns" / "default").mkdir(parents=True)
    (tmp_path / "nodes.json").write_text(json.dumps(typed_lists(OBJECTS[:2])[0]))
    (tmp_path / "ns" / "default" / "pods.yaml").write_text(yaml.safe_dump_all(OBJECTS[2:4]))
    (tmp_path / "notes.txt").write_text("not read")
    snapshot = kubespread.load(tmp_path)
    assert (len(snapshot.nodes), len(snapshot.pods)) == (2, 2)


@pytest.mark.parametrize("form", ["yaml", "json"])
def test_of_a_jobs_pod_its_index_is_kept_and_not_when_its_containers_ended(form: str, tmp_path: Path) -> None:
    worker = pod("worker", "n0")
    worker["metadata"] |= {
        "annotations": {"batch.kubernetes.io/job-completion-index": "3", "example.com/other": "x"},
        "deletionTimestamp": "2026-03-01T12:00:00Z",
        "deletionGracePeriodSeconds": 30,
    }
    ended = {"terminated": {"exitCode": 1, "finishedAt": "2026-03-01T11:59:00Z"}}
    worker["status"] = {"containerStatuses": [{"name": "main", "restartCount": 2, "state": ended}]}
    path = tmp_path / f"pod.{form}"
    listed = {"apiVersion": "v1", "kind": "List", "items": [node("n0"), worker]}
    path.write_text(yaml.safe_dump(listed) if form == "yaml" else json.dumps(listed))
    (kept,) = kubespread.load(path).pods
    assert kept.metadata.annotations == {"batch.kubernetes.io/job-completion-index": "3"}
    assert kept.metadata.deletion_grace_period_seconds == 30
    assert [(each.restart_count, each.state) for each in kept.status.container_statuses] == [(2, None)]


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
    assert str(refused.value) == ("Pod default/p: spec.nodeName: expected a string, found a number")


def test_an_object_of_which_only_the_presence_is_read_is_an_object_all_the_same() -> None:
    damaged = pod("p", "n0", volumes=[{"name": "v", "configMap": []}])
    with pytest.raises(kubespread.SnapshotError) as refused:
        kubespread.Snapshot.from_objects([node("n0"), damaged])
    assert str(refused.value) == "Pod default/p: spec.volumes[0].configMap: expected an object, found a list"


@pytest.mark.parametrize(
    ("older", "newer"),
    [("9" * 5000, "1" + "0" * 5000), ("0" * 5000 + "9", "10")],
    ids=["beyond 4,300 digits", "zeros first"],
)
def test_resource_versions_of_any_length(older: str, newer: str) -> None:
    for versions in ([(newer, "b"), (older, "a")], [(older, "a"), (newer, "b")]):
        snapshot = kubespread.Snapshot.from_objects(version("n", number, zone) for number, zone in versions)
        assert [found.metadata.labels for found in snapshot.nodes] == [{"zone": "b"}]


TEMPLATE = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "x"}]}}
WITH_PODS: list[Data] = [
    {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "spec": {"leaderWorkerTemplate": {"workerTemplate": TEMPLATE}},
    },
    {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "spec": {"replicatedJobs": [{"template": {"spec": {"template": TEMPLATE}}}]},
    },
    {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "spec": {"tasks": [{"replicas": 3, "template": TEMPLATE}]},
    },
    {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "spec": {"tasks": [{"replicas": 3, "template": TEMPLATE}]},
    },
    {"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "spec": {"templates": [{"container": {"image": "x"}}]}},
]
WITHOUT_PODS: list[Data] = [
    {
        "apiVersion": "metrics.k8s.io/v1beta1",
        "kind": "PodMetrics",
        "containers": [{"name": "c", "usage": {"cpu": "1"}}],
    },
    {"apiVersion": "apps/v1", "kind": "ControllerRevision", "data": {"spec": {"template": TEMPLATE}}},
    {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "spec": {"properties": {"containers": {"type": "array"}}},
    },
]
SKIPPED = (
    "pods are missing: skipped 2 objects of Job.batch.volcano.sh",
    "pods are missing: skipped 1 object of JobSet.jobset.x-k8s.io",
    "pods are missing: skipped 1 object of LeaderWorkerSet.leaderworkerset.x-k8s.io",
    "pods are missing: skipped 1 object of Workflow.argoproj.io",
)


@pytest.mark.parametrize("form", ["json", "yaml", "at hand"])
def test_objects_that_hold_pods_and_are_not_read_are_a_gap(form: str, tmp_path: Path) -> None:
    objects: list[Data] = [*OBJECTS, *WITH_PODS, *WITHOUT_PODS]
    file = tmp_path / f"cluster.{form}"
    file.write_text("---\n".join(map(to_yaml, objects)) if form == "yaml" else json.dumps(objects))
    snapshot = kubespread.Snapshot.from_objects(objects) if form == "at hand" else kubespread.load(file)
    assert (snapshot.origin.gaps, snapshot.objects.get(Job)) == (SKIPPED, ())
    assert snapshot.skipped["Job.batch.volcano.sh"] == 2
    hidden, _ = anonymize(snapshot)
    assert set(hidden.origin.gaps) == {"pods are missing"}


LISTED: dict[str, tuple[list[Data], list[str], list[str]]] = {
    "nodes alone": ([node("n")], ["Node"], ["no Pod objects: every node counts as empty"]),
    "an empty list of pods": (
        [
            node("n"),
            {"apiVersion": "v1", "kind": "PodList", "items": []},
            {"apiVersion": "v1", "kind": "ServiceList", "items": []},
        ],
        ["Node", "Pod", "Service"],
        [],
    ),
    "a list of a namesake": (
        [node("n"), pod("p"), {"apiVersion": "x.io/v1", "kind": "ServiceList", "items": []}],
        ["Node", "Pod"],
        [],
    ),
    "pods": ([node("n"), pod("p")], ["Node", "Pod"], []),
}


@pytest.mark.parametrize("form", ["json", "yaml"])
@pytest.mark.parametrize("case", LISTED)
def test_what_was_listed_is_known_and_stays_known(case: str, form: str, tmp_path: Path) -> None:
    objects, kinds, gaps = LISTED[case]
    file = tmp_path / f"cluster.{form}"
    file.write_text("---\n".join(map(to_yaml, objects)) if form == "yaml" else "\n".join(map(json.dumps, objects)))
    snapshot = kubespread.load(file)
    save(snapshot, str(tmp_path / "saved.json"))
    for found in (snapshot, kubespread.load(tmp_path / "saved.json")):
        assert (sorted(found.objects.listed), list(found.origin.listed), list(found.origin.gaps)) == (
            kinds,
            kinds,
            gaps,
        )


BAD_POD = {**pod("bad"), "spec": {"nodeName": 7}}
BAD_POD_FAULT = "Pod default/bad: spec.nodeName: expected a string, found a number"


@pytest.mark.parametrize("form", ["json", "yaml"])
def test_one_bad_object_leaves_the_others_be(form: str, tmp_path: Path) -> None:
    objects = [node("n"), BAD_POD, pod("p", "n")]
    file = tmp_path / f"cluster.{form}"
    file.write_text("---\n".join(map(to_yaml, objects)) if form == "yaml" else "\n".join(map(json.dumps, objects)))
    snapshot = kubespread.load(file)
    line = next(
        number for number, text in enumerate(file.read_text().splitlines(), 1) if re.search(r"nodeName\W+7", text)
    )
    fault = f"{file}:{line}: {BAD_POD_FAULT}"
    assert ([found.metadata.name for found in snapshot.pods], snapshot.faults) == (["p"], (fault,))
    assert snapshot.origin.gaps == (f"unreadable object: {fault}",)
    result = run("explain", FIXTURES / "manifests" / "two-constraints.yaml", "-S", file, "-o", "name", "-q")
    assert (result.code, result.err) == (3, f"error: {fault}\n")


@pytest.mark.parametrize("form", ["json", "yaml"])
def test_an_annotation_that_is_no_text_is_a_fault_in_any_format(form: str, tmp_path: Path) -> None:
    bad = pod("bad")
    bad["metadata"]["annotations"] = {"example.com/port": 8080}
    file = tmp_path / f"cluster.{form}"
    file.write_text(json.dumps(bad) if form == "json" else to_yaml([bad]))
    with pytest.raises(kubespread.SnapshotError) as refused:
        kubespread.load(file)
    assert str(refused.value).partition("metadata.")[2] == (
        "annotations[example.com/port]: expected a string, found a number"
    )


def test_a_number_that_is_too_large_spoils_its_object_only(tmp_path: Path) -> None:
    file = tmp_path / "cluster.json"
    huge = '{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, "spec": {"priority": %s}}' % ("9" * 5000)
    file.write_text("\n".join([json.dumps(node("n")), huge, json.dumps(pod("p"))]))
    snapshot = kubespread.load(file)
    assert (len(snapshot.pods), len(snapshot.faults), f"{file}:2: " in snapshot.faults[0]) == (1, 1, True)


def test_of_very_many_bad_objects_the_first_are_named(tmp_path: Path) -> None:
    file = tmp_path / "cluster.json"
    file.write_text("\n".join(map(json.dumps, [node("n"), *[BAD_POD] * 50])))
    faults = kubespread.load(file).faults
    assert (len(faults), faults[-1]) == (21, "30 more objects could not be read")
