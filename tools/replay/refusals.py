"""What the API server refuses a pod for, beside ours: texts about what scheduling reads, and fields elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import kubespread
from kubespread.errors import ManifestError
from tools.replay.cases import Difference, Recorded

SCHEDULED = re.compile(
    r"metadata\.(name|generateName|namespace|labels)\b"
    r"|spec\.(topologySpreadConstraints|affinity|tolerations|nodeSelector|schedulingGates|resources|resourceClaims"
    r"|overhead)\b"
    r"|spec\.(c|initC)ontainers(\[\d+\]\.(name|ports|resources|restartPolicy)\b|:)"
)
"""How the texts begin that are compared to the letter, and in their order."""
_AS_WRITTEN = (
    (r"\[\d*\]", ""),
    (r"^spec\.os$", "spec.os.name"),
    (r"\bpersistentDisk\b", "gcePersistentDisk"),
    (r"\bcephFS\b", "cephfs"),
    (r"\bdownwarAPI\b", "downwardAPI"),
    (r"\.initiatorname$", ".initiatorName"),
    (r"\.HostPID$", ".hostPID"),
    (r"\.HostIPC$", ".hostIPC"),
    (r"\.securityContext\.shareProcessNamespace$", ".shareProcessNamespace"),
    (r"\.uID$", ".uid"),
    (r"\.csi\.name$", ".csi.nodePublishSecretRef.name"),
    (r"\.fc\.targetWWNs$", ".fc"),
    (r"\.sleep$", ".sleep.seconds"),
    (r"\.httpHeaders$", ".httpHeaders.name"),
    (r"\.dnsConfig\.options$", ".dnsConfig.options.name"),
    (r"(volumeClaimTemplate\.spec\.resources)\[storage\]$", r"\1.requests[storage]"),
    (r"(downwardAPI)(\.items)?\b", r"\1.items"),
    (r"(metadata\.annotations)\.(.*)", r"\1[\2]"),
)
"""Where the API server leaves out a position, or calls a field otherwise than manifests do."""


def differences(recorded: Recorded, kube_version: str | None = None) -> Iterator[Difference]:
    """What becomes of a pod that is not refused is not compared: the claims that it names were not recorded."""
    case, expect = recorded
    faults: Sequence[str] = ()
    scheduler = kubespread.Scheduler(
        kube_version=kube_version,
        feature_gates=case.get("gates"),
        admission=False,
        default_toleration_seconds=False,
        pod_node_selector=True,
    )
    try:
        kubespread.explain(kubespread.Snapshot.from_objects(case["nodes"]), case["pod"], scheduler)
    except ManifestError as error:
        faults = texts(error)
    yield from compared(recorded.name, expect.get("validation", ()), faults)


def texts(error: ManifestError) -> list[str]:
    """As the API server says them of the pod itself, without the LimitRange that we blame."""
    said = (f"{fault.field.removeprefix('spec.template.')}: {fault.message}" for fault in error.faults)
    return [text.partition(" (LimitRange ")[0] for text in said]


def compared(case: str, wanted: Sequence[str], ours: Sequence[str]) -> Iterator[Difference]:
    """The texts of one refusal beside the recorded ones; nobody refuses without a text."""
    scheduled = [[text for text in found if SCHEDULED.match(text)] for found in (wanted, ours)]
    if sorted(scheduled[0]) != sorted(scheduled[1]):
        yield Difference(case, "texts", *scheduled)
    elif _ordered(scheduled[0]) != _ordered(scheduled[1]):
        yield Difference(case, "order", *scheduled)
    if _fields(wanted) != _fields(ours):
        yield Difference(case, "fields", wanted, ours)


def _ordered(texts: Sequence[str]) -> list[str]:
    """Limits, requests and labels are maps, which Go walks in an order of chance."""
    return [text for text in texts if not re.search(r"\.resources\.|[lL]abels: |nodeSelector: ", text)]


def _fields(texts: Sequence[str]) -> set[str]:
    fields = {text.partition(": ")[0] for text in texts}
    for said, written in _AS_WRITTEN:
        fields = {re.sub(said, written, field) for field in fields}
    return fields
