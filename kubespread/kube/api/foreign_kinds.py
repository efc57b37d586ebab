"""Kinds of other projects that create pods, one row per kind: where their pod templates are and how many pods they ask
for. Other objects that create pods are at least named.

Source of the table: the projects' custom resource definitions, of late 2026.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from kubespread.kube.api.kinds import TEMPLATE_PATH, group_of


class TemplateAt(Struct, frozen=True):
    """One pod template in an object of a foreign kind."""

    path: str = TEMPLATE_PATH
    counts: tuple[str, ...] = ("spec.replicas",)
    """Fields whose product is the number of pods; one that is absent counts as 1."""
    within: str = ""
    """A list or map of parts, named by name or key; ``path`` and ``counts`` start at each part."""
    part: str = ""
    """What the pods are called beside the object's name, where there are several kinds of them."""
    otherwise: str = ""
    """Where the template stands when it is not at ``path``."""
    last_count_less: int = 0
    """How many of the last of ``counts`` are no pods of this template."""


def _replica_specs(field: str) -> tuple[TemplateAt, ...]:
    """Kubeflow's training jobs: a map from roles to replicas and template."""
    return (TemplateAt("template", ("replicas",), within=f"spec.{field}"),)


_LEADER_WORKER = "spec.leaderWorkerTemplate"

FOREIGN_KINDS: Mapping[tuple[str, str], tuple[TemplateAt, ...]] = {
    ("argoproj.io", "Rollout"): (TemplateAt(),),
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"): (
        TemplateAt(f"{_LEADER_WORKER}.leaderTemplate", part="leader", otherwise=f"{_LEADER_WORKER}.workerTemplate"),
        TemplateAt(
            f"{_LEADER_WORKER}.workerTemplate",
            ("spec.replicas", f"{_LEADER_WORKER}.size"),
            part="worker",
            last_count_less=1,
        ),
    ),
    ("jobset.x-k8s.io", "JobSet"): (
        TemplateAt("template.spec.template", ("replicas", "template.spec.parallelism"), within="spec.replicatedJobs"),
    ),
    ("serving.knative.dev", "Service"): (TemplateAt(counts=()),),
    ("serving.knative.dev", "Configuration"): (TemplateAt(counts=()),),
    ("sparkoperator.k8s.io", "SparkApplication"): (
        TemplateAt("spec.driver.template", (), part="driver"),
        TemplateAt("spec.executor.template", ("spec.executor.instances",), part="executor"),
    ),
    ("kubeflow.org", "PyTorchJob"): _replica_specs("pytorchReplicaSpecs"),
    ("kubeflow.org", "TFJob"): _replica_specs("tfReplicaSpecs"),
    ("kubeflow.org", "MPIJob"): _replica_specs("mpiReplicaSpecs"),
    ("kubeflow.org", "XGBoostJob"): _replica_specs("xgbReplicaSpecs"),
    ("kubeflow.org", "PaddleJob"): _replica_specs("paddleReplicaSpecs"),
    ("kubeflow.org", "JAXJob"): _replica_specs("jaxReplicaSpecs"),
    ("batch.volcano.sh", "Job"): (TemplateAt("template", ("replicas",), within="spec.tasks"),),
    ("kueue.x-k8s.io", "Workload"): (TemplateAt("template", ("count",), within="spec.podSets"),),
    # Their pods are made by a controller from something that is no pod template.
    ("kubevirt.io", "VirtualMachine"): (),
    ("kubevirt.io", "VirtualMachineInstance"): (),
    ("kubevirt.io", "VirtualMachineInstanceReplicaSet"): (),
}

REVISION_FIELDS = frozenset(
    {"containerConcurrency", "timeoutSeconds", "responseStartTimeoutSeconds", "idleTimeoutSeconds"}
)
"""What a Knative template has beside a pod's own fields."""
KNATIVE_CONTAINERS: Mapping[str, str] = {"containers": "user-container", "initContainers": "init-container"}
"""What Knative calls a container without a name; where there are several they are numbered."""
KNATIVE_LABELS: Mapping[str, tuple[str, ...]] = {
    "Service": ("serving.knative.dev/service", "serving.knative.dev/configuration"),
    "Configuration": ("serving.knative.dev/configuration",),
}
"""The labels that Knative puts on the pods of a kind, with the object's name as their value."""


def templates_of(api_version: str, kind: str) -> tuple[TemplateAt, ...] | None:
    """Where the pod templates of a foreign kind stand, none where it has none; None for a kind that is not known."""
    return FOREIGN_KINDS.get((group_of(api_version), kind))


_NO_PODS_OF_THEIR_OWN = frozenset({("apps", "ControllerRevision")})
"""Histories of templates."""


def holds_pods(api_version: str, kind: str, data: Mapping[str, Any]) -> bool:
    """Whether containers with an image stand anywhere inside an object, as in every pod template there is."""
    if (group_of(api_version), kind) in _NO_PODS_OF_THEIR_OWN:
        return False
    waiting: list[Any] = [data]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            containers = value.get("containers", [value.get("container")])
            if isinstance(containers, list) and any(
                isinstance(container, dict) and "image" in container for container in containers
            ):
                return True
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
    return False


def is_custom(api_version: str) -> bool:
    """Whether a kind is not one of Kubernetes' own, so that nothing is known of what its controller creates."""
    group = group_of(api_version)
    return "." in group and not group.endswith(".k8s.io")


def skipped_gaps(kinds: Iterable[str]) -> list[str]:
    """Gaps for objects that hold pods and were not read, given by their kinds."""
    return [f"pods are missing: {skipped}" for skipped in _skipped(kinds)]


def custom_notes(kinds: Iterable[str]) -> list[str]:
    """Notes on custom objects that hold no pods themselves, given by their kinds."""
    return [f"{skipped}: pods that its controller creates are not part of the answer" for skipped in _skipped(kinds)]


def _skipped(kinds: Iterable[str]) -> list[str]:
    return [
        f"skipped {count} object{'' if count == 1 else 's'} of {kind}" for kind, count in sorted(Counter(kinds).items())
    ]
