"""TaintToleration: untolerated NoSchedule and NoExecute taints reject, PreferNoSchedule taints cost score.

Source: pkg/scheduler/framework/plugins/tainttoleration/taint_toleration.go, Filter, PreScore, Score,
    countIntolerableTaintsPreferNoSchedule
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import msgspec
import numpy as np

from kubespread.kube.admission.plugins import for_extended_resources
from kubespread.kube.api.core import Pod, Taint
from kubespread.kube.releases.changes import older_reasons
from kubespread.kube.taint import COMPARISON_GATE, DO_NOT_SCHEDULE_EFFECTS, PREFER_NO_SCHEDULE, tolerates, untolerated
from kubespread.scheduler.causes import Causes, TaintDetail
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.cluster.columns import Counts, Mask, Positions
from kubespread.scheduler.cluster.nodes import Nodes, count_untolerated, tolerated
from kubespread.scheduler.plugin import (
    FILTER,
    RANKS,
    Code,
    Extent,
    Fixed,
    Plugin,
    Specification,
    Status,
    Unprepared,
    Verdicts,
    default_normalize,
    highest_raw,
)

UNTOLERATED = Status(Code.UNRESOLVABLE, ("node(s) had untolerated taint(s)",))


@dataclass(frozen=True)
class TaintToleration(Plugin):
    name: ClassVar[str] = "TaintToleration"

    naming: str = ""
    """Up to 1.34.1 the reason names the first untolerated taint, in this form."""
    compares: bool = False
    """Whether tolerations with the operators Gt and Lt tolerate anything."""

    def signature(self, pod: Pod) -> Hashable:
        return msgspec.msgpack.encode(pod.spec.tolerations)

    def gaps(self, cluster: Cluster, pod: Pod) -> Iterator[str]:
        """Tolerations that the API server may add: of a pod that is there already it is known whether it did."""
        tolerated = (
            {} if pod.metadata.uid else {toleration.key: toleration for toleration in for_extended_resources(pod)}
        )
        keeping = {
            taint.key
            for taints in (cluster.nodes.taint_lists if tolerated else ())
            for taint in untolerated(taints, pod.spec.tolerations, DO_NOT_SCHEDULE_EFFECTS, compares=self.compares)
            if taint.key in tolerated and tolerates(tolerated[taint.key], taint)
        }
        for key in sorted(keeping):
            yield (
                f"ExtendedResourceToleration: whether pods that request {key} are given a toleration of the nodes' "
                f"taint {key}, as on GKE; it is applied only with --extended-resource-toleration"
            )

    def prepare(self, cluster: Cluster, pod: Pod) -> TaintTolerationState:
        return TaintTolerationState(cluster.nodes, pod, self.naming, self.compares)


@dataclass
class TaintTolerationState(Fixed):
    nodes: Nodes
    pod: Pod
    naming: str
    compares: bool

    def _untolerated(self, taints: Sequence[Taint]) -> list[Taint]:
        return untolerated(taints, self.pod.spec.tolerations, DO_NOT_SCHEDULE_EFFECTS, compares=self.compares)

    def filter(self) -> Verdicts:
        if not self.naming:
            return Verdicts.rejecting(~tolerated(self.nodes, self.pod, compares=self.compares), UNTOLERATED)
        table: list[Status] = []
        rows = []
        for taints in self.nodes.taint_lists:
            first = next(iter(self._untolerated(taints)), None)
            if first is not None:
                table.append(Status(Code.UNRESOLVABLE, (self.naming.format(taint=f"{{{first.key}: {first.value}}}"),)))
            rows.append(len(table) if first is not None else 0)
        return Verdicts(self.nodes.per_taint_list(rows).astype(np.int32), tuple(table))

    def causes(self, cluster: Cluster, nodes: Positions) -> Sequence[Causes]:
        """Every taint that is not tolerated, and not kube-scheduler's first one only."""
        per_list = [
            tuple(TaintDetail(taint.key, taint.value, taint.effect) for taint in self._untolerated(taints))
            for taints in self.nodes.taint_lists
        ]
        return [per_list[row] for row in self.nodes.per_taint_list(range(len(per_list)))[nodes].tolist()]

    def score(self) -> Counts:
        # A toleration limited to another effect does not help here.
        tolerations = [
            toleration for toleration in self.pod.spec.tolerations if toleration.effect in ("", PREFER_NO_SCHEDULE)
        ]
        return count_untolerated(self.nodes, tolerations, frozenset({PREFER_NO_SCHEDULE}), compares=self.compares)

    def extent(self, raw: Counts, feasible: Mask) -> Extent:
        return highest_raw(raw, feasible)

    def normalize(self, raw: Counts, extent: Extent) -> Counts:
        return default_normalize(raw, extent, reverse=True)


SPECIFICATION = Specification(
    name=TaintToleration.name,
    points=frozenset({FILTER}) | RANKS,
    make=lambda setting: TaintToleration(
        older_reasons(setting.version.release).get(UNTOLERATED.reasons[0], ("",))[0],
        compares=setting.version.has(COMPARISON_GATE),
    ),
    weight=3,
    weight_before_multi_point=1,
    unprepared=Unprepared(score='failed to read "PreScoreTaintToleration" from cycleState: not found'),
)
