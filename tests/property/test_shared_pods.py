"""Pods whose text differs only in what is not read are decoded once, and no others are taken for the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import kubespread
from kubespread.manifest.objects import KubernetesObject
from kubespread.snapshot.snapshot import TypedReader
from tests.builders import hosts, pod

NAMES = st.sampled_from(["kube-api-access-1", "kube-api-access-2z", "kube-api-access-1-x"])
NODES = st.one_of(st.sampled_from(["", "n0", "n1.example", 'n"0', "n\\\\0", "\u00e9"]), NAMES)
TOKEN: dict[str, Any] = {"projected": {"sources": [{"serviceAccountToken": {"path": "token"}}]}}
SOURCES: list[dict[str, Any]] = [TOKEN, {"emptyDir": {}}, {"persistentVolumeClaim": {"claimName": "data"}}]


@st.composite
def named(draw: st.DrawFn) -> dict[str, Any]:
    """A pod with one of few names wherever a name may stand."""
    made = pod("web", draw(NODES), volumes=[{"name": draw(NAMES), **draw(st.sampled_from(SOURCES))}])
    container = made["spec"]["containers"][0]
    container["volumeMounts"] = [{"name": draw(NAMES), "mountPath": "/var/run/secrets"}]
    if draw(st.booleans()):
        place = draw(st.sampled_from(["container", "selector", "key", "label", "class", "node"]))
        match place:
            case "container":
                container["name"] = draw(NAMES)
            case "selector":
                made["spec"]["nodeSelector"] = {"a": draw(NAMES)}
            case "key":
                made["spec"]["nodeSelector"] = {draw(NAMES): "a"}
            case "label":
                made["metadata"]["labels"] = {"a": draw(NAMES)}
            case "node":
                made["spec"]["nodeSelector"] = {"nodeName": draw(NODES)}
            case _:
                made["spec"]["priorityClassName"] = draw(NAMES)
    return made


@settings(max_examples=150)
@given(st.lists(named(), min_size=2, max_size=5))
def test_pods_that_are_read_together_are_what_each_is_alone(pods: list[dict[str, Any]]) -> None:
    together = TypedReader()
    texts = [json.dumps(each).encode() for each in pods]
    assert [together.read(KubernetesObject(text)) for text in texts] == [
        TypedReader().read(KubernetesObject(json.loads(text))) for text in texts
    ]


def test_a_token_in_a_volume_of_another_name_is_the_same_template(tmp_path: Path) -> None:
    def web(number: int) -> dict[str, Any]:
        return pod(f"web-{number}", "n0", volumes=[{"name": f"kube-api-access-{number}x", **TOKEN}])

    file = tmp_path / "cluster.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [*hosts("a"), web(1), web(2)]}))
    first, second = kubespread.load(file).pods
    assert first.spec.containers is second.spec.containers
    assert first.spec == second.spec
