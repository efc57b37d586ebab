"""What the API server does to a pod that is sent to it, in its order.

Source: pkg/registry/core/pod/strategy.go, PrepareForCreate, Validate
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy

from msgspec import Struct

from kubespread.kube.admission.defaulting import complete_pod_level_resources, default_pod, merge_label_keys
from kubespread.kube.admission.gated_fields import drop_fields
from kubespread.kube.admission.plugins import AdmissionPlugins, ForbiddenError, gaps, mutate, validate
from kubespread.kube.api.cluster_objects import ClusterObjects
from kubespread.kube.api.core import Pod
from kubespread.kube.validation.faults import FieldFault
from kubespread.kube.validation.pods import pod_faults
from kubespread.kube.versions import KubeVersion


class Admitted(Struct, frozen=True):
    """The pod as the API server would store it, or why it would not."""

    pod: Pod
    changes: Sequence[str] = ()
    """What the cluster's admission plugins changed."""
    dropped: Sequence[str] = ()
    """The fields that are not stored, since their feature gate is off."""
    faults: Sequence[FieldFault] = ()
    """Why the pod is not valid."""
    gaps: Sequence[str] = ()
    """What those plugins could not say, for want of objects."""
    forbidden: str = ""
    """Why an admission plugin refuses it, in the API server's words."""


def admit(pod: Pod, version: KubeVersion, objects: ClusterObjects, plugins: AdmissionPlugins) -> Admitted:
    """``pod`` as the API server would store it; ``pod`` itself is unchanged and may share its parts.

    A pod that already has a uid went through admission when it was stored: the plugins skip it, and its label keys are
    already merged.
    """
    pod = deepcopy(pod)
    is_new = not pod.metadata.uid
    passes_plugins = is_new and plugins.enabled
    changes: Sequence[str] = ()
    lacking: Sequence[str] = ()
    try:
        completes_late = version.has("PodLevelResourcesFixDefaulting")
        default_pod(pod, pod_level=not completes_late)
        if passes_plugins:
            changes = mutate(pod, objects, plugins)
            lacking = tuple(gaps(pod, objects, plugins))
        dropped = drop_fields(pod, version)
        if completes_late:
            complete_pod_level_resources(pod)
        if is_new:
            merge_label_keys(pod)
        faults = pod_faults(pod, version)
        if passes_plugins and not faults:
            validate(pod, version, objects, plugins)
    except ForbiddenError as error:
        return Admitted(pod, forbidden=f'pods "{pod.metadata.name}" is forbidden: {error}')
    return Admitted(pod, changes, dropped, faults, lacking)
