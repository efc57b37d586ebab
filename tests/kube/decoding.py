"""Typed pods of plain ones, and what is wrong with them."""

from __future__ import annotations

from typing import Any

from kubespread.kube.admission.plugins import AdmissionPlugins, admit
from kubespread.kube.api import full
from kubespread.kube.api.cluster_objects import ClusterObjects
from kubespread.kube.api.core import Pod
from kubespread.kube.api.decoding import decode, normalized
from kubespread.kube.validation.faults import FieldFault
from kubespread.kube.versions import LATEST, KubeVersion


def decode_pod(data: dict[str, Any]) -> Pod:
    """As a manifest's pod is decoded. Raises DecodingError."""
    return decode(normalized(data, full.Pod), full.Pod)


def faults_of(data: dict[str, Any], version: KubeVersion = LATEST) -> list[FieldFault]:
    """What the API server would refuse the pod for, without its admission plugins."""
    return list(admit(decode_pod(data), version, ClusterObjects(), AdmissionPlugins(enabled=False)).faults)
