"""``kubespread demo``: explain on a cluster that comes with the program."""

from __future__ import annotations

from importlib.resources import as_file, files

from kubespread.cli.explain import explain
from kubespread.cli.stderr import say


def demo() -> int:
    """Explain a deployment on a small cluster that comes with kubespread, to see what the answers look like."""
    with as_file(files("kubespread") / "demo") as data:
        manifest, cluster = data / "web.yaml", data / "cluster.yaml"
        say(f"$ kubespread explain {manifest} -S {cluster}")
        return explain(pod=str(manifest), snapshot=[cluster], output="table")
