"""The test tables of Kubernetes' own scheduler, which plugins by themselves and whole schedulers are asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tables import FIXTURES, differences


@pytest.mark.parametrize("path", sorted((FIXTURES / "suites").glob("*.yaml")), ids=lambda path: path.stem)
def test_a_table_of_kubernetes(path: Path) -> None:
    assert differences(path) == {}
