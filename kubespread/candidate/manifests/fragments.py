"""Objects that are no whole workload: patches of a kustomization, and pod templates that a controller completes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kubespread.candidate.manifests.file import field_at
from kubespread.errors import Fault
from kubespread.kube.api.foreign_kinds import templates_of
from kubespread.kube.api.kinds import Kind, pod_creator
from kubespread.manifest.objects import KubernetesObject

_DIRECTIVE = "$patch"
_CONSTRAINTS = ".topologySpreadConstraints["
# In the API server's words.
_ABSENT, _MISMATCHED = "Required value", "`selector` does not match template `labels`"


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a workload."""

    text: str
    """What it is, and what to do about it."""
    is_of_pods: bool
    """Whether it is of Kubernetes' own kinds, so that its fields are known."""

    def keeps(self, fault: Fault) -> bool:
        """Whether a fault stays whatever is added to the part."""
        is_absence = _ABSENT in fault.message or _MISMATCHED in fault.message or _DIRECTIVE in fault.field
        # Of another kind only what it hands on to its pods as it stands is known.
        return not is_absence and (self.is_of_pods or _CONSTRAINTS in fault.field)


def part_of(item: KubernetesObject) -> Part | None:
    """What makes ``item`` a part of a workload only; None where it has to be a whole one."""
    row = pod_creator(item.api_version, item.kind)
    if row is not None:
        patch = "is a patch: build its kustomization with -k DIRECTORY"
        return Part(patch, is_of_pods=True) if _is_patch(item, row) else None
    if templates_of(item.api_version, item.kind) is not None:
        return None
    return Part("is not checked: what its controller adds to the pod template is not known", is_of_pods=False)


def _is_patch(item: KubernetesObject, row: Kind) -> bool:
    """Whether it has neither a selector nor an image for each container, or says what a patch does."""
    if not row.template_path:
        return False
    containers = field_at(item.data, f"{row.template_path}.spec.containers")
    has_images = isinstance(containers, list) and containers and all(_has_image(each) for each in containers)
    return (not has_images and field_at(item.data, "spec.selector") is None) or _has_directive(item.data)


def _has_image(container: Any) -> bool:
    return isinstance(container, dict) and bool(container.get("image"))


def _has_directive(data: Any) -> bool:
    if isinstance(data, dict):
        return _DIRECTIVE in data or any(_has_directive(value) for value in data.values())
    return isinstance(data, list) and any(_has_directive(value) for value in data)
