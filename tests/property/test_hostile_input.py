"""Whatever a manifest or a cluster has been turned into, the answer is a report or an error a user can read."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

import kubespread
from tests.kube.test_faults import rows_of

FIXTURES = Path(__file__).parents[2] / "fixtures"


def documents(pattern: str) -> Iterator[Any]:
    """What the fixtures hold, read by libyaml where it is there: by Python alone it takes a second."""
    for path in sorted(FIXTURES.glob(pattern)):
        yield from yaml.load_all(path.read_bytes(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


MANIFESTS = list(documents("manifests/*.yaml"))
DEPLOYMENT = next(manifest for manifest in MANIFESTS if manifest["kind"] == "Deployment")
STATEFUL = {
    **DEPLOYMENT,
    "kind": "StatefulSet",
    "spec": {**DEPLOYMENT["spec"], "ordinals": {"start": 1}, "volumeClaimTemplates": [{"metadata": {"name": "data"}}]},
}
CRON = {
    "apiVersion": "batch/v1",
    "kind": "CronJob",
    "metadata": {"name": "c"},
    "spec": {"jobTemplate": {"spec": DEPLOYMENT["spec"]}},
}
OTHERS = [{**DEPLOYMENT, "kind": kind} for kind in ("ReplicaSet", "DaemonSet", "Job", "Rollout")]
WORKLOADS = [*MANIFESTS, *OTHERS, STATEFUL, CRON]
IN_FULL = [row.candidate() for table in ("fields-of-containers", "volumes", "specs") for row in rows_of(table)]
CLUSTERS = [document.get("items", [document]) for document in documents("clusters/*.yaml")]
WRONG: list[Any] = [
    None,
    0,
    -1,
    1.5,
    "",
    [],
    {},
    "x",
    True,
    [1],
    {"a": 1},
    [None],
    "1x",
    2**40,
    ["a"],
    {"a": None},
    [{}],
]


def places(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place inside ``data``, outermost first."""
    children = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, child in children:
        yield (*path, key)
        yield from places(child, (*path, key))


@st.composite
def damaged(draw: st.DrawFn, originals: list[Any]) -> Any:
    """One of the originals with a few places removed or overwritten."""
    data = copy.deepcopy(draw(st.sampled_from(originals)))
    for _ in range(draw(st.integers(1, 3))):
        found = list(places(data))
        if not found:
            break
        *outer, last = draw(st.sampled_from(found))
        container = data
        for key in outer:
            container = container[key]
        if draw(st.booleans()):
            container[last] = copy.deepcopy(draw(st.sampled_from(WRONG)))
        else:
            del container[last]
    return data


def ask(objects: list[Any], manifest: dict[str, Any]) -> None:
    try:
        report = kubespread.explain(kubespread.Snapshot.from_objects(objects), manifest)
    except kubespread.KubespreadError:
        return
    assert report.schedulable is (report.message is None)


@given(damaged(WORKLOADS))
@settings(max_examples=200, deadline=None)
def test_a_damaged_manifest(manifest: dict[str, Any]) -> None:
    ask(CLUSTERS[0], manifest)


@given(damaged(IN_FULL))
@settings(max_examples=200, deadline=None)
def test_a_damaged_pod_of_fields_that_only_validation_reads(manifest: dict[str, Any]) -> None:
    ask(CLUSTERS[0], manifest)


@given(damaged(CLUSTERS))
@settings(max_examples=200, deadline=None)
def test_a_damaged_cluster(objects: list[Any]) -> None:
    ask([found for found in objects if isinstance(found, dict)], MANIFESTS[0])
