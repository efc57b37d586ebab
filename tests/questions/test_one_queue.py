"""Several workloads are asked about one cluster: what one frees, another finds; what one takes, another misses."""

from __future__ import annotations

from collections import Counter

import kubespread
from tests.builders import Data, hard, hosts, owned_by, pod

ZONE = "topology.kubernetes.io/zone"


def running(name: str) -> list[Data]:
    """A Deployment of two pods of a cpu each on n0, with the ReplicaSet between them."""
    template = {
        "metadata": {"labels": {"app": name}},
        "spec": {"containers": [{"name": "c", "image": "x", "resources": {"requests": {"cpu": "1"}}}]},
    }
    spec = {"replicas": 2, "selector": {"matchLabels": {"app": name}}, "template": template}
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "default"},
        "spec": spec,
    }
    replica_set = {
        **deployment,
        "kind": "ReplicaSet",
        "metadata": {"name": f"{name}-1", "namespace": "default", "ownerReferences": owned_by("Deployment", name)},
    }
    pods = [pod(f"{name}-1-{copy}", "n0", labels={"app": name}, requests={"cpu": "1"}) for copy in range(2)]
    for each in pods:
        each["metadata"]["ownerReferences"] = owned_by("ReplicaSet", f"{name}-1")
    return [deployment, replica_set, *pods]


def test_all_that_are_placed_anew_leave_before_any_is_placed() -> None:
    (node,) = hosts("a")
    node["status"]["allocatable"]["cpu"] = "4"
    snapshot = kubespread.Snapshot.from_objects([node, *running("a"), *running("b")])
    reports = kubespread.simulate(snapshot, ["deploy/a", "deploy/b"], from_scratch=True)
    assert [(report.placed, report.stopped) for report in reports] == [(2, None), (2, None)]


def test_stored_pods_that_are_asked_about_together_take_each_other_no_room() -> None:
    (node,) = hosts("a")
    node["status"]["allocatable"]["cpu"] = "4"
    stored = [pod(name, "n0", requests={"cpu": "2"}) for name in ("a", "b")]
    reports = kubespread.simulate(kubespread.Snapshot.from_objects([node, *stored]), ["pod/a", "pod/b"])
    assert [(report.placed, report.stopped) for report in reports] == [(1, None), (1, None)]


def daemon_set(**spec: object) -> Data:
    template = {"metadata": {"labels": {"foo": "bar"}}, "spec": {"containers": [{"name": "c", "image": "x"}], **spec}}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "agent"},
        "spec": {"selector": {"matchLabels": {"foo": "bar"}}, "template": template},
    }


def test_a_daemon_sets_pods_keep_away_from_each_other() -> None:
    """One zone holds two of the three nodes, and the second pod there meets the first."""
    term = {"topologyKey": ZONE, "labelSelector": {"matchLabels": {"foo": "bar"}}}
    asked = daemon_set(affinity={"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}})
    report = kubespread.simulate(kubespread.Snapshot.from_objects(hosts("a", "a", "b")), asked)
    assert (report.replicas, report.placed) == (3, 2)


def test_a_pinned_pod_counts_its_own_node_alone() -> None:
    """The controller pins each pod with a required affinity, and spreading leaves out the nodes that this rules out."""
    asked = daemon_set(topologySpreadConstraints=[hard(ZONE)])
    report = kubespread.simulate(kubespread.Snapshot.from_objects(hosts("a", "a", "a", "b")), asked)
    assert Counter(placed.node for placed in report.placements) == Counter(["n0", "n1", "n2", "n3"])


def test_a_pod_that_found_no_node_is_tried_again_once_another_is_placed() -> None:
    """n1 waits for n3: before it zone b is empty, after it the skew allows a second pod in zone a. n2 stays pending."""
    asked = daemon_set(topologySpreadConstraints=[{**hard(ZONE), "nodeAffinityPolicy": "Ignore"}])
    report = kubespread.simulate(kubespread.Snapshot.from_objects(hosts("a", "a", "a", "b")), asked)
    assert (report.replicas, [placed.node for placed in report.placements]) == (4, ["n0", "n3", "n1"])
    assert report.stopped == "no room on n2: node(s) didn't match pod topology spread constraints"


def test_pods_that_are_tried_again_are_no_more_than_were_asked_for() -> None:
    """a wants to be near b, which comes after it; once b is there, a's two pods follow and no third one."""
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "b"}}}
    affinity = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    near = pod("a", labels={"app": "a"}, affinity=affinity)
    reports = kubespread.simulate(
        kubespread.Snapshot.from_objects(hosts("x", "y")), [near, pod("b", labels={"app": "b"})], 2
    )
    assert [report.placed for report in reports] == [2, 2]
