"""Worlds in which pods wait, and groups of nodes that may grow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import kubespread
from kubespread.kube.admission.defaulting import default_node
from kubespread.kube.api.core import Node
from kubespread.kube.api.decoding import decode
from kubespread.kube.selector import parse_selector
from kubespread.node_groups import NodeGroup
from kubespread.questions.worlds import world_of
from kubespread.world.events.world import World
from tests.builders import Data, node, owned_by, pod

ZONE, HOSTNAME = "topology.kubernetes.io/zone", "kubernetes.io/hostname"


def machine(name: str, zone: str | None = None, *, cpu: str = "4", pool: str | None = None, **more: Any) -> Data:
    """A node with its host name, the zone and the pool it is in."""
    made = node(name, cpu=cpu, **more)
    made["metadata"]["labels"] |= {HOSTNAME: name}
    if zone is not None:
        made["metadata"]["labels"][ZONE] = zone
    if pool is not None:
        made["metadata"]["labels"]["pool"] = pool
    return made


def waiting(count: int, constraints: Sequence[Data] = (), *, cpu: str = "1", **spec: Any) -> list[Data]:
    """Pods foo=bar of one ReplicaSet that have no node."""
    made = []
    for number in range(count):
        each = pod(f"web-{number}", constraints=list(constraints), requests={"cpu": cpu}, **spec)
        each["metadata"]["ownerReferences"] = owned_by("ReplicaSet", "web")
        made.append(each)
    return made


def running(counts: dict[str, int]) -> list[Data]:
    """So many pods foo=bar on each node, of the same ReplicaSet."""
    made = []
    for on, count in counts.items():
        for number in range(count):
            each = pod(f"old-{on}-{number}", on)
            each["metadata"]["ownerReferences"] = owned_by("ReplicaSet", "web")
            made.append(each)
    return made


def world(*objects: Data | list[Data]) -> World:
    flat = [each for given in objects for each in (given if isinstance(given, list) else [given])]
    return world_of(kubespread.Snapshot.from_objects(flat), kubespread.Scheduler(), preempts=False)


def typed(data: Data) -> Node:
    made = decode(data, Node)
    default_node(made)
    return made


def group(name: str = "pool", *zones: str, template: Data | str | None = None, **more: Any) -> NodeGroup:
    """Nodes of 4 cpu unless there is a template; those with pool=NAME are its nodes."""
    made = machine(name) if template is None else template
    given = typed(made) if isinstance(made, dict) else made
    return NodeGroup(name, template=given, zones=zones, members=parse_selector(f"pool={name}"), **more)
