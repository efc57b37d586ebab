"""Objects that come with the workload in its manifest are part of the cluster that is asked about."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import kubespread
from kubespread.kube.api.core import Service
from tests.builders import Data, hosts, node, owned_by, owner, pod, pods_on

NODES = hosts("a", "a", "b")


def listed(*items: Data) -> Data:
    return {"apiVersion": "v1", "kind": "List", "items": list(items)}


def named(kind: str, name: str, api_version: str = "v1", **more: Any) -> Data:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, **more}


def storage_class(name: str, *, default: bool = False) -> Data:
    made = named("StorageClass", name, "storage.k8s.io/v1", provisioner="p", volumeBindingMode="WaitForFirstConsumer")
    made["metadata"]["annotations"] = {"storageclass.kubernetes.io/is-default-class": "true"} if default else {}
    return made


CLAIMED = pod(volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}])
CLAIM = named(
    "PersistentVolumeClaim",
    "data",
    spec={"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
)
OTHER_CLAIM = {**CLAIM, "metadata": {"name": "other"}}


def ask(candidate: Data, *cluster: Data) -> kubespread.ExplainReport:
    return kubespread.explain(kubespread.Snapshot.from_objects([*NODES, *cluster]), candidate)


def test_a_claim_beside_its_pod_gets_the_default_class() -> None:
    cluster = (OTHER_CLAIM, storage_class("usual", default=True))
    assert ask(CLAIMED, *cluster).message == '0/3 nodes are available: persistentvolumeclaim "data" not found.'
    report = ask(listed(CLAIM, CLAIMED), *cluster)
    assert (report.feasible, report.notes) == (
        ("n0", "n1", "n2"),
        ("taken to be in the cluster, since <object> brings it: PersistentVolumeClaim data",),
    )


def test_a_claim_beside_its_pod_may_bring_its_class() -> None:
    claim = {**CLAIM, "spec": {**CLAIM["spec"], "storageClassName": "own"}}
    assert ask(listed(storage_class("own"), claim, CLAIMED), OTHER_CLAIM).schedulable


def test_a_claim_that_is_bound_already_stays_so() -> None:
    on_b = {
        "required": {
            "nodeSelectorTerms": [
                {"matchExpressions": [{"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["b"]}]}
            ]
        }
    }
    volume = named(
        "PersistentVolume", "pv", spec={"nodeAffinity": on_b, "claimRef": {"namespace": "default", "name": "data"}}
    )
    bound = {
        **CLAIM,
        "metadata": {"name": "data", "namespace": "default", "annotations": {"pv.kubernetes.io/bind-completed": "yes"}},
    }
    bound["spec"] = {**CLAIM["spec"], "volumeName": "pv"}
    assert ask(listed(CLAIM, CLAIMED), bound, volume).feasible == ("n2",)


def test_a_priority_class_beside_its_pod() -> None:
    high = named("PriorityClass", "high", "scheduling.k8s.io/v1", value=7)
    other = named("PriorityClass", "other", "scheduling.k8s.io/v1", value=8)
    with pytest.raises(kubespread.ManifestError, match="no PriorityClass with name high was found"):
        ask(pod(priorityClassName="high"), other)
    assert ask(listed(high, pod(priorityClassName="high")), other).admission == ("PriorityClass high: priority 7",)


def test_what_is_given_says_nothing_of_what_was_not_read() -> None:
    report = ask(listed(named("PriorityClass", "a", "scheduling.k8s.io/v1", value=7), pod(priorityClassName="b")))
    assert report.admission == ()
    assert (
        "no Service objects: default constraints cannot be derived from Services"
        in ask(listed(owner("Service", "s", {}, api_version="v1"), pod())).gaps
    )


def test_a_service_beside_a_bare_pod_gives_it_default_constraints() -> None:
    running = pods_on({"n0": 1, "n1": 1})
    service = owner("Service", "web", {"foo": "bar"}, api_version="v1")
    assert ask(pod(), *running).constraints == ()
    assert ask(listed(service, pod()), *running).constraints[0].selector == "foo=bar"


def test_a_replica_set_beside_its_pod_too() -> None:
    owned = pod()
    owned["metadata"]["ownerReferences"] = owned_by("ReplicaSet", "web")
    template = {"metadata": {"labels": {"foo": "bar"}}, "spec": owned["spec"]}
    replica_set = owner("ReplicaSet", "web", {"matchLabels": {"foo": "bar"}})
    replica_set["spec"]["template"] = template
    found = kubespread.explain(kubespread.Snapshot.from_objects(NODES), listed(replica_set, owned), name="Pod/web")
    assert found.constraints[0].selector == "foo=bar"


def test_a_limit_range_beside_its_pod() -> None:
    limits = named("LimitRange", "lr", spec={"limits": [{"type": "Container", "defaultRequest": {"cpu": "9"}}]})
    assert ask(listed(limits, pod())).message == "0/3 nodes are available: 3 Insufficient cpu."


def test_a_runtime_class_beside_its_pod() -> None:
    kata = named("RuntimeClass", "kata", "node.k8s.io/v1", handler="kata", overhead={"podFixed": {"cpu": "9"}})
    assert ask(listed(kata, pod(runtimeClassName="kata"))).message == "0/3 nodes are available: 3 Insufficient cpu."


def test_a_node_beside_the_pod() -> None:
    assert ask(listed(node("n9", cpu="16"), pod(requests={"cpu": "9"}))).feasible == ("n9",)


def test_a_namespace_is_the_one_asked_for() -> None:
    cluster = kubespread.Snapshot.from_objects([*NODES, OTHER_CLAIM, storage_class("usual", default=True)])
    candidate = {**CLAIMED, "metadata": {"name": "web"}}
    assert kubespread.explain(cluster, listed(CLAIM, candidate), namespace="shop").schedulable


def test_objects_may_come_in_a_file_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "class.yaml").write_text(
        "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 7}"
    )
    (tmp_path / "pod.yaml").write_text(
        "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {priorityClassName: high, containers: [{name: c, image: x}]}}"
    )
    files = [tmp_path / "pod.yaml", tmp_path / "class.yaml"]
    (report,) = kubespread.simulate(kubespread.Snapshot.from_objects(NODES), files)
    assert report.admission == ("PriorityClass high: priority 7",)
    assert report.notes == (f"taken to be in the cluster, since {files[1]} brings it: PriorityClass high",)


def test_a_value_of_the_wrong_type_is_named_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "web.yaml"
    file.write_text(
        "apiVersion: v1\nkind: Service\nmetadata: {name: s}\nspec:\n  selector: 7\n---\n"
        "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: x}]}}\n"
    )
    with pytest.raises(kubespread.ManifestError) as refused:
        kubespread.explain(kubespread.Snapshot.from_objects(NODES), file)
    assert str(refused.value) == (f"{file}:5: spec.selector: expected an object, found a number")


def test_the_snapshot_is_left_as_it_is() -> None:
    cluster = kubespread.Snapshot.from_objects(NODES)
    kubespread.explain(cluster, listed(owner("Service", "s", {"foo": "bar"}, api_version="v1"), node("n9"), pod()))
    assert (len(cluster.nodes), cluster.objects.get(Service)) == (3, ())


def test_a_job_beside_its_service_is_spread_by_it() -> None:
    template = {"metadata": {"labels": {"foo": "bar"}}, "spec": {**pod()["spec"], "restartPolicy": "Never"}}
    job = named("Job", "j", "batch/v1", spec={"completions": 2, "parallelism": 2, "template": template})
    cluster = kubespread.Snapshot.from_objects(NODES)
    (report,) = kubespread.simulate(cluster, [listed(job, owner("Service", "s", {"foo": "bar"}, api_version="v1"))])
    zones = Counter("b" if placement.node == "n2" else "a" for placement in report.placements)
    assert zones == {"a": 1, "b": 1}


def test_an_amount_that_is_none_is_a_fault_and_not_a_crash() -> None:
    limits = named("LimitRange", "lr", spec={"limits": [{"type": "Container", "max": {"cpu": "lots"}}]})
    with pytest.raises(
        kubespread.ManifestError, match=r"spec.limits\[0\].max\[cpu\]: .*quantities must match the regular expression"
    ):
        ask(listed(limits, pod()))
    with pytest.raises(
        kubespread.SnapshotError, match=r"^LimitRange lr: spec.limits\[0\].max\[cpu\]: quantities must match"
    ):
        ask(pod(), limits)
