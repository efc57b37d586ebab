"""The pod to be placed: decoded, defaulted, mutated as at creation, and validated."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kubespread.kube.admission.defaulting import default_pod, merge_label_keys
from kubespread.kube.api.core import Pod
from kubespread.kube.api.decoding import decode, normalized
from kubespread.kube.api.kinds import POD_CREATORS
from kubespread.kube.api.meta import LabelSelector
from kubespread.kube.api.workloads import Workload
from kubespread.kube.quantity import QuantityError
from kubespread.kube.selector import SelectorError, from_label_selector
from kubespread.kube.validation.faults import FieldFault, invalid, required
from kubespread.kube.validation.pods import pod_faults, template_faults
from kubespread.kube.versions import LATEST, KubeVersion


def normalized_workload(data: dict[str, Any], kind: str) -> dict[str, Any]:
    """A manifest's object, checked against the API's types as far as it is read, without nulls. Raises
    DecodingError.
    """
    clean = normalized(data, POD_CREATORS[kind].cls if kind else Workload)
    assert isinstance(clean, dict)
    return clean


def decode_pod(data: dict[str, Any], path: str = "") -> Pod:
    """A Pod or pod template as typed object. Raises DecodingError."""
    return decode(normalized(data, Pod, path), Pod, path)


def admit(pod: Pod, version: KubeVersion = LATEST) -> list[FieldFault]:
    """Turn ``pod`` into what the API server would store, and say what it would refuse it for.

    A pod that already has a uid was stored before: its label keys are merged, and merging them again would only repeat
    them.
    """
    default_pod(pod)
    if not pod.metadata.uid:
        merge_label_keys(pod)
    return _distinct(pod_faults(pod, version))


def template_problems(template: Pod, path: str, version: KubeVersion = LATEST) -> list[FieldFault]:
    """What the API server would refuse a workload's pod template for; ``template`` is defaulted on the way."""
    default_pod(template)
    return _distinct(template_faults(template, path, version))


def selector_problems(selector: LabelSelector | None, template: Pod, path: str) -> list[FieldFault]:
    """A controller's selector must be there and match its own template."""
    labels_path = f"{path}.metadata.labels"
    mismatch = invalid(labels_path, template.metadata.labels, "`selector` does not match template `labels`")
    if selector is None:
        return [required("spec.selector"), mismatch]
    try:
        matches = from_label_selector(selector).matches(template.metadata.labels)
    except SelectorError as error:
        return [FieldFault("spec.selector", f"Invalid value: {error}")]
    return [] if matches else [mismatch]


def _distinct(faults: Iterator[FieldFault]) -> list[FieldFault]:
    try:
        return list(dict.fromkeys(faults))
    except QuantityError as error:
        return [FieldFault("spec", str(error))]
