"""What people feed in by mistake gets one line that says what it is, where, and what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.support import CLUSTER, FIXTURES, run

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
CANNOT = 'Pod in version "v1" cannot be handled as a Pod: '
NOT_A_QUANTITY = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"


def pod_of(label: str = "a", cpu: str = "1", memory: str = "1Gi") -> str:
    return POD_OF.format(label=label, cpu=cpu, memory=memory)


MISTAKES: dict[str, tuple[str, str, str]] = {
    "a Helm template": (
        "deployment.yaml",
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {{ .Release.Name }}\n",
        "4: a Helm template, not a manifest: pipe `helm template` into kubespread",
    ),
    "a Helm template with control flow": (
        "deployment.yaml",
        "{{- if .Values.web }}\napiVersion: apps/v1\nkind: Deployment\n{{- end }}\n",
        "1: a Helm template, not a manifest: pipe `helm template` into kubespread",
    ),
    "tabs": (
        "pod.yaml",
        "apiVersion: v1\nkind: Pod\nmetadata:\n\tname: web\n",
        "4: indented with a tab: YAML takes spaces only",
    ),
    "a number with a comma": (
        "pod.yaml",
        pod_of(cpu='"1,5"'),
        f'13: spec.containers[0].resources.requests[cpu]: {CANNOT}{NOT_A_QUANTITY}, did you mean "1.5"?',
    ),
    "bytes": (
        "pod.yaml",
        pod_of(memory="1GB"),
        f'14: spec.containers[0].resources.requests[memory]: {CANNOT}{NOT_A_QUANTITY}, did you mean "1G" or "1Gi"?',
    ),
    "a suffix in lower case": (
        "pod.yaml",
        pod_of(memory="512mi"),
        f'14: spec.containers[0].resources.requests[memory]: {CANNOT}unable to parse quantity\'s suffix, did you mean "512M" or "512Mi"?',
    ),
    "a label that is a number": (
        "pod.yaml",
        pod_of(label="1.2"),
        f"6: metadata.labels[version]: {CANNOT}json: cannot unmarshal number into Go struct field "
        "ObjectMeta.metadata.labels of type string; quote it",
    ),
    "a kustomization": (
        "kustomization.yaml",
        "resources:\n- web.yaml\n",
        "1: a kustomization, not a manifest: build it with -k DIRECTORY",
    ),
    "a kustomization of another name": (
        "base.yaml",
        "# Everything.\napiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n",
        "2: a kustomization, not a manifest: build it with -k DIRECTORY",
    ),
    "values": (
        "values-prod.yaml",
        "web:\n  replicas: 3\n",
        "1: Helm values, not a manifest: pipe `helm template -f FILE CHART` into kubespread",
    ),
    "values of another name": (
        "prod.yaml",
        "replicaCount: 3\n",
        "1: Helm values, not a manifest: pipe `helm template -f FILE CHART` into kubespread",
    ),
    "the table of kubectl get": (
        "pods.yaml",
        "NAME    READY   STATUS    RESTARTS   AGE\nweb-1   1/1     Running   0          3h\n",
        "1: the table that `kubectl get` prints: add -o yaml to it",
    ),
    "the table of kubectl get -A": (
        "pods.yaml",
        "NAMESPACE   NAME    READY   UP-TO-DATE   AGE\nshop        web-1   1/1     1            3h\n",
        "1: the table that `kubectl get` prints: add -o yaml to it",
    ),
    "an empty list": (
        "pods.yaml",
        "apiVersion: v1\nkind: List\nitems: []\n",
        "1: an empty list: `kubectl get` found nothing; check its namespace and labels",
    ),
    "a cluster": (
        "cluster.yaml",
        (FIXTURES / "clusters" / "docs-4-nodes.yaml").read_text(),
        "6: a cluster (4 nodes, 3 running pods), not a pod: give it with -S/--snapshot",
    ),
    "an apiVersion of another group": (
        "web.yaml",
        DEPLOYMENT_OF.format(api_version="v1", kind="Deployment"),
        '1: apiVersion: no matches for kind "Deployment" in version "v1", did you mean "Deployment" in "apps/v1"?',
    ),
    "an apiVersion that is gone": (
        "web.yaml",
        DEPLOYMENT_OF.format(api_version="apps/v1beta1", kind="Deployment"),
        '1: apiVersion: no matches for kind "Deployment" in version "apps/v1beta1", '
        'did you mean "Deployment" in "apps/v1"?',
    ),
    "a kind in lower case": (
        "web.yaml",
        DEPLOYMENT_OF.format(api_version="apps/v1", kind="deployment"),
        '2: kind: no matches for kind "deployment" in version "apps/v1", did you mean "Deployment" in "apps/v1"?',
    ),
    "a kind that Kubernetes has in no group": (
        "web.yaml",
        DEPLOYMENT_OF.format(api_version="apps/v1", kind="CloneSet"),
        '1: apiVersion: no matches for kind "CloneSet" in version "apps/v1"',
    ),
    "no apiVersion": (
        "pod.yaml",
        pod_of().replace("apiVersion: v1\n", ""),
        '1: apiVersion: not set, did you mean "Pod" in "v1"?',
    ),
    "no kind": (
        "web.yaml",
        DEPLOYMENT_OF.format(api_version="apps/v1", kind="").replace("kind: \n", ""),
        "1: kind: not set",
    ),
    "a key too far to the left": (
        "web.yaml",
        DEPLOYMENT_OF.format(api_version="apps/v1", kind="Deployment").replace("  template:", " template:"),
        "8: YAML syntax: while parsing a block mapping, did not find expected key; check the indentation",
    ),
    "a key too far to the right": (
        "web.yaml",
        DEPLOYMENT_OF.format(api_version="apps/v1", kind="Deployment").replace("kind:", "  kind:"),
        "2: YAML syntax: mapping values are not allowed in this context; check the indentation",
    ),
    "a merge conflict": (
        "pod.yaml",
        pod_of().replace("spec:\n", "<<<<<<< HEAD\nspec:\n=======\n>>>>>>> main\n"),
        "7: a merge conflict that is not resolved",
    ),
    "a number in quotes": (
        "web.yaml",
        DEPLOYMENT_OF.format(api_version="apps/v1", kind="Deployment").replace("spec:", 'spec:\n  replicas: "3"', 1),
        '6: spec.replicas: Deployment in version "v1" cannot be handled as a Deployment: json: cannot unmarshal string '
        "into Go struct field LabelSelectingWorkloadSpec.spec.replicas of type int32; write 3 without quotes",
    ),
    "an unknown field": (
        "pod.yaml",
        pod_of().replace("spec:\n", "spec:\n  topologySpreadConstraint: []\n"),
        '8: spec.topologySpreadConstraint: strict decoding error: unknown field "spec.topologySpreadConstraint", '
        'did you mean "spec.topologySpreadConstraints"?',
    ),
    "maxSkew in lower case": (
        "pod.yaml",
        pod_of()
        + "  topologySpreadConstraints:\n  - maxskew: 1\n    topologyKey: zone\n    whenUnsatisfiable: DoNotSchedule\n",
        "16: spec.topologySpreadConstraints[0].maxskew: strict decoding error: unknown field "
        '"spec.topologySpreadConstraints[0].maxskew", did you mean "spec.topologySpreadConstraints[0].maxSkew"?',
    ),
}


@pytest.mark.parametrize("command", ["explain", "simulate"])
@pytest.mark.parametrize("case", MISTAKES)
def test_a_mistake_is_named(case: str, command: str, tmp_path: Path) -> None:
    name, content, message = MISTAKES[case]
    manifest = tmp_path / name
    manifest.write_text(content)
    assert run(command, manifest, "-S", CLUSTER) == (2, "", f"error: {manifest}:{message}\n")


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
