"""An object that pods are made of, and the pod that comes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from kubespread.controllers.made_up_names import generated_name
from kubespread.kube.api.core import Pod
from kubespread.kube.api.kinds import KEPT
from kubespread.kube.api.meta import ApiObject, ObjectMeta, OwnerReference

T_co = TypeVar("T_co", bound=ApiObject, covariant=True)


@dataclass(frozen=True, slots=True)
class PodCreator(Generic[T_co]):
    """An object with a pod template. Its metadata say which namespace it is in."""

    api_version: str
    kind: str
    object: T_co
    template: Pod
    template_text: str
    """The template as it was written, as canonical JSON: hashes and made-up names depend on nothing else."""

    @property
    def name(self) -> str:
        return self.object.metadata.name

    @property
    def namespace(self) -> str:
        return self.object.metadata.namespace


@dataclass(frozen=True, slots=True)
class NewPod:
    """A pod as its controller sends it to the API server. It shares parts with the template it was made of."""

    pod: Pod
    companions: tuple[ApiObject, ...] = ()
    """What its controller created before it, and the controlling object itself where scheduling reads its selector."""
    notes: tuple[str, ...] = ()
    """What was made up on the way."""


def pod_of_template(
    creator: PodCreator[ApiObject],
    owner: OwnerReference,
    *,
    labels: Mapping[str, str] | None = None,
    name: str = "",
    generate_name: str = "",
) -> Pod:
    """The template's pod, controlled by ``owner`` and with ``labels`` besides the template's own."""
    given = creator.template.metadata
    metadata = ObjectMeta(
        name=name or generated_name(generate_name or f"{owner.name}-", creator.template_text),
        namespace=creator.namespace,
        labels={**given.labels, **(labels or {})},
        annotations=given.annotations,
        owner_references=[owner],
    )
    return Pod(metadata=metadata, spec=creator.template.spec)


def controlled_by(cls: type[ApiObject], name: str) -> OwnerReference:
    """What a pod says of its controller, one of Kubernetes' own kinds."""
    row = KEPT[cls]
    return OwnerReference(api_version=row.api_version, kind=row.kind, name=name, controller=True)
