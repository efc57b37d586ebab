"""The arguments of InterPodAffinity."""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.kube.api.meta import Int32
from kubespread.kube.validation.faults import FieldFault, invalid
from kubespread.kube.versions import KubeVersion
from kubespread.scheduler.specification import Args


class InterPodAffinityArgs(Args):
    hard_pod_affinity_weight: Int32 = 1
    ignore_preferred_terms_of_existing_pods: bool = False

    def faults(self, path: str, version: KubeVersion) -> Iterator[FieldFault]:
        weight = self.hard_pod_affinity_weight
        if not 0 <= weight <= 100:
            yield invalid(f"{path}.hardPodAffinityWeight", weight, "not in valid range [0, 100]")
