"""How many pods a workload is to have."""

from __future__ import annotations

from kubespread.kube.api.annotations import DESIRED_REPLICAS
from kubespread.kube.owners import WorkloadName
from kubespread.kube.selector import parse_int64
from kubespread.world.events.world import World


def desired_replicas(world: World, workload: WorkloadName) -> int:
    """How many pods a workload is to have: what a Deployment says, as its ReplicaSets have more in a rollout. Where it
    is not there, its controller has noted that on each of them.
    """
    deployment = world.workloads.deployments.get(workload)
    if deployment is not None and deployment.spec.replicas is not None:
        return deployment.spec.replicas
    below, known = world.owners_below(workload), world.workloads.replica_sets
    noted = (known[owner].metadata.annotations.get(DESIRED_REPLICAS) for owner in below if owner in known)
    stated = [number for text in noted if text is not None and (number := parse_int64(text)) is not None]
    return max(stated) if len(below) > 1 and stated else sum(world.owner(owner).replicas for owner in below)
