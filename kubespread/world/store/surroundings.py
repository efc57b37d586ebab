"""What a world is told from outside."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field

from kubespread.kube.admission.plugins import AdmissionPlugins
from kubespread.kube.owners import WorkloadName
from kubespread.kube.versions import KubeVersion
from kubespread.world.store.chance import Chance
from kubespread.world.store.owners import Making
from kubespread.world.store.waiting import SchedulerOf


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a world is told from outside."""

    scheduler_of: SchedulerOf
    making: Making
    time: datetime.datetime
    """When what happens here begins."""
    version: KubeVersion
    """The release whose controllers are at work."""
    preempts: bool = True
    stuck: frozenset[WorkloadName] = frozenset()
    """Workloads, and ReplicaSets of Deployments, whose new pods never become ready."""
    chance: Chance = Chance()
    admission: AdmissionPlugins = AdmissionPlugins(enabled=False)
    """What the API server's admission does to the pods that controllers create."""
    assumed: dict[str, None] = field(default_factory=dict)
    """Where everyone writes down what was taken for granted, as the cluster's source does not say."""
