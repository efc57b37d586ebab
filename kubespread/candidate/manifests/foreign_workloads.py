"""Objects of foreign kinds as workloads like Kubernetes' own: one for each pod template, which is at spec.template."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count
from math import prod
from typing import Any

from kubespread.candidate.manifests.decoding import value_at
from kubespread.kube.api.foreign_kinds import (
    KNATIVE_CONTAINERS,
    KNATIVE_LABELS,
    REVISION_FIELDS,
    TemplateAt,
    templates_of,
)
from kubespread.kube.api.kinds import READ, TEMPLATE_PATH, group_of, pod_creator
from kubespread.manifest.objects import KubernetesObject


def with_templates_moved(items: Sequence[KubernetesObject], template_path: str = "") -> list[KubernetesObject]:
    """``items``, those of foreign kinds once for each of their templates; ``template_path`` is where kinds that are not
    known have theirs.
    """
    return [workload for item in items for workload in _workloads(item, template_path, items) or [item]]


def _workloads(item: KubernetesObject, template_path: str, items: Sequence[KubernetesObject]) -> list[KubernetesObject]:
    templates = templates_of(item.api_version, item.kind)
    if templates is None:
        is_known = pod_creator(item.api_version, item.kind) is not None or (item.api_version, item.kind) in READ
        templates = () if is_known or not template_path else (TemplateAt(template_path),)
    parts = [part for template in templates for part in _parts(item, template)]
    return parts or list(_of_referenced(item, items))


def _parts(item: KubernetesObject, template: TemplateAt) -> Iterator[KubernetesObject]:
    if not template.within:
        yield from _workload(item, template, "", template.part)
        return
    parts = value_at(item.data, template.within)
    if isinstance(parts, list):
        for position, part in enumerate(parts):
            name = part.get("name") if isinstance(part, dict) else None
            yield from _workload(item, template, f"{template.within}[{position}].", str(name or position))
    elif isinstance(parts, dict):
        for key in parts:
            yield from _workload(item, template, f"{template.within}.{key}.", key.lower())


def _workload(item: KubernetesObject, template: TemplateAt, inside: str, part: str) -> Iterator[KubernetesObject]:
    path = f"{inside}{template.path}"
    pod_template = value_at(item.data, path)
    if pod_template is None and template.otherwise:
        path = template.otherwise
        pod_template = value_at(item.data, path)
    counts = [value_at(item.data, f"{inside}{count}") for count in template.counts]
    numbers: list[int] = [count if isinstance(count, int) else 1 for count in counts]
    if numbers and template.last_count_less:
        numbers[-1] = max(0, numbers[-1] - template.last_count_less)
    pods: int = prod(numbers)
    if isinstance(pod_template, dict) and pods:
        yield _made(item, _plain_pod_template(item, pod_template), pods, path, part)


def _of_referenced(item: KubernetesObject, items: Sequence[KubernetesObject]) -> Iterator[KubernetesObject]:
    """An Argo Rollout may leave its template with a Deployment, which is looked for in the same manifest."""
    reference = value_at(item.data, "spec.workloadRef")
    if item.kind != "Rollout" or not isinstance(reference, dict):
        return
    for other in items:
        if (other.kind, other.name) == (reference.get("kind"), reference.get("name")):
            template = value_at(other.data, TEMPLATE_PATH)
            replicas = value_at(item.data, "spec.replicas")
            if isinstance(template, dict):
                yield _made(item, template, replicas if isinstance(replicas, int) else 1, "spec.workloadRef", "")


def _made(item: KubernetesObject, template: Any, replicas: int, path: str, part: str) -> KubernetesObject:
    metadata = item.data.get("metadata")
    if part and isinstance(metadata, dict) and item.name:
        metadata = {**metadata, "name": f"{item.name}-{part}"}
    head = {"apiVersion": item.api_version, "kind": item.kind, "metadata": metadata}
    made = KubernetesObject({**head, "spec": {"replicas": replicas, "template": template}})
    made.document, made.path, made.line, made.lines = item.document, item.path, item.line, item.lines
    made.template_path = path
    return made


def _plain_pod_template(item: KubernetesObject, template: dict[str, Any]) -> dict[str, Any]:
    """The template as a pod has it: Knative's has more fields, and Knative adds labels and names of containers."""
    labels = KNATIVE_LABELS.get(item.kind) if group_of(item.api_version) == "serving.knative.dev" else None
    spec, metadata = template.get("spec"), template.get("metadata") or {}
    if labels is None or not isinstance(spec, dict) or not isinstance(metadata, dict):
        return template
    spec = {name: value for name, value in spec.items() if name not in REVISION_FIELDS}
    for field, name in KNATIVE_CONTAINERS.items():
        if isinstance(spec.get(field), list):
            spec[field] = _named(spec[field], name)
    own = metadata.get("labels")
    added = {**(own if isinstance(own, dict) else {}), **dict.fromkeys(labels, item.name)}
    return {**template, "metadata": {**metadata, "labels": added}, "spec": spec}


def _named(containers: list[Any], name: str) -> list[Any]:
    """Each with a name: the only one has ``name``, and of several those without one are numbered."""
    taken = {container.get("name") for container in containers if isinstance(container, dict)}
    numbered = (f"{name}-{number}" for number in count() if f"{name}-{number}" not in taken)
    names = numbered if len(containers) > 1 else iter([name])
    return [
        container if not isinstance(container, dict) or container.get("name") else {**container, "name": next(names)}
        for container in containers
    ]
