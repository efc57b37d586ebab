"""What is set, as a JSON Patch and as a diff of the manifest as it was written."""

from __future__ import annotations

import pytest

from kubespread.candidate.manifest import manifest_from_text
from kubespread.candidate.settings import operations, text_diff
from kubespread.kube.api.kinds import UNKNOWN, pod_creator

POD = """\
apiVersion: v1
kind: Pod
metadata:
  name: web
spec:
  topologySpreadConstraints:
  - maxSkew: 1  # as even as can be
    topologyKey: zone
    whenUnsatisfiable: DoNotSchedule
    minDomains: 3
  containers:
  - name: web
    image: web:1
    resources:
      requests:
        cpu: "4"
"""
FLOW = "{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: [{name: web, image: x}]}}\n"

CASES: dict[str, tuple[str, list[str], list[tuple[str, object]], list[str] | None]] = {
    "a number is put in its place, what stands behind it stays": (
        POD,
        ["maxSkew=2"],
        [("/spec/topologySpreadConstraints/0/maxSkew", 2)],
        ["-  - maxSkew: 1  # as even as can be", "+  - maxSkew: 2  # as even as can be"],
    ),
    "a field that was not there": (
        POD,
        ["nodeTaintsPolicy=Honor"],
        [("/spec/topologySpreadConstraints/0/nodeTaintsPolicy", "Honor")],
        ["+    nodeTaintsPolicy: Honor"],
    ),
    "a field that goes, and one that changes": (
        POD,
        ["minDomains=null", "whenUnsatisfiable=ScheduleAnyway"],
        [
            ("/spec/topologySpreadConstraints/0/whenUnsatisfiable", "ScheduleAnyway"),
            ("/spec/topologySpreadConstraints/0/minDomains", None),
        ],
        ["-    whenUnsatisfiable: DoNotSchedule", "-    minDomains: 3", "+    whenUnsatisfiable: ScheduleAnyway"],
    ),
    "a request in quotes": (
        POD,
        ["cpu=1500m"],
        [("/spec/containers/0/resources/requests/cpu", "1500m")],
        ['-        cpu: "4"', "+        cpu: 1500m"],
    ),
    "a request beside another": (
        POD,
        ["memory=1Gi"],
        [("/spec/containers/0/resources/requests/memory", "1Gi")],
        ["+        memory: 1Gi"],
    ),
    "a list that was not there": (
        POD,
        ["tolerations=gpu:NoSchedule"],
        [("/spec/tolerations", [{"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}])],
        ["+  tolerations:", "+  - key: gpu", "+    operator: Exists", "+    effect: NoSchedule"],
    ),
    "text in flow style": (
        FLOW,
        ["cpu=1"],
        [("/spec/containers/0/resources", {"requests": {"cpu": "1"}})],
        [f"-{FLOW[:-1]}", f'+{FLOW[:-5]}, resources: {{requests: {{cpu: "1"}}}}}}]}}}}'],
    ),
    "text with an alias has no diff": (
        POD.replace("maxSkew: 1", "maxSkew: &one 1").replace("minDomains: 3", "minDomains: *one"),
        ["maxSkew=2"],
        [("/spec/topologySpreadConstraints/0/maxSkew", 2)],
        None,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_patch_and_diff(case: str) -> None:
    text, settings, patch, lines = CASES[case]
    manifest = manifest_from_text("pod.yaml", text.encode())
    (item,) = manifest.items
    found = operations(item.data, pod_creator("v1", "Pod") or UNKNOWN, settings)
    assert [(each.pointer, each.value) for each in found] == patch
    diff = text_diff("pod.yaml", text.encode(), item, found)
    changed = None if diff is None else [each for each in diff.splitlines()[2:] if each[0] in "+-"]
    assert changed == lines
