"""cluster-autoscaler's own table of its estimator: how many nodes for how many pods.

Source: kubernetes/autoscaler, cluster-autoscaler/estimator/binpacking_estimator_test.go (1.33), TestBinpackingEstimate,
9 cases, 8 taken. Which pods were placed is asked in one of them ("decreasing ordered pods are processed first"); here
it shows in their number alone, since ten small pods more would have fit otherwise.

Not applicable, 7 cases: "fastpath - simple resource-based binpacking" and TestDetermineBestPodEquivalenceGroupToFastpath
(5) are about a faster estimate that is off by default and not modeled; BenchmarkBinpackingEstimate (1) allows 3000
nodes, where an estimate ends at 1000 by default and here.
"""

from __future__ import annotations

from typing import Any

import pytest

from kubespread.questions.autoscaling.cluster_autoscaler import estimate
from kubespread.questions.autoscaling.growing import pod_groups, zone_groups
from tests.builders import hard, owned_by, pod
from tests.questions.autoscaling.clusters import HOSTNAME, ZONE, group, machine, world

Data = dict[str, Any]


def sized(name: str, zone: str, milli: int, mebi: int) -> Data:
    """A node with room for ten pods."""
    made = machine(name, zone)
    made["status"]["allocatable"] = {"cpu": f"{milli}m", "memory": f"{mebi}Mi", "pods": "10"}
    return made


def estimatees(count: int, milli: int, memory: int, constraint: Data | None = None, **container: Any) -> list[Data]:
    """Pods of one controller that ask for millicores and bytes."""
    made = []
    for number in range(count):
        constraints = [] if constraint is None else [constraint]
        requests = {"cpu": f"{milli}m", "memory": str(memory)}
        each = pod(
            f"estimatee-{milli}-{number}", labels={"app": "estimatee"}, constraints=constraints, requests=requests
        )
        each["spec"]["containers"][0] |= container
        each["metadata"]["ownerReferences"] = owned_by("ReplicaSet", f"estimatee-{milli}")
        made.append(each)
    return made


def spread(key: str, max_skew: int, min_domains: int = 1) -> Data:
    return hard(key, max_skew, match={"app": "estimatee"}, minDomains=min_domains)


PORT = [{"containerPort": 5555, "hostPort": 5555}]

# A new node's millicores and mebibytes, how many there may be, the pods; the nodes added and the pods placed.
TABLE: dict[str, tuple[int, int, int | None, list[Data], tuple[int, int]]] = {
    "simple resource-based binpacking": (1000, 2000, None, estimatees(10, 350, 1000), (5, 10)),
    "pods-per-node bound binpacking": (10000, 20000, None, estimatees(20, 10, 100), (2, 20)),
    "hostport conflict forces pod-per-node": (1000, 5000, None, estimatees(8, 200, 1000, ports=PORT), (8, 8)),
    "limiter cuts binpacking": (1000, 5000, 5, estimatees(20, 500, 1000), (5, 10)),
    "decreasing ordered pods are processed first": (
        1000,
        5000,
        5,
        [*estimatees(10, 50, 1000), *estimatees(10, 500, 1000)],
        (5, 10),
    ),
    "hostname topology spreading with maxSkew=2 forces 2 pods/node": (
        1000,
        5000,
        None,
        estimatees(8, 200, 200, spread(HOSTNAME, 2)),
        (4, 8),
    ),
    "zonal topology spreading with maxSkew=2 only allows 2 pods to schedule": (
        1000,
        5000,
        None,
        estimatees(8, 20, 100, spread(ZONE, 2)),
        (1, 2),
    ),
    "hostname topology spreading with maxSkew=1 with a large scaleup handles scheduling pods retroactively": (
        1000,
        5000,
        None,
        estimatees(12, 20, 100, spread(HOSTNAME, 1, 3)),
        (3, 12),
    ),
}


@pytest.mark.parametrize("case", TABLE)
def test_nodes_for_pods(case: str) -> None:
    milli, mebi, maximum, pods, expected = TABLE[case]
    there = world([sized("oldnode", "zone-jupiter", 100, 100), *pods])
    template = group("mars", template=sized("template", "zone-mars", milli, mebi), maximum=maximum)
    (mars,) = zone_groups([template], there.living.nodes.objects)
    option = estimate(there.cluster, [], mars, pod_groups(there))
    assert option is not None
    assert (option.nodes, option.pods) == expected
