"""kube-scheduler's integration tests of preemption: who is evicted, and for which node.

Source: kubernetes/kubernetes, test/integration/scheduler/preemption/preemption_test.go (1.32 and 1.33), TestPreemption
(6 cases), TestNonPreemption (2), TestDisablePreemption (1), TestPodPriorityResolution (3), TestPDBInPreemption (3),
TestPreferNominatedNode (2), TestReadWriteOncePodPreemption (3): 17 of 20 taken.

Not applicable: 3 cases of TestPreemption whose nodes are rejected by a filter made for the test; TestAsyncPreemption
(4), TestPreemptionStarvation (1), TestPreemptionRaces (1) and TestNominatedNodeCleanUp (4) are about what happens
between the attempts of one pod while others come and go.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

import kubespread
from kubespread.errors import ManifestError
from tests.builders import pod
from tests.suites.affinity_terms import away, term
from tests.suites.preemption_pods import Found, budget, found, preempt, preemption_nodes
from tests.suites.tables import labels

Data = dict[str, Any]

LOW, MEDIUM, HIGH = 100, 200, 300
NODE = preemption_nodes("node1")


def paused(name: str, priority: int, *own: str, on: str | None = "node1", milli: int = 100, **spec: Any) -> Data:
    """A pod with as many bytes as millicores, 200 at most."""
    requests = {"cpu": f"{milli}m", "memory": str(min(milli, 200))}
    made = pod(name, on, labels=labels(*own), requests=requests, priority=priority, **spec)
    return {**made, "status": {"phase": "Running"}} if on else made


def preemptor(milli: int = 300, *own: str, **spec: Any) -> Data:
    return paused("preemptor-pod", HIGH, *own, on=None, milli=milli, **spec)


def avoiding(value: str) -> Data:
    return {"affinity": away(term("hostname", ("pod", "In", value)))}


def around(priority: int) -> list[Data]:
    """A pod the preemptor avoids, and one that avoids the preemptor."""
    return [*NODE, paused("pod-0", MEDIUM, "pod=p0"), paused("pod-1", priority, "pod=p1", **avoiding("preemptor"))]


AVOIDS_P0 = preemptor(100, "pod=preemptor", **avoiding("p0"))
VICTIM = paused("victim-pod", LOW, milli=400)

TABLE: dict[str, tuple[list[Data], Data, Found | None]] = {
    "basic pod preemption": ([*NODE, VICTIM], preemptor(), ("node1", {"victim-pod"}, 0)),
    "preemption is performed to satisfy anti-affinity": (around(LOW), AVOIDS_P0, ("node1", {"pod-0", "pod-1"}, 0)),
    "preemption is not performed when anti-affinity is not satisfied": (around(HIGH), AVOIDS_P0, None),
    "TestNonPreemption: pod preemption will happen": ([*NODE, VICTIM], preemptor(), ("node1", {"victim-pod"}, 0)),
    "TestNonPreemption: pod preemption will not happen": ([*NODE, VICTIM], preemptor(preemptionPolicy="Never"), None),
    "A non-PDB violating pod is preempted despite its higher priority": (
        [
            *NODE,
            paused("low-pod1", LOW, "foo=bar"),
            paused("low-pod2", LOW, "foo=bar"),
            paused("mid-pod3", MEDIUM),
            budget(0, "foo=bar"),
        ],
        preemptor(),
        ("node1", {"mid-pod3"}, 0),
    ),
    "A node without any PDB violating pods is preferred for preemption": (
        [
            *preemption_nodes("node-1", "node-2"),
            paused("low-pod1", LOW, "foo=bar", on="node-1"),
            paused("mid-pod2", MEDIUM, on="node-2"),
            budget(0, "foo=bar"),
        ],
        preemptor(500),
        ("node-2", {"mid-pod2"}, 0),
    ),
    # Of the second budget's five pods two are needed: three may go.
    "A node with fewer PDB violating pods is preferred for preemption": (
        [
            *preemption_nodes("node-1", "node-2", "node-3"),
            paused("low-pod1", LOW, "foo1=bar", on="node-1"),
            paused("mid-pod1", MEDIUM, on="node-1"),
            paused("low-pod2", LOW, "foo2=bar", on="node-2"),
            paused("mid-pod2", MEDIUM, "foo2=bar", on="node-2"),
            *(paused(f"low-pod{number}", LOW, "foo2=bar", on="node-3") for number in (4, 5, 6)),
            budget(0, "foo1=bar", name="pdb-1"),
            budget(3, "foo2=bar", name="pdb-2"),
        ],
        preemptor(500),
        ("node-3", {"low-pod4", "low-pod5", "low-pod6"}, 0),
    ),
}


@pytest.mark.parametrize("case", TABLE)
def test_who_is_evicted(case: str) -> None:
    objects, asked, expected = TABLE[case]
    assert found(preempt(objects, asked)) == expected


# The case of TestDisablePreemption.
def test_a_profile_without_preemption() -> None:
    plugins = {
        "postFilter": {"disabled": [{"name": "DefaultPreemption"}]},
        "multiPoint": {"disabled": [{"name": "DefaultPreemption"}]},
    }
    head = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    report = preempt([*NODE, VICTIM], preemptor(), json.dumps({**head, "profiles": [{"plugins": plugins}]}))
    assert (report.feasible, found(report)) == ((), None)


def critical(name: str, class_name: str) -> Data:
    return pod(name, namespace="kube-system", priorityClassName=class_name)


# The cases of TestPodPriorityResolution: whom a pod may evict tells the priority it was given.
@pytest.mark.parametrize(
    ("class_name", "priority"), [("system-node-critical", 2_000_001_000), ("system-cluster-critical", 2_000_000_000)]
)
def test_the_priority_of_system_classes(class_name: str, priority: int) -> None:
    one = preemption_nodes("node1", pods=1)
    below, equal = (
        found(preempt([*one, paused("p1", other)], critical("pod1", class_name))) for other in (priority - 1, priority)
    )
    assert (below, equal) == (("node1", {"p1"}, 0), None)


def test_an_invalid_priority_class() -> None:
    """Every cluster has the system's classes; without any, whoever took the snapshot did not get them."""
    system = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "system-node-critical"},
        "value": 2_000_001_000,
    }
    with pytest.raises(ManifestError, match='pods "pod3" is forbidden: no PriorityClass with name foo was found'):
        preempt([*NODE, system], critical("pod3", "foo"))


# The cases of TestPreferNominatedNode: node-1 is nominated, and the pod needs a whole node.
@pytest.mark.parametrize(
    ("case", "taken", "expected"),
    [
        ("nominated node released all resource, preemptor is scheduled to the nominated node", "node-2", "node-1"),
        ("nominated node cannot pass all the filters, preemptor should find a different node", "node-1", "node-2"),
    ],
)
def test_the_nominated_node_comes_first(case: str, taken: str, expected: str) -> None:
    nominated = {**preemptor(500), "status": {"nominatedNodeName": "node-1"}}
    objects = [*preemption_nodes("node-1", "node-2"), paused("low-pod1", LOW, on=taken), nominated]
    report = kubespread.explain(kubespread.Snapshot.from_objects(objects), "pod/preemptor-pod")
    assert ([report.nominated] if report.nominated else list(report.feasible)) == [expected], case


def claimed(*numbers: int) -> list[Data]:
    """Claims for one pod at a time, each bound to its volume."""
    made: list[Data] = []
    for number in numbers:
        common = {"accessModes": ["ReadWriteOncePod"]}
        claim, volume = f"pvc-{number}", f"pv-{number}"
        made.append(
            {
                "apiVersion": "v1",
                "kind": "PersistentVolume",
                "metadata": {"name": volume},
                "spec": {
                    **common,
                    "capacity": {"storage": "1Mi"},
                    "hostPath": {"path": f"/mnt{number}"},
                    "claimRef": {"kind": "PersistentVolumeClaim", "namespace": "default", "name": claim},
                },
            }
        )
        made.append(
            {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "metadata": {
                    "name": claim,
                    "namespace": "default",
                    "annotations": {"pv.kubernetes.io/bind-completed": "true"},
                },
                "spec": {**common, "resources": {"requests": {"storage": "1Mi"}}, "volumeName": volume},
                "status": {"phase": "Bound"},
            }
        )
    return made


def using(*numbers: int) -> Data:
    return {
        "volumes": [
            {"name": f"volume-{number}", "persistentVolumeClaim": {"claimName": f"pvc-{number}"}} for number in numbers
        ]
    }


ONCE: dict[str, tuple[tuple[int, ...], list[Data], set[str]]] = {
    "preempt single pod": ((1,), [paused("victim-pod", LOW, **using(1))], {"victim-pod"}),
    "preempt two pods": (
        (1, 2),
        [paused("victim-pod-1", LOW, **using(1)), paused("victim-pod-2", LOW, **using(2))],
        {"victim-pod-1", "victim-pod-2"},
    ),
    "preempt single pod with two volumes": ((1, 2), [paused("victim-pod", LOW, **using(1, 2))], {"victim-pod"}),
}


@pytest.mark.parametrize("case", ONCE)
def test_volumes_for_one_pod_at_a_time(case: str) -> None:
    numbers, victims, expected = ONCE[case]
    report = preempt([*NODE, *claimed(*numbers), *victims], preemptor(100, **using(*numbers)))
    assert found(report) == ("node1", expected, 0)
