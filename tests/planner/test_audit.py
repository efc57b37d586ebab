"""Workloads looked at: what their constraints count, and the cause of what does not hold, planted once each."""

from __future__ import annotations

from typing import Any

import pytest

import kubespread
from kubespread import AuditReport, Snapshot
from kubespread.render.audit.words import sentence
from tests.builders import Data, hard, hosts, pod, soft
from tests.planner.world.clusters import HASH, daemon_set, deployment, gone_to_sleep, stateful_set
from tests.storage import claim, on_host, storage_class, volume

ZONE, HOSTNAME = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
THREE = hosts("a", "b", "c")


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
            told.append(
                f"{name} {each.level}: {each.cause}{f' ({key})' if (key := each.topology_key) else ''}; {'; '.join(said)}"
            )
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
            *THREE, *deployment("web", ("n0", "n1"), spec=spread()),
            *(pod(f"canary-{number}", "n2", labels={"app": "web"}, constraints=[]) for number in range(4)),
        ],
        [
            f"web violated: otherPods ({ZONE}); as it is 1/1/4, without the other pods that it counts 1/1/0; "
            "Pod/canary-0, Pod/canary-1, Pod/canary-2 and 1 more",
            f"canary-0 risk: defaultNotApplied ({ZONE}); with the default constraints 2/2/2; c",
        ],
    ),
    "volumes hold them": (
        [*THREE, *pinned()],
        [f"db violated: volumes ({ZONE}); as it is 1/0/0, without volumes 1/1/1; data-db-0, data-db-1, data-db-2"],
    ),
    "a StatefulSet whose last pod waits for its volume's zone makes no other pod": (
        [*THREE[:1], gone_to_sleep(THREE[1]), *THREE[2:], *pinned(("n0", "n0", None))],
        [
            f"db violated: volumes ({ZONE}); as it is 1/0/0, without volumes 1/0/1; data-db-0, data-db-1",
            "db risk: noRoom; 0/3 nodes are available: 1 node(s) were unschedulable, 2 node(s) didn't match "
            "PersistentVolume's node affinity.",
        ],
    ),
    "a StatefulSet's next pod is asked about while others wait for the same room": (
        [*(sized(node, pods="2") for node in THREE[:2]), *pinned(), *deployment("late", (None,), spec=spread(app="late"))],
        ["late ok", "db ok"],
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
        [
            f"web violated: drift ({ZONE}); as it is 2/2",
        ],
    ),
    "nodes without the label, which others would need": (
        [
            *hosts("a"), sized(hosts("a", "b")[1], cpu="1"), {**hosts(None, None, None)[2]},
            *deployment("web", ("n0", "n0", "n0", "n1"), cpu="1", spec=spread()),
        ],
        [
            f"web violated: missingLabel ({ZONE}); as it is 2/1, with the label {ZONE}=b 2/2; n2",
            "web risk: noRoom; 0/3 nodes are available: 1 Insufficient cpu, 1 node(s) didn't match pod topology spread "
            "constraints, 1 node(s) didn't match pod topology spread constraints (missing required label).",
        ],
    ),
    "too little room in a zone": (
        [*THREE[:2], sized(THREE[2], cpu="1"), *deployment("web", ("n0", "n0", "n0", "n1", "n1", "n1", "n2"), cpu="1", spec=spread())],
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
                    "affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
                        {"weight": 100, "preference": {"matchExpressions": [{"key": ZONE, "operator": "In", "values": ["a"]}]}}
                    ]}},
                },
            ),
        ],
        [f"web uneven: outweighed ({ZONE}); as it is 3/1, without the score of TaintToleration 3/1, without the score of NodeAffinity 2/2; NodeAffinity"],
    ),
    "no default constraint applies": (
        [*THREE, pod("one", "n0"), pod("two", "n0")],
        [f"one risk: defaultNotApplied ({ZONE}); with the default constraints 1/1/0; a"],
    ),
    "no constraint is about zones": (
        [*THREE, *deployment("web", ("n0", "n0"), spec=spread(key=HOSTNAME, maxSkew=3))],
        [f"web risk: noConstraint ({ZONE}); a"],
    ),
    "a default constraint that holds does not spread two pods": (
        [*THREE, *deployment("web", ("n0", "n0"))], [f"web risk: loose ({ZONE}); a"],
    ),
    "nothing is wrong": ([*THREE, *deployment("web", ("n0", "n1", "n2"), spec=spread())], ["web ok"]),
    "one pod is in one zone": ([*THREE, pod("one", "n0")], ["one ok"]),
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
        ["web risk: noRoom; 0/3 nodes are available: 3 Insufficient cpu."],
    ),
    "a pod waits behind its gates": (
        [*THREE, pod("one", schedulingGates=[{"name": "b"}, {"name": "a"}])], ["one risk: gated; a, b"],
    ),
    "the gates of a template hold the next pod": (
        [*THREE, *deployment("web", ("n0", "n1"), spec={"schedulingGates": [{"name": "a"}]})], ["web risk: gated; a"],
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
        [*THREE, *daemon_set("agent", ("n0", "n1")), *deployment("web", ("n0", "n1"))], ["web ok"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CAUSES)
def test_the_cause_is_named(case: str) -> None:
    objects, expected = CAUSES[case]
    assert lines(audited(objects)) == expected


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
    assert [(finding.constraint, sentence(row, finding).partition(":")[0]) for finding in row.findings] == [
        (0, "zone skew 3 exceeds maxSkew 1 (3/0/0)"),
        (1, "zone skew 4 exceeds maxSkew 1 (4/0/0)"),
    ]


def test_a_replica_set_is_asked_about_as_its_deployment() -> None:
    objects = [*THREE, *deployment("web", ("n0", "n1"), spec=spread())]
    (replica_set,) = (each["metadata"]["name"] for each in objects if each["kind"] == "ReplicaSet")
    assert audited(objects, f"rs/{replica_set}").workloads == audited(objects, "default/deploy/web").workloads
