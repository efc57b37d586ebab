"""Operators of which it is known whether they make pods again that are lost, one row per kind.

A kind whose pods belong to a Deployment, a ReplicaSet, a StatefulSet or a Job that it made needs no row: a Knative
Revision, a Notebook of Kubeflow, a postgresql of Zalando. Of any other kind it is not known.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct


class Operator(Struct, frozen=True):
    """What becomes of a pod that is lost."""

    group: str
    kind: str
    source: str
    """Where it is said."""
    remakes: bool = True
    """Whether it makes a pod again that it controls itself."""
    keeps_name: bool = True
    """Whether the pod comes back under its own name."""
    keeps_volumes: bool = True
    """Whether it gets the claims back that are called like it."""
    may_switch_over: bool = False
    """Whether the operator may give its role to another pod first."""
    budget: str = ""
    """The disruption budget that the operator makes."""
    acts_as: str = ""
    """The kind of Kubernetes whose controller it follows, where there is one."""

    def __str__(self) -> str:
        if not self.remakes:
            return "it makes ReplicaSets, and does not make a pod again that it controls itself"
        name = "under their own names" if self.keeps_name else "under new names"
        role = "; that it may switch over to another pod first is not simulated" if self.may_switch_over else ""
        return f"its operator makes lost pods again, {name}{role}"


_CNPG = "one for the primary, one for the other instances"
_KRUISE = "https://openkruise.io/docs/user-manuals"
_TRAINER = "https://github.com/kubeflow/trainer/blob/v1.9.0/pkg/controller.v1/common/pod.go"

ROWS = (
    Operator(
        "core.strimzi.io",
        "StrimziPodSet",
        "https://github.com/strimzi/proposals/blob/main/031-statefulset-removal.md",
        budget="one for all pods of a Kafka",
    ),
    Operator(
        "postgresql.cnpg.io",
        "Cluster",
        "https://cloudnative-pg.io/documentation/1.21/failure_modes/",
        may_switch_over=True,
        budget=_CNPG,
    ),
    Operator(
        "postgresql.k8s.enterprisedb.io",
        "Cluster",
        "https://www.enterprisedb.com/docs/postgres_for_kubernetes/latest/failure_modes/",
        may_switch_over=True,
        budget=_CNPG,
    ),
    Operator(
        "argoproj.io",
        "Rollout",
        "https://github.com/argoproj/argo-rollouts/blob/v1.8.0/rollout/replicaset.go",
        remakes=False,
    ),
    Operator("apps.kruise.io", "CloneSet", f"{_KRUISE}/cloneset", keeps_name=False, keeps_volumes=False),
    Operator("apps.kruise.io", "StatefulSet", f"{_KRUISE}/advancedstatefulset", acts_as="StatefulSet"),
    Operator("apps.kruise.io", "DaemonSet", f"{_KRUISE}/advanceddaemonset", acts_as="DaemonSet"),
    Operator(
        "apps.foundationdb.org",
        "FoundationDBCluster",
        "https://github.com/FoundationDB/fdb-kubernetes-operator/blob/main/docs/manual/technical_design.md",
    ),
    Operator(
        "kafka.banzaicloud.io",
        "KafkaCluster",
        "https://opensource.adobe.com/koperator/docs/e2e-tutorial/disaster-recovery",
        keeps_name=False,
    ),
    Operator(
        "ray.io",
        "RayCluster",
        "https://docs.ray.io/en/latest/cluster/kubernetes/user-guides/kuberay-gcs-ft.html",
        keeps_name=False,
        keeps_volumes=False,
    ),
    Operator(
        "batch.volcano.sh",
        "Job",
        "https://github.com/volcano-sh/volcano/blob/v1.4.0/pkg/controllers/job/job_controller_actions.go",
    ),
    *(
        Operator("kubeflow.org", kind, _TRAINER)
        for kind in ("PyTorchJob", "TFJob", "MPIJob", "XGBoostJob", "PaddleJob", "JAXJob")
    ),
)

OPERATORS: Mapping[tuple[str, str], Operator] = {(row.group, row.kind): row for row in ROWS}
