"""NodePools, pods and what Karpenter makes of them, for the suites that ask about it.

A NodePool is a group whose zones are those its nodes can be in. One that may choose between capacity types,
architectures or values of its own stands here as one group for each: `node_pool_group` knows several values of zones
alone, as its documentation says.
"""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

from msgspec import structs
from msgspec.structs import replace

import kubespread
from kubespread.kube.api.cluster_objects import NodePool
from kubespread.kube.api.decoding import decode
from kubespread.kube.selector import from_map
from kubespread.node_groups import NodeGroup, node_pool_group
from kubespread.questions.autoscaling import karpenter
from kubespread.questions.autoscaling.growing import zone_groups
from kubespread.questions.worlds import world_of
from kubespread.reports.autoscaling import ScalingLoop
from kubespread.world.events.world import World
from tests.builders import hard, pod, soft
from tests.questions.autoscaling.clusters import ZONE, machine, typed

Data = dict[str, Any]

CAPACITY_TYPE, ARCH = "karpenter.sh/capacity-type", "kubernetes.io/arch"
Z1, Z2, Z3 = ALL_ZONES = ("test-zone-1", "test-zone-2", "test-zone-3")
SPOT, ON_DEMAND = f"{CAPACITY_TYPE}=spot", f"{CAPACITY_TYPE}=on-demand"
TEST = {"test": "test"}
_numbers = itertools.count()


def labels(*words: str) -> dict[str, str]:
    """``key=value``, and ``key`` for the empty value."""
    return {key: value for key, _, value in (word.partition("=") for word in words)}


def node(name: str, zone: str | None, *words: str, cpu: str = "4", pods: str = "5", **more: Any) -> Data:
    """A node as Karpenter's own tests have them, for five pods, with more labels ``key=value``."""
    made = machine(name, zone, cpu=cpu, **more)
    made["metadata"]["labels"] |= labels(*words)
    made["status"]["allocatable"]["pods"] = pods
    return made


def pool(*words: str, zones: tuple[str, ...] = (), name: str = "pool", **more: Any) -> NodeGroup:
    """The group of a NodePool that requires these labels ``key=value`` and zones, or any of the three zones.

    ``labels``, ``limits`` and ``taints`` are the NodePool's, the rest is about its nodes.
    """
    chosen = {**{key: (value,) for key, value in labels(*words).items()}, **({ZONE: zones} if zones else {})}
    requirements = [{"key": key, "operator": "In", "values": list(values)} for key, values in chosen.items()]
    metadata = {"labels": labels(*more.pop("labels", ()))}
    template = {"metadata": metadata, "spec": {"requirements": requirements, "taints": more.pop("taints", [])}}
    spec = {"template": template, "limits": more.pop("limits", {})}
    group = node_pool_group(decode({"metadata": {"name": name}, "spec": spec}, NodePool))
    return structs.replace(group, zones=group.zones or ALL_ZONES, template=typed(node(name, ALL_ZONES[0], **more)))


def wanted(count: int, *constraints: Data, own: Data | None = None, cpu: str | None = None, **spec: Any) -> list[Data]:
    """Pods without a node, labeled test=test unless told otherwise."""
    requests = None if cpu is None else {"cpu": cpu}
    given = TEST if own is None else own
    return [
        pod(f"p{next(_numbers)}", labels=given, constraints=list(constraints), requests=requests, **spec)
        for _ in range(count)
    ]


def there(on: str, count: int = 1, *, own: Data | None = None, cpu: str | None = None, **spec: Any) -> list[Data]:
    """Pods on a node."""
    return wanted(count, own=own, cpu=cpu, nodeName=on, **spec)


def spread(key: str, max_skew: int = 1, **more: Any) -> Data:
    return hard(key, max_skew, match=TEST, **more)


def prefer_spread(key: str, max_skew: int = 1) -> Data:
    return soft(key, max_skew, match=TEST)


def provision(
    pools: list[NodeGroup], *objects: list[Data], before: World | None = None
) -> tuple[World, list[ScalingLoop]]:
    """The cluster once Karpenter and then kube-scheduler have done what they can for its pods, and Karpenter's rounds.

    Karpenter goes first, as in its own tests, where nobody else places pods; in a cluster kube-scheduler does, and puts
    pods on nodes that are there without a thought for zones that are only possible. ``before``: go on from what was
    there, but for the pods that still waited.
    """
    snapshot = kubespread.Snapshot.from_objects([each for given in objects for each in given])
    if before is not None:
        now = before.cluster
        nodes, pods = (*now.nodes.objects, *snapshot.nodes), (*now.running.pods, *snapshot.pods)
        snapshot = replace(snapshot, nodes=nodes, pods=pods)
    after = world_of(snapshot, kubespread.Scheduler(), preempts=False)
    rounds = list(karpenter.loops(after, zone_groups(pools, snapshot.nodes, launches=True), []))
    after.settle()
    return after, rounds


def added(rounds: list[ScalingLoop]) -> int:
    """How many nodes came."""
    return sum(len(each.nodes) for one in rounds for each in one.added)


def nodes_of(world: World, pods: list[Data]) -> list[str]:
    """The names of the nodes that these pods are on, without those of pods that wait."""
    running = world.cluster.running
    names = {
        each.metadata.name: world.cluster.nodes.names[on] for each, on in zip(running.pods, running.node, strict=True)
    }
    return [names[each["metadata"]["name"]] for each in pods if each["metadata"]["name"] in names]


def labels_of(world: World, pods: list[Data], key: str) -> list[str]:
    """The values of a label of the nodes that these pods are on."""
    nodes = world.cluster.nodes
    return [nodes.objects[nodes.index[name]].metadata.labels[key] for name in nodes_of(world, pods)]


def counts(world: World, key: str, own: Data | None = None) -> list[int]:
    """How many pods with these labels each domain has that has any, the most first."""
    running, nodes = world.cluster.running, world.cluster.nodes.objects
    selector = from_map(TEST if own is None else own)
    domains = Counter(
        nodes[on].metadata.labels[key]
        for each, on in zip(running.pods, running.node, strict=True)
        if each.metadata.namespace == "default"
        and selector.matches(each.metadata.labels)
        and key in nodes[on].metadata.labels
        and not each.metadata.deletion_timestamp
    )
    return sorted(domains.values(), reverse=True)
