"""DefaultPreemption as a profile configures it; what it does is a question of its own (`scheduler/preemption.py`)."""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.kube.api.meta import Int32
from kubespread.kube.validation.faults import FieldFault, invalid
from kubespread.kube.versions import KubeVersion
from kubespread.scheduler.profile.profile import Profile
from kubespread.scheduler.specification import POST_FILTER, PRE_ENQUEUE, Args, Specification


class DefaultPreemptionArgs(Args):
    """How many candidates end the search, as a part of the nodes worth trying and at least."""

    min_candidate_nodes_percentage: Int32 = 10
    min_candidate_nodes_absolute: Int32 = 100

    def enough_of(self, nodes: int) -> int:
        """How many candidates are enough among so many nodes."""
        return min(max(nodes * self.min_candidate_nodes_percentage // 100, self.min_candidate_nodes_absolute), nodes)

    def faults(self, path: str, version: KubeVersion) -> Iterator[FieldFault]:
        percentage, absolute = self.min_candidate_nodes_percentage, self.min_candidate_nodes_absolute
        if not 0 <= percentage <= 100:
            yield invalid(f"{path}.minCandidateNodesPercentage", percentage, "not in valid range [0, 100]")
        if absolute < 0:
            yield invalid(f"{path}.minCandidateNodesAbsolute", absolute, "not in valid range [0, inf)")
        if percentage == 0 and absolute == 0:
            detail = "cannot be zero at the same time as minCandidateNodes"
            yield invalid(f"{path}.minCandidateNodesPercentage", 0, f"{detail}Absolute")
            yield invalid(f"{path}.minCandidateNodesAbsolute", 0, f"{detail}Percentage")


def args_of(profile: Profile) -> DefaultPreemptionArgs:
    """What the profile says, or its defaults."""
    return profile.args_of(SPECIFICATION.name, DefaultPreemptionArgs)


SPECIFICATION = Specification(
    name="DefaultPreemption", points=frozenset({PRE_ENQUEUE, POST_FILTER}), args=DefaultPreemptionArgs
)
