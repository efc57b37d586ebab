"""Metrics of many clusters: what each answers, how large it is, and how much of it is wrong."""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.questions.fleet.report import WORST_FIRST, FleetReport
from kubespread.views.view import Metric


def metrics(report: FleetReport) -> Iterator[Metric]:
    asked = report.question["name"]
    rows = [({"cluster": row.name, "question": asked}, row) for row in report.clusters]
    yield (
        "fleet_verdict",
        "1 for the verdict of the cluster's answer, 0 for the others.",
        [
            ({**labels, "verdict": verdict}, int(row.verdict == verdict))
            for labels, row in rows
            for verdict in WORST_FIRST
        ],
    )
    yield "fleet_passes", "1 where the question ends with a yes.", [(on, int(row.passes == "yes")) for on, row in rows]
    yield "fleet_answered", "0 where there is no answer.", [(on, int(row.error is None)) for on, row in rows]
    yield (
        "fleet_snapshot_age_seconds",
        "How old what was read of the cluster is.",
        [
            (on, row.cluster.age_seconds)
            for on, row in rows
            if row.cluster is not None and row.cluster.age_seconds is not None
        ],
    )
    yield "fleet_nodes", "Nodes of the cluster.", [(on, row.nodes) for on, row in rows if row.nodes is not None]
    yield "fleet_pods", "Pods of the cluster.", [(on, row.pods) for on, row in rows if row.pods is not None]
    shares = [({**on, "of": row.share.noun}, row.share) for on, row in rows if row.share is not None]
    yield "fleet_bad", "How many something is wrong with.", [(on, share.bad) for on, share in shares]
    yield "fleet_bad_ratio", "The same as a part of all, from 0 to 1.", [(on, share.part) for on, share in shares]
