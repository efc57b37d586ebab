"""Requests multiplied by an edit: which amounts that makes, and that it is the cluster with other manifests."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from decimal import Decimal
from fractions import Fraction
from math import ceil
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kubespread
from kubespread import Snapshot, UsageError
from kubespread.kube.api.core import Pod
from kubespread.kube.pod_requests import Scaling
from tests.builders import Data, hard, hosts, pod
from tests.world.clusters import daemon_set, deployment, stateful_set

AMOUNTS: Mapping[str, tuple[str, Data, Data]] = {
    "amounts are rounded up to the milli-CPU and the byte": (
        "0.8",
        {"requests": {"cpu": "333m", "memory": "1Gi"}},
        {"requests": {"cpu": "267m", "memory": "858993460"}},
    ),
    "other resources stay": (
        "0.5",
        {"requests": {"cpu": "2", "nvidia.com/gpu": "1", "ephemeral-storage": "2Gi"}},
        {"requests": {"cpu": "1000m", "nvidia.com/gpu": "1", "ephemeral-storage": "2Gi"}},
    ),
    "limits stay": (
        "0.5",
        {"requests": {"cpu": "2"}, "limits": {"cpu": "2"}},
        {"requests": {"cpu": "1000m"}, "limits": {"cpu": "2"}},
    ),
    "a limit without a request is a request": (
        "0.5",
        {"limits": {"cpu": "2"}},
        {"requests": {"cpu": "1000m"}, "limits": {"cpu": "2"}},
    ),
    "a limit that would be less than its request is raised to it": (
        "1.5",
        {"requests": {"cpu": "2", "memory": "1Gi"}, "limits": {"cpu": "2", "memory": "2Gi"}},
        {"requests": {"cpu": "3000m", "memory": "1610612736"}, "limits": {"cpu": "3000m", "memory": "2Gi"}},
    ),
    "nothing stays nothing": ("0.5", {}, {}),
    "no request at all": ("0", {"requests": {"cpu": "2"}}, {"requests": {"cpu": "0m"}}),
}


@pytest.mark.parametrize("case", AMOUNTS)
def test_a_containers_requests_are_multiplied(case: str) -> None:
    factor, resources, expected = AMOUNTS[case]
    made = pod()
    made["spec"]["containers"][0]["resources"] = resources
    made["spec"]["initContainers"] = [{"name": "init", "resources": resources}]
    scaling = Scaling(Fraction(factor))
    scaled = scaling.pod(msgspec.convert(made, Pod)).spec
    for container in (*scaled.containers, *scaled.init_containers):
        assert msgspec.to_builtins(container.resources) == expected
    assert scaling.raises_limits is ("raised" in case)


def test_a_pods_own_requests_are_never_less_than_those_of_its_containers() -> None:
    made = pod(requests={"cpu": "1m"})
    made["spec"]["containers"] += [{**made["spec"]["containers"][0], "name": "other"}]
    made["spec"]["resources"] = {"requests": {"cpu": "2m"}}
    scaled = Scaling(Fraction("0.6")).pod(msgspec.convert(made, Pod)).spec
    assert scaled.resources is not None
    assert scaled.resources.requests == {"cpu": "2m"}, "2m * 0.6 is 1.2m, and of the containers 1m each"


def test_what_a_kubelet_has_granted_is_multiplied_too() -> None:
    running = pod("web", "n0", requests={"cpu": "4"})
    granted = {"requests": {"cpu": "4"}}
    running["status"] = {
        "phase": "Running",
        "containerStatuses": [{"name": "main", "allocatedResources": {"cpu": "4"}, "resources": granted}],
    }
    edited = Snapshot.from_objects([*hosts("a"), running]).edited("scale-requests *=0.5")
    (cpu, *_) = kubespread.capacity(edited).resources
    assert cpu.requested == "2"


SPREAD = {"topologySpreadConstraints": [hard("topology.kubernetes.io/zone", match={"app": "web"})]}
FULL = [*hosts("a", "b"), *deployment("web", ("n0", "n1", None), cpu="5"), *deployment("api", ("n0",), cpu="2")]


def running(snapshot: Snapshot, *steps: str) -> list[int]:
    """How many pods wait after each step."""
    scenario = {
        "apiVersion": "kubespread.dev/v1alpha1",
        "kind": "Scenario",
        "spec": {"steps": [{"scaleRequests": step} for step in steps]},
    }
    after = (kubespread.after_steps(snapshot, scenario, number) for number in range(1, len(steps) + 1))
    return [sum(not pod.spec.node_name for pod in cluster.pods) for cluster in after]


STEPS: Mapping[str, tuple[tuple[str, ...], list[int]]] = {
    "what waits is placed once it fits": (("*=0.5",), [0]),
    "another workload's requests do not help": (("deploy/api=0.9",), [1]),
    "one step after another": (("deploy/api=0.5", "deploy/web=0.9", "deploy/web=0.8"), [1, 1, 0]),
    "a ReplicaSet is one as well": (("rs/web-5d6=0.5",), [0]),
    "a pod alone": (("pod/web-a=0.2",), [0]),
}


@pytest.mark.parametrize("case", STEPS)
def test_steps_of_a_scenario_scale_requests(case: str) -> None:
    steps, expected = STEPS[case]
    assert running(Snapshot.from_objects(FULL), *steps) == expected


def test_new_pods_are_made_with_the_new_requests() -> None:
    snapshot = Snapshot.from_objects([*hosts("a"), *deployment("web", ("n0",), cpu="4")])
    edited = snapshot.edited("scale-requests deploy/web=0.5", "scale deploy/web=4")
    assert kubespread.capacity(edited).resources[0].requested == "8"


def test_a_quota_counts_the_new_requests() -> None:
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "q", "namespace": "default"},
        "spec": {"hard": {"requests.cpu": "4"}},
        "status": {"hard": {"requests.cpu": "4"}, "used": {"requests.cpu": "4"}},
    }
    snapshot = Snapshot.from_objects([*hosts("a"), *deployment("web", ("n0",), cpu="4"), quota])
    for factor, pods in (("1", 1), ("0.5", 2), ("0.25", 4)):
        edited = snapshot.edited(f"scale-requests deploy/web={factor}", "scale deploy/web=8")
        assert kubespread.capacity(edited).resources[2].requested == str(pods)


NOTES: Mapping[str, tuple[str, str]] = {
    "more than the node has": (
        "deploy/web=2",
        "scale-requests Deployment/web=2: 1 node has less than the pods there request: n0",
    ),
    "limits": (
        "deploy/web=1.5",
        "scale-requests Deployment/web=1.5: limits that would be less than the requests are raised to them",
    ),
}


@pytest.mark.parametrize("case", NOTES)
def test_what_more_than_is_there_means_is_said(case: str) -> None:
    edit, note = NOTES[case]
    web = deployment("web", ("n0",), cpu="5")
    for each in web:
        containers = (each["spec"] if each["kind"] == "Pod" else each["spec"]["template"]["spec"])["containers"]
        containers[0]["resources"]["limits"] = {"cpu": "6"} if case == "limits" else {}
    report = kubespread.capacity(Snapshot.from_objects([*hosts("a"), *web]).edited(f"scale-requests {edit}"))
    assert note in report.notes


def test_a_workload_that_is_not_there() -> None:
    with pytest.raises(UsageError, match='deployments.apps "wep" not found in namespace default'):
        kubespread.capacity(Snapshot.from_objects(FULL).edited("scale-requests deploy/wep=0.8"))


def by_hand(objects: list[Data], factor: Decimal) -> list[Data]:
    """The same manifests with other requests."""

    def changed(data: Any) -> Any:
        if isinstance(data, list):
            return [changed(item) for item in data]
        if not isinstance(data, dict):
            return data
        made = {key: changed(value) for key, value in data.items()}
        requests = made.get("requests")
        if isinstance(requests, dict):
            cpu = requests["cpu"]
            units = int(cpu.removesuffix("m")) * (1 if cpu.endswith("m") else 1000) * factor
            made["requests"] = {**requests, "cpu": f"{ceil(units)}m"}
        return made

    made: list[Data] = changed(deepcopy(objects))
    return made


CPUS = st.sampled_from(["500m", "1333m", "2500m"])
PLACES = st.lists(st.sampled_from(["n0", "n1", "n2"]), max_size=3).map(tuple)


@settings(max_examples=10, deadline=None)
@given(
    web=PLACES.filter(len),
    api=PLACES,
    db=PLACES,
    cpus=st.tuples(CPUS, CPUS, CPUS),
    factor=st.decimals(0, "1.2", places=2),
)
def test_the_same_by_hand_in_the_manifests_gives_the_same_reports(
    web: tuple[str, ...], api: tuple[str, ...], db: tuple[str, ...], cpus: tuple[str, ...], factor: Decimal
) -> None:
    def container(cpu: str) -> Data:
        return {"containers": [{"name": "main", "image": "x:1", "resources": {"requests": {"cpu": cpu}}}]}

    objects = [
        *hosts("a", "b", "b"),
        *deployment("web", web, cpu=cpus[0], spec=SPREAD),
        *deployment("api", api, cpu=cpus[1]),
        *stateful_set("db", db, spec=container(cpus[2])),
        *daemon_set("agent", ("n0", "n1", "n2")),
    ]
    scaled = Snapshot.from_objects(objects).edited(f"scale-requests *={factor:f}")
    # Once is as good as nothing, but what waits is placed before, as with any other edit.
    hand = Snapshot.from_objects(by_hand(objects, factor)).edited("scale-requests *=1")
    for ask in (
        kubespread.removable,
        kubespread.capacity,
        lambda cluster: kubespread.survive(cluster, ["zone"]),
        kubespread.audit,
        lambda cluster: kubespread.upgrade(cluster, "topology.kubernetes.io/zone=b"),
    ):
        one, other = (msgspec.structs.replace(ask(side), cluster=None, notes=()) for side in (scaled, hand))
        assert one == other
