"""How many pods a Deployment asks for, and how far a rollout may go above and below.

Source: pkg/apis/apps/v1/defaults.go, SetDefaults_Deployment
Source: pkg/controller/deployment/util/deployment_util.go, ResolveFenceposts, MaxSurge, MaxUnavailable
"""

from __future__ import annotations

from typing import NamedTuple

from kubespread.kube.api.meta import IntOrString
from kubespread.kube.api.workloads import Deployment, ReplicaSet, RollingUpdate
from kubespread.kube.int_or_string import scaled

ROLLING_UPDATE = "RollingUpdate"
_DEFAULT: IntOrString = "25%"


class Limits(NamedTuple):
    """Pods above and below ``spec.replicas``."""

    max_surge: int
    max_unavailable: int


def replicas_of(workload: Deployment | ReplicaSet) -> int:
    """``spec.replicas``, by default 1."""
    return 1 if workload.spec.replicas is None else workload.spec.replicas


def strategy_of(deployment: Deployment) -> str:
    """``spec.strategy.type``, by default RollingUpdate."""
    strategy = deployment.spec.strategy
    return strategy.type if strategy is not None and strategy.type else ROLLING_UPDATE


def limits(deployment: Deployment) -> Limits:
    """Both 0 unless it is updated rolling. Raises IntOrStringError for what is neither number nor percentage."""
    if strategy_of(deployment) != ROLLING_UPDATE:
        return Limits(0, 0)
    strategy, replicas = deployment.spec.strategy, replicas_of(deployment)
    rolling = (strategy.rolling_update if strategy is not None else None) or RollingUpdate()
    surge = scaled(_or_default(rolling.max_surge), replicas, round_up=True)
    unavailable = scaled(_or_default(rolling.max_unavailable), replicas, round_up=False)
    if surge == 0 and unavailable == 0:
        # Small percentages of few replicas; the rollout could not begin.
        unavailable = 1
    return Limits(surge, min(unavailable, replicas))


def _or_default(value: IntOrString | None) -> IntOrString:
    return _DEFAULT if value is None else value
