"""Replicas that are told apart go where their controller's pods go, one after another: simulate places them as a world
does in which the workload is applied, and check says the same of a file and of the object in the cluster.
"""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

import kubespread
from tests.builders import Data, hard, hosts, soft
from tests.questions.test_play import scenario
from tests.storage import claim, on_host, storage_class, volume

ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
DYNAMIC = storage_class("dynamic", "d.csi")
INDEX = {"StatefulSet": "apps.kubernetes.io/pod-index", "Job": "batch.kubernetes.io/job-completion-index"}


@st.composite
def workloads(draw: st.DrawFn) -> Data:
    kind = draw(st.sampled_from(sorted(INDEX)))
    by_index = [
        {"matchLabelKeys": [INDEX[kind]]},
        {"labelSelector": {"matchExpressions": [{"key": INDEX[kind], "operator": "In", "values": ["0", "2"]}]}},
        {"labelSelector": {"matchExpressions": [{"key": INDEX[kind], "operator": "NotIn", "values": ["0"]}]}},
        {},
    ]
    constraint = draw(st.sampled_from([hard, soft]))(draw(st.sampled_from([ZONE, HOST]))) | draw(
        st.sampled_from(by_index)
    )
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": draw(st.sampled_from(["1", "2", "3"]))}}}
    spec: Data = {"containers": [container], "topologySpreadConstraints": [constraint]}
    template = {"metadata": {"labels": {"foo": "bar"}}, "spec": spec}
    replicas = draw(st.integers(1, 5))
    if kind == "Job":
        spec["restartPolicy"] = "Never"
        own: Data = {"parallelism": replicas, "completions": replicas, "completionMode": "Indexed"}
    else:
        own = {"replicas": replicas, "selector": {"matchLabels": {"foo": "bar"}}}
        own["podManagementPolicy"] = draw(st.sampled_from(["Parallel", "OrderedReady"]))
        if draw(st.booleans()):
            made = claim("data", storage_class="dynamic")["spec"]
            own["volumeClaimTemplates"] = [{"metadata": {"name": "data"}, "spec": made}]
    version = "batch/v1" if kind == "Job" else "apps/v1"
    return {
        "apiVersion": version,
        "kind": kind,
        "metadata": {"name": "db", "namespace": "default"},
        "spec": {**own, "template": template},
    }


@st.composite
def clusters(draw: st.DrawFn) -> list[Data]:
    """Nodes, some of them cordoned, and the volumes that some ordinals have already."""
    nodes = hosts(*draw(st.lists(st.sampled_from("ab"), min_size=2, max_size=4)))
    for each in nodes:
        each["spec"] = {"unschedulable": True} if draw(st.integers(0, 3)) == 0 else {}
    objects = [DYNAMIC, claim("other", storage_class="dynamic")]
    for ordinal in sorted(draw(st.sets(st.integers(0, 4), max_size=3))):
        host = draw(st.sampled_from(nodes))["metadata"]["name"]
        bound = volume(f"v{ordinal}", "dynamic", only=on_host(host), phase="Bound")
        objects += [bound, claim(f"data-db-{ordinal}", f"v{ordinal}", "dynamic")]
    return [*nodes, *objects]


@given(clusters(), workloads())
@settings(max_examples=60, deadline=None)
def test_simulate_places_each_replica_where_it_goes_once_the_workload_is_applied(
    objects: list[Data], workload: Data
) -> None:
    snapshot = kubespread.Snapshot.from_objects(objects)
    simulated = kubespread.simulate(snapshot, workload)
    with TemporaryDirectory() as folder:
        manifest = Path(folder) / "workload.json"
        manifest.write_text(json.dumps(workload))
        (step,) = kubespread.plan(snapshot, scenario(f"apply {manifest}")).steps
    placed = [placement.node for placement in simulated.placements]
    assert placed == [placement.node for placement in step.pods_placed]
    assert (simulated.pending, simulated.not_made_yet) == (step.pending, step.unmade)


@given(clusters(), workloads())
@settings(max_examples=30, deadline=None)
def test_an_object_of_the_cluster_is_checked_as_its_file(objects: list[Data], workload: Data) -> None:
    snapshot = kubespread.Snapshot.from_objects([*objects, workload])

    def found(source: Data | str) -> list[tuple[str, str]]:
        return [(finding.code, finding.text) for finding in kubespread.check(snapshot, source).findings]

    assert found(f"{workload['kind'].lower()}/db") == found(workload)
