"""Clusters to draw: nodes named as clouds name them, three zones, a third of the nodes in trouble."""

from __future__ import annotations

import random
from collections.abc import Callable

import kubespread
from tests.builders import Data, hard, node, owned_by, pod, soft, taint

ZONE, HOSTNAME, REGION = "topology.kubernetes.io/zone", "kubernetes.io/hostname", "topology.kubernetes.io/region"
_HEX = "0123456789abcdef"


def _aws(number: int) -> str:
    return f"ip-10-{number // 2500}-{number // 250 % 10}-{number % 250}.eu-west-1.compute.internal"


def _gke(number: int) -> str:
    rng = random.Random(number)
    pool = "".join(random.Random(number // 100).choices(_HEX, k=8))
    return f"gke-prod-default-pool-{pool}-{''.join(rng.choices(_HEX, k=4))}{number % 36:x}"


NAMES: dict[str, Callable[[int], str]] = {"aws": _aws, "gke": _gke, "short": "node{}".format, "wide": "n{}".format}
ZONES = {
    "aws": ("eu-west-1a", "eu-west-1b", "eu-west-1c"),
    "gke": ("europe-west4-a", "europe-west4-b", "europe-west4-c"),
    "short": ("a", "b", "c"),
    "wide": ("東京-1", "zo\u0308ne-e\u0301", "서울"),
}


def cluster(nodes: int, names: str, *, everyone_fails: bool = False, unlabelled: int = 0) -> kubespread.Snapshot:
    """Each third node small, each fifth cordoned, each seventh tainted; more pods of the app in the first zones.

    With ``unlabelled`` one node in so many lacks the label of its zone.
    """
    rng = random.Random(nodes)
    objects: list[Data] = []
    for number in range(nodes):
        name, zone = NAMES[names](number), ZONES[names][number % 3]
        made = node(
            name,
            cpu="500m" if number % 3 == 1 else "8",
            unschedulable=number % 5 == 4 or (everyone_fails and number % 3 == 2),
            taints=[taint("dedicated", value="gpu")] if number % 7 == 3 else [],
        )
        made["metadata"]["labels"] = {
            ZONE: zone,
            HOSTNAME: name,
            REGION: zone.rpartition("-")[0] or zone,
            "rack": f"rack-{number % 9}",
        }
        if unlabelled and number % unlabelled == 0:
            del made["metadata"]["labels"][ZONE]
        objects.append(made)
        for copy in range(rng.choice((0, 1, 1, 2)) if number % 3 != 2 else 0):
            running = pod(f"web-5c9d7f-{number}-{copy}", name)
            running["metadata"]["ownerReferences"] = owned_by("ReplicaSet", "web-5c9d7f")
            objects.append(running)
    return kubespread.Snapshot.from_objects(objects)


def candidate(constraints: int) -> Data:
    chosen = [hard(ZONE), hard(HOSTNAME), soft("rack", 3), soft(REGION, 2)][:constraints]
    return pod("web-5c9d7f-71ffd", namespace="default", constraints=chosen, requests={"cpu": "1"})


def report(
    nodes: int, names: str, constraints: int, *, everyone_fails: bool = False, unlabelled: int = 0, pods: bool = False
) -> kubespread.ExplainReport:
    snapshot = cluster(nodes, names, everyone_fails=everyone_fails, unlabelled=unlabelled)
    return kubespread.explain(snapshot, candidate(constraints), with_pods=pods)
