"""A HorizontalPodAutoscaler beside its workload is named with its bounds."""

from __future__ import annotations

from typing import Any

import pytest

import kubespread
from tests.builders import Data, hosts

SPEC: Data = {
    "selector": {"matchLabels": {"app": "web"}},
    "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "x"}]}},
}
WEB: Data = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web", "namespace": "shop"},
    "spec": SPEC,
}


def autoscaler(version: str = "v2", namespace: str = "shop", kind: str = "Deployment", **spec: Any) -> Data:
    target = {"apiVersion": "apps/v1", "kind": kind, "name": "web"}
    return {
        "apiVersion": f"autoscaling/{version}",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "load", "namespace": namespace},
        "spec": {"scaleTargetRef": target, "maxReplicas": 10, **spec},
    }


SAID = "HorizontalPodAutoscaler load keeps Deployment/web at {} to 10 replicas; it is not simulated"
NOTES: dict[str, tuple[Data, list[str]]] = {
    "v2": (autoscaler(minReplicas=3), [SAID.format(3)]),
    "v1": (autoscaler("v1", minReplicas=3), [SAID.format(3)]),
    "at least one where nothing is said": (autoscaler(), [SAID.format(1)]),
    "down to none": (autoscaler(minReplicas=0), [SAID.format(0)]),
    "of another namespace": (autoscaler(namespace="default"), []),
    "of another kind": (autoscaler(kind="StatefulSet"), []),
}


@pytest.mark.parametrize("case", NOTES)
def test_bounds_are_a_note(case: str) -> None:
    found, expected = NOTES[case]
    snapshot = kubespread.Snapshot.from_objects([*hosts("a"), WEB, found])
    for notes in (
        kubespread.explain(snapshot, WEB).notes,
        kubespread.simulate(snapshot, WEB).notes,
        kubespread.simulate(snapshot, "deploy/web", namespace="shop").notes,
    ):
        assert [note for note in notes if note.startswith("Horizontal")] == expected
