"""What is checked: a workload and where it stands, or what kept a manifest from being one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from kubespread.errors import Fault
from kubespread.kube.api.core import Pod
from kubespread.kube.api.meta import ApiObject
from kubespread.kube.owners import WorkloadName
from kubespread.scheduler.profile.profile import Profile
from kubespread.world.store.claims import Replicas

Place = tuple[int | None, int | None]
"""Line and column."""


def nowhere(_field: str) -> Place:
    """Where the fields of an object stand that is in no file."""
    return None, None


def unrevised(_settings: Sequence[str]) -> Pod | None:
    """Of what cannot be made again."""
    return None


class Subject(Struct, frozen=True, kw_only=True):
    """A workload or bare pod that the API server accepts."""

    name: WorkloadName
    pod: Pod
    """The next pod of it, admitted."""
    profile: Profile
    replicas: int
    """The desired number of replicas; 1 for a bare pod and for a DaemonSet."""
    is_daemon: bool = False
    object: ApiObject | None = None
    """The workload itself; None for a bare pod."""
    template: Pod | None = None
    """Its pod template as written; None for a bare pod, and for unchanged objects of the cluster."""
    template_path: str = ""
    """The template's path in the object; empty for a bare pod."""
    companions: Sequence[ApiObject] = ()
    """What its controller makes beside the pod."""
    running: Sequence[Pod] = ()
    """Its pods that are in the cluster already, on nodes or waiting for one."""
    claimants: Replicas | None = None
    """Its replicas, if each has its own claims."""
    file: str | None = None
    place: Callable[[str], Place] = nowhere
    """The position of the field at a path, or of the nearest field above it."""
    ignored: Sequence[str] = ()
    """Codes of findings that its annotations silence, or beginnings of codes."""
    revised: Callable[[Sequence[str]], Pod | None] = unrevised
    """The pod made again with fields set as ``--set`` has them; None where that is refused."""

    def field(self, path: str) -> str:
        """The path from the object on of what is at ``path`` of the pod (``spec.affinity``)."""
        return f"{self.template_path}.{path}" if self.template_path else path

    @property
    def labels(self) -> Mapping[str, str]:
        return self.pod.metadata.labels


class Refused(Struct, frozen=True):
    """A file, or an object in it, that yields no workload."""

    file: str | None
    workload: str | None
    """NAMESPACE/Kind/name if known, else the file."""
    faults: Sequence[Fault]
    ignored: Sequence[str] = ()
