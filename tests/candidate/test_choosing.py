"""Which of a manifest's workloads is meant."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import kubespread
from tests.builders import Data, hosts, pod

CLUSTER = kubespread.Snapshot.from_objects(hosts("a", "b"))
TEMPLATE: Data = {"metadata": {"labels": {"foo": "bar"}}, "spec": {"containers": [{"name": "c", "image": "x"}]}}


def deployment(name: str, namespace: str | None = None) -> Data:
    metadata: Data = {"name": name} if namespace is None else {"name": name, "namespace": namespace}
    spec = {"selector": {"matchLabels": {"foo": "bar"}}, "template": TEMPLATE}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec}


def job(**metadata: str) -> Data:
    template = {**TEMPLATE, "spec": {**TEMPLATE["spec"], "restartPolicy": "Never"}}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": {"template": template}}


def listed(*items: Data) -> Data:
    return {"apiVersion": "v1", "kind": "List", "items": list(items)}


TWICE = listed(deployment("web", "shop"), deployment("web"), deployment("api"))

CHOSEN: dict[str, tuple[Data, str, tuple[str, str]]] = {
    "by name": (TWICE, "api", ("default", "api")),
    "by kind and name": (TWICE, "Deployment/api", ("default", "api")),
    "by namespace, kind and name": (TWICE, "shop/Deployment/web", ("shop", "web")),
    "by the namespace it will get": (TWICE, "default/Deployment/web", ("default", "web")),
    "by the beginning of a generated name": (
        listed(job(generateName="pi-"), job(name="e")),
        "Job/pi-",
        ("default", "pi-"),
    ),
}


@pytest.mark.parametrize("case", CHOSEN)
def test_a_workload_is_chosen(case: str) -> None:
    manifest, name, (namespace, begins) = CHOSEN[case]
    found = kubespread.explain(CLUSTER, manifest, name=name).pod
    assert (found.namespace, found.name.startswith(begins)) == (namespace, True)


REFUSED: dict[str, tuple[Data, str | None, str]] = {
    "two of one name": (
        TWICE,
        "web",
        "<object>: several workloads (shop/Deployment/web, default/Deployment/web, Deployment/api); choose one with --name",
    ),
    "not even named": (
        listed(deployment("a"), pod("b")),
        None,
        "<object>: several workloads (Deployment/a, Pod/b); choose one with --name",
    ),
    "part of a name": (
        listed(deployment("my-web"), pod("b")),
        "web",
        "<object>: no workload named 'web'; found Deployment/my-web, Pod/b",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_choice_is_refused(case: str) -> None:
    manifest, name, message = REFUSED[case]
    with pytest.raises(kubespread.UsageError) as refused:
        kubespread.explain(CLUSTER, manifest, name=name)
    assert str(refused.value) == message


def test_all_of_one_name_are_placed() -> None:
    reports = kubespread.simulate(CLUSTER, [TWICE])
    assert [(report.pod.namespace, report.workload, report.placed) for report in reports] == [
        ("shop", "Deployment/web", 1),
        ("default", "Deployment/web", 1),
        ("default", "Deployment/api", 1),
    ]


def test_one_workload_given_twice_is_refused() -> None:
    with pytest.raises(kubespread.ManifestError, match=r"^<object>: /Deployment/web is given 2 times$"):
        kubespread.simulate(CLUSTER, [listed(deployment("web"), deployment("web"))])


@pytest.mark.parametrize(
    "made", [job(generateName="pi-"), {**deployment("web"), "metadata": {"generateName": "web-"}}, job(name="pi")]
)
def test_a_name_may_be_generated(made: Any) -> None:
    (report,) = kubespread.simulate(CLUSTER, [made])
    assert report.placed == 1


def test_two_of_one_generated_name_are_two() -> None:
    assert [
        report.placed
        for report in kubespread.simulate(CLUSTER, [listed(job(generateName="pi-"), job(generateName="pi-"))])
    ] == [1, 1]


def test_a_file_whose_pods_are_not_known_is_a_gap_beside_one_with_a_workload(tmp_path: Path) -> None:
    """It would have been the only question, had it come alone: with --strict its neighbor's yes is no yes."""
    template = {"template": {"spec": {"containers": [{"name": "c", "image": "x"}]}}}
    thing = {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "t"}, "spec": {"worker": template}}
    files = [tmp_path / "thing.json", tmp_path / "pod.json"]
    for file, data in zip(files, (thing, pod()), strict=True):
        file.write_text(json.dumps(data))
    (report,) = kubespread.simulate(CLUSTER, [*files], 1)
    assert [gap for gap in report.gaps if "Thing" in gap] == ["pods are missing: skipped 1 object of Thing.example.com"]
