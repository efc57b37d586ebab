"""What a pod takes while it is resized in place, and what it asks for as a whole, by release."""

from __future__ import annotations

from typing import Any

import pytest

from kubespread.kube.admission.gated_fields import as_counted
from kubespread.kube.admission.plugins import AdmissionPlugins, admit
from kubespread.kube.api.cluster_objects import ClusterObjects
from kubespread.kube.api.core import Pod
from kubespread.kube.pod_requests import pod_requests
from kubespread.kube.versions import KubeVersion
from tests.builders import pod
from tests.kube.decoding import decode_pod
from tests.kube.test_admission import containers, defaulted

Data = dict[str, Any]


def resized(
    reason: str | None, *cpu: tuple[str, Data], first: Data | None = None, whole: Data | None = None, **status: Any
) -> Pod:
    """A pod whose containers c0, c1, ... ask for so much cpu each, with what their status says; ``first`` is an init
    container before them and ``whole`` the requests of the pod as a whole.
    """
    data = containers(*({"requests": {"cpu": asked}} for asked, _ in cpu))
    if first is not None:
        data["spec"]["initContainers"] = [{"name": "first", "resources": {"requests": {"cpu": "1"}}}]
        status["initContainerStatuses"] = [{"name": "first", **first}]
    if whole is not None:
        data["spec"]["resources"] = {"requests": whole}
    data["status"] = {
        "containerStatuses": [{"name": f"c{at}", **granted} for at, (_, granted) in enumerate(cpu)],
        "conditions": [{"type": "PodResizePending", "status": "True", "reason": reason}] if reason else [],
        **status,
    }
    return defaulted(data)


def granted(cpu: str) -> Data:
    return {"resources": {"requests": {"cpu": cpu}}, "allocatedResources": {"cpu": cpu}}


def has(cpu: str) -> Data:
    return {"resources": {"requests": {"cpu": cpu}}}


# What is counted since 1.37, and up to 1.36.
RESIZES = {
    "no resize": (resized(None, ("2", granted("2"))), "2", "2"),
    "deferred counts what is wanted": (resized("Deferred", ("3", granted("1"))), "3", "3"),
    "infeasible counts what was granted": (resized("Infeasible", ("3", granted("1"))), "1", "1"),
    "more granted than wanted counts": (resized(None, ("1", has("3"))), "3", "3"),
    "allocated alone counts too": (resized(None, ("1", {"allocatedResources": {"cpu": "3"}})), "3", "1"),
    "one container shrinks while another grows": (resized(None, ("1", has("2")), ("2", has("1"))), "3", "4"),
    "infeasible without anything granted": (resized("Infeasible", ("1", {}), ("2", granted("1"))), "1", "2"),
    "an init container's status": (resized(None, ("1", {}), first=granted("3")), "3", "1"),
    "the pod as a whole grows": (
        resized(
            "Deferred",
            ("1", {}),
            whole={"cpu": "2"},
            resources={"requests": {"cpu": "3"}},
            allocatedResources={"cpu": "4"},
        ),
        "4",
        "4",
    ),
    "the pod as a whole was granted more than its containers": (
        resized(None, ("1", granted("1")), resources={"requests": {"cpu": "5"}}, allocatedResources={"cpu": "4"}),
        "5",
        "1",
    ),
}


@pytest.mark.parametrize("case", RESIZES)
def test_a_running_pods_resize(case: str) -> None:
    made, *expected = RESIZES[case]
    counted = [as_counted([made], KubeVersion(minor))[0] for minor in (37, 36)]
    assert [str(pod_requests(each, use_status=True)["cpu"]) for each in counted] == expected


def test_only_pods_whose_resize_is_under_way_are_copied_for_older_releases() -> None:
    pods = [resized(None, ("2", granted("2"))), resized(None, ("2", granted("1")))]
    assert [before is after for before, after in zip(pods, as_counted(pods, KubeVersion(36)), strict=True)] == [
        True,
        False,
    ]


def test_nobody_waits_on_a_node_behind_scheduling_gates_before_1_37() -> None:
    waiting = defaulted({**pod(schedulingGates=[{"name": "g"}]), "status": {"nominatedNodeName": "n"}})
    assert [as_counted([waiting], KubeVersion(minor))[0].status.nominated_node_name for minor in (36, 37)] == ["", "n"]


WHOLE: dict[str, tuple[Data, Data, Data]] = {
    "requests alone": (
        {"resources": {"requests": {"memory": "4Gi"}}, "requests": {"cpu": "1"}},
        {"requests": {"memory": "4Gi"}},
        {"requests": {"memory": "4Gi", "cpu": "1"}},
    ),
    "limits alone": (
        {"resources": {"limits": {"cpu": "2"}}, "requests": {"cpu": "1"}},
        {"requests": {"cpu": "1"}, "limits": {"cpu": "2"}},
        {"requests": {"cpu": "1"}, "limits": {"cpu": "2"}},
    ),
    "a limit that every container has": (
        {"resources": {"requests": {"cpu": "3"}}, "limits": {"cpu": "2", "memory": "1Gi"}},
        {"requests": {"cpu": "3"}},
        {"requests": {"cpu": "3", "memory": "1Gi"}, "limits": {"cpu": "3", "memory": "1Gi"}},
    ),
    "nothing at all": ({"resources": {}, "requests": {"cpu": "1"}}, {}, {}),
}


@pytest.mark.parametrize("case", WHOLE)
def test_what_a_pod_asks_for_as_a_whole_is_completed_by_release(case: str) -> None:
    given, *expected = WHOLE[case]
    container: Data = {kind: amounts for kind, amounts in given.items() if kind != "resources"}
    data = containers(container)
    data["spec"]["resources"] = given["resources"]
    for minor, wanted in zip((36, 37), expected, strict=True):
        made = admit(decode_pod(data), KubeVersion(minor), ClusterObjects(), AdmissionPlugins()).pod.spec.resources
        assert made is not None
        assert (made.requests, made.limits) == (wanted.get("requests", {}), wanted.get("limits", {}))
