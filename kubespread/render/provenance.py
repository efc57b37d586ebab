"""Which cluster an answer is about, and which release answered, in one line."""

from __future__ import annotations

from kubespread.planner.reports.parts import ClusterReference
from kubespread.render.layout import DIM, Line, cell
from kubespread.render.phrases import cluster_phrase


def source_line(cluster: ClusterReference | None, kube_version: str) -> Line:
    """``snapshot prod.json.gz, 2 h old · kube-scheduler v1.36``."""
    parts = (cluster_phrase(cluster), f"kube-scheduler v{kube_version}")
    return [cell(" · ".join(part for part in parts if part), DIM)]
