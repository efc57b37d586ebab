"""A workload as somebody wants it to be."""

from __future__ import annotations

from dataclasses import dataclass

from kubespread.kube.api.core import Pod
from kubespread.kube.api.meta import ApiObject
from kubespread.kube.owners import WorkloadName


@dataclass(frozen=True, slots=True)
class Wanted:
    """A workload that is applied or rolled out."""

    pod: Pod
    """The next one that it would make, admitted."""
    name: WorkloadName | None = None
    """None for a pod by itself."""
    object: ApiObject | None = None
    """With the template; None for a kind that is not known."""
    replicas: int | None = None
    """None where it does not say: what runs stays, what is new gets one."""
    is_other_template: bool = True
    """Whether the template is scheduled otherwise than the one it runs with, or it is restarted."""
    count: int = 1
    """How many pods a kind whose controller is not known runs at once."""
