"""The table of kinds: complete, and nothing in it that contradicts itself."""

from __future__ import annotations

import pytest

from kubespread.kube.api.kinds import KINDS, POD_CREATORS, READ, Kind, pod_creator
from kubespread.snapshot.live.connection import RESOURCES, path_of


@pytest.mark.parametrize("row", KINDS, ids=lambda row: row.kind)
def test_names_belong_together(row: Kind) -> None:
    stem = row.kind.lower().removesuffix("y")
    assert row.plural.startswith(stem)
    assert row.plural.removeprefix(stem) in ("s", "es", "ies")


@pytest.mark.parametrize("row", [row for row in POD_CREATORS.values() if row.template_path], ids=lambda row: row.kind)
def test_an_empty_object_has_no_pod_template(row: Kind) -> None:
    assert row.pod_template(row.cls()) is None


def test_a_kind_is_known_by_its_group() -> None:
    assert pod_creator("apps/v1beta2", "Deployment") is pod_creator("", "Deployment") is POD_CREATORS["Deployment"]
    assert (pod_creator("example.com/v1", "Deployment"), pod_creator("v1", "Service")) == (None, None)


def test_namesakes_are_read_as_the_kind_they_are_saved_as() -> None:
    assert READ["autoscaling/v1", "HorizontalPodAutoscaler"] is READ["autoscaling/v2", "HorizontalPodAutoscaler"]
    assert ("v1", "PodTemplate") not in READ


def test_where_the_api_serves_a_kind() -> None:
    paths = {row.kind: path_of(row) for row in RESOURCES}
    assert (paths["Pod"], paths["StorageClass"], "PodGroup" in paths) == (
        "/api/v1/pods",
        "/apis/storage.k8s.io/v1/storageclasses",
        False,
    )
