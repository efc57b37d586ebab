"""Dumps as people have them: the wrong text, half an object, documents after one another, bundles of many files."""

from __future__ import annotations

import json
import random
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kubespread
from kubespread.manifest.writer import to_yaml
from kubespread.snapshot.snapshot import LIST_COMMAND
from tests.builders import hosts, pod
from tests.cli.support import FIXTURES, run

FIELD = FIXTURES / "cases" / "field"
_NOTHING = f"no Pod objects and no workloads; list them with: {LIST_COMMAND}"


class Case(NamedTuple):
    command: str
    code: int
    said: str


CASES = {
    "kubectl's table is no dump": Case(
        "pending -A -S 40-dumps/e-wide.txt",
        3,
        "error: 40-dumps/e-wide.txt:1: the table that `kubectl get` prints: add -o yaml to it\n",
    ),
    "tabs are named": Case(
        "pending -A -S 40-dumps/g-tabs.yaml",
        3,
        "error: 40-dumps/g-tabs.yaml:7: indented with a tab: YAML takes spaces only\n",
    ),
    "a Helm template is no dump": Case(
        "pending -A -S 40-dumps/k-template.yaml",
        3,
        "error: 40-dumps/k-template.yaml:4: a Helm template, not a manifest: pipe `helm template` into kubespread\n",
    ),
    "a dump without pods says nothing of workloads": Case(
        "audit -A -S 40-dumps/o-nodes.json", 3, f"error: 40-dumps/o-nodes.json: {_NOTHING}\n"
    ),
    "a pod that was cut off is damage": Case(
        "pending -A -S 40-dumps/n-trunc.yaml",
        3,
        "error: 40-dumps/n-trunc.yaml:314: Pod shop/web-7d9f-p3: spec.containers: Required value: no API server holds "
        "such an object, so the file is damaged\n",
    ),
    "a file of a directory that is no dump is named": Case(
        "pending -A -S 41-bundles/dir",
        3,
        "error: 41-bundles/dir: no Pod objects and no workloads; unreadable file: 41-bundles/dir/pods.yaml:1: the table "
        f"that `kubectl get` prints: add -o yaml to it; list them with: {LIST_COMMAND}\n",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_said_of_a_dump(case: str) -> None:
    command, code, said = CASES[case]
    assert run(*command.split(), cwd=FIELD) == (code, "", said)


def test_json_documents_are_read_whatever_separates_them() -> None:
    assert len(kubespread.load(FIELD / "40-dumps" / "json-documents.yaml").nodes) == 30


def test_a_bundle_of_bare_arrays_says_the_kinds_by_its_paths() -> None:
    snapshot = kubespread.load(FIELD / "41-bundles" / "sb2")
    assert (len(snapshot.nodes), len(snapshot.pods), snapshot.skipped) == (3, 4, {})


def test_case_and_macos_make_no_difference(tmp_path: Path) -> None:
    (tmp_path / "NODES.YML").write_text(to_yaml({"apiVersion": "v1", "kind": "NodeList", "items": hosts("a")}))
    (tmp_path / "._NODES.YML").write_bytes(b"\0\5\26\7")
    snapshot = kubespread.load(tmp_path)
    assert (len(snapshot.nodes), snapshot.origin.gaps) == (1, ("no Pod objects: every node counts as empty",))


def workload(kind: str, name: str) -> dict[str, Any]:
    template = {"metadata": {"labels": {"app": name}}, "spec": {"containers": [{"name": "main", "image": "example"}]}}
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"replicas": 1, "selector": {"matchLabels": {"app": name}}, "template": template},
    }


def damaged(objects: list[dict[str, Any]], at: int, draw: random.Random) -> str:
    """Take out of an object a field that the API server requires, and return its path."""
    spec = objects[at]["spec"]
    if objects[at]["kind"] == "Pod":
        del spec["containers"]
        return "spec.containers"
    match draw.choice(("selector", "template", "containers")):
        case "selector":
            del spec["selector"]
            return "spec.selector"
        case "template":
            del spec["template"]
        case _:
            spec["template"]["spec"]["containers"] = []
    return "spec.template.spec.containers"


@settings(max_examples=300)
@given(seed=st.integers(0, 2**32))
def test_half_an_object_is_damage_and_any_separator_is_none(seed: int) -> None:
    draw = random.Random(seed)
    kinds = draw.choices(("Pod", "Deployment", "ReplicaSet", "StatefulSet", "DaemonSet"), k=draw.randint(1, 40))
    objects = [*hosts("a", "b")]
    first = len(objects)
    objects += [pod(f"p{n}", "n0") if kind == "Pod" else workload(kind, f"w{n}") for n, kind in enumerate(kinds)]
    whole = kubespread.Snapshot.from_objects(objects)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "cluster.json")
        file.write_text(draw.choice(("\n", "\n---\n", "\n--- \n\n")).join(map(json.dumps, objects)))
        read = kubespread.load(file)
        assert (read.nodes, read.pods, read.objects) == (whole.nodes, whole.pods, whole.objects)
        at = draw.randrange(first, len(objects))
        path = damaged(objects, at, draw)
        file.write_text("\n".join(map(json.dumps, objects)))
        with pytest.raises(kubespread.SnapshotError) as refused:
            kubespread.load(file)
    name = f"{objects[at]['kind']} default/{objects[at]['metadata']['name']}"
    assert str(refused.value).startswith(f"{file}:{at + 1}: {name}: {path}: Required value")
