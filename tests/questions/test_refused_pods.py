"""Whatever the API server refuses a pod for when its controller makes it again is said in every question, with the
object that refuses it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

import kubespread
from tests.builders import Data, hosts, owned_by, owner, pod, replica
from tests.property.workloads_on_nodes import scenario


def of(kind: str, name: str, api_version: str = "v1", **fields: Any) -> Data:
    metadata = {"name": name, "namespace": "default"}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **fields}


def limit_range(name: str = "limits", **item: Data) -> Data:
    return of("LimitRange", name, spec={"limits": [{"type": "Container", **item}]})


def quota(**hard: str) -> Data:
    return of("ResourceQuota", "small", spec={"hard": hard}, status={"hard": hard, "used": dict.fromkeys(hard, "6")})


def enforcing(level: str, version: str | None = None) -> Data:
    enforced = "pod-security.kubernetes.io/enforce"
    labels = {enforced: level, **({} if version is None else {f"{enforced}-version": version})}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default", "labels": labels}}


CPU: Data = {"containers": [{"name": "c", "image": "x", "resources": {"requests": {"cpu": "2"}}}]}
PRIORITY = of("PriorityClass", "other", "scheduling.k8s.io/v1", value=1)
RUNTIME = of("RuntimeClass", "other", "node.k8s.io/v1", handler="x")
INVALID = 'Invalid value: "2": must be less than or equal to cpu limit of 1 (LimitRange default/limits)'
REFUSED: dict[str, tuple[list[Data], Data, str]] = {
    "a LimitRange whose default limit is below what is requested": ([limit_range(default={"cpu": "1"})], CPU, INVALID),
    "a LimitRange with a maximum, which is the default limit too": ([limit_range(max={"cpu": "1"})], CPU, INVALID),
    "a LimitRange with a minimum": (
        [limit_range(min={"cpu": "3"})],
        CPU,
        "minimum cpu usage per Container is 3, but request is 2 (LimitRange default/limits)",
    ),
    "one of two LimitRanges": (
        [limit_range("wide", max={"memory": "8Gi"}), limit_range(min={"cpu": "3"})],
        CPU,
        "minimum cpu usage per Container is 3, but request is 2 (LimitRange default/limits)",
    ),
    "a quota": (
        [quota(**{"requests.cpu": "3"})],
        CPU,
        "exceeded quota: small, requested: requests.cpu=2, used: requests.cpu=",
    ),
    "a PriorityClass that is gone": (
        [PRIORITY],
        {**CPU, "priorityClassName": "gone", "priority": 5},
        "no PriorityClass with name gone was found",
    ),
    "a RuntimeClass that is gone": (
        [RUNTIME],
        {**CPU, "runtimeClassName": "gone"},
        'pod rejected: RuntimeClass "gone" not found',
    ),
    "a namespace that enforces a level": (
        [enforcing("baseline")],
        {**CPU, "hostNetwork": True, "volumes": [{"name": "logs", "hostPath": {"path": "/var/log"}}]},
        'violates PodSecurity "baseline:latest": hostNetwork: true, volumes[0].hostPath (Namespace default)',
    ),
    "a namespace that enforces the highest level, as of a release": (
        [enforcing("restricted", "v1.30")],
        {**CPU, "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}},
        'violates PodSecurity "restricted:v1.30": containers[0].securityContext.allowPrivilegeEscalation: false is required, '
        "containers[0].securityContext.capabilities.drop: ALL is required (Namespace default)",
    ),
}


def cluster(objects: list[Data], spec: Data) -> kubespread.Snapshot:
    """Three pods of a Deployment, each on a node of its own, with what refuses another one."""
    selector = {"matchLabels": {"app": "web"}}
    own = {name: value for name, value in spec.items() if name != "priority"}
    template = {"metadata": {"labels": {"app": "web"}}, "spec": own}
    makers = [owner("Deployment", "web", selector), owner("ReplicaSet", "web-1", selector)]
    for maker in makers:
        maker["spec"] |= {"replicas": 3, "template": template}
    makers[1]["metadata"]["ownerReferences"] = owned_by("Deployment", "web")
    pods = [
        replica(f"web-1-{number}", labels={"app": "web"}, ownerReferences=owned_by("ReplicaSet", "web-1"))
        for number in range(3)
    ]
    for number, made in enumerate(pods):
        made["spec"] = {**spec, "nodeName": f"n{number}"}
    return kubespread.Snapshot.from_objects([*hosts("a", "b", "c"), *makers, *pods, *objects])


QUESTIONS: Mapping[str, Callable[[kubespread.Snapshot], Any]] = {
    "survive": lambda snapshot: kubespread.survive(snapshot, "zone"),
    "plan": lambda snapshot: kubespread.plan(snapshot.edited("drain n0")),
    "removable": lambda snapshot: kubespread.removable(snapshot, ["n0"]),
    "upgrade": lambda snapshot: kubespread.upgrade(snapshot, "n0"),
    "audit": kubespread.audit,
    "report": kubespread.report,
}


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("case", REFUSED)
def test_what_refuses_a_pod_is_named(case: str, question: str) -> None:
    objects, spec, refusal = REFUSED[case]
    report = QUESTIONS[question](cluster(objects, spec))
    said = json.dumps(report.to_dict(), ensure_ascii=False)
    assert (report.verdict, json.dumps(refusal, ensure_ascii=False)[1:-1] in said) == ("no", True)


@pytest.mark.parametrize("case", [case for case in REFUSED if case != "a quota"])
def test_what_refuses_the_next_pod_is_the_error(case: str) -> None:
    objects, spec, refusal = REFUSED[case]
    with pytest.raises(kubespread.ManifestError) as refused:
        kubespread.explain(cluster(objects, spec), "deploy/web")
    assert str(refused.value).startswith("Deployment/web: ")
    assert refusal in str(refused.value)


def test_a_quota_that_refuses_the_next_pod_is_the_answer() -> None:
    """Of a pod that nothing else is wrong with: there may be room tomorrow."""
    objects, spec, _ = REFUSED["a quota"]
    snapshot = cluster(objects, spec)
    explained = kubespread.explain(snapshot, "deploy/web")
    refusal = (
        f'pods "{explained.pod.name}" is forbidden: exceeded quota: small, requested: requests.cpu=2, '
        "used: requests.cpu=6, limited: requests.cpu=3"
    )
    assert (explained.verdict, explained.schedulable, list(explained.answer)) == (
        "no",
        False,
        ["not created; 3 of 3 nodes fit: n0, n1, n2", refusal],
    )
    assert list(kubespread.simulate(snapshot, "deploy/web", replicas=4).answer) == [
        "0 of 1 placed, 3 already running, 1 not created",
        refusal,
    ]
    side = kubespread.Side(snapshot, "deploy/web")
    compared = kubespread.compare(side, side, replicas=4)
    assert list(compared.answer) == ["same: 1 workload and 3 nodes", f"placed 3 of 4 before and after: {refusal}"]
    assert kubespread.topology_map(snapshot, "deploy/web").verdict == "yes"


def test_without_admission_no_quota_refuses_the_next_pod() -> None:
    objects, spec, _ = REFUSED["a quota"]
    scheduler = kubespread.Scheduler(admission=False)
    assert kubespread.explain(cluster(objects, spec), "deploy/web", scheduler).verdict == "yes"


OLDER = "a Deployment of no replicas, whose ReplicaSets all have another template"
GONE = "a Deployment that is not in the snapshot"
WANTED: dict[str, dict[str, int]] = {OLDER: {}, GONE: {"default/Deployment/web": 3}}
"""How many pods each Deployment is to have whose ReplicaSet wants three that a quota refuses."""


@pytest.mark.parametrize("case", WANTED)
def test_a_replica_set_without_pods_is_its_deployments_in_every_question(case: str) -> None:
    """As its controller does, the Deployment leaves no ReplicaSet any replicas; what nobody scales wants them still."""
    labels = {"app": "web", "pod-template-hash": "1"}
    below = {
        "replicas": 3,
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": CPU},
    }
    of_web = of("ReplicaSet", "web-1", "apps/v1", spec=below)
    of_web["metadata"]["ownerReferences"] = owned_by("Deployment", "web")
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {**CPU, "priority": 0}}
    own = {"replicas": 0, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    deployments = [of("Deployment", "web", "apps/v1", spec=own)] if case == OLDER else []
    snapshot = kubespread.Snapshot.from_objects(
        [*hosts("a", "b"), *deployments, of_web, pod("bare", "n0"), quota(pods="1")]
    )
    settled = kubespread.after_steps(snapshot, scenario("label n0 looked-at=yes"))
    audited = {
        str(row.workload): row.replicas for row in kubespread.audit(settled).workloads if row.workload.kind != "Pod"
    }
    survived = {
        str(row.workload): row.wanted
        for loss in kubespread.survive(snapshot, ["hostname"]).losses
        for row in loss.workloads
        if row.workload.kind != "Pod"
    }
    assert (audited, survived) == (WANTED[case], WANTED[case])
