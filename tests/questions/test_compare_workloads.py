"""Which workloads of a cluster are compared, what their rows say, and in which order."""

from __future__ import annotations

from typing import Any

import pytest

import kubespread
from kubespread import ClusterSide, Scheduler, Side
from kubespread.errors import UsageError
from kubespread.questions.compare.question import Compare
from tests.builders import Data, hard, hosts, owned_by, pod
from tests.world.clusters import deployment, stateful_set

ZONE = "topology.kubernetes.io/zone"
NODES = hosts("a", "a", "b")
WEB = deployment("web", ("n0",), cpu="1")


def cluster(*objects: Data) -> kubespread.Snapshot:
    return kubespread.Snapshot.from_objects([*NODES, *objects])


def template(name: str, labels: Data) -> list[Data]:
    return [
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": name, "namespace": "shop", "labels": labels},
            "spec": {
                "replicas": 0,
                "selector": {"matchLabels": {"app": name}},
                "template": {
                    "metadata": {"labels": {"app": name}},
                    "spec": {"containers": [{"name": "m", "image": "m"}]},
                },
            },
        }
    ]


ALL: dict[str, tuple[list[Data], list[str]]] = {
    "a Deployment stands for its ReplicaSet and its pods": (WEB, ["default/Deployment/web"]),
    "one that has no pods is asked about too": (template("idle", {}), ["shop/Deployment/idle"]),
    "a StatefulSet": (stateful_set("db", ("n0", "n1")), ["default/StatefulSet/db"]),
    "pods by themselves, each": ([pod("a", "n0"), pod("b", None)], ["default/Pod/a", "default/Pod/b"]),
    "of the pods of a Job the first that waits": (
        [
            pod(name, on)
            | {"metadata": {"name": name, "namespace": "default", "ownerReferences": owned_by("Job", "train")}}
            for name, on in (("a", "n0"), ("b", None), ("c", None))
        ],
        ["default/Pod/b"],
    ),
    "no pod that has ended or is terminating, nor a static one": (
        [
            pod("done", "n0") | {"status": {"phase": "Succeeded"}},
            pod("going", "n0")
            | {"metadata": {"name": "going", "namespace": "default", "deletionTimestamp": "2026-01-01T00:00:00Z"}},
            pod("static", "n0")
            | {
                "metadata": {
                    "name": "static",
                    "namespace": "default",
                    "ownerReferences": owned_by("Node", "n0", api_version="v1"),
                }
            },
            pod("left", "n0"),
        ],
        ["default/Pod/left"],
    ),
}


@pytest.mark.parametrize("case", ALL)
def test_every_workload_is_asked_about_once(case: str) -> None:
    objects, names = ALL[case]
    everything, nothing = cluster(*objects), cluster()
    report = kubespread.compare(ClusterSide(nothing), ClusterSide(everything))
    assert [(row.workload, [*row.changes]) for row in report.workloads] == [(name, ["new"]) for name in names]
    assert kubespread.compare(ClusterSide(everything), ClusterSide(everything)).unchanged == len(names)


def test_the_gravest_change_comes_first_and_each_workload_is_counted_by_it() -> None:
    objects = [
        *deployment("fits", ("n0",), cpu="1"),
        *deployment("pinned", ("n2",), cpu="1", spec={"nodeSelector": {ZONE: "b"}}),
        *deployment(
            "spread", ("n0",), cpu="1", spec={"topologySpreadConstraints": [hard(ZONE, match={"app": "spread"})]}
        ),
    ]
    before = cluster(*objects)
    report = kubespread.compare(ClusterSide(before), ClusterSide(before.edited("cordon n2")))
    changes = {row.workload.name: [*map(str, row.changes)] for row in report.workloads}
    assert [*changes] == ["pinned", "spread", "fits"]
    assert changes["pinned"] == ["no longer fits", "other nodes fit"]
    assert changes["spread"][:1] == ["no longer fits"]
    assert changes["fits"][0] == "other first choice"
    assert report.answer == (
        "3 of 3 workloads differ: 2 no longer fit (Deployment/pinned, Deployment/spread), "
        "1 has another first choice (Deployment/fits)",
    )
    (pinned, *_) = report.workloads
    assert (pinned.before and pinned.before.first, pinned.after and pinned.after.fits) == (("n2",), False)
    assert pinned.nodes == {"no longer fits": 1}


def test_a_pod_that_only_one_side_admits_is_a_change_and_one_that_none_does_a_gap() -> None:
    quota: Any = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "full", "namespace": "default"},
        "spec": {"hard": {"pods": "0"}},
        "status": {"hard": {"pods": "0"}, "used": {"pods": "1"}},
    }
    free, full = cluster(*WEB), cluster(*WEB, quota)
    report = kubespread.compare(ClusterSide(free), ClusterSide(full))
    (row,) = report.workloads
    assert [*row.changes] == ["refused now"]
    assert row.after is not None
    assert "exceeded quota: full" in (row.after.refused or "")
    back = kubespread.compare(ClusterSide(full), ClusterSide(free))
    assert [*back.workloads[0].changes] == ["no longer refused"]
    neither = kubespread.compare(ClusterSide(full), ClusterSide(full))
    assert (neither.same, neither.refused, neither.unchanged) == (True, 1, 1)
    assert (neither.verdict, neither.answer) == ("unknown", ("unknown: 1 workload not judged on either side",))
    assert any(gap.startswith("Deployment/web is not judged: ") for gap in neither.gaps)


def test_another_profile_is_said_and_what_is_for_one_workload_refused() -> None:
    snapshot = cluster(*WEB)
    side = ClusterSide(snapshot, Scheduler(profile="default-scheduler"))
    assert kubespread.compare(side, side).after.scheduler_name == "default-scheduler"
    with pytest.raises(UsageError, match="are for one workload"):
        kubespread.ask(snapshot, Compare(pods=(side, side), replicas=3))
    with pytest.raises(UsageError, match="no workloads in the cluster"):
        kubespread.compare(ClusterSide(cluster()), ClusterSide(cluster()))
    assert kubespread.compare(Side(snapshot, "deploy/web"), Side(snapshot, "deploy/web")).kind == "CompareReport"
