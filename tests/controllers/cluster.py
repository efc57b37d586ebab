"""Typed pods, workloads and budgets on one line."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from kubespread.kube.api.cluster_objects import PodDisruptionBudget, PodDisruptionBudgetSpec, PodDisruptionBudgetStatus
from kubespread.kube.api.core import (
    AnyVolumeSource,
    HostPathVolumeSource,
    Pod,
    PodCondition,
    PodSpec,
    PodStatus,
    Volume,
)
from kubespread.kube.api.meta import LabelSelector, ObjectMeta, OwnerReference

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)

_WEB = LabelSelector(match_labels={"app": "web"})


def controlled_by(kind: str, name: str = "web", api_version: str = "apps/v1") -> OwnerReference:
    return OwnerReference(api_version=api_version, kind=kind, name=name, uid=f"uid-{name}", controller=True)


def pod(
    name: str = "web-0",
    owner: OwnerReference | None = None,
    *,
    ready: bool = True,
    phase: str = "Running",
    on: str = "n1",
    deleted: str | None = None,
    namespace: str = "default",
    volumes: tuple[str, ...] = (),
) -> Pod:
    """A pod app=web; ``volumes`` are of the kinds emptyDir and hostPath."""
    sources: dict[str, dict[str, Any]] = {
        "emptyDir": {"empty_dir": AnyVolumeSource()},
        "hostPath": {"host_path": HostPathVolumeSource(path="/")},
    }
    return Pod(
        metadata=ObjectMeta(
            name=name,
            namespace=namespace,
            labels={"app": "web"},
            deletion_timestamp=deleted,
            owner_references=[owner] if owner is not None else [],
        ),
        spec=PodSpec(node_name=on, volumes=[Volume(name=kind.lower(), **sources[kind]) for kind in volumes]),
        status=PodStatus(
            phase=phase,
            conditions=[PodCondition(type="Ready", status=str(ready), last_transition_time="2026-03-01T11:00:00Z")],
        ),
    )


def budget(
    name: str = "web",
    *,
    generation: int = 1,
    status: PodDisruptionBudgetStatus | None = None,
    selector: LabelSelector | None = _WEB,
    **spec: Any,
) -> PodDisruptionBudget:
    """A budget over app=web; ``spec`` sets its other fields."""
    return PodDisruptionBudget(
        metadata=ObjectMeta(name=name, namespace="default", generation=generation),
        spec=PodDisruptionBudgetSpec(selector=selector, **spec),
        status=status or PodDisruptionBudgetStatus(),
    )
