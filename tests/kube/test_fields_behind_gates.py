"""Pods with fields that few have: which of them an API server of 1.36.2 refuses, and what it drops unread."""

from __future__ import annotations

import json

import pytest

from kubespread.candidate.sources import Surroundings
from kubespread.errors import ManifestError
from kubespread.kube.versions import KubeVersion
from tests.candidate.objects import from_object
from tests.cli.support import FIXTURES
from tools.replay.refusals import compared, texts

CASES = FIXTURES / "cases" / "control-plane" / "04-validation-val6"


@pytest.mark.parametrize("folder", sorted(path.name for path in CASES.iterdir()))
def test_a_pod_is_refused_or_accepted(folder: str) -> None:
    pod = json.loads((CASES / folder / "case.json").read_text())["pod"]
    said: list[str] = []
    try:
        from_object(pod, Surroundings(version=KubeVersion.parse("1.36.2")))
    except ManifestError as error:
        said = texts(error)
    expected = (CASES / folder / "expected.txt").read_text().splitlines()
    assert [*compared(folder, [text for text in expected if text != "accepted"], said)] == []
