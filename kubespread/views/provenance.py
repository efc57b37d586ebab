"""Which cluster an answer is about, and which release answered, in one line."""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.reports.parts import ClusterReference, scheduler_phrase
from kubespread.views.layout import DIM, Cell, Line, cell, width_of, wrapped
from kubespread.views.phrases import cluster_phrase

_HANGING = 4


def source_line(cluster: ClusterReference | None, kube_version: str, manner: str = "") -> Line:
    """``snapshot prod.json.gz, 2 h old · kube-scheduler v1.36``; empty where all of it goes without saying."""
    parts = (cluster_phrase(cluster), scheduler_phrase(kube_version, cluster), manner)
    return [cell(" · ".join(part for part in parts if part), DIM)]


def titled(
    line: Line, cluster: ClusterReference | None, kube_version: str, profile: str, width: int | None
) -> Iterator[Line]:
    """The question about a pod and what answers it, on one line, or on two if that is wider than ``width``."""
    source = " · ".join(
        part
        for part in (cluster_phrase(cluster), scheduler_phrase(kube_version, cluster), f"profile {profile}")
        if part
    )
    whole = [*line, Cell(" · "), cell(source)]
    if width is None or sum(width_of(part.text) for part in whole) <= width:
        yield whole
        return
    yield from wrapped(line, width, _HANGING)
    yield from wrapped([cell(source)], width, _HANGING)
