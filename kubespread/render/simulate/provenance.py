"""What answered: the release, and the profiles where they are not the default."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from kubespread.planner.reports.simulate import SimulateReport
from kubespread.render.flow import styled

_DEFAULT_PROFILE = "default-scheduler"


def provenance(reports: Sequence[SimulateReport]) -> Text:
    """``kube-scheduler v1.36``, with profiles after it where they say something."""
    profiles = list(dict.fromkeys(report.scheduler_name for report in reports))
    said = f" · profile {', '.join(profiles)}" if profiles != [_DEFAULT_PROFILE] else ""
    return styled(f"kube-scheduler v{reports[0].kube_version}{said}", "dim")
