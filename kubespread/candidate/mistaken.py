"""What people feed in by mistake, and what to feed in instead."""

from __future__ import annotations

from pathlib import PurePath

from kubespread.candidate.kustomize import FILES as KUSTOMIZATION_FILES
from kubespread.candidate.manifest_file import Manifest
from kubespread.errors import Fault
from kubespread.manifest.lines import FieldLines
from kubespread.manifest.objects import KubernetesObject

_KUSTOMIZATION = "a kustomization, not a manifest: build it with -k DIRECTORY"
_VALUES = "Helm values, not a manifest: pipe `helm template -f FILE CHART` into kubespread"
_EMPTY = "an empty list: `kubectl get` found nothing; check its namespace and labels"

# What `helm create` writes into values.yaml and no Kubernetes object has at its top.
_VALUES_KEYS = frozenset({"replicaCount", "nameOverride", "fullnameOverride", "podAnnotations", "image"})


def mistaken_manifest(manifest: Manifest) -> Fault | None:
    """What a manifest without a workload is, where that is known."""
    if not manifest.items:
        return None
    first, kinds = manifest.items[0], {item.kind for item in manifest.items}
    message = ""
    if "Kustomization" in kinds or PurePath(manifest.file).name in KUSTOMIZATION_FILES:
        message = _KUSTOMIZATION
    elif all(item.size == 0 for item in manifest.items):
        message = _EMPTY
    elif kinds == {""} and (PurePath(manifest.file).name.startswith("values") or _VALUES_KEYS & first.data.keys()):
        message = _VALUES
    return Fault(message, line=_line(manifest, first)) if message else mistaken_cluster(manifest)


def mistaken_cluster(manifest: Manifest) -> Fault | None:
    """Whether a manifest is a cluster: it has nodes, and no workloads but pods that run on nodes."""
    nodes = [item for item in manifest.items if (item.api_version, item.kind) == ("v1", "Node")]
    if not nodes or not all(_runs(item) for item in manifest.workloads):
        return None
    count, pods = len(nodes), len(manifest.workloads)
    counted = f"{count} node{'' if count == 1 else 's'}, {pods} running pod{'' if pods == 1 else 's'}"
    return Fault(f"a cluster ({counted}), not a pod: give it with -S/--snapshot", line=_line(manifest, nodes[0]))


def _runs(item: KubernetesObject) -> bool:
    spec = item.data.get("spec")
    return item.kind == "Pod" and isinstance(spec, dict) and bool(spec.get("nodeName"))


def _line(manifest: Manifest, item: KubernetesObject) -> int | None:
    return FieldLines(manifest.text).line(item.document, item.path) if manifest.text is not None else None
