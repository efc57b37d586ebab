"""What is stuck and why, in one line a group, and what frees it; the proof is repeated by hand."""

from __future__ import annotations

import json
import shlex
from typing import Any

import pytest

import kubespread
from kubespread import PendingReport, Snapshot
from tests.builders import Data, hard, hosts, node, owned_by, pod, pods_on, taint
from tests.cli.support import FIXTURES, run
from tests.world.clusters import deployment, gone_to_sleep

STUCK = kubespread.load(FIXTURES / "clusters" / "stuck.yaml")


def waiting(count: int, name: str = "web", **more: Any) -> list[Data]:
    """Pods of a ReplicaSet that have no node."""
    made = [pod(f"{name}-{number}", **more) for number in range(count)]
    for each in made:
        each["metadata"] |= {"ownerReferences": owned_by("ReplicaSet", name), "uid": each["metadata"]["name"]}
    return made


def lines(report: PendingReport) -> list[str]:
    """``cause | pods | workloads | options | frees``."""
    return [
        " | ".join(
            (
                group.why,
                str(len(group.pods)),
                " ".join(workload.rpartition("/")[2] for workload in group.workloads),
                "none" if group.change is None else " ".join(group.change.options),
                str(group.freed),
            )
        )
        for group in report.groups
    ]


def asked(objects: list[Data], **options: Any) -> PendingReport:
    return kubespread.pending(Snapshot.from_objects(objects), **options)


def running(pods: list[Data], nodes: str) -> list[Data]:
    """The first of them run on nodes, one on each."""
    for each, name in zip(pods, nodes, strict=False):
        each["spec"]["nodeName"] = name
    return pods


TWO_CONTAINERS = [
    {"name": "main", "image": "x", "resources": {"requests": {"cpu": "4"}}},
    {"name": "side", "image": "x", "resources": {"requests": {"cpu": "1"}}},
]
OTHER = {"name": "other", "image": "x", "resources": {"requests": {"cpu": "5"}}}
ZONES = [node("a", zone="a"), node("b", zone="b"), node("c", zone="c", taints=[taint("x")])]
CASES: dict[str, tuple[list[Data], list[str]]] = {
    "nothing waits": ([node("a"), *pods_on({"a": 2})], []),
    "a tainted domain holds the minimum down": (
        [*ZONES, *pods_on({"a": 1, "b": 1}), *waiting(4, constraints=[hard()])],
        [
            "maxSkew 1 over zone: fewest pods, 0, in zone c (nodes: 1 tainted) | 4 | web | --set nodeTaintsPolicy[zone]=Honor | 4"
        ],
    ),
    "a cordoned domain, which the field alone does not leave out": (
        [
            *ZONES[:2],
            node("c", zone="c", unschedulable=True),
            *pods_on({"a": 1, "b": 1}),
            *waiting(2, constraints=[hard()]),
        ],
        ["maxSkew 1 over zone: fewest pods, 0, in zone c (nodes: 1 cordoned) | 2 | web | --uncordon c | 2"],
    ),
    "a pod whose eviction makes room, and whose successor would wait instead": (
        [
            *ZONES[:2],
            node("c", zone="c", cpu="1"),
            *running(waiting(3, requests={"cpu": "2"}, constraints=[hard()]), "ab"),
        ],
        ["maxSkew 1 over zone: fewest pods, 0, in zone c (nodes: 1 has too little cpu) | 1 | web | --set cpu=1 | 1"],
    ),
    "fewer domains than minDomains": (
        [*ZONES[:2], *pods_on({"a": 1, "b": 1}), *waiting(3, constraints=[hard(minDomains=3)])],
        ["maxSkew 1 over zone: 2 zones, minDomains 3 | 3 | web | --set minDomains[zone]=2 | 3"],
    ),
    "no node has the key": (
        [node("a"), *waiting(1, constraints=[hard("rack")])],
        [
            "maxSkew 1 over rack: no node has the label rack | 1 | web | --set whenUnsatisfiable[rack]=ScheduleAnyway | 1"
        ],
    ),
    "the largest hole is too small": (
        [node("a", cpu="4"), node("b", cpu="4"), *waiting(2, requests={"cpu": "5"})],
        ["needs 5 cpu on one node; most free on one: 4 | 2 | web | --set cpu=4 | 2"],
    ),
    "more pods than holes, so a smaller one counts": (
        [node("a", cpu="4"), node("b", cpu="3"), *waiting(2, requests={"cpu": "5"})],
        ["needs 5 cpu on one node; most free on one: 4 | 2 | web | --set cpu=3 | 2"],
    ),
    "several nodes to uncordon": (
        [gone_to_sleep(node("a", cpu="4")), gone_to_sleep(node("b", cpu="4")), *waiting(2, requests={"cpu": "3"})],
        ["both nodes cordoned | 2 | web | --uncordon a --uncordon b | 2"],
    ),
    "a taint to tolerate for more pods than one node holds": (
        [
            node("a", cpu="4", taints=[taint("x")]),
            node("b", cpu="4", taints=[taint("x")]),
            *waiting(2, requests={"cpu": "3"}),
        ],
        ["both nodes tainted | 2 | web | --set tolerations=x:NoSchedule | 2"],
    ),
    "two workloads with one cause and one remedy are one group": (
        [
            *ZONES,
            *pods_on({"a": 1, "b": 1}),
            *waiting(2, constraints=[hard()]),
            *waiting(1, "api", constraints=[hard()], requests={"cpu": "1"}),
        ],
        [
            "maxSkew 1 over zone: fewest pods, 0, in zone c (nodes: 1 tainted) | 3 | api web | --set nodeTaintsPolicy[zone]=Honor | 3"
        ],
    ),
    "two workloads with one cause, which one change does not free alike": (
        [node("a", cpu="4"), *waiting(2, containers=TWO_CONTAINERS), *waiting(1, "api", containers=[OTHER])],
        [
            "needs 5 cpu on one node; most free on one: 4 | 2 | web | --set cpu[main]=1 | 2",
            "needs 5 cpu on one node; most free on one: 4 | 1 | api | --set cpu=4 | 1",
        ],
    ),
    "a label that no node has, and too little cpu": (
        [node("a", cpu="4"), *waiting(1, requests={"cpu": "5"}, nodeSelector={"pool": "gpu"})],
        [
            "no node has pool=gpu (nodeSelector); needs 5 cpu on one node; most free on one: 4 | 1 | web | "
            "--set cpu=4 --label 'a pool=gpu' | 1"
        ],
    ),
    "room enough on nodes that are closed": (
        [
            node("a", cpu="1"),
            node("b", cpu="1"),
            node("g", cpu="16", taints=[taint("gpu")]),
            gone_to_sleep(node("c", cpu="16")),
            *waiting(2, requests={"cpu": "2"}),
        ],
        [
            "needs 2 cpu on one node; most free on one: 1, but 16 on c (cordoned) and g (tainted gpu) | 2 | web | --uncordon c | 2"
        ],
    ),
    "a node selector that leaves one node, which has other faults": (
        [
            node("a", rack="ra", pool="gen"),
            node("b", rack="rb", pool="gen"),
            node("m", pool="mem"),
            *waiting(2, nodeSelector={"pool": "mem"}, constraints=[hard("rack")]),
        ],
        ["nodeSelector pool=mem leaves only m, which has no rack label | 2 | web | --label 'a pool=mem' | 2"],
    ),
    "nodes that fail for several reasons each": (
        [
            node("a", zone="a", unschedulable=True, cpu="1"),
            node("b", zone="b", taints=[taint("x")], cpu="1"),
            *waiting(1, requests={"cpu": "2"}),
        ],
        [
            "needs 2 cpu on one node; most free on one: 1; 1 cordoned, 1 tainted | 1 | web | --set cpu=1 --uncordon a | 1"
        ],
    ),
    "pods that each need a node of their own, and take it in turn": (
        [
            node("a", cpu="4"),
            pod("all", "a", requests={"cpu": "4"}),
            *(each for cpu in "234" for each in waiting(1, f"of-{cpu}", requests={"cpu": cpu})),
            *waiting(1, "gated", schedulingGates=[{"name": "quota"}]),
        ],
        [
            "needs 2 cpu on one node; most free on one: 0 | 1 | of-2 | --add-node a | 1",
            "needs 3 cpu on one node; most free on one: 0 | 1 | of-3 | --add-node a:2 | 1",
            "needs 4 cpu on one node; most free on one: 0 | 1 | of-4 | --add-node a:3 | 1",
            "waits behind scheduling gates: quota | 1 | gated | none | 0",
        ],
    ),
    "fewer fit together than each by itself": (
        [*(node(name, zone=name) for name in "abc"), *waiting(4, constraints=[hard(minDomains=4)])],
        ["3 of 4 fit; maxSkew 1 over zone: 3 zones, minDomains 4 | 4 | web | --set minDomains[zone]=3 | 4"],
    ),
    "a pod that kube-scheduler makes room for": (
        [node("a", cpu="4"), pod("low", "a", requests={"cpu": "3"}), *waiting(1, requests={"cpu": "2"}, priority=10)],
        ["preempting default/low | 1 | web | none | 0"],
    ),
    "one of two fits, by preemption": (
        [node("a", cpu="4"), pod("low", "a", requests={"cpu": "3"}), *waiting(2, requests={"cpu": "3"}, priority=10)],
        [
            "1 of 2 fit, preempting default/low; needs 3 cpu on one node; most free on one: 1 | 2 | web | --add-node a | 2"
        ],
    ),
    "gates, claims, other schedulers and pods that fit are causes of their own": (
        [
            node("a"),
            *waiting(1, "gated", schedulingGates=[{"name": "quota"}]),
            *waiting(1, "foreign", schedulerName="volcano"),
            *waiting(1, "late"),
            *waiting(1, "claims", volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "gone"}}]),
            {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "x", "namespace": "default"}},
        ],
        [
            'persistentvolumeclaim "gone" not found | 1 | claims | none | 0',
            'scheduler "volcano", which is not modeled | 1 | foreign | none | 0',
            "waits behind scheduling gates: quota | 1 | gated | none | 0",
            "1 node has room | 1 | late | none | 0",
        ],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_groups_and_what_frees_them(case: str) -> None:
    objects, expected = CASES[case]
    assert lines(asked(objects)) == expected


def mounting(*names: str) -> Data:
    return {"volumes": [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in names]}


CLAIM: Data = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "x", "namespace": "default"}}
UNHELPED: dict[str, tuple[list[Data], int, str]] = {
    "a claim that is missing": (
        [node("a"), CLAIM, *waiting(1, **mounting("gone"))],
        600,
        "none: PersistentVolumeClaim gone has to be created",
    ),
    "two claims that are missing": (
        [node("a"), CLAIM, *waiting(1, **mounting("x", "old", "gone"))],
        600,
        "none: PersistentVolumeClaims gone, old have to be created",
    ),
    "a claim that is not bound": (
        [node("a"), {**CLAIM, "spec": {"volumeName": "late"}}, *waiting(1, **mounting("x"))],
        600,
        "none: its claims are at fault: no change of nodes, of other pods or of constraints helps",
    ),
    "all nodes are lost": (
        [{**hosts("a")[0], "spec": {"taints": [taint("node.kubernetes.io/unreachable")]}}, *waiting(1)],
        600,
        "none to try: no constraint, request or label to change, and no working node to copy",
    ),
    "nothing that is tried helps": (
        [node("a"), *waiting(1, requests={"example.com/gpu": "1"})],
        600,
        "none of 1 change tried gets all of them placed",
    ),
    "too much is tried for others": (
        [node("a"), *waiting(1, requests={"example.com/gpu": "1"})],
        1,
        "kubespread explain --fix tries what would help: too much was tried for other workloads",
    ),
}


@pytest.mark.parametrize("case", UNHELPED)
def test_why_there_is_no_change(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    objects, most, expected = UNHELPED[case]
    monkeypatch.setattr("kubespread.questions.remedies.search._MOST_TRIALS", most)
    assert [group.no_change for group in asked(objects).groups] == [expected]


REFUSED = (
    'pods "web-5d6-1" is forbidden: exceeded quota: compute, requested: requests.cpu=2, used: requests.cpu=4, '
    "limited: requests.cpu=4"
)


@pytest.mark.parametrize(
    ("pods", "spec", "first", "count", "hard"),
    [
        pytest.param(("n0", "n1"), None, "all pods that exist have a node", 3, 10, id="none waits"),
        pytest.param(
            ("n0", None),
            {"nodeSelector": {"x": "y"}},
            "1 pod pending for 1 cause; 1 change frees it",
            3,
            10,
            id="another of the workload waits",
        ),
    ],
)
def test_a_quota_that_refuses_pods_is_named_with_what_would_be_enough(
    pods: tuple[str | None, ...], spec: Data | None, first: str, count: int, hard: int
) -> None:
    amounts = {"hard": {"requests.cpu": "4"}, "used": {"requests.cpu": "4"}}
    meta = {"name": "compute", "namespace": "default"}
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": meta, "spec": {"hard": amounts["hard"]}}
    web = deployment("web", pods, cpu="2", replicas=5, spec=spec)
    report = asked([*hosts("a", "b", "c"), *web, {**quota, "status": amounts}])
    enough = f"requests.cpu: {hard} in ResourceQuota compute"
    told = f"{count} more pods of Deployment/web not created: {REFUSED}; {enough} would be enough"
    assert (report.answer[0], report.answer[-1], report.not_made[0].enough) == (first, told, enough)


def test_victims_are_those_of_pods_that_fit_and_of_the_change() -> None:
    low = waiting(2, "low", requests={"cpu": "2"}, nodeName="a")
    nodes = [node("a", cpu="4", pool="x"), node("b", cpu="4")]
    report = asked([*nodes, *low, *waiting(1, requests={"cpu": "5"}, priority=10, nodeSelector={"pool": "x"})])
    assert [(group.change and group.change.options, group.victims) for group in report.groups] == [
        (("--set cpu=4",), ("default/low-1", "default/low-0"))
    ]
    assert report.answer[1] == (
        "pods of ReplicaSet/web find a node with request cpu 4 (−20%) by preempting 2 pods: default/low-1, default/low-0"
    )


def test_a_pod_that_waits_for_its_victims_to_go() -> None:
    nominated = waiting(1, "high", requests={"cpu": "6"})
    nominated[0]["status"] = {"phase": "Pending", "nominatedNodeName": "a"}
    report = asked([node("a"), pod("low", "a", requests={"cpu": "6"}), *nominated])
    assert [(group.cause, group.why) for group in report.groups] == [
        ("nominated", "nominated to a, waits for room there")
    ]


def test_namespaces_and_labels_choose_whose_pods() -> None:
    there = waiting(1, "other", namespace="shop", nodeSelector={"x": "y"}, labels={"app": "other"})
    objects = [node("a"), *waiting(1, nodeSelector={"x": "y"}), *there]
    assert [group.pods for group in asked(objects, namespace="shop").groups] == [("shop/other-0",)]
    assert [group.pods for group in asked(objects, selector="app=other").groups] == [("shop/other-0",)]
    assert asked(objects).pending == 2


def test_what_frees_a_group_frees_it_when_it_is_done_by_hand() -> None:
    """An edit that changes nothing lets kube-scheduler's queue run."""
    for group in kubespread.pending(STUCK).groups:
        if group.change is None:
            continue
        options = [option.removeprefix("--").partition(" ") for option in group.change.options]
        settings = [text for verb, _, text in options if verb == "set"]
        edits = [f"{verb} {shlex.split(text)[0]}" for verb, _, text in options if verb != "set"]
        after = STUCK.edited(*edits)
        waiting = {pod for each in kubespread.pending(after).groups for pod in each.pods}
        for name in group.pods:
            namespace, _, short = name.partition("/")
            assert (
                name not in waiting
                or kubespread.explain(after, f"pod/{short}", namespace=namespace, set=settings).schedulable
            )
    edited = kubespread.pending(STUCK.edited("taint c1=upgrading-", "taint c2=upgrading-"))
    assert {pod for group in edited.groups if group.cause == "filtered" for pod in group.pods} == set()


def test_commands_are_for_the_workloads() -> None:
    report = kubespread.pending(STUCK, namespace="shop")
    assert report.groups[0].change is not None
    patch = (
        '\'[{"op":"add","path":"/spec/template/spec/topologySpreadConstraints/0/nodeTaintsPolicy","value":"Honor"}]\''
    )
    assert report.groups[0].change.commands == tuple(
        f"kubectl patch deployments.apps {name} -n shop --type=json -p {patch}" for name in ("api", "web")
    )


@pytest.mark.parametrize(
    ("constraint", "edits", "left"),
    [
        (hard(), ["label a z=z"], 4),
        (hard(nodeTaintsPolicy="Honor"), ["label a z=z"], 0),
        (hard(), ["taint c=x-"], 0),
        (hard(max_skew=3), ["label a z=z"], 0),
        (hard(max_skew=2), ["label a z=z"], 2),
    ],
)
def test_the_queue_places_as_many_as_a_change_is_said_to_free(constraint: Data, edits: list[str], left: int) -> None:
    """An edit that changes nothing lets the queue run over the pods as they are written here."""
    objects = [*ZONES, *pods_on({"a": 1, "b": 1}), *waiting(4, constraints=[constraint])]
    assert kubespread.pending(Snapshot.from_objects(objects).edited(*edits)).pending == left


def test_workloads_that_are_named_are_the_only_ones_asked_about() -> None:
    cluster = Snapshot.from_objects([node("n0"), *waiting(2), *waiting(1, "api")])
    both, one = kubespread.pending(cluster), kubespread.pending(cluster, workloads="rs/api")
    assert (both.pending, one.pending, [name.name for name in one.asked]) == (3, 1, ["api"])


def test_what_is_set_in_pods_is_tried_with_the_command_that_is_printed() -> None:
    file = FIXTURES / "cases" / "everyday" / "aws12.json.gz"
    screen = run("pending", "-A", "-S", file, "-q", env={"NO_COLOR": "1"}, terminal=100).out
    (command,) = (line.removeprefix("next: kubespread ") for line in screen.splitlines() if line.startswith("next: "))
    assert shlex.split(command)[:4] == ["simulate", "deploy/promo", "--set", "minDomains[zone]=3"]
    tried = run(*shlex.split(command), "-o", "json", "-q")
    assert (tried.code, json.loads(tried.out)["answer"][0]) == (0, "4 of 4 placed")


def test_what_is_done_to_the_cluster_is_tried_with_the_same_question() -> None:
    (group,) = asked([gone_to_sleep(node("a", cpu="4")), *waiting(2, requests={"cpu": "1"})]).groups
    assert group.command == "kubespread pending --uncordon a -A"
