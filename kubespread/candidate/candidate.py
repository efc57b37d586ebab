"""A pod ready to be scheduled, and what decides which pod a manifest yields."""

from __future__ import annotations

from msgspec import Struct, field

from kubespread.candidate.settings import Setting
from kubespread.kube.admission.defaulting import DEFAULT_NAMESPACE
from kubespread.kube.admission.plugins import AdmissionPlugins
from kubespread.kube.api.cluster_objects import ClusterObjects
from kubespread.kube.api.core import Pod
from kubespread.kube.api.meta import ApiObject
from kubespread.kube.owners import WorkloadName
from kubespread.kube.versions import LATEST, KubeVersion


class Candidate(Struct, frozen=True):
    """A pod ready to be scheduled, and what its controller would have created beside it."""

    pod: Pod
    companions: tuple[ApiObject, ...] = ()
    notes: tuple[str, ...] = ()
    admission: tuple[str, ...] = ()
    """What the cluster's admission plugins changed."""
    workload: WorkloadName | None = None
    """What creates the pod; None for a bare pod."""
    replicas: int = 1
    """How many of it the workload asks for."""
    object: ApiObject | None = None
    """The workload, where its controller makes the pod from its own template; None for a bare pod."""
    sets_replicas: bool = False
    """Whether that number was asked for, and is not just what the cluster has."""
    template: Pod | None = None
    """The workload's pod template as the manifest has it; None for what is in the cluster already."""
    one_by_one: bool = False
    """Whether the next pod is only created once the last one runs: a StatefulSet that is not Parallel."""
    waits_behind: str = ""
    """That it is made only once another pod of its workload runs, which has no node yet; empty where none is."""
    is_stored: bool = False
    """Whether the pod is in the cluster already: it is asked about in a cluster without it."""
    gaps: tuple[str, ...] = ()
    """What else the manifest holds that matters but is not read."""
    admission_gaps: tuple[str, ...] = ()
    """What the cluster's source lacks to admit the pod."""

    @property
    def is_daemon(self) -> bool:
        """Whether one pod is created for every node it may run on, instead of a fixed number."""
        return self.workload is not None and self.workload.kind == "DaemonSet"


class Surroundings(Struct, frozen=True):
    """What, besides the manifest, decides which pod it yields."""

    objects: ClusterObjects = field(default_factory=ClusterObjects)
    version: KubeVersion = LATEST
    name: str | None = None
    """Which workload, where there are several."""
    namespace: str | None = None
    """The one asked for; a manifest that names another is refused."""
    context_namespace: str = DEFAULT_NAMESPACE
    """Where nothing else says which."""
    admission: AdmissionPlugins = AdmissionPlugins()
    settings: tuple[Setting, ...] = ()
    """Fields that are changed in the pod or its workload before anything else is done with it."""
