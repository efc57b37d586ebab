"""The pod that is asked about, made again with other fields."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kubespread.kube.api.core import Pod
from kubespread.scheduler.cluster.cluster import Cluster


@dataclass(frozen=True, slots=True)
class Revised:
    """The pod with fields set as ``--set`` has them."""

    pod: Pod
    dressed: Callable[[Cluster], Cluster]
    """A cluster with what the pod brings along, such as the ReplicaSet that makes it."""


Revise = Callable[[Sequence[str]], Revised | None]
"""None: the API server refuses what is set."""
