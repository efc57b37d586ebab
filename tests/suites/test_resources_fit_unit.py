"""NodeResourcesFit's own filter tables: what is insufficient.

Source: kubernetes/kubernetes, pkg/scheduler/framework/plugins/noderesources/fit_test.go (1.31), TestEnoughRequests
(35 cases), TestNotEnoughRequests (4), TestStorageRequests (4), TestRestartableInitContainers (4): 45 of 47 taken. They
are asked as in 1.31: later releases call a node unresolvable whose allocatable is less than the request alone.

Not applicable, 26 cases: two of TestRestartableInitContainers switch the gate SidecarContainers off, which is locked
on; TestPreFilterDisabled (1) reads a state nobody wrote (see tests/scheduler/test_missing_state.py); TestEventsToRegister
(2), Test_isSchedulableAfterPodChange (11), Test_isSchedulableAfterNodeChange (7) and TestIsFit (3), which serves them,
are about which event makes kube-scheduler retry a pod.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.suites.resource_pods import sized_node, sized_pod
from tests.suites.tables import NO, ask_alone, reasons

Data = dict[str, Any]

NODE = sized_node("n", "10/20 aaa=5 disk=20 huge=5", pods=32)
FULL = sized_node("n", "10/20", pods=1)


def used(text: str) -> Data:
    return sized_pod("used", text, on="n")


def over(cpu: str, memory: str) -> Data:
    return sized_pod("p", "1/1", overhead={"cpu": cpu, "memory": memory})


# The pod, what is used, and what is insufficient.
ENOUGH: dict[str, tuple[Data, str, str]] = {
    "no resources requested always fits": (sized_pod("p"), "10/20", ""),
    "too many resources fails": (sized_pod("p", "1/1"), "10/20", "cpu memory"),
    "too many resources fails due to init container cpu": (sized_pod("p", "1/1", init=("3/1",)), "8/19", "cpu"),
    "too many resources fails due to highest init container cpu": (
        sized_pod("p", "1/1", init=("3/1", "2/1")),
        "8/19",
        "cpu",
    ),
    "too many resources fails due to init container memory": (sized_pod("p", "1/1", init=("1/3",)), "9/19", "memory"),
    "too many resources fails due to highest init container memory": (
        sized_pod("p", "1/1", init=("1/3", "1/2")),
        "9/19",
        "memory",
    ),
    "init container fits because it's the max, not sum, of containers and init containers": (
        sized_pod("p", "1/1", init=("1/1",)),
        "9/19",
        "",
    ),
    "multiple init containers fit because it's the max, not sum, of containers and init containers": (
        sized_pod("p", "1/1", init=("1/1", "1/1")),
        "9/19",
        "",
    ),
    "both resources fit": (sized_pod("p", "1/1"), "5/5", ""),
    "one resource memory fits": (sized_pod("p", "2/1"), "9/5", "cpu"),
    "one resource cpu fits": (sized_pod("p", "1/2"), "5/19", "memory"),
    "equal edge case": (sized_pod("p", "5/1"), "5/19", ""),
    "equal edge case for init container": (sized_pod("p", "4/1", init=("5/1",)), "5/19", ""),
    "extended resource fits": (sized_pod("p", "0/0 aaa=1"), "0/0", ""),
    "extended resource fits for init container": (sized_pod("p", "0/0", init=("0/0 aaa=1",)), "0/0", ""),
    "extended resource capacity enforced": (sized_pod("p", "1/1 aaa=10"), "0/0 aaa=0", "example.com/aaa"),
    "extended resource capacity enforced for init container": (
        sized_pod("p", "0/0", init=("1/1 aaa=10",)),
        "0/0 aaa=0",
        "example.com/aaa",
    ),
    "extended resource allocatable enforced": (sized_pod("p", "1/1 aaa=1"), "0/0 aaa=5", "example.com/aaa"),
    "extended resource allocatable enforced for init container": (
        sized_pod("p", "0/0", init=("1/1 aaa=1",)),
        "0/0 aaa=5",
        "example.com/aaa",
    ),
    "extended resource allocatable enforced for multiple containers": (
        sized_pod("p", "1/1 aaa=3", "1/1 aaa=3"),
        "0/0 aaa=2",
        "example.com/aaa",
    ),
    "extended resource allocatable admits multiple init containers": (
        sized_pod("p", "0/0", init=("1/1 aaa=3", "1/1 aaa=3")),
        "0/0 aaa=2",
        "",
    ),
    "extended resource allocatable enforced for multiple init containers": (
        sized_pod("p", "0/0", init=("1/1 aaa=6", "1/1 aaa=3")),
        "0/0 aaa=2",
        "example.com/aaa",
    ),
    "extended resource allocatable enforced for unknown resource": (
        sized_pod("p", "1/1 bbb=1"),
        "0/0",
        "example.com/bbb",
    ),
    "extended resource allocatable enforced for unknown resource for init container": (
        sized_pod("p", "0/0", init=("1/1 bbb=1",)),
        "0/0",
        "example.com/bbb",
    ),
    "kubernetes.io resource capacity enforced": (sized_pod("p", "1/1 io=10"), "0/0", "kubernetes.io/something"),
    "kubernetes.io resource capacity enforced for init container": (
        sized_pod("p", "0/0", init=("1/1 subio=10",)),
        "0/0",
        "subdomain.kubernetes.io/something",
    ),
    "hugepages resource capacity enforced": (sized_pod("p", "1/1 huge=10"), "0/0 huge=0", "hugepages-2Mi"),
    "hugepages resource capacity enforced for init container": (
        sized_pod("p", "0/0", init=("1/1 huge=10",)),
        "0/0 huge=0",
        "hugepages-2Mi",
    ),
    "hugepages resource allocatable enforced for multiple containers": (
        sized_pod("p", "1/1 huge=3", "1/1 huge=3"),
        "0/0 huge=2",
        "hugepages-2Mi",
    ),
    "resources + pod overhead fits": (over("3m", "13"), "5/5", ""),
    "requests + overhead does not fit for memory": (over("1m", "15"), "5/5", "memory"),
    "skip checking extended resource request with quantity zero via resource groups": (
        sized_pod("p", "1/1 aaa=0"),
        "0/0 aaa=6",
        "",
    ),
    "skip checking resource request with quantity zero": (sized_pod("p", "0/0 aaa=1"), "20/30 aaa=1", ""),
    # TestStorageRequests
    "empty storage requested, and pod fits": (sized_pod("p", "1/1"), "2/10", ""),
    "storage ephemeral local storage request exceeds allocatable": (
        sized_pod("p", "0/0 disk=25"),
        "2/2",
        "ephemeral-storage",
    ),
    "ephemeral local storage is sufficient": (sized_pod("p", "0/0 disk=5"), "2/2 disk=10", ""),
    "pod fits": (sized_pod("p", "0/0 disk=10"), "2/2", ""),
}


def insufficient(names: str) -> dict[str, tuple[str, str]]:
    return {"n": (NO, ", ".join(f"Insufficient {name}" for name in names.split()))} if names else {}


@pytest.mark.parametrize("case", ENOUGH)
def test_what_is_insufficient(case: str) -> None:
    asked, taken, expected = ENOUGH[case]
    report = ask_alone("NodeResourcesFit", [NODE, used(taken)], asked, kube_version="1.31")
    assert reasons(report) == insufficient(expected)


IGNORING: dict[str, tuple[Data, str, str]] = {
    "skip checking ignored extended resource": ({"ignoredResources": ["example.com/bbb"]}, "1/1 bbb=1", ""),
    "skip checking ignored extended resource via resource groups": (
        {"ignoredResourceGroups": ["example.com"]},
        "1/1 bbb=1 io=1",
        "kubernetes.io/something",
    ),
}


@pytest.mark.parametrize("case", IGNORING)
def test_resources_a_profile_ignores(case: str) -> None:
    args, asked, expected = IGNORING[case]
    report = ask_alone("NodeResourcesFit", [NODE, used("0/0")], sized_pod("p", asked), args, kube_version="1.31")
    assert reasons(report) == insufficient(expected)


NOT_ENOUGH: dict[str, tuple[Data, str]] = {
    "even without specified resources, predicate fails when there's no space for additional pod": (
        sized_pod("p"),
        "10/20",
    ),
    "even if both resources fit, predicate fails when there's no space for additional pod": (
        sized_pod("p", "1/1"),
        "5/5",
    ),
    "even for equal edge case, predicate fails when there's no space for additional pod": (
        sized_pod("p", "5/1"),
        "5/19",
    ),
    "even for equal edge case, predicate fails when there's no space for additional pod due to init container": (
        sized_pod("p", "5/1", init=("5/1",)),
        "5/19",
    ),
}


@pytest.mark.parametrize("case", NOT_ENOUGH)
def test_a_node_that_has_all_its_pods(case: str) -> None:
    asked, taken = NOT_ENOUGH[case]
    report = ask_alone("NodeResourcesFit", [FULL, used(taken)], asked, kube_version="1.31")
    assert reasons(report) == {"n": (NO, "Too many pods")}


# "allow pod with(out) restartable init containers if sidecar containers is enabled", on a node that has room for pods alone.
@pytest.mark.parametrize("init", [[], [{"name": "restartable-init", "image": "x", "restartPolicy": "Always"}]])
def test_restartable_init_containers(init: list[Data]) -> None:
    asked = sized_pod("p", "")
    asked["spec"]["initContainers"] = init
    assert reasons(ask_alone("NodeResourcesFit", [sized_node("n", "0/0", pods=1)], asked)) == {}
