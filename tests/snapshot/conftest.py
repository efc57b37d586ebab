from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.support import PROXY_VARIABLES


@pytest.fixture
def outside_any_cluster(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Neither a kubeconfig nor a proxy that the tests do not know of."""
    for name in ("KUBECONFIG", "KUBERNETES_SERVICE_HOST", *PROXY_VARIABLES):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
