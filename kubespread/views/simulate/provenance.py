"""What was asked and who answered: the cluster, the release, and profiles that are not the default."""

from __future__ import annotations

from collections.abc import Sequence

from kubespread.planner.reports.simulate import SimulateReport
from kubespread.views.layout import DIM, Line, cell
from kubespread.views.phrases import cluster_phrase

_DEFAULT_PROFILE = "default-scheduler"


def provenance(reports: Sequence[SimulateReport]) -> Line:
    """``snapshot prod.json.gz, 2 h old · kube-scheduler v1.36``, with profiles after it where they say something."""
    profiles = list(dict.fromkeys(report.scheduler_name for report in reports))
    parts = (
        cluster_phrase(reports[0].cluster),
        f"kube-scheduler v{reports[0].kube_version}",
        "" if profiles == [_DEFAULT_PROFILE] else f"profile {', '.join(profiles)}",
    )
    return [cell(" · ".join(part for part in parts if part), DIM)]
