"""``kubespread serve`` as a process of its own."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.cli.support import PROGRAM, started


@contextmanager
def served(cluster: Path | None, *arguments: str) -> Iterator[tuple[subprocess.Popen[bytes], int, str]]:
    """The program, its port and its token; without a ``cluster`` that of the kubeconfig."""
    named = () if cluster is None else ("-S", cluster)
    with started(PROGRAM, "serve", *named, "--no-browser", *arguments) as process:
        assert process.stdout is not None
        url = process.stdout.readline().decode().strip()
        address, _, token = url.partition("/#token=")
        yield process, int(address.rpartition(":")[2]), token
