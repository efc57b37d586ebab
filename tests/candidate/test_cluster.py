"""Pods and workloads of the cluster itself: the pod as it stands, one more of a workload."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import kubespread
from tests.builders import Data, hard, hosts, owned_by, pod
from tests.world.clusters import stateful_set

HASHED = {"foo": "bar", "pod-template-hash": "real"}
TEMPLATE: Data = {
    "metadata": {"labels": {"foo": "bar"}},
    "spec": {
        "containers": [{"name": "c", "image": "x"}],
        "topologySpreadConstraints": [hard("topology.kubernetes.io/zone", matchLabelKeys=["pod-template-hash"])],
    },
}
SELECTOR = {"matchLabels": {"foo": "bar"}}


def workload(kind: str, name: str, *, template: Data = TEMPLATE, api_version: str = "apps/v1", **more: Any) -> Data:
    selector = {} if kind in ("Job", "CronJob") else {"selector": SELECTOR}
    spec = {**selector, "template": template, **more}
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name, "namespace": "default"}, "spec": spec}


def replica_set(name: str, revision: str, *, template: Data = TEMPLATE, owner: str = "web") -> Data:
    made = workload("ReplicaSet", name, template={**template, "metadata": {"labels": HASHED}})
    made["metadata"] |= {
        "annotations": {"deployment.kubernetes.io/revision": revision},
        "ownerReferences": owned_by("Deployment", owner),
    }
    return made


def ask(reference: str, *objects: Data, **options: Any) -> kubespread.ExplainReport:
    return kubespread.explain(kubespread.Snapshot.from_objects([*hosts("a", "a", "b"), *objects]), reference, **options)


def test_a_waiting_pod_is_asked_about_as_it_stands() -> None:
    waiting = pod("web", constraints=[hard("topology.kubernetes.io/zone")])
    report = ask("pod/web", waiting, pod("one", "n0"), pod("two", "n1"))
    assert (report.feasible, report.notes) == (("n2",), ())


def test_a_running_pod_is_asked_about_without_itself() -> None:
    running = pod("web", "n0", constraints=[hard("topology.kubernetes.io/zone")])
    report = ask("pod/web", running)
    assert (report.feasible, report.constraints[0].domains[0].matching) == (("n0", "n1", "n2"), 0)
    assert report.notes == (
        "pod default/web runs on n0; it is asked about as if it were scheduled again, without itself",
    )


@pytest.mark.parametrize("parallel", [False, True])
def test_a_stateful_set_says_which_pod_its_next_one_waits_for(parallel: bool) -> None:
    report = ask("sts/db", *stateful_set("db", ("n0", None), parallel=parallel))
    said = "db-1 has no node yet, and db-2 is made only once it runs: ask about pod/db-1"
    assert (report.pod.name, said in report.notes) == ("db-2", not parallel)


def test_asking_changes_nothing_of_the_snapshot() -> None:
    snapshot = kubespread.Snapshot.from_objects(
        [*hosts("a", "b"), pod("web", "n0", constraints=[hard()]), pod("other", "n0")]
    )
    first = kubespread.explain(snapshot, "pod/web", kubespread.Scheduler(kube_version="1.20"))
    assert kubespread.explain(snapshot, "pod/web", kubespread.Scheduler(kube_version="1.20")) == first
    assert [found.spec.node_name for found in snapshot.pods] == ["n0", "n0"]


def test_a_pod_that_is_being_deleted_is_said_to_be() -> None:
    leaving = pod("web")
    leaving["metadata"]["deletionTimestamp"] = "2026-11-20T00:00:00Z"
    assert ask("pod/web", leaving).notes == ("pod default/web is being deleted; kube-scheduler would not place it",)


def test_a_pod_that_has_ended_cannot_be_asked_about() -> None:
    with pytest.raises(
        kubespread.UsageError, match=r"^pod default/web has ended \(Succeeded\): it is not scheduled again$"
    ):
        ask("pod/web", {**pod("web"), "status": {"phase": "Succeeded"}})


def test_a_deployment_is_one_more_pod_of_its_current_replica_set() -> None:
    running = pod("web-1", "n2", labels=HASHED)
    report = ask(
        "deploy/web", workload("Deployment", "web"), replica_set("web-old", "9"), replica_set("web-new", "10"), running
    )
    assert report.constraints[0].selector == "foo=bar,pod-template-hash=real"
    assert (report.feasible, report.notes) == (
        ("n0", "n1"),
        ("Deployment/web: evaluated as another pod of its ReplicaSet web-new",),
    )


def test_a_deployment_whose_template_is_not_rolled_out_is_its_own_template() -> None:
    other = {**TEMPLATE, "spec": {**TEMPLATE["spec"], "nodeSelector": {"a": "b"}}}
    report = ask("deployment/web", workload("Deployment", "web"), replica_set("web-1", "1", template=other))
    assert report.notes[0].startswith("pod-template-hash ")


def test_a_stateful_set_is_its_first_pod_that_is_not_there() -> None:
    claims = [{"metadata": {"name": "data"}, "spec": {}}]
    workloads = workload("StatefulSet", "db", volumeClaimTemplates=claims, ordinals={"start": 1})
    assert ask("sts/db", workloads, pod("db-1", "n0"), pod("db-2", "n1"), pod("db-4", "n1")).pod.name == "db-3"


REFERENCES = {
    "rs/w": ("ReplicaSet", "apps/v1"),
    "replicasets.apps/w": ("ReplicaSet", "apps/v1"),
    "DaemonSet/w": ("DaemonSet", "apps/v1"),
    "ds/w": ("DaemonSet", "apps/v1"),
    "job/w": ("Job", "batch/v1"),
    "statefulsets/w": ("StatefulSet", "apps/v1"),
}


@pytest.mark.parametrize("reference", REFERENCES)
def test_kinds_are_named_as_kubectl_names_them(reference: str) -> None:
    kind, api_version = REFERENCES[reference]
    assert ask(reference, workload(kind, "w", api_version=api_version)).schedulable


def test_a_cron_job() -> None:
    cron = workload("CronJob", "w", api_version="batch/v1")
    cron["spec"] = {"jobTemplate": {"spec": {"template": TEMPLATE}}}
    assert ask("cj/w", cron).schedulable


def test_a_replication_controller() -> None:
    controller = workload("ReplicationController", "w", api_version="v1")
    controller["spec"]["selector"] = {"foo": "bar"}
    assert ask("rc/w", controller).schedulable


def test_the_namespace_decides() -> None:
    objects = [pod("web", namespace="shop"), pod("web", namespace="bank")]
    assert ask("pod/web", *objects, namespace="shop").pod.namespace == "shop"
    with pytest.raises(
        kubespread.UsageError,
        match=r'^pods "web" not found in namespace default; there is one in namespace bank, shop$',
    ):
        ask("pod/web", *objects)


def test_a_mistyped_name_is_told_what_there_is() -> None:
    with pytest.raises(kubespread.UsageError, match=r'^pods "wbe" not found in namespace default; there is web$'):
        ask("pod/wbe", pod("web"))


def test_a_file_of_that_name_is_the_manifest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pod").mkdir()
    (tmp_path / "pod" / "web").write_text(
        "{apiVersion: v1, kind: Pod, metadata: {name: mine}, spec: {containers: [{name: c, image: x}]}}"
    )
    assert ask("pod/web", pod("web")).pod.name == "mine"
