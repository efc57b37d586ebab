"""Typed pods of plain ones, and what is wrong with them."""

from __future__ import annotations

from typing import Any

import msgspec

from kubespread.kube.admission.plugins import AdmissionPlugins, admit
from kubespread.kube.api.cluster_objects import ClusterObjects
from kubespread.kube.api.core import Pod
from kubespread.kube.api.decoding import decodable
from kubespread.kube.validation.faults import FieldFault
from kubespread.kube.validation.fields import field_faults
from kubespread.kube.versions import LATEST, KubeVersion


def decode_pod(data: dict[str, Any]) -> Pod:
    """As a manifest's pod is decoded. Raises DecodingError."""
    return msgspec.convert(_typed(data), Pod)


def _typed(data: dict[str, Any]) -> Any:
    plain, errors = decodable(data, "Pod")
    for error in errors:
        raise error
    return plain


def faults_of(data: dict[str, Any], version: KubeVersion = LATEST) -> list[FieldFault]:
    """What the API server would refuse the pod for, without its admission plugins."""
    plain = _typed(data)
    admitted = admit(msgspec.convert(plain, Pod), version, ClusterObjects(), AdmissionPlugins(enabled=False))
    return [*admitted.faults, *field_faults(plain, admitted.pod, "", version, is_pod=True)]
