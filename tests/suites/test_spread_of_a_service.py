"""The system's default constraints, which spread the pods of a Service over zones.

Source: kubernetes/kubernetes, test/integration/scheduler/scoring/priorities_test.go,
TestDefaultPodTopologySpreadScoring, all 3 steps.
"""

from __future__ import annotations

from collections import Counter

import kubespread
from kubespread.kube.well_known import HOSTNAME, ZONE
from tests.builders import node, owner, pod
from tests.tables import scored_by


def test_system_defaults_spread_the_pods_of_a_service() -> None:
    """Of 3, 12 and 27 pods each zone gets as many, on 300 nodes in 3 zones."""
    zones = {f"node-{number}": f"zone-{number % 3}" for number in range(300)}
    cluster = [
        {**node(name), "metadata": {"name": name, "labels": {HOSTNAME: name, ZONE: zone}}}
        for name, zone in zones.items()
    ]
    service = owner("Service", "test-service", {"service": "test-service"}, api_version="v1")
    report = kubespread.simulate(
        kubespread.Snapshot.from_objects([*cluster, service]),
        pod("p", labels={"service": "test-service"}),
        27,
        kubespread.Scheduler(config=scored_by("PodTopologySpread")),
    )
    placed = [zones[placement.node or ""] for placement in report.placements]
    in_each = {count: sorted(Counter(placed[:count]).values()) for count in (3, 12, 27)}
    assert in_each == {3: [1, 1, 1], 12: [4, 4, 4], 27: [9, 9, 9]}
