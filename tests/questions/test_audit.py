"""Workloads looked at: what their constraints count, and the cause of what does not hold, planted once each."""

from __future__ import annotations

import json
from typing import Any

import pytest

import kubespread
from kubespread import AuditReport, Scheduler, Snapshot
from kubespread.questions.audit import Audit
from kubespread.questions.commands import Commands
from tests.builders import Data, ago, hard, hosts, pod, soft
from tests.cli.support import FIXTURES
from tests.storage import claim, on_host, storage_class, volume
from tests.world.clusters import HASH, budget, daemon_set, deployment, gone_to_sleep, stateful_set, unready

ZONE, HOSTNAME = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
TWO, THREE = hosts("a", "b"), hosts("a", "b", "c")


def spread(constraint: Any = hard, key: str = ZONE, app: str = "web", **more: Any) -> Data:
    return {"topologySpreadConstraints": [constraint(key, match={"app": app}, **more)]}


def audited(objects: list[Data], *workloads: str, **options: Any) -> AuditReport:
    return kubespread.audit(Snapshot.from_objects(objects), workloads, **options)


def lines(report: AuditReport) -> list[str]:
    """``web violated: drift`` with what was tried, ``as it is 1/1/1``, then the detail."""
    told = []
    for row in report.workloads:
        name = row.workload.rpartition("/")[2]
        if not row.findings:
            told.append(f"{name} ok")
        for each in row.findings:
            trials = ", ".join(
                f"{trial.what or 'as it is'} {'/'.join(str(domain.pods) for domain in trial.counts or ())}"
                for trial in each.trials
            )
            said = [text for text in (trials, each.detail) if text]
            key = f" ({each.topology_key})" if each.topology_key else ""
            told.append("; ".join((f"{name} {each.level}: {each.code}{key}", *said)))
    return told


def sized(node: Data, **allocatable: str) -> Data:
    return {**node, "status": {"allocatable": {**node["status"]["allocatable"], **allocatable}}}


def pinned(on: tuple[str | None, ...] = ("n0", "n0", "n1")) -> list[Data]:
    """Three pods of a StatefulSet, two of whose volumes are in zone a."""
    made = stateful_set("db", on, spec=spread(app="db"))
    templates = [{"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "s"}}]
    made[0]["spec"]["volumeClaimTemplates"] = templates
    objects = [storage_class("s", "d.csi"), *made]
    for ordinal, (each, zone) in enumerate(zip(made[1:], ("a", "a", "b"), strict=True)):
        volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": f"data-db-{ordinal}"}}]
        each["spec"] = {**each["spec"], "volumes": volumes}
        objects.append(claim(f"data-db-{ordinal}", f"pv-{ordinal}", "s"))
        objects.append(volume(f"pv-{ordinal}", "s", only=on_host(zone, ZONE), phase="Bound"))
    return objects


def with_terminating(made: list[Data]) -> list[Data]:
    """The last of the pods on its way out."""
    metadata = {**made[-1]["metadata"], "deletionTimestamp": ago(10)}
    return [*made[:-1], {**made[-1], "metadata": metadata}]


def apart(app: str) -> Data:
    """No pod in a zone with those of an app."""
    term = {"topologyKey": ZONE, "labelSelector": {"matchLabels": {"app": app}}}
    return {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}


CAUSES: dict[str, tuple[list[Data], list[str]]] = {
    "a scale-down or a rollout left them": (
        [*THREE, *deployment("web", ("n0", "n0", "n0"), spec=spread())],
        [f"web violated: drift ({ZONE}); as it is 1/1/1"],
    ),
    "a soft constraint that drifted": (
        [*THREE, *deployment("web", ("n0", "n0", "n0"), spec=spread(soft))],
        [f"web uneven: drift ({ZONE}); as it is 1/1/1"],
    ),
    "pods of others that the constraint counts too": (
        [
            *THREE,
            *deployment("web", ("n0", "n1"), spec=spread()),
            *(pod(f"canary-{number}", "n2", labels={"app": "web"}, constraints=[]) for number in range(4)),
        ],
        [
            f"web violated: otherPods ({ZONE}); as it is 1/1/4, without counting pods of others 1/1/0; "
            "Pod/canary-0, Pod/canary-1, Pod/canary-2 and 1 more",
            f"canary-0 risk: defaultNotApplied ({ZONE}); with the default constraints 1/1/2; c",
        ],
    ),
    "volumes hold them": (
        [*THREE, *pinned()],
        [f"db violated: volumes ({ZONE}); as it is 1/1/0, without volumes 1/1/1; data-db-0, data-db-1, data-db-2"],
    ),
    "a StatefulSet whose last pod waits for its volume's zone makes no other pod": (
        [*THREE[:1], gone_to_sleep(THREE[1]), *THREE[2:], *pinned(("n0", "n0", None))],
        [
            f"db violated: volumes ({ZONE}); once what waits is placed and rollouts are done 2/0/0, as it is 1/0/0, "
            "without volumes 1/0/1; data-db-0, data-db-1",
            "db risk: pending; 0/3 nodes are available: 1 node(s) were unschedulable, 2 node(s) didn't match "
            "PersistentVolume's node affinity.",
        ],
    ),
    "a StatefulSet's next pod is asked about while others wait for the same room": (
        [
            *(sized(node, pods="2") for node in THREE[:2]),
            *pinned(),
            *deployment("late", (None,), spec=spread(app="late")),
        ],
        ["late risk: pending", "db ok"],
    ),
    "the nodes of a zone take no pods": (
        [*THREE[:2], gone_to_sleep(THREE[2]), *deployment("web", ("n0", "n0", "n1", "n1"), spec=spread())],
        [
            f"web violated: unavailableNodes ({ZONE}); as it is 1/1/0, without cordons and taints 2/1/1; n2 of c",
            "web risk: noRoom; 0/3 nodes are available: 1 node(s) were unschedulable, 2 node(s) didn't match pod "
            "topology spread constraints.",
        ],
    ),
    "nodes without the label": (
        [*hosts("a", "b", None), *deployment("web", ("n0", "n0", "n0", "n1"), cpu="2600m", spec=spread())],
        [f"web violated: drift ({ZONE}); as it is 2/2"],
    ),
    "nodes without the label, which others would need": (
        [
            *hosts("a"),
            sized(hosts("a", "b")[1], cpu="1"),
            {**hosts(None, None, None)[2]},
            *deployment("web", ("n0", "n0", "n0", "n1"), cpu="1", spec=spread()),
        ],
        [
            f"web violated: missingLabel ({ZONE}); as it is 2/1, with the label {ZONE}=b 2/2; n2",
            "web risk: noRoom; 0/3 nodes are available: 1 Insufficient cpu, 1 node(s) didn't match pod topology spread "
            "constraints, 1 node(s) didn't match pod topology spread constraints (missing required label).",
        ],
    ),
    "too little room in a zone": (
        [
            *THREE[:2],
            sized(THREE[2], cpu="1"),
            *deployment("web", ("n0", "n0", "n0", "n1", "n1", "n1", "n2"), cpu="1", spec=spread()),
        ],
        [
            f"web violated: capacity ({ZONE}); as it is 2/2/1, asking for no resources 3/2/2; c",
            "web risk: noRoom; 0/3 nodes are available: 1 Insufficient cpu, 2 node(s) didn't match pod topology spread "
            "constraints.",
        ],
    ),
    "other scores weigh more than a soft constraint": (
        [
            *THREE[:2],
            *deployment(
                "web",
                ("n0", "n0", "n0", "n0"),
                spec={
                    **spread(soft),
                    "affinity": {
                        "nodeAffinity": {
                            "preferredDuringSchedulingIgnoredDuringExecution": [
                                {
                                    "weight": 100,
                                    "preference": {
                                        "matchExpressions": [{"key": ZONE, "operator": "In", "values": ["a"]}]
                                    },
                                }
                            ]
                        }
                    },
                },
            ),
        ],
        [
            f"web uneven: outweighed ({ZONE}); as it is 3/1, without the score of TaintToleration 3/1, without the score of NodeAffinity 2/2; NodeAffinity"
        ],
    ),
    "no default constraint applies": (
        [*THREE, pod("one", "n0"), pod("two", "n0")],
        [f"one risk: defaultNotApplied ({ZONE}); with the default constraints 1/1/0; a"],
    ),
    "no constraint is about zones": (
        [*THREE, *deployment("web", ("n0", "n0"), spec=spread(key=HOSTNAME, maxSkew=3))],
        [f"web risk: noConstraint ({ZONE}); with a hard constraint of maxSkew 1 1/1/0; a"],
    ),
    "a default constraint that holds does not spread two pods": (
        [*THREE, *deployment("web", ("n0", "n0"))],
        [f"web risk: loose ({ZONE}); with maxSkew 1 1/1/0; a"],
    ),
    "nothing is wrong": ([*THREE, *deployment("web", ("n0", "n1", "n2"), spec=spread())], ["web ok"]),
    "one pod is in one zone": ([*THREE, pod("one", "n0")], [f"one risk: onePod ({ZONE}); with a second pod 1/1/0; a"]),
    "pods on nodes that count nowhere": (
        [*hosts("a", "b", None), *deployment("web", ("n0", "n1", "n2"), spec=spread(soft))],
        [f"web risk: missingLabel ({ZONE}); n2"],
    ),
    "nodes that a hard constraint keeps empty": (
        [*hosts("a", "b", None), *deployment("web", ("n0", "n1"), spec=spread())],
        [f"web risk: missingLabel ({ZONE}); n2"],
    ),
    "the next pod fits nowhere": (
        [*THREE, *deployment("web", ("n0", "n1", "n2"), cpu="8", spec=spread())],
        ["web risk: noRollout; 0/3 nodes are available: 3 Insufficient cpu."],
    ),
    "a pod waits behind its gates": (
        [*THREE, pod("one", schedulingGates=[{"name": "b"}, {"name": "a"}])],
        ["one risk: gated; a, b"],
    ),
    "the gates of a template hold the next pod": (
        [*THREE, *deployment("web", ("n0", "n1"), spec={"schedulingGates": [{"name": "a"}]})],
        ["web risk: gated; a"],
    ),
    "another scheduler placed the pods": (
        [*THREE, *deployment("web", ("n0", "n0"), spec={"schedulerName": "volcano"})],
        ["web unjudged: otherScheduler; volcano"],
    ),
    "pods wait for another scheduler": (
        [*THREE, *deployment("web", ("n0", None), spec={"schedulerName": "volcano"})],
        ["web risk: otherScheduler; volcano"],
    ),
    "a gate and another scheduler": (
        [*THREE, pod("one", schedulerName="volcano", schedulingGates=[{"name": "a"}])],
        ["one risk: otherScheduler; volcano", "one risk: gated; a"],
    ),
    "pods of DaemonSets are where their nodes are": (
        [*THREE, *daemon_set("agent", ("n0", "n1")), *deployment("web", ("n0", "n1"))],
        ["web ok"],
    ),
}


CAUSES |= {
    "pods that wait will make it even": (
        [*THREE, *deployment("web", ("n0", "n1", "n1", None), spec=spread())],
        [
            f"web violated: underWay ({ZONE}); once what waits is placed and rollouts are done 1/2/1",
            "web risk: pending",
        ],
    ),
    "pods of its own that are terminating hold the room": (
        [
            *THREE[:1],
            sized(THREE[1], cpu="1"),
            *with_terminating(deployment("web", ("n0", "n0", "n1"), replicas=2, cpu="1", spec=spread())),
        ],
        [
            f"web violated: terminating ({ZONE}); as it is 1/0, without its own terminating pods 1/1; "
            "web-c on n1 (Insufficient cpu)",
            "web risk: noRoom; 0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't match pod topology spread "
            "constraints.",
        ],
    ),
    "terminating pods of others hold the room": (
        [
            *THREE[:1],
            sized(THREE[1], cpu="1"),
            *deployment("web", ("n0", "n0"), cpu="1", spec=spread()),
            *with_terminating(deployment("old", ("n1",), replicas=0, cpu="1")),
        ],
        [
            f"web violated: terminating ({ZONE}); as it is 1/0, without terminating pods 1/1; "
            "old-a on n1 (Insufficient cpu)",
            "web risk: noRoom; 0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't match pod topology spread "
            "constraints.",
        ],
    ),
    "pods of others that it counts take the room they have": (
        [
            *THREE[:1],
            sized(THREE[1], cpu="2"),
            *deployment("web", ("n0", "n0", "n0"), cpu="1", spec=spread()),
            pod("canary", "n1", labels={"app": "web"}, constraints=[], requests={"cpu": "2"}),
        ],
        [
            f"web violated: capacity ({ZONE}); as it is 2/1, without counting pods of others 1/0, "
            "asking for no resources 2/2; b",
            "web risk: noRollout; 0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't match pod topology spread "
            "constraints.",
            f"canary risk: onePod ({ZONE}); with a second pod 1/1; b",
        ],
    ),
    "minDomains asks for more domains than there are": (
        [*TWO, *deployment("web", ("n0", "n0", "n1"), spec=spread(minDomains=3))],
        [
            f"web violated: minDomains ({ZONE}); as it is 1/1, without minDomains 2/1; 3",
            "web risk: noRollout; 0/2 nodes are available: 2 node(s) didn't match pod topology spread constraints.",
        ],
    ),
    "a node affinity that a policy does not honor": (
        [
            *THREE,
            *deployment("web", ("n0", "n0"), spec={**spread(nodeAffinityPolicy="Ignore"), "nodeSelector": {ZONE: "a"}}),
        ],
        [
            f"web violated: nodeAffinity ({ZONE}); as it is 1/0/0, on any node 1/1/0; nodeSelector",
            "web risk: noRollout; 0/3 nodes are available: 1 node(s) didn't match pod topology spread constraints, 2 node(s) "
            "didn't match Pod's node affinity/selector.",
        ],
    ),
    "a node selector keeps all in a zone although a constraint is about zones": (
        [*THREE, *deployment("web", ("n0", "n0"), spec={**spread(), "nodeSelector": {ZONE: "a"}})],
        [f"web risk: nodeAffinity ({ZONE}); as it is 2/0/0, on any node 1/1/0; nodeSelector"],
    ),
    "pod anti-affinity leaves no other place": (
        [
            *hosts("a", "a", "b"),
            pod("lone", "n2", labels={"app": "lone"}),
            *deployment("web", ("n0", "n1"), spec={**spread(), **apart("lone")}),
        ],
        [
            f"web violated: podAffinity ({ZONE}); as it is 1/0, without pod anti-affinity 1/1; pod anti-affinity",
            "web risk: noRollout; 0/3 nodes are available: 1 node(s) didn't match pod anti-affinity rules, 2 node(s) didn't match "
            "pod topology spread constraints.",
            f"lone risk: unknown ({ZONE}); with a second pod 0/2; b",
        ],
    ),
    "another constraint of its own stands in the way": (
        [
            *TWO,
            *deployment(
                "web",
                ("n0", "n0", "n0", "n1"),
                spec={
                    "topologySpreadConstraints": [
                        hard(ZONE, match={"app": "web"}),
                        hard(HOSTNAME, match={"app": "web"}, minDomains=3),
                    ]
                },
            ),
        ],
        [
            f"web violated: otherConstraints ({ZONE}); as it is 1/1, without its other constraints 2/2; {HOSTNAME}",
            f"web violated: minDomains ({HOSTNAME}); as it is 1/1, without minDomains 2/2; 3",
            "web risk: noRoom; 0/2 nodes are available: 2 node(s) didn't match pod topology spread constraints.",
        ],
    ),
    "every node that takes no pods counts": (
        [gone_to_sleep(THREE[0]), *THREE[1:], *deployment("web", ("n0", "n0", "n0"), spec=spread())],
        [f"web violated: unavailableNodes ({ZONE}); as it is 0/1/1, without cordons and taints 1/1/1; n0"],
    ),
    "nothing that was tried helps": (
        [TWO[0], sized(gone_to_sleep(TWO[1]), cpu="1"), *deployment("web", ("n0", "n0"), cpu="2", spec=spread())],
        [
            f"web violated: unknown ({ZONE}); as it is 1/0, without cordons and taints 1/0, asking for no resources 1/0",
            "web risk: noRollout; 0/2 nodes are available: 1 node(s) didn't match pod topology spread constraints, "
            "1 node(s) were unschedulable.",
        ],
    ),
    "pods that are not ready": (
        [*THREE, *unready(deployment("web", ("n0", "n1", "n2"), spec=spread()), "web-b")],
        ["web risk: notReady; web-b"],
    ),
    "a Deployment without any pod": (
        [*THREE, *deployment("web", (), replicas=2, spec=spread())],
        ["web risk: notCreated"],
    ),
    "a StatefulSet that waits for a pod before it makes others": (
        [*THREE, *unready(stateful_set("db", ("n0", "n1", "n2"), spec=spread(app="db")), "db-1")[:-1]],
        ["db risk: notCreated; waits for db-1, which is not ready", "db risk: notReady; db-1"],
    ),
}


@pytest.mark.parametrize("case", CAUSES)
def test_the_cause_is_named(case: str) -> None:
    objects, expected = CAUSES[case]
    assert lines(audited(objects)) == expected


@pytest.mark.parametrize(
    ("workloads", "command"),
    [
        ((deployment("web", ("n0", None), cpu="20"),), "kubespread pending deploy/web -n default"),
        ((deployment("web", ("n0", "n0")),), ""),
        ((deployment("web", ("n0", "n0")), deployment("api", ("n0", "n1"))), "kubespread audit deploy/web -n default"),
    ],
    ids=["pods wait", "the only workload", "one of several"],
)
def test_the_next_command_is_never_the_same_audit(workloads: tuple[list[Data], ...], command: str) -> None:
    cluster = Snapshot.from_objects([*hosts("a", "b"), *(obj for objects in workloads for obj in objects)])
    question = Audit()
    assert question.next(kubespread.audit(cluster), Commands(cluster, Scheduler(), question)) == command


def test_a_workload_with_one_finding_of_two_constraints_is_named_once() -> None:
    cluster = Snapshot.from_objects([*THREE, *deployment("web", ("n0", "n0", "n0"), spec=spread(soft))])
    report = kubespread.audit(cluster.edited("spread deploy/web=zone:1"))
    assert [finding.level for finding in report.workloads[0].findings] == ["violated", "uneven"]
    assert [text.partition(":")[0] for text in report.answer[1:]] == ["Deployment/web"]


@pytest.mark.parametrize(
    ("replicas", "on", "cpu", "text"),
    {
        "the only one": (1, (), "1", "its pod is not created; {no_reason}: it would fit on 3 of 3 nodes"),
        "one too large": (1, (), "40", "its pod is not created; {no_reason}: it would fit on none of 3 nodes"),
        "one of several": (
            3,
            ("n0", "n1"),
            "1",
            "not all of its 3 pods are created; {no_reason}: one more would fit on 1 of 3 nodes",
        ),
    }.values(),
)
def test_pods_that_are_not_created_for_no_known_reason_are_to_be_explained(
    replicas: int, on: tuple[str, ...], cpu: str, text: str
) -> None:
    cluster = Snapshot.from_objects([*THREE, *deployment("web", on, replicas=replicas, cpu=cpu, spec=spread())])
    report = kubespread.audit(cluster)
    finding = next(finding for finding in report.workloads[0].findings if finding.code == "notCreated")
    explained = kubespread.explain(cluster, "deploy/web")
    assert finding.text == text.format(no_reason="nothing in the snapshot says why")
    assert f" {len(explained.feasible) or 'none'} of {len(explained.nodes)} nodes" in finding.text
    command = "kubespread explain deploy/web -n default"
    assert Audit().next(report, Commands(cluster, Scheduler())) == command
    lines = [line for line in kubespread.report(cluster).lines if line.code == "notCreated"]
    assert [(line.text, line.command) for line in lines] == [(f"Deployment/web: {finding.text}", command)]


@pytest.mark.parametrize(
    ("spec", "fits"), [({"schedulingGates": [{"name": "a"}]}, False), ({"schedulerName": "volcano"}, None), ({}, True)]
)
def test_no_next_pod_fits_behind_a_gate_and_nobody_knows_of_one_of_another_scheduler(spec: Data, fits: object) -> None:
    (row,) = audited([*THREE, *deployment("web", ("n0", "n1", "n2"), spec=spec)]).workloads
    assert row.next_fits is fits


def test_each_of_two_constraints_over_one_key_is_told_with_its_own_numbers() -> None:
    both = [hard(ZONE, match={"app": "web"}), hard(ZONE, match={"pod-template-hash": HASH})]
    own = deployment("web", ("n0", "n0", "n0"), spec={"topologySpreadConstraints": both})
    other = pod("other", "n0", labels={"pod-template-hash": HASH})
    (row,) = audited([*THREE, *own, other], "deploy/web").workloads
    assert [(finding.constraint, finding.text.partition(":")[0]) for finding in row.findings] == [
        (0, "zone skew 3 exceeds maxSkew 1 (3/0/0)"),
        (1, "zone skew 4 exceeds maxSkew 1 (4/0/0)"),
    ]


def test_a_replica_set_is_asked_about_as_its_deployment() -> None:
    objects = [*THREE, *deployment("web", ("n0", "n1"), spec=spread())]
    (replica_set,) = (each["metadata"]["name"] for each in objects if each["kind"] == "ReplicaSet")
    assert audited(objects, f"rs/{replica_set}").workloads == audited(objects, "default/deploy/web").workloads


JUDGED = FIXTURES / "cases" / "judgment"
SAID: dict[str, tuple[str, list[str]]] = {
    "two ReplicaSets of equal size": (
        "1/c.json",
        ["1 workload, nothing found", "Deployment/web: rollout under way, 1 new pod beside 1 old"],
    ),
    "a terminating pod of its own": (
        "2/c.json",
        [
            "1 violated, 0 fine of 1 workload",
            "Deployment/web: zone skew 2 exceeds maxSkew 1 (2/0): placed afresh without its own terminating pods it would "
            "be 1/1, so terminating pods still hold room: web-5d6-9 on b1 (Insufficient cpu); evict again once they are gone",
            "Deployment/web: its next pod fits nowhere: 0/2 nodes are available: 2 Insufficient cpu.",
        ],
    ),
    "a stuck rollout": (
        "7/c.json",
        ["1 at risk, 0 fine of 1 workload", "Deployment/web: rollout stuck, 2 new pods pending: 2 Insufficient cpu"],
    ),
    "a snapshot taken before kube-scheduler was done": (
        "12/c.json",
        [
            "1 violated, 1 uneven, 0 fine of 2 workloads",
            "shop/Deployment/w0: rack skew 2 exceeds maxSkew 1 (0/2/2/2): once what waits is placed and rollouts are done "
            "it would be 1/2/2/2",
            "Deployment/w1: zone skew 2 exceeds maxSkew 1 (2/0): placed afresh it would be 1/1, so a scale-down, a "
            "rollout, lost nodes or the like left it",
            "shop/Deployment/w0: 6 of 7 pods on nodes, 1 pending, 1 of them placeable now",
            "Deployment/w1: nodes without the label rack count in none of its domains: n04",
        ],
    ),
    "room that a canary takes": (
        "15/c.json",
        [
            "1 violated, 1 at risk, 0 fine of 2 workloads",
            "1 of them has no spread constraint of its own: Deployment/canary",
            "Deployment/web: zone skew 2 exceeds maxSkew 1 (3/1): placed afresh asking for no resources it would be 2/2, so "
            "there is too little room in b",
            "Deployment/web: no rollout completes: with maxSurge 1 and maxUnavailable 0 a restart stops at "
            "0 of 3 new pods: 0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't "
            "match pod topology spread constraints.",
            "Deployment/canary: one pod, in zone b, and a second one fits nowhere",
            "Deployment/canary: no rollout completes: with maxSurge 1 and maxUnavailable 0 a restart stops at 0 of 1 new "
            "pods: 0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't match Pod's node affinity/selector.",
        ],
    ),
    "minDomains in a cluster of one zone": (
        "s31.json",
        [
            "1 violated, 2 at risk, 1 fine of 4 workloads",
            "1 of them has no spread constraint of its own: shop/Pod/w1-0",
            "StatefulSet/w2: zone skew 3 exceeds maxSkew 2 (3): placed afresh without minDomains it would be 3, so "
            "minDomains 4 makes the minimum 0, as 1 domain counts",
        ],
    ),
}


@pytest.mark.parametrize("case", SAID)
def test_what_is_said_of_clusters_that_were_judged_wrongly(case: str) -> None:
    file, expected = SAID[case]
    answer = kubespread.audit(kubespread.load(JUDGED / file)).answer
    assert list(answer[: len(expected)]) == expected


def test_none_of_four_pods_on_a_node_is_found() -> None:
    report = kubespread.audit(kubespread.load(FIXTURES / "cases" / "everyday" / "t1.json.gz"), "shop/deploy/promo")
    (row,) = report.workloads
    assert (row.replicas, row.placed, row.pending, row.placeable, row.level) == (4, 0, 4, 3, "risk")
    assert [each.code for each in row.findings] == ["pending"]
    assert report.verdict == "no"


def test_without_a_cause_it_says_how_many_were_tried() -> None:
    objects, _ = CAUSES["nothing that was tried helps"]
    assert audited(objects).answer[1] == (
        "Deployment/web: zone skew 2 exceeds maxSkew 1 (2/0): no change that was tried makes it even (3 tried); placed "
        "afresh it would be 1/0"
    )


def test_a_deployment_is_to_have_what_it_says_whatever_its_replica_sets_say() -> None:
    made = deployment("web", ("n0", "n1", "n2"), spec=spread())
    former = json.loads(
        json.dumps(made[1:3]).replace("web-5d6", "web-old").replace("5d6", "old").replace("web-a", "web-z")
    )
    former[0]["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1"}}
    (row,) = audited([*THREE, *made, *former]).workloads
    assert (row.replicas, row.placed) == (3, 4)
    assert row.rollout is not None
    assert (row.rollout.old, row.rollout.new, row.rollout.state) == (1, 3, "advancing")


def test_a_rollout_is_stuck_where_its_deployment_says_so_and_where_a_quota_refuses_its_pods() -> None:
    made = deployment("web", ("n0", "n1", "n2"))
    former = json.loads(json.dumps(made[1:]).replace("5d6", "old"))
    made[1]["spec"]["template"]["spec"] = made[0]["spec"]["template"]["spec"] = pod(requests={"cpu": "1"})["spec"]
    deadline = {"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded"}
    told = {**made[0], "status": {"conditions": [deadline]}}
    quota: Data = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "few", "namespace": "default"},
        "spec": {"hard": {"pods": "3"}},
    }
    new = {**made[1], "spec": {**made[1]["spec"], "replicas": 1}}
    said = [audited([*THREE, *given, new, *former]).answer[1] for given in ([made[0]], [told], [made[0], quota])]
    assert said == [
        "Deployment/web: rollout under way, 0 new pods beside 3 old",
        "Deployment/web: rollout stuck: ProgressDeadlineExceeded",
        'Deployment/web: rollout stuck: pods "web-5d6-1" is forbidden: exceeded quota: few, requested: pods=1, used: pods=3, '
        "limited: pods=3",
    ]


@pytest.mark.parametrize(
    ("given", "verdict"),
    [
        ([*THREE, *deployment("web", ("n0", "n1", "n2"), spec=spread())], "yes"),
        ([*THREE, *deployment("web", ("n0", "n0"), spec={"schedulerName": "volcano"})], "unknown"),
        ([*THREE, *deployment("web", ("n0", "n0"), spec=spread())], "no"),
    ],
)
def test_the_verdict(given: list[Data], verdict: str) -> None:
    assert audited(given).verdict == verdict


def test_workloads_without_a_constraint_of_their_own_are_counted() -> None:
    report = audited(
        [*THREE, *deployment("web", ("n0",), spec=spread()), *deployment("api", ("n1",)), *daemon_set("log", ("n0",))]
    )
    assert [name.short_name for name in report.unconstrained] == ["Deployment/api"]
    assert report.answer[1] == "1 of them has no spread constraint of its own: Deployment/api"
    assert audited([*THREE, *deployment("api", ("n1",))]).answer[1:2] != report.answer[1:2]


def test_workloads_of_several_pods_that_no_budget_selects_are_named() -> None:
    """Those of their namespace count; where none are known, nothing is said."""
    two, spec = ("n0", "n1"), spread()
    workloads = [
        *deployment("web", two, spec=spec),
        *deployment("api", two, spec=spec),
        *deployment("db", two, spec=spec),
    ]
    budgets = [budget("web", maxUnavailable=1), budget("one", maxUnavailable=1), budget("db", minAvailable=1)]
    budgets[1]["spec"]["selector"] = {"matchLabels": {"app": "web"}}
    budgets[2]["metadata"]["namespace"] = "elsewhere"
    report = audited([*THREE, *workloads, *deployment("one", ("n0",), spec=spec), *budgets])
    budgets_of = {row.workload.name: row.budgets for row in report.workloads}
    assert budgets_of == {"web": ("one", "web"), "api": (), "db": (), "one": ()}
    assert [name.short_name for name in report.unprotected] == ["Deployment/api", "Deployment/db"]
    said = "2 workloads have several pods and no disruption budget: Deployment/api, Deployment/db"
    assert [line for line in report.answer if "budget" in line] == [said]
    unknown = audited([*THREE, *workloads])
    assert [row.budgets for row in unknown.workloads] == [None] * 3
    assert (unknown.unprotected, [line for line in unknown.answer if "budget" in line]) == ((), [])


def test_a_selector_that_misses_its_own_pods_is_the_cause_unless_it_is_meant() -> None:
    """It counts the pods of another workload on purpose where these have another constraint, or none."""
    nodes = hosts("a", "b", "c")
    lost = {"topologySpreadConstraints": [hard(ZONE, match={"app": "wep"})]}
    (row,) = kubespread.audit(Snapshot.from_objects([*nodes, *deployment("web", ("n0", "n1"), spec=lost)])).workloads
    assert [(found.code, found.select, found.text) for found in row.findings] == [
        (
            "missesOwnPods",
            "app=web",
            "the selector app=wep misses the pod's own labels (app is web): the constraint over zone counts none of its 2 pods; select app=web",
        )
    ]
    beside = [*deployment("web", ("n0", "n1"), spec=lost), *deployment("wep", ("n0", "n1"))]
    rows = kubespread.audit(Snapshot.from_objects([*nodes, *beside])).workloads
    assert [found.code for row in rows for found in row.findings] == []
