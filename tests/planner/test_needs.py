"""A kind that could not be read is a gap only for questions that need it."""

from __future__ import annotations

from typing import Any

import pytest

import kubespread
from kubespread.kube.cluster_objects import FIELDS
from kubespread.snapshot.snapshot import SnapshotBuilder
from tests.builders import Data, hard, node, owned_by, pod

STORAGE = {
    "PersistentVolumeClaim", "PersistentVolume", "StorageClass", "CSINode", "CSIDriver", "CSIStorageCapacity", "VolumeAttachment",
}  # fmt: skip
SELECTING = {"topologyKey": "zone", "labelSelector": {}, "namespaceSelector": {"matchLabels": {"env": "dev"}}}
AFFINITY = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [SELECTING]}}
CONSTRAINED = pod(constraints=[hard()])
WORKLOAD = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web"},
    "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": {"labels": {"a": "b"}}, "spec": CONSTRAINED["spec"]}},
}
NEEDS: dict[str, tuple[Data, dict[str, Any], set[str]]] = {
    "a pod that is to be created": (CONSTRAINED, {}, {"LimitRange"}),
    "a pod that was admitted": ({**CONSTRAINED, "metadata": {**CONSTRAINED["metadata"], "uid": "u"}}, {}, set()),
    "default constraints": (pod(), {}, {"LimitRange", "Service"}),
    "default constraints of a controller's pod": (
        {**pod(), "metadata": {**pod()["metadata"], "ownerReferences": owned_by("ReplicaSet", "rs")}},
        {},
        {"LimitRange", "Service", "ReplicaSet"},
    ),
    "volumes": (
        pod(constraints=[hard()], volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]),
        {},
        {"LimitRange", *STORAGE},
    ),
    "volumes without a say": (pod(constraints=[hard()], volumes=[{"name": "v", "emptyDir": {}}]), {}, {"LimitRange"}),
    "selectors of namespaces": (pod(constraints=[hard()], affinity=AFFINITY), {}, {"LimitRange", "Namespace"}),
    "a priority class": (pod(constraints=[hard()], priorityClassName="high"), {}, {"LimitRange", "PriorityClass"}),
    "a runtime class": (pod(constraints=[hard()], runtimeClassName="r"), {}, {"LimitRange", "RuntimeClass"}),
    "preemption": (CONSTRAINED, {"preemption": True}, {"LimitRange", "PodDisruptionBudget", "PriorityClass"}),
}


def without_anything() -> kubespread.Snapshot:
    """A cluster of one node, of which nothing else may be read."""
    builder = SnapshotBuilder()
    builder.add_plain(node("n"))
    for _, kind in FIELDS:
        builder.note_gap(f"not allowed: {kind}", kind)
    return builder.build()


def refused(gaps: tuple[str, ...]) -> set[str]:
    return {gap.removeprefix("not allowed: ") for gap in gaps if gap.startswith("not allowed: ")}


@pytest.mark.parametrize("case", NEEDS)
def test_what_a_question_needs(case: str) -> None:
    candidate, options, expected = NEEDS[case]
    assert refused(kubespread.explain(without_anything(), candidate, **options).gaps) == expected


def test_growing_a_workload_needs_what_it_runs_in() -> None:
    assert refused(kubespread.simulate(without_anything(), WORKLOAD).gaps) == {"LimitRange", "Deployment", "ReplicaSet"}
