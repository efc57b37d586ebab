"""Reading the API server of `tests.api.server` as kubespread does, and what it says when that fails."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import kubespread
from kubespread.snapshot.live import connection
from kubespread.snapshot.live.kubeconfig import Access
from tests.api.server import FakeApi
from tests.builders import Data

SECRET = "hunter2-0123456789"
"""What no error may repeat."""


def read(
    api: FakeApi,
    tmp_path: Path,
    *,
    user: Data | None = None,
    cluster: Data | None = None,
    request_timeout: float = 20.0,
    chunk_size: int = 500,
) -> kubespread.Snapshot:
    """The cluster behind ``api``; ``user`` and ``cluster`` are what the kubeconfig says."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connection, "_REQUEST_TIMEOUT", request_timeout)
        patch.setattr(connection, "_CHUNK_SIZE", chunk_size)
        return connection.load_cluster(Access(str(api.kubeconfig(tmp_path, user=user, cluster=cluster))))


def refused(api: FakeApi, tmp_path: Path, *, error: type[Exception] = kubespread.SnapshotError, **asked: Any) -> str:
    """The one line that `read` fails with, the server's address in it replaced by SERVER."""
    with pytest.raises(error) as raised:
        read(api, tmp_path, **asked)
    text = str(raised.value).replace(api.url, "SERVER")
    assert "\n" not in text
    assert SECRET not in text
    return text
