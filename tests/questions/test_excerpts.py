"""What a check shows of the files that it is about: the lines with findings, what they stand in, and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import kubespread
from tests.builders import Data, hard

HEAD = """\
apiVersion: v1
kind: Secret
metadata: {name: hush}
stringData:
  word: topsecret
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 3
  selector:
    matchLabels: {app: web}
  template:
    metadata:
      labels: {app: web}
    spec:
"""
CONTAINERS = """\
      containers:
      - name: main
        image: nginx
        env:
        - name: WORD
          value: topsecret
"""
SPREAD = """\
      topologySpreadConstraints:
      - maxSkew: 1
        topologyKey: zone
        # Only of this one.
        whenUnsatisfiable: DoNotSchedule
        labelSelector:
          matchLabels: {app: webb}

      - maxSkew: 1
        topologyKey: rack
        whenUnsatisfiable: ScheduleAnyway
        labelSelector: {matchLabels: {app: web}}
"""
OUTSIDE = ["spec:", "  template:", "    spec:"]
SHOWN = SPREAD.splitlines()[:7]
CASES = {
    "the whole constraint, and what it stands in": (HEAD + CONTAINERS + SPREAD, [*OUTSIDE, *SHOWN]),
    "a list that is indented less than usual, behind which something follows": (
        HEAD + SPREAD + CONTAINERS,
        [*OUTSIDE, *SHOWN],
    ),
    "of a list that is indented below its field the same": (
        HEAD + CONTAINERS + SPREAD.replace("\n  ", "\n    "),
        [*OUTSIDE, SHOWN[0], *(f"  {line}" for line in SHOWN[1:])],
    ),
    "what refuses an object is shown without what stands beside it": (
        (HEAD + CONTAINERS).replace("replicas: 3", "replicas: -3"),
        ["spec:", "  replicas: -3"],
    ),
    "a very long line is cut": (
        (HEAD + CONTAINERS).replace("replicas: 3", f"replicas: -3 # {'long ' * 99}"),
        ["spec:", f"  replicas: -3 # {'long ' * 99}"[:200]],
    ),
}


def lines_of(report: kubespread.CheckReport) -> list[str]:
    return [line.text for excerpt in report.excerpts for line in excerpt.lines]


@pytest.mark.parametrize("case", CASES)
def test_what_is_shown_of_a_file(case: str, tmp_path: Path) -> None:
    content, expected = CASES[case]
    file = tmp_path / "web.yaml"
    file.write_text(content)
    report = kubespread.check(None, file, select=["KS002", "KS101"])
    written = content.splitlines()
    (excerpt,) = report.excerpts
    assert (excerpt.file, [line for line in lines_of(report) if line.strip()]) == (str(file), expected)
    assert all(written[line.number - 1].startswith(line.text) for line in excerpt.lines)
    assert {finding.line for finding in report.findings} <= {line.number for line in excerpt.lines}


def test_what_is_in_no_file_has_no_excerpt() -> None:
    spec = yaml.safe_load(HEAD.partition("---\n")[2] + CONTAINERS + SPREAD)
    assert kubespread.check(None, spec).excerpts == ()


@given(
    indent=st.integers(2, 8),
    ordered=st.permutations(["containers", "topologySpreadConstraints", "nodeSelector", "volumes"]),
    first=st.booleans(),
)
def test_the_environment_of_containers_is_never_shown(
    tmp_path_factory: pytest.TempPathFactory, indent: int, ordered: list[str], first: bool
) -> None:
    fields: Data = {
        "containers": [{"name": "main", "image": "nginx", "env": [{"name": "WORD", "value": "topsecret"}]}],
        "topologySpreadConstraints": [hard("zone", match={"app": "webb"}), hard("rack", match={"app": "web"})],
        "nodeSelector": {"word": "topsecret"},
        "volumes": [{"name": "topsecret", "emptyDir": {}}],
    }
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {name: fields[name] for name in ordered}}
    spec: dict[str, Any] = {"replicas": 3, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    workload = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": spec}
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "hush"}, "data": {"word": "dG9wc2VjcmV0"}}
    documents = [secret, workload] if first else [workload, secret]
    file = tmp_path_factory.mktemp("manifests") / "web.yaml"
    file.write_text(yaml.safe_dump_all(documents, sort_keys=False, indent=indent))
    shown = "\n".join(lines_of(kubespread.check(None, file, select=["KS101"])))
    assert "webb" in shown
    assert "topsecret" not in shown
    assert "dG9w" not in shown
