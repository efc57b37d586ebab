"""The screens of simulate that are kept, and how they come about: ``python -m tests.views.simulate_screens`` rewrites
them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

import kubespread
from kubespread.questions.simulate import SimulateReport
from kubespread.reports.parts import ClusterReference
from kubespread.views import terminal
from kubespread.views.look import Look
from tests.builders import Data, hard, node, owned_by, owner, pod, remade, soft

SCREENS = Path(__file__).parent / "screens"
ZONE, HOSTNAME = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
NAMESPACE = "payments"
Cloud = Literal["aws", "gke", "short", "wide"]
ZONES: Mapping[Cloud, Sequence[str]] = {
    "aws": ("eu-west-1a", "eu-west-1b", "eu-west-1c"),
    "gke": ("europe-west4-a", "europe-west4-b", "europe-west4-c"),
    "short": ("a", "b", "c"),
    "wide": ("東京一区", "東京二区", "ze\u0301ro"),
}


class Screen(NamedTuple):
    nodes: int
    cloud: Cloud
    workloads: int
    width: int
    replicas: int | None = 15
    """Of each workload; None for as many as fit."""
    seed: int | None = None

    @property
    def path(self) -> Path:
        asked = "full" if self.replicas is None else self.replicas
        seeded = "" if self.seed is None else f"-seed-{self.seed}"
        return SCREENS / f"simulate-{self.nodes}-{self.cloud}-{self.workloads}-{asked}-{self.width}{seeded}.txt"

    @property
    def text(self) -> str:
        reports = answered(self.nodes, self.cloud, self.workloads, self.replicas, self.seed)
        return terminal.table(reports, Look(width=self.width))


SCREENS_KEPT = [
    Screen(5, "aws", 1, 80),
    Screen(5, "gke", 4, 80),
    Screen(5, "wide", 1, 80),
    Screen(5, "wide", 4, 100),
    *(Screen(12, "aws", 1, width) for width in (80, 100, 120, 200)),
    *(Screen(12, "aws", 1, width, None) for width in (80, 120)),
    *(Screen(12, "gke", 1, width) for width in (80, 120)),
    Screen(12, "short", 1, 80, None),
    *(Screen(12, "gke", 4, width) for width in (80, 120)),
    *(Screen(12, "aws", 18, width) for width in (80, 100, 120, 200)),
    *(Screen(50, "gke", 1, width, None) for width in (80, 120)),
    Screen(50, "aws", 18, 100),
    *(Screen(500, "aws", 1, width) for width in (80, 200)),
    Screen(500, "gke", 4, 120),
    *(Screen(500, "aws", 1, width, 300, 1) for width in (80, 120)),
    Screen(500, "aws", 4, 80, 15, 1),
    *(Screen(5000, "aws", 1, width, 3000) for width in (80, 120)),
    Screen(5000, "short", 18, 80),
]


def node_name(cloud: Cloud, number: int) -> str:
    if cloud == "aws":
        return f"ip-10-{number // 250}-{number % 3 + 1}-{number % 250}.eu-west-1.compute.internal"
    return f"gke-prod-default-pool-1a2b3c4d-{number:04x}" if cloud == "gke" else f"n{number}"


def hosts(cloud: Cloud, count: int) -> list[Data]:
    zones, made = ZONES[cloud], []
    for number in range(count):
        host = node(name := node_name(cloud, number))
        host["metadata"]["labels"] = {HOSTNAME: name, ZONE: zones[number % len(zones)]}
        made.append(host)
    return made


def deployment(name: str, replicas: int, *, cpu: str) -> Data:
    """Spread hard over zones, softly over nodes."""
    match = {"app": name}
    container = {"name": "main", "image": "x", "resources": {"requests": {"cpu": cpu}}}
    constraints = [hard(ZONE, match=match), soft(HOSTNAME, match=match)]
    template = {
        "metadata": {"labels": match},
        "spec": {"containers": [container], "topologySpreadConstraints": constraints},
    }
    spec = {"replicas": replicas, "selector": {"matchLabels": match}, "template": template}
    metadata = {"name": name, "namespace": NAMESPACE}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec}


def running(name: str, cloud: Cloud, count: int) -> list[Data]:
    """Replicas that run already, on the first nodes."""
    replica_set = owner("ReplicaSet", f"{name}-1", {"matchLabels": {"app": name}}, namespace=NAMESPACE)
    replica_set["metadata"]["ownerReferences"] = owned_by("Deployment", name)
    pods = []
    for copy in range(count):
        replica = pod(f"{name}-1-{copy}", node_name(cloud, copy), namespace=NAMESPACE, labels={"app": name})
        replica["metadata"]["ownerReferences"] = owned_by("ReplicaSet", f"{name}-1")
        pods.append(replica)
    return [replica_set, *pods]


@cache
def answered(
    nodes: int, cloud: Cloud, workloads: int, replicas: int | None, seed: int | None = None
) -> tuple[SimulateReport, ...]:
    """The first workload runs three replicas; together several ask for more than small clusters have."""
    names = ["checkout", *(f"service-{number}" for number in range(1, workloads))]
    count = 1 if replicas is None else replicas
    manifests = [deployment(name, count, cpu="1500m" if name == "checkout" else "600m") for name in names]
    cluster = kubespread.Snapshot.from_objects([*hosts(cloud, nodes), *running(names[0], cloud, 3)])
    reports = kubespread.simulate(cluster, manifests, replicas="max" if replicas is None else None, seed=seed)
    asked = ClusterReference(snapshot="prod.json.gz", time="2026-11-21T19:00:00Z", age_seconds=7200)
    return tuple(
        remade(report, cluster=asked, conclusion=report.conclusion and "what bars the next one") for report in reports
    )


def main() -> None:
    for old in SCREENS.glob("simulate-*.txt"):
        old.unlink()
    for kept in SCREENS_KEPT:
        kept.path.write_text(kept.text)


if __name__ == "__main__":
    main()
