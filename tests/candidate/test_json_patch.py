"""What is set, as a JSON Patch."""

from __future__ import annotations

import pytest

from kubespread.candidate.manifest import manifest_from_text
from kubespread.candidate.settings import operations
from kubespread.kube.api.core import Pod
from kubespread.kube.api.kinds import KIND_OF

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

CASES: dict[str, tuple[list[str], list[tuple[str, object]]]] = {
    "a number": (["maxSkew=2"], [("/spec/topologySpreadConstraints/0/maxSkew", 2)]),
    "a field that was not there": (
        ["nodeTaintsPolicy=Honor"],
        [("/spec/topologySpreadConstraints/0/nodeTaintsPolicy", "Honor")],
    ),
    "a field that goes, and one that changes": (
        ["minDomains=null", "whenUnsatisfiable=ScheduleAnyway"],
        [
            ("/spec/topologySpreadConstraints/0/whenUnsatisfiable", "ScheduleAnyway"),
            ("/spec/topologySpreadConstraints/0/minDomains", None),
        ],
    ),
    "a request": (["cpu=1500m"], [("/spec/containers/0/resources/requests/cpu", "1500m")]),
    "a request beside another": (["memory=1Gi"], [("/spec/containers/0/resources/requests/memory", "1Gi")]),
    "a list that was not there": (
        ["tolerations=gpu:NoSchedule"],
        [("/spec/tolerations", [{"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}])],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_set_fields_are_a_json_patch(case: str) -> None:
    settings, patch = CASES[case]
    (item,) = manifest_from_text("pod.yaml", POD.encode()).items
    found = operations(item.data, KIND_OF[Pod], settings)
    assert [(each.pointer, each.value) for each in found] == patch
