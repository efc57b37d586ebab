"""NodePorts' own tables: which ports of the host conflict.

Source: kubernetes/kubernetes, pkg/scheduler/framework/plugins/nodeports/node_ports_test.go (1.35), TestNodePorts
(15 cases) and TestFits (5), all taken; a case that skips the filter is one in which the filter does not judge the pod.

Not applicable, 6 cases: TestPreFilterDisabled (1) reads a state nobody wrote, which here cannot be asked for;
Test_isSchedulableAfterAssignedPodDeleted (5) is about which event makes kube-scheduler retry a pod.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.builders import pod
from tests.suites.tables import NO, ask_alone, nodes, reasons

Data = dict[str, Any]

TAKEN = {"m1": (NO, "node(s) didn't have free ports for the requested pod ports")}


def ports(text: str) -> list[Data]:
    """``TCP/127.0.0.1/80 ...``."""
    split = [word.split("/") for word in text.split()]
    return [
        {"containerPort": int(port), "hostPort": int(port), "hostIP": ip, "protocol": name} for name, ip, port in split
    ]


def holding(name: str, text: str, on: str | None = None) -> Data:
    made = pod(name, on)
    made["spec"]["containers"][0]["ports"] = ports(text)
    return made


# What is asked for, what is taken, and whether they conflict.
TABLE: dict[str, tuple[str, str, bool]] = {
    "other port": ("UDP/127.0.0.1/8080", "UDP/127.0.0.1/9090", False),
    "same udp port": ("UDP/127.0.0.1/8080", "UDP/127.0.0.1/8080", True),
    "same tcp port": ("TCP/127.0.0.1/8080", "TCP/127.0.0.1/8080", True),
    "different host ip": ("TCP/127.0.0.1/8080", "TCP/127.0.0.2/8080", False),
    "different protocol": ("UDP/127.0.0.1/8080", "TCP/127.0.0.1/8080", False),
    "second udp port conflict": ("UDP/127.0.0.1/8000 UDP/127.0.0.1/8080", "UDP/127.0.0.1/8080", True),
    "first tcp port conflict": ("TCP/127.0.0.1/8001 UDP/127.0.0.1/8080", "TCP/127.0.0.1/8001 UDP/127.0.0.1/8081", True),
    "first tcp port conflict due to 0.0.0.0 hostIP": ("TCP/0.0.0.0/8001", "TCP/127.0.0.1/8001", True),
    "TCP hostPort conflict due to 0.0.0.0 hostIP": ("TCP/10.0.10.10/8001 TCP/0.0.0.0/8001", "TCP/127.0.0.1/8001", True),
    "second tcp port conflict to 0.0.0.0 hostIP": ("TCP/127.0.0.1/8001", "TCP/0.0.0.0/8001", True),
    "second different protocol": ("UDP/127.0.0.1/8001", "TCP/0.0.0.0/8001", False),
    "UDP hostPort conflict due to 0.0.0.0 hostIP": ("UDP/127.0.0.1/8001", "TCP/0.0.0.0/8001 UDP/0.0.0.0/8001", True),
    # TestFits
    "non-conflicting ports": ("TCP/127.0.0.1/80", "TCP/127.0.0.1/9090", False),
    "multiple non-conflicting ports": (
        "TCP/127.0.0.1/80 TCP/127.0.1.1/80 TCP/127.0.1.1/90 TCP/127.0.1.1/100",
        "TCP/127.0.0.1/9090 TCP/127.0.0.1/9191 TCP/127.0.1.1/8080",
        False,
    ),
    "same ports on different protocols": ("TCP/127.0.0.1/80", "UDP/127.0.0.1/80", False),
    "conflicting ports": ("TCP/127.0.0.1/80", "TCP/127.0.0.1/80", True),
    "multiple ports, some conflicting": (
        "TCP/127.0.0.1/80 TCP/127.0.1.1/80 TCP/127.0.1.1/90 TCP/127.0.1.1/100",
        "TCP/127.0.0.1/9090 TCP/127.0.1.1/90 TCP/127.0.1.1/8080",
        True,
    ),
}


@pytest.mark.parametrize("case", TABLE)
def test_ports_conflict_or_do_not(case: str) -> None:
    asked, taken, conflicts = TABLE[case]
    report = ask_alone("NodePorts", [*nodes("m1"), holding("p1", taken, "m1")], holding("p", asked))
    assert reasons(report) == (TAKEN if conflicts else {})


def init_container(*, sidecar: bool) -> Data:
    made = {"name": "init", "image": "example.com/init:1", "ports": ports("TCP//8001")}
    return {**made, **({"restartPolicy": "Always"} if sidecar else {})}


SKIPPED: dict[str, Data] = {
    "skip filter": pod("p"),
    "non-sidecar initContainer using hostPort": pod("p", initContainers=[init_container(sidecar=False)]),
}


@pytest.mark.parametrize("case", SKIPPED)
def test_a_pod_without_host_ports_is_not_judged(case: str) -> None:
    report = ask_alone("NodePorts", [*nodes("m1"), holding("p1", "TCP/0.0.0.0/8001", "m1")], SKIPPED[case])
    assert (reasons(report), "NodePorts" in report.filter_plugins) == ({}, False)


# The case "TCP hostPort conflict from sidecar initContainer".
def test_a_sidecars_port_conflicts() -> None:
    asking = pod("p", initContainers=[init_container(sidecar=True)])
    assert reasons(ask_alone("NodePorts", [*nodes("m1"), holding("p1", "TCP/0.0.0.0/8001", "m1")], asking)) == TAKEN
