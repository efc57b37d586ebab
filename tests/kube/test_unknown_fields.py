"""Fields the API does not have, at every level of every kind that creates pods."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import kubernetes.client as models
import pytest

import kubespread
from kubespread.kube.api.decoding import decodable
from kubespread.kube.api.kinds import POD_CREATORS
from kubespread.kube.api.unknown_fields import fields_of, unknown_fields
from kubespread.kube.validation import fields
from kubespread.kube.versions import all_changes
from tests.builders import hard, hosts, pod

Data = dict[str, Any]

TEMPLATE: Data = {"metadata": {"labels": {"foo": "bar"}}, "spec": pod(constraints=[hard()])["spec"]}
BATCH_TEMPLATE: Data = {**TEMPLATE, "spec": {**TEMPLATE["spec"], "restartPolicy": "Never"}}
SELECTOR: Data = {"matchLabels": {"foo": "bar"}}
UNCHECKED = {"status", "managedFields"}


def model(name: str) -> Any:
    for prefix in ("V1", "CoreV1", "V1alpha3"):
        if hasattr(models, f"{prefix}{name}"):
            return getattr(models, f"{prefix}{name}")
    raise AssertionError(name)


CLIENT: dict[str, set[str]] = {
    "int": {"int32", "int64"},
    "str": {"string", "Quantity"},
    "bool": {"bool"},
    "datetime": {"Time"},
    "object": {"IntOrString", ""},
    "Dict[str, str]": {"map[string]string", "map[string]Quantity"},
}
"""The types of the client, and the API's that it does not tell apart."""


def types_of(client_type: str) -> set[str]:
    if (listed := re.fullmatch(r"[Ll]ist\[(.*)\]", client_type)) is not None:
        return {f"[]{below}" for below in types_of(listed[1])}
    return CLIENT.get(client_type) or {re.sub("^(V1alpha3|CoreV1|V1)", "", client_type)}


def test_the_fields_of_a_release_are_the_schema_of_the_kubernetes_client() -> None:
    release = (int(version("kubernetes").split(".")[0]), 0)
    waiting, seen = ["Node", *POD_CREATORS], set()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        cls, known = model(name), fields_of(name, release)
        assert known.keys() == {*cls.attribute_map.values()}, name
        for attribute, field in cls.attribute_map.items():
            expected = {""} if field in UNCHECKED else types_of(cls.openapi_types[attribute])
            assert known[field] in expected, (name, field)
        waiting += (below for shape in known.values() if fields_of(below := shape.removeprefix("[]")))
    types = {cls for changes in all_changes().values() for cls in changes.fields}
    assert seen == {cls for cls in types if fields_of(cls, release)}


@pytest.mark.parametrize("kind", POD_CREATORS)
def test_no_field_of_a_kind_is_refused(kind: str) -> None:
    def full(cls: str, above: tuple[str, ...]) -> Data:
        return {
            name: full(kind, (*above, cls)) if kind not in above else {}
            for name, shape in fields_of(cls).items()
            for kind in [shape.removeprefix("[]")]
        }

    assert list(unknown_fields(full(kind, ()), kind)) == []


def wrongly_typed(cls: str, above: tuple[str, ...] = ()) -> Iterator[tuple[str, Data]]:
    """Objects of a type with one value of a wrong type each, and where it stands."""
    for name, shape in fields_of(cls).items():
        below = shape.removeprefix("[]")
        if shape:
            yield name, {name: {} if shape.startswith("[]") else []}
        for path, data in wrongly_typed(below, (*above, cls)) if below not in (*above, cls) else ():
            position, value = ("", data) if below == shape else ("[0]", [data])
            yield f"{name}{position}.{path}", {name: value}


@pytest.mark.parametrize("kind", POD_CREATORS)
def test_a_wrong_type_of_any_field_is_found(kind: str) -> None:
    missed = [path for path, data in wrongly_typed(kind) if [each.path for each in decodable(data, kind)[1]] != [path]]
    assert missed == []


def test_every_rule_is_of_a_field_that_the_api_has() -> None:
    known = {*fields.values(), "behind", *(name.replace("_", "-") for name in vars(fields))}
    rows = {(cls, name): rules for cls, row in fields.rules_of_types().items() for name, rules in row.items()}
    assert [place for place in rows if place[1] != "*" and place[1] not in fields_of(place[0])] == []
    names = {re.sub(r"((if|unless) \S+ )*", "", rule).split()[0] for rules in rows.values() for rule in rules}
    assert {name for name in names - known if not re.fullmatch(r"\d+\.\.\d*", name)} == set()


def deployment(**spec: Any) -> Data:
    own = {"selector": SELECTOR, "template": TEMPLATE, **spec}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": own}


def of_kind(kind: str, api_version: str, **spec: Any) -> Data:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "web"}, "spec": spec}


REFUSED: dict[str, tuple[Data, str]] = {
    "a pod's field under a Deployment's spec": (
        deployment(topologySpreadConstraints=[]),
        'unknown field "spec.topologySpreadConstraints", did you mean "spec.template.spec.topologySpreadConstraints"?',
    ),
    "letters changed places": (deployment(replicsa=3), 'unknown field "spec.replicsa", did you mean "spec.replicas"?'),
    "the wrong case": (deployment(Replicas=3), 'unknown field "spec.Replicas", did you mean "spec.replicas"?'),
    "nothing near": (deployment(xyzzy=None), 'unknown field "spec.xyzzy"'),
    "a field of the spec beside it": (
        {**deployment(), "replicas": 2},
        'unknown field "replicas", did you mean "spec.replicas"?',
    ),
    "metadata": (
        {**deployment(), "metadata": {"name": "web", "label": {}}},
        'unknown field "metadata.label", did you mean "metadata.labels"?',
    ),
    "a strategy": (
        deployment(strategy={"rollingUpdate": {"maxSurg": 1}}),
        'unknown field "spec.strategy.rollingUpdate.maxSurg", did you mean "spec.strategy.rollingUpdate.maxSurge"?',
    ),
    "a selector": (
        of_kind("ReplicaSet", "apps/v1", selector={**SELECTOR, "matchLabel": {}}, template=TEMPLATE),
        'unknown field "spec.selector.matchLabel", did you mean "spec.selector.matchLabels"?',
    ),
    "a claim template": (
        of_kind(
            "StatefulSet",
            "apps/v1",
            selector=SELECTOR,
            template=TEMPLATE,
            volumeClaimTemplates=[{"metadata": {"name": "data"}, "spec": {"accessMode": []}}],
        ),
        'unknown field "spec.volumeClaimTemplates[0].spec.accessMode", did you mean "spec.volumeClaimTemplates[0].spec.accessModes"?',
    ),
    "an update strategy": (
        of_kind("DaemonSet", "apps/v1", selector=SELECTOR, template=TEMPLATE, updateStrategy={"typ": "OnDelete"}),
        'unknown field "spec.updateStrategy.typ", did you mean "spec.updateStrategy.type"?',
    ),
    "a ReplicationController": (
        of_kind("ReplicationController", "v1", selector={"foo": "bar"}, template=TEMPLATE, replica=1),
        'unknown field "spec.replica", did you mean "spec.replicas"?',
    ),
    "a Job": (
        of_kind("Job", "batch/v1", template=BATCH_TEMPLATE, paralelism=2),
        'unknown field "spec.paralelism", did you mean "spec.parallelism"?',
    ),
    "a CronJob's Job": (
        of_kind(
            "CronJob",
            "batch/v1",
            schedule="@daily",
            jobTemplate={"spec": {"template": BATCH_TEMPLATE, "completion": 1}},
        ),
        'unknown field "spec.jobTemplate.spec.completion", did you mean "spec.jobTemplate.spec.completions"?',
    ),
    "a probe inside a template": (
        deployment(
            template={
                **TEMPLATE,
                "spec": {"containers": [{"name": "c", "image": "x", "livenessProbe": {"httpGte": {}}}]},
            }
        ),
        'unknown field "spec.template.spec.containers[0].livenessProbe.httpGte", '
        'did you mean "spec.template.spec.containers[0].livenessProbe.httpGet"?',
    ),
    "the template of a kind that nobody knows": (
        of_kind("Rollout", "argoproj.io/v1alpha1", strategy={"canary": {}}, template={**TEMPLATE, "specs": {}}),
        'unknown field "spec.template.specs", did you mean "spec.template.spec"?',
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case: str) -> None:
    manifest, text = REFUSED[case]
    with pytest.raises(kubespread.ManifestError) as refused:
        kubespread.explain(kubespread.Snapshot.from_objects(hosts("a")), manifest)
    assert [found.message for found in refused.value.faults] == [f"strict decoding error: {text}"]


def test_a_kind_that_nobody_knows_has_fields_of_its_own() -> None:
    rollout = of_kind("Rollout", "argoproj.io/v1alpha1", strategy={"canary": {}}, replicsa=1, template=TEMPLATE)
    assert kubespread.explain(kubespread.Snapshot.from_objects(hosts("a")), rollout).message is not None


def test_the_line_is_named(tmp_path: Path) -> None:
    manifest = tmp_path / "web.yaml"
    manifest.write_text(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  replicsa: 3\n  selector: {matchLabels: {a: b}}\n"
        "  template:\n    metadata: {labels: {a: b}}\n    spec: {containers: [{name: c, image: x}]}\n"
    )
    with pytest.raises(kubespread.ManifestError) as refused:
        kubespread.explain(kubespread.Snapshot.from_objects(hosts("a")), manifest)
    assert str(refused.value) == (
        f'{manifest}:5: spec.replicsa: strict decoding error: unknown field "spec.replicsa", did you mean "spec.replicas"?'
    )


DATED = deployment(
    template={
        "metadata": {"labels": {"foo": "bar"}, "clusterName": "east"},
        "spec": {
            "hostUsers": False,
            "hostnameOverride": "web",
            "topologySpreadConstraints": [hard(minDomains=2)],
            "containers": [{"name": "c", "image": "x", "lifecycle": {"preStop": {"sleep": {"seconds": 3}}}}],
        },
    }
)


@pytest.mark.parametrize(
    ("release", "dropped"),
    [
        (
            "1.22",
            [
                "spec.hostUsers",
                "spec.topologySpreadConstraints[0].minDomains",
                "spec.template.spec.hostnameOverride",
                "spec.template.spec.containers[0].lifecycle.preStop.sleep",
            ],
        ),
        ("1.33", ["spec.template.metadata.clusterName", "spec.template.spec.hostnameOverride"]),
        ("1.34", ["spec.template.metadata.clusterName"]),
    ],
)
def test_fields_that_a_release_does_not_have_are_named_once(release: str, dropped: list[str]) -> None:
    report = kubespread.explain(
        kubespread.Snapshot.from_objects(hosts("a")), DATED, kubespread.Scheduler(kube_version=release)
    )
    assert report.notes == tuple(f"{path} is dropped: Kubernetes {release} does not have it" for path in dropped)
