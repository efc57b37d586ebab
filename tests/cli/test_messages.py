"""What people feed in by mistake gets one line that says what it is, where, and what to do."""

from __future__ import annotations

from pathlib import Path

from tests.cli.support import CLUSTER, run

POD_OF = """\
apiVersion: v1
kind: Pod
metadata:
  name: web
  labels:
    version: {label}
spec:
  containers:
  - name: c
    image: x
    resources:
      requests:
        cpu: {cpu}
        memory: {memory}
"""
DEPLOYMENT_OF = """\
apiVersion: {api_version}
kind: {kind}
metadata:
  name: web
spec:
  selector:
    matchLabels: {{app: web}}
  template:
    metadata:
      labels: {{app: web}}
    spec:
      containers:
      - name: c
        image: x
"""
NOT_A_QUANTITY = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"


def pod_of(label: str = "a", cpu: str = "1", memory: str = "1Gi") -> str:
    return POD_OF.format(label=label, cpu=cpu, memory=memory)


def test_faults_of_every_kind_at_once(tmp_path: Path) -> None:
    """What cannot be decoded, what is not known, what is not valid; and nothing that only follows from these."""
    manifest = tmp_path / "pod.yaml"
    manifest.write_text(
        pod_of(label="1.2", cpu='"1,5"').replace("name: web", "name: Web")
        + "  nodeSelectors: {}\n  topologySpreadConstraints:\n  - maxskew: 1\n    topologyKey: zone\n"
        "    whenUnsatisfiable: Never\n"
    )
    result = run("explain", manifest, "-S", CLUSTER)
    faults = [line.removeprefix(f"error: {manifest}:").split(": ")[:2] for line in result.err.splitlines()]
    assert (result.code, faults) == (
        2,
        [
            ["4", "metadata.name"],
            ["6", "metadata.labels[version]"],
            ["13", "spec.containers[0].resources.requests[cpu]"],
            ["15", "spec.nodeSelectors"],
            ["17", "spec.topologySpreadConstraints[0].maxskew"],
            ["19", "spec.topologySpreadConstraints[0].whenUnsatisfiable"],
        ],
    )
