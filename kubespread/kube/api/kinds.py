"""The kinds of the API that mean something here, one row each. Every other list of kinds is derived from it.

Kinds of other projects that create pods are rows of ``foreign.toml``; other objects that do are at least named.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from kubespread.kube.api import cluster_objects as objects
from kubespread.kube.api import core, devices, workloads
from kubespread.kube.api.meta import ApiObject
from kubespread.wording import count_of


def templates_of(api_version: str, kind: str) -> tuple[TemplateAt, ...] | None:
    """Pod templates of a foreign kind, possibly none; None for an unknown kind."""
    templates = foreign()["templates"].get(group_of(api_version), {}).get(kind)
    return None if templates is None else msgspec.convert(templates, tuple[TemplateAt, ...])


_NO_PODS_OF_THEIR_OWN = frozenset({("apps", "ControllerRevision")})
"""Histories of templates."""


def holds_pods(api_version: str, kind: str, data: Mapping[str, Any]) -> bool:
    """True if containers with an image are anywhere in an object, as in every pod template."""
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
    """True if a kind is not Kubernetes' own: the objects that its controller creates are not known."""
    group = group_of(api_version)
    return "." in group and not group.endswith(".k8s.io")


def skipped_gaps(kinds: Iterable[str]) -> list[str]:
    """Gaps for unread objects with pods, by kind."""
    return [f"pods are missing: {skipped}" for skipped in _skip_notes(kinds)]


def custom_notes(kinds: Iterable[str]) -> list[str]:
    """Notes on custom objects without pods, by kind."""
    return [f"{skipped}: pods that its controller creates are not part of the answer" for skipped in _skip_notes(kinds)]


def _skip_notes(kinds: Iterable[str]) -> list[str]:
    return [f"skipped {count_of(count, 'object')} of {kind}" for kind, count in sorted(Counter(kinds).items())]


TEMPLATE_PATH = "spec.template"
"""Path of a pod template in most kinds."""


class TemplateAt(Struct, frozen=True, rename="kebab"):
    """A pod template in an object of a foreign kind."""

    path: str = TEMPLATE_PATH
    counts: tuple[str, ...] = ("spec.replicas",)
    """Fields that multiply to the number of pods; an absent one counts as 1."""
    within: str = ""
    """List or map of parts, by name or key; ``path`` and ``counts`` start at each part."""
    part: str = ""
    """Name of these pods besides the object's, if an object has several kinds."""
    otherwise: str = ""
    """Path of the template if it is not at ``path``."""
    last_count_less: int = 0
    """Number of pods in the last of ``counts`` with another template."""


@cache
def foreign() -> Mapping[str, Any]:
    """Tables of ``foreign.toml``."""
    return tomllib.loads(Path(__file__).with_name("foreign.toml").read_text(encoding="utf-8"))


class Operator(Struct, frozen=True, rename="kebab"):
    """An operator, and the way it replaces a lost pod."""

    group: str
    kind: str
    source: str
    """Source of this knowledge."""
    recreates: bool = True
    """True if it recreates pods that it controls."""
    keeps_name: bool = True
    """True if the pod keeps its name."""
    keeps_volumes: bool = True
    """True if it gets back the claims named after it."""
    may_switch_over: bool = False
    """True if the operator may give its role to another pod first."""
    budget: str = ""
    """Disruption budget that the operator creates."""
    acts_as: str = ""
    """Kind of Kubernetes with a similar controller, if any."""

    def __str__(self) -> str:
        if not self.recreates:
            return "it makes ReplicaSets, and does not make a pod again that it controls itself"
        name = "under their own names" if self.keeps_name else "under new names"
        role = "; that it may switch over to another pod first is not simulated" if self.may_switch_over else ""
        return f"its operator makes lost pods again, {name}{role}"


OPERATORS: Mapping[tuple[str, str], Operator] = {
    (row.group, row.kind): row for row in msgspec.convert(foreign()["operators"], tuple[Operator, ...])
}
"""Operators known to recreate lost pods, or not to, by group and kind."""


class Kind(Struct, frozen=True):
    """A kind: its type here, and its names in the API."""

    cls: type[ApiObject]
    api_version: str
    plural: str
    short: str = ""
    """kubectl's short name, for kinds that questions can name."""
    is_namespaced: bool = True
    template_path: str = ""
    """Path of the pod template, in fields of the API."""
    template_attribute: str = ""
    """Path of the template in attributes of ``cls``, if different."""
    other_versions: tuple[str, ...] = ()
    """apiVersions of namesakes that are read the same way."""
    is_stored: bool = True
    """True if a snapshot holds its objects."""
    is_listed: bool = True
    """True if it is listed from a running cluster."""
    has_replicas: bool = False
    """True if its spec.replicas is the number of pods."""
    foreign: str = ""
    """Name of a kind known only from pods that it controls, as they or kubectl write it."""

    @property
    def kind(self) -> str:
        return self.foreign or self.cls.__name__

    @property
    def group(self) -> str:
        return group_of(self.api_version)

    @property
    def aliases(self) -> tuple[str, ...]:
        """kubectl's names of the kind, without its group."""
        return self.short, self.kind.lower(), self.plural

    @property
    def resource(self) -> str:
        """``deployments.apps``, as kubectl writes it."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def creates_pods(self) -> bool:
        """True for a pod, or a kind with a pod template."""
        return self.cls is core.Pod or bool(self.template_path)

    def pod_template(self, obj: ApiObject) -> core.PodTemplateSpec | None:
        template: core.PodTemplateSpec | None = attrgetter(self.template_attribute or self.template_path)(obj)
        return template


def group_of(api_version: str) -> str:
    """``apps`` of ``apps/v1``; the core group is empty."""
    return api_version.rpartition("/")[0]


def full_kind(api_version: str, kind: str) -> str:
    """``Job.batch.volcano.sh``: a kind as kubectl distinguishes it from its namesakes; without a suffix for the core
    group.
    """
    group = group_of(api_version)
    return f"{kind}.{group}" if kind and group else kind


_STORAGE, _REGISTRATION = "storage.k8s.io/v1", "admissionregistration.k8s.io/v1"
_RESOURCE, _RESOURCE_BETA = "resource.k8s.io/v1", ("resource.k8s.io/v1beta2",)

KINDS = (
    Kind(core.Node, "v1", "nodes", is_namespaced=False),
    Kind(core.Pod, "v1", "pods", "po"),
    Kind(workloads.Deployment, "apps/v1", "deployments", "deploy", template_path=TEMPLATE_PATH, has_replicas=True),
    Kind(workloads.ReplicaSet, "apps/v1", "replicasets", "rs", template_path=TEMPLATE_PATH, has_replicas=True),
    Kind(workloads.StatefulSet, "apps/v1", "statefulsets", "sts", template_path=TEMPLATE_PATH, has_replicas=True),
    Kind(workloads.DaemonSet, "apps/v1", "daemonsets", "ds", template_path=TEMPLATE_PATH),
    Kind(
        workloads.ReplicationController,
        "v1",
        "replicationcontrollers",
        "rc",
        template_path=TEMPLATE_PATH,
        has_replicas=True,
    ),
    Kind(workloads.Job, "batch/v1", "jobs", "job", template_path=TEMPLATE_PATH),
    Kind(
        workloads.CronJob,
        "batch/v1",
        "cronjobs",
        "cj",
        template_path="spec.jobTemplate.spec.template",
        template_attribute="spec.job_template.spec.template",
    ),
    Kind(workloads.PodTemplate, "v1", "podtemplates", template_path="template", is_stored=False),
    Kind(core.Service, "v1", "services", "svc"),
    Kind(core.Namespace, "v1", "namespaces", is_namespaced=False),
    Kind(objects.PersistentVolumeClaim, "v1", "persistentvolumeclaims"),
    Kind(objects.PersistentVolume, "v1", "persistentvolumes", is_namespaced=False),
    Kind(objects.StorageClass, _STORAGE, "storageclasses", is_namespaced=False),
    Kind(objects.CSINode, _STORAGE, "csinodes", is_namespaced=False),
    Kind(objects.CSIDriver, _STORAGE, "csidrivers", is_namespaced=False),
    Kind(objects.CSIStorageCapacity, _STORAGE, "csistoragecapacities"),
    Kind(objects.VolumeAttachment, _STORAGE, "volumeattachments", is_namespaced=False),
    Kind(objects.PodDisruptionBudget, "policy/v1", "poddisruptionbudgets"),
    Kind(objects.PriorityClass, "scheduling.k8s.io/v1", "priorityclasses", is_namespaced=False),
    Kind(core.RuntimeClass, "node.k8s.io/v1", "runtimeclasses", is_namespaced=False),
    Kind(core.LimitRange, "v1", "limitranges"),
    Kind(core.ResourceQuota, "v1", "resourcequotas"),
    Kind(devices.DeviceClass, _RESOURCE, "deviceclasses", is_namespaced=False, other_versions=_RESOURCE_BETA),
    Kind(devices.DeviceTaintRule, _RESOURCE, "devicetaintrules", is_namespaced=False, other_versions=_RESOURCE_BETA),
    Kind(devices.ResourceClaim, _RESOURCE, "resourceclaims", other_versions=_RESOURCE_BETA),
    Kind(devices.ResourceClaimTemplate, _RESOURCE, "resourceclaimtemplates", other_versions=_RESOURCE_BETA),
    Kind(devices.ResourceSlice, _RESOURCE, "resourceslices", is_namespaced=False, other_versions=_RESOURCE_BETA),
    Kind(objects.MutatingWebhookConfiguration, _REGISTRATION, "mutatingwebhookconfigurations", is_namespaced=False),
    Kind(objects.ValidatingWebhookConfiguration, _REGISTRATION, "validatingwebhookconfigurations", is_namespaced=False),
    Kind(objects.MutatingAdmissionPolicy, _REGISTRATION, "mutatingadmissionpolicies", is_namespaced=False),
    Kind(objects.ValidatingAdmissionPolicy, _REGISTRATION, "validatingadmissionpolicies", is_namespaced=False),
    Kind(
        objects.HorizontalPodAutoscaler,
        "autoscaling/v2",
        "horizontalpodautoscalers",
        other_versions=("autoscaling/v1",),
    ),
    # Not listed from a cluster: its HorizontalPodAutoscaler exists there.
    Kind(objects.ScaledObject, "keda.sh/v1alpha1", "scaledobjects", is_listed=False),
    Kind(
        # Rare in clusters: listed if they are served in Kubernetes' own group.
        objects.PodGroup,
        "scheduling.k8s.io/v1alpha2",
        "podgroups",
        is_listed=False,
        # Kubernetes 1.37, the coscheduling plugin of kubernetes-sigs/scheduler-plugins now and before, Volcano.
        other_versions=(
            "scheduling.k8s.io/v1alpha3",
            "scheduling.k8s.io/v1beta1",
            "scheduling.x-k8s.io/v1alpha1",
            "scheduling.sigs.k8s.io/v1alpha1",
            "scheduling.volcano.sh/v1beta1",
        ),
    ),
    # Of clusters that have such an autoscaler only, and nobody else needs them: read where a file holds them.
    Kind(objects.NodePool, "karpenter.sh/v1", "nodepools", is_namespaced=False, is_listed=False),
)

UNKNOWN = Kind(workloads.Workload, "", "", template_path=TEMPLATE_PATH, has_replicas=True)
"""Any other kind with a pod template at the usual path."""

KIND_OF: Mapping[type[ApiObject], Kind] = {row.cls: row for row in KINDS if row.is_stored}
"""Kind of each type that a snapshot holds objects of."""

READ: Mapping[tuple[str, str], type[ApiObject]] = {
    (version, row.kind): cls for cls, row in KIND_OF.items() for version in (row.api_version, *row.other_versions)
}
"""Types of these kinds by apiVersion and kind, other versions too."""

POD_CREATORS: Mapping[str, Kind] = {row.kind: row for row in KINDS if row.creates_pods}
"""Pods, and Kubernetes' own kinds with a pod template."""

WORKLOADS: tuple[type[ApiObject], ...] = tuple(row.cls for row in POD_CREATORS.values())

REFERABLE: tuple[Kind, ...] = tuple(row for row in POD_CREATORS.values() if row.short)
"""Kinds that questions can name."""

_BY_ALIAS: Mapping[str, Kind] = {alias: row for row in REFERABLE for alias in row.aliases}

NAMESPACED: tuple[type[ApiObject], ...] = tuple(row.cls for row in KINDS if row.is_namespaced)


def pod_creator(api_version: str, kind: str) -> Kind | None:
    """Row of a Pod or of one of Kubernetes' own workloads in any version; None for anything else.

    A namesake in another group is a different kind. An object without an apiVersion, such as an item of a list, counts
    as Kubernetes' own.
    """
    row = POD_CREATORS.get(kind)
    return None if row is None or (api_version and group_of(api_version) != row.group) else row


def owner_kind(kind: str) -> Kind:
    """Row of a kind that controls pods, also one known only from its pods."""
    return POD_CREATORS.get(kind) or Kind(workloads.Workload, "", kind, kind.lower(), foreign=kind)


def kind_called(name: str) -> Kind | None:
    """Kind of workload that kubectl calls ``name``: ``deploy``, ``deployments.apps``; None for other names."""
    alias, _, group = name.lower().partition(".")
    row = _BY_ALIAS.get(alias)
    return row if row is not None and group in ("", row.group) else None
