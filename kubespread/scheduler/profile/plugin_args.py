"""The arguments of in-tree plugins as the plugins read them, with their defaults."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

from kubespread.kube.api.core import NodeAffinity, TopologySpreadConstraint
from kubespread.kube.versions import LATEST, KubeVersion

Strategy = Literal["LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"]


@dataclass(frozen=True, slots=True)
class WeightedResource:
    name: str
    weight: int = 1


@dataclass(frozen=True, slots=True)
class ShapePoint:
    """One point of RequestedToCapacityRatio: a utilization in percent and its score, 0..10."""

    utilization: int
    score: int


CPU_AND_MEMORY = (WeightedResource("cpu"), WeightedResource("memory"))


@dataclass(frozen=True, slots=True)
class FitArgs:
    """NodeResourcesFitArgs."""

    ignored_resources: frozenset[str] = frozenset()
    ignored_resource_groups: frozenset[str] = frozenset()
    strategy: Strategy = "LeastAllocated"
    resources: tuple[WeightedResource, ...] = CPU_AND_MEMORY
    shape: tuple[ShapePoint, ...] = ()

    def ignores(self, name: str) -> bool:
        return name in self.ignored_resources or name.partition("/")[0] in self.ignored_resource_groups


@dataclass(frozen=True, slots=True)
class SpreadArgs:
    """PodTopologySpreadArgs: ``System`` applies the built-in constraints, ``List`` those given."""

    defaulting_type: Literal["System", "List"] = "System"
    default_constraints: tuple[TopologySpreadConstraint, ...] = ()


@dataclass(frozen=True, slots=True)
class InterPodAffinityArgs:
    hard_pod_affinity_weight: int = 1
    ignore_preferred_terms_of_existing_pods: bool = False


@dataclass(frozen=True, slots=True)
class PreemptionArgs:
    """DefaultPreemptionArgs: how many candidates end the search, as a part of the nodes worth trying and at least."""

    min_candidate_nodes_percentage: int = 10
    min_candidate_nodes_absolute: int = 100

    def enough_of(self, nodes: int) -> int:
        return min(max(nodes * self.min_candidate_nodes_percentage // 100, self.min_candidate_nodes_absolute), nodes)


@dataclass(frozen=True, slots=True)
class PluginArgs:
    """The arguments of one profile, and the version whose behaviour its plugins show."""

    version: KubeVersion = LATEST
    spread: SpreadArgs = field(default_factory=SpreadArgs)
    added_affinity: NodeAffinity | None = None
    fit: FitArgs = field(default_factory=FitArgs)
    balanced: tuple[WeightedResource, ...] = CPU_AND_MEMORY
    inter_pod_affinity: InterPodAffinityArgs = field(default_factory=InterPodAffinityArgs)
    preemption: PreemptionArgs = field(default_factory=PreemptionArgs)


def args_of(version: KubeVersion, given: PluginArgs) -> PluginArgs:
    """A profile's arguments in a release. Without the gate DefaultPodTopologySpread there are no System constraints."""
    spread = given.spread
    if spread.defaulting_type == "System" and not version.has("DefaultPodTopologySpread"):
        spread = SpreadArgs("List")
    return replace(given, version=version, spread=spread)
