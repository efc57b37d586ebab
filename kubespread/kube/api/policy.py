"""How many pods evictions must leave."""

from __future__ import annotations

from msgspec import field

from kubespread.kube.api.meta import ApiObject, Int32, Int64, IntOrString, KubeObject, LabelSelector


class PodDisruptionBudgetSpec(KubeObject):
    selector: LabelSelector | None = None
    min_available: IntOrString | None = None
    max_unavailable: IntOrString | None = None
    unhealthy_pod_eviction_policy: str | None = None


class Condition(KubeObject):
    """meta/v1's Condition."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""


class PodDisruptionBudgetStatus(KubeObject):
    observed_generation: Int64 = 0
    expected_pods: Int32 = 0
    current_healthy: Int32 = 0
    desired_healthy: Int32 = 0
    disruptions_allowed: Int32 = 0
    disrupted_pods: dict[str, str] = field(default_factory=dict)
    conditions: list[Condition] = field(default_factory=list)


class PodDisruptionBudget(ApiObject):
    spec: PodDisruptionBudgetSpec = field(default_factory=PodDisruptionBudgetSpec)
    status: PodDisruptionBudgetStatus = field(default_factory=PodDisruptionBudgetStatus)
