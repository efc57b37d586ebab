"""Whole clusters as `kubectl get` dumps them, with the names, labels and machines that five kinds of clouds give."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping

from tests.builders import Data, hard, node
from tests.storage import claim, csi_node, storage_class, volume
from tests.world.clusters import budget, daemon_set, deployment, stateful_set

ZONE, HOSTNAME, REGION = "topology.kubernetes.io/zone", "kubernetes.io/hostname", "topology.kubernetes.io/region"
SEEN = "2026-11-26T11:58:00Z"
"""When kubelets last said that they were there."""
MADE = "2026-11-26T11:00:00Z"
"""When the youngest pod was made."""
_HEX = "0123456789abcdef"


def _machine(name: str, zone: str, kubelet: str, labels: Data) -> Data:
    made = node(name, cpu="4")
    made["metadata"] |= {"uid": f"uid-{name}", "creationTimestamp": "2026-11-01T08:00:00Z"}
    made["metadata"]["labels"] = {HOSTNAME: name, ZONE: zone, "kubernetes.io/os": "linux", **labels}
    made["status"]["conditions"] = [{"type": "Ready", "status": "True", "lastHeartbeatTime": SEEN}]
    made["status"]["nodeInfo"] = {"kubeletVersion": kubelet, "containerRuntimeVersion": "containerd://1.7.22"}
    return made


def _ends(seed: str, count: int) -> list[str]:
    rng = random.Random(seed)
    return ["".join(rng.choices(_HEX, k=5)) for _ in range(count)]


def _eks(number: int) -> Data:
    zone = f"us-east-2{'abc'[number % 3]}"
    labels = {REGION: "us-east-2", "eks.amazonaws.com/nodegroup": "system", "karpenter.sh/capacity-type": "spot"}
    name = f"ip-10-42-{number}-{100 + number}.us-east-2.compute.internal"
    return _machine(name, zone, "v1.34.1-eks-3cfe0ce", labels)


def _gke(number: int) -> Data:
    labels = {"cloud.google.com/gke-nodepool": "default-pool"}
    name = f"gke-prod-default-pool-1e652237-{_ends('gke', 9)[number]}"
    return _machine(name, f"europe-west4-{'abc'[number % 3]}", "v1.33.4-gke.1036000", labels)


def _aks(number: int) -> Data:
    labels = {"kubernetes.azure.com/cluster": "MC_prod_prod_westeurope", "agentpool": "user"}
    name = f"aks-user-98765432-vmss{number:06}"
    return _machine(name, f"westeurope-{number % 3 + 1}", "v1.32.7", labels)


def _racks(number: int) -> Data:
    return _machine(f"worker{number:02}", f"rack-{number % 3}", "v1.33.1", {"rack": f"r{number % 3}"})


def _shared(number: int) -> Data:
    name = f"ip-10-{number}-0-7.eu-west-1.compute.internal"
    labels = {"eks.amazonaws.com/nodegroup": f"team-{number % 2}", "node.kubernetes.io/instance-type": "m6i.4xlarge"}
    return _machine(name, f"eu-west-1{'abc'[number % 3]}", "v1.33.5-eks-113cf36", labels)


CLOUDS: Mapping[str, Callable[[int], Data]] = {
    "EKS with Karpenter": _eks,
    "GKE": _gke,
    "AKS": _aks,
    "kubeadm with racks": _racks,
    "a shared cluster": _shared,
}


def cluster(cloud: str) -> list[Data]:
    """Nine machines: system pods on all, a Deployment over the zones, a budget, and a StatefulSet with volumes."""
    machines = [CLOUDS[cloud](number) for number in range(9)]
    names = [each["metadata"]["name"] for each in machines]
    own = {"constraints": [hard(ZONE, match={"app": "web"})]}
    claims = [{"name": "data", "persistentVolumeClaim": {"claimName": "data-db-0"}}]
    system = daemon_set("kube-proxy", tuple(names), cpu="100m", tolerations=[{"operator": "Exists"}])
    shop = [
        *deployment("web", (names[0], names[1], names[2]), cpu="500m", spec=own),
        *stateful_set("db", (names[3],), spec={"volumes": claims}),
        claim("data-db-0", "pv-db-0", "fast"),
        budget("web", maxUnavailable=1),
    ]
    for each in system:
        each["metadata"]["namespace"] = "kube-system"
    for each in shop:
        each["metadata"]["namespace"] = "shop"
        if each["kind"] in ("ReplicaSet", "StatefulSet"):
            each["status"] = {**each.get("status", {}), "replicas": each["spec"]["replicas"]}
    made = [*machines, *system, *shop, volume("pv-db-0", "fast", phase="Bound"), storage_class("fast", "d.csi")]
    made += [csi_node(name, "d.csi", 25) for name in names]
    for each in made:
        if each["kind"] == "Pod":
            each["metadata"]["creationTimestamp"] = MADE
    cluster_wide = {
        "Namespace": ("default", "kube-system", "shop"),
        "PriorityClass": ("system-node-critical",),
        "Service": ("kubernetes",),
    }
    api = {"PriorityClass": "scheduling.k8s.io/v1"}
    return made + [
        {"apiVersion": api.get(kind, "v1"), "kind": kind, "metadata": {"name": name, "uid": f"uid-{name}"}}
        for kind, names_of in cluster_wide.items()
        for name in names_of
    ]
