"""A conversation as it was recorded: what an assistant that has the tools and a snapshot asks to answer everyday questions.

Each takes two calls at most. What it is told is also counted by hand, from the objects of the snapshot alone.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import pytest
from mcp import types

from tests.assistants.test_server import Calls, conversation, text_of
from tests.builders import Data
from tests.cli.support import FIXTURES

EVERYDAY = FIXTURES / "cases" / "everyday"
TYPO = (EVERYDAY / "bad" / "06-typo-label.yaml").read_text()
CAPACITY, ZONE, GPU = "eks.amazonaws.com/capacityType", "topology.kubernetes.io/zone", "nvidia.com/gpu"
UNITS = {"m": Fraction(1, 1000), "Ki": Fraction(2**10), "Mi": Fraction(2**20), "Gi": Fraction(2**30)}
MOST_READ = 50_000
"""Bytes of an answer, of which an assistant has to read all."""


@cache
def objects(snapshot: str) -> Sequence[Data]:
    items: list[Data] = json.loads(gzip.decompress((EVERYDAY / f"{snapshot}.json.gz").read_bytes()))["items"]
    return items


def of(snapshot: str, kind: str) -> Sequence[Data]:
    return [item for item in objects(snapshot) if item["kind"] == kind]


def amount(text: str) -> Fraction:
    unit = next((unit for unit in UNITS if text.endswith(unit)), "")
    return Fraction(text.removesuffix(unit)) * UNITS.get(unit, 1)


def requested(pod: Data, resource: str) -> Fraction:
    containers = pod["spec"]["containers"]
    return sum(
        (amount(each.get("resources", {}).get("requests", {}).get(resource, "0")) for each in containers), Fraction()
    )


def workload(pod: Data) -> str:
    """Of a Deployment's pod, whose ReplicaSet has its name and a hash."""
    meta = pod["metadata"]
    owner = meta["ownerReferences"][0]
    name = owner["name"].rpartition("-")[0] if owner["kind"] == "ReplicaSet" else owner["name"]
    return f"{meta['namespace']}/{owner['kind'].replace('ReplicaSet', 'Deployment')}/{name}"


def running(snapshot: str, name: str = "", *, daemons: bool = True) -> Sequence[tuple[Data, Data]]:
    """Pods with their nodes."""
    nodes = {node["metadata"]["name"]: node for node in of(snapshot, "Node")}
    return [
        (pod, nodes[pod["spec"]["nodeName"]])
        for pod in of(snapshot, "Pod")
        if pod["spec"].get("nodeName") and (not name or workload(pod) == name)
        if daemons or pod["metadata"]["ownerReferences"][0]["kind"] != "DaemonSet"
    ]


def counted(snapshot: str, name: str, key: str) -> Counter[str]:
    """The pods of a workload by the values of a node label."""
    return Counter(node["metadata"]["labels"][key] for _, node in running(snapshot, name))


def free(snapshot: str, resource: str) -> dict[str, Fraction]:
    left = {
        node["metadata"]["name"]: amount(node["status"]["allocatable"].get(resource, "0"))
        for node in of(snapshot, "Node")
    }
    for pod, node in running(snapshot):
        left[node["metadata"]["name"]] -= requested(pod, resource)
    return left


def within_quota(name: str, request: str) -> int:
    """How many replicas of a workload its namespace's quota lets be in all."""
    (quota,) = (each for each in of("aws12", "ResourceQuota") if each["metadata"]["namespace"] == "shop")
    room = amount(quota["status"]["hard"]["requests.cpu"]) - amount(quota["status"]["used"]["requests.cpu"])
    return len(running("aws12", name)) + int(room / amount(request))


def unconstrained(snapshot: str) -> set[str]:
    return {
        f"{each['metadata']['namespace']}/{each['kind']}/{each['metadata']['name']}"
        for each in (*of(snapshot, "Deployment"), *of(snapshot, "StatefulSet"))
        if not each["spec"]["template"]["spec"].get("topologySpreadConstraints")
    }


@dataclass(frozen=True)
class Question:
    text: str
    snapshot: str
    calls: Calls
    answer: str
    """The first sentence of the last reply."""
    told: Callable[[Any], Any]
    """What the assistant takes from the last reply."""
    truth: Callable[[], Any]
    """The same by hand."""


CONVERSATION = (
    Question(
        "Which pods are pending, by cause?",
        "aws12",
        [("pending", {})],
        "7 pods pending for 2 causes; 2 changes free 7 of them",
        lambda report: {name: len(group["pods"]) for group in report["groups"] for name in group["workloads"]},
        lambda: Counter(workload(pod) for pod in of("aws12", "Pod") if not pod["spec"].get("nodeName")),
    ),
    Question(
        "Why is payments/fraud pending?",
        "aws12",
        [("pending", {"namespace": "payments"})],
        "3 pods pending for 1 cause; 1 change frees 3 of them",
        lambda report: report["groups"][0]["why"],
        lambda: "needs {} cpu on one node; most free on one: {}".format(
            float(next(requested(pod, "cpu") for pod in of("aws12", "Pod") if workload(pod).endswith("/fraud"))),
            float(max(left for name, left in free("aws12", "cpu").items() if name not in tainted("aws12"))),
        ),
    ),
    Question(
        "How loaded are the nodes?",
        "aws12",
        [("map", {})],
        "12 nodes: cpu 61%, memory 25%, pods 12% requested; fullest ip-10-0-14-72.eu-west-1.compute.internal, cpu 74%",
        lambda report: [(row["resource"], row["percent"]) for row in report["domains"][0]["load"][:2]],
        lambda: [
            (
                resource,
                int(
                    100
                    * sum(requested(pod, resource) for pod, _ in running("aws12"))
                    / sum(amount(node["status"]["allocatable"][resource]) for node in of("aws12", "Node"))
                ),
            )
            for resource in ("cpu", "memory")
        ],
    ),
    Question(
        "Which pods of web do I evict so that it is even again?",
        "aws12",
        [("rebalance", {"workloads": ["deploy/web"], "namespace": "shop"})],
        "2 evictions, the fewest possible: then the constraint holds",
        lambda report: len(report["steps"]),
        lambda: sum(max(0, pods - 3) for pods in counted("aws12", "shop/Deployment/web", ZONE).values()),
    ),
    Question(
        # Karpenter's label first; the error names the one that these nodes have.
        "Is web spread over spot and on-demand nodes?",
        "aws12",
        [
            ("audit", {"workloads": ["deploy/web"], "namespace": "shop", "key": key})
            for key in ("karpenter.sh/capacity-type", CAPACITY)
        ],
        "1 violated, 0 fine of 1 workload",
        lambda report: {row["value"]: row["pods"] for row in report["workloads"][0]["domains"] if row["pods"]},
        lambda: counted("aws12", "shop/Deployment/web", CAPACITY),
    ),
    Question(
        "What happens when the spot nodes go away?",
        "aws12",
        [("survive", {"keys": [CAPACITY]})],
        "none of 2 capacityTypes can be lost. capacityType ON_DEMAND: 1 pod not created (payments/StatefulSet/db), "
        "5 pods pending (kube-system/Deployment/metrics-server, payments/Deployment/ledger and 3 more), 9 workloads "
        "degraded (at worst shop/Deployment/web 0 of 9 ready)",
        lambda report: next(
            (loss["gone"], {row["workload"] for row in loss["workloads"]})
            for loss in report["losses"]
            if loss["domain"] == "SPOT"
        ),
        lambda: (
            len(
                on_spot := [
                    pod
                    for pod, node in running("aws12", daemons=False)
                    if node["metadata"]["labels"][CAPACITY] == "SPOT"
                ]
            ),
            {workload(pod) for pod in on_spot},
        ),
    ),
    Question(
        "Do all HPAs fit at their maximum?",
        "aws12",
        [("check", {"select": ["KS304"]})],
        "2 warnings in 15 workloads",
        lambda report: {each["workload"]: each["remedy"]["text"] for each in report["findings"]},
        lambda: {
            f"shop/Deployment/{name}": f"maxReplicas: {within_quota(f'shop/Deployment/{name}', cpu)}"
            for name, cpu in {"api": "750m", "web": "500m"}.items()
        },
    ),
    Question(
        "How many replicas of web fit at most?",
        "aws12",
        [("simulate", {"workload": "deploy/web", "namespace": "shop", "replicas": "max"})],
        "4 fit, 9 already running",
        lambda report: report["running"],
        lambda: within_quota("shop/Deployment/web", "500m"),
    ),
    Question(
        "How many more pods with two GPUs each fit?",
        "gke60",
        [("capacity", {"request": f"{GPU}=2", "tolerate": [GPU]})],
        f"8 pods of {GPU} 2 fit: us-central1-a 4, us-central1-b 4, us-central1-c 0",
        lambda report: report["fits"],
        lambda: sum(int(left / 2) for left in free("gke60", GPU).values()),
    ),
    Question(
        "Which workloads have no spread constraint at all?",
        "gke60",
        [("audit", {})],
        "2 violated, 1 uneven, 9 at risk, 15 fine of 27 workloads",
        lambda report: {
            row["workload"]
            for row in report["workloads"]
            if all(each["source"] != "pod" for each in row["constraints"])
        },
        lambda: unconstrained("gke60"),
    ),
    Question(
        "Is this manifest all right?",
        "aws12",
        [("check", {"manifest": TYPO})],
        "1 error in 1 workload",
        lambda report: [(each["code"], each["remedy"]["text"]) for each in report["findings"]],
        lambda: [
            (
                "KS101",
                "select the pods' own labels: labelSelector: {matchLabels: {app: web}}; "
                "matchLabelKeys: [pod-template-hash] on this constraint",
            )
        ],
    ),
)


def tainted(snapshot: str) -> set[str]:
    return {node["metadata"]["name"] for node in of(snapshot, "Node") if node["spec"].get("taints")}


@pytest.mark.slow
@pytest.mark.parametrize("snapshot", sorted({question.snapshot for question in CONVERSATION}))
def test_everyday_questions_take_two_calls_at_most_and_are_answered_right(snapshot: str) -> None:
    asked = [question for question in CONVERSATION if question.snapshot == snapshot]
    calls = [call for question in asked for call in question.calls]
    _, answers = conversation(("-S", str(EVERYDAY / f"{snapshot}.json.gz")), calls)
    replies = iter(answers)
    for question in asked:
        assert len(question.calls) <= 2
        *_, last = [next(replies) for _ in question.calls]
        assert isinstance(last, types.CallToolResult)
        assert not last.is_error, (question.text, last)
        assert len(text_of(last)) <= MOST_READ, question.text
        report = json.loads(text_of(last))
        assert report["answer"][0] == question.answer
        assert question.told(report) == question.truth(), question.text
        assert question.told(report), question.text
