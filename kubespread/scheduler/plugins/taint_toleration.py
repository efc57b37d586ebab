"""TaintToleration: untolerated NoSchedule and NoExecute taints reject, PreferNoSchedule taints cost score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kubespread.kube.objects import Pod
from kubespread.kube.taint import PREFER_NO_SCHEDULE
from kubespread.scheduler.cluster import Cluster, Counts, Mask
from kubespread.scheduler.framework import Code, State, Status, Verdicts, default_normalize
from kubespread.scheduler.node_matching import count_untolerated, tolerated

UNTOLERATED = Status(Code.UNRESOLVABLE, ("node(s) had untolerated taint(s)",))


class TaintToleration:
    name: ClassVar[str] = "TaintToleration"

    def prepare(self, cluster: Cluster, pod: Pod) -> State:
        return _State(cluster, pod)


@dataclass
class _State(State):
    cluster: Cluster
    pod: Pod

    def filter(self) -> Verdicts:
        return Verdicts.rejecting(~tolerated(self.cluster, self.pod), UNTOLERATED)

    def score(self, feasible: Mask) -> Counts:
        # A toleration limited to another effect does not help here.
        tolerations = [toleration for toleration in self.pod.spec.tolerations if toleration.effect in ("", PREFER_NO_SCHEDULE)]
        raw = count_untolerated(self.cluster, tolerations, frozenset({PREFER_NO_SCHEDULE}))
        return default_normalize(raw, feasible, reverse=True)
