"""Pods with fields that few have: what an API server of 1.36.2 refuses, to the letter, and what it drops unread."""

from __future__ import annotations

import json

import pytest

from kubespread.candidate.candidate import Surroundings
from kubespread.errors import ManifestError
from kubespread.kube.versions import KubeVersion
from tests.candidate.objects import from_object
from tests.cli.support import FIXTURES

CASES = FIXTURES / "cases" / "control-plane" / "04-validation-val6"


@pytest.mark.parametrize("folder", sorted(path.name for path in CASES.iterdir()))
def test_a_pod_is_refused_or_accepted(folder: str) -> None:
    pod = json.loads((CASES / folder / "case.json").read_text())["pod"]
    said = ["accepted"]
    try:
        from_object(pod, Surroundings(version=KubeVersion.parse("1.36.2")))
    except ManifestError as error:
        said = [f"{fault.field}: {fault.message}" for fault in error.faults]
    assert said == (CASES / folder / "expected.txt").read_text().splitlines()
