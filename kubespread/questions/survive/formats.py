"""Metrics of what is lost with each domain."""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.questions.survive.report import DomainLoss, SurviveReport
from kubespread.views.look import Look
from kubespread.views.plain import Metric, exposed


def prometheus(report: SurviveReport, _look: Look) -> str:
    return exposed(_metrics(report))


def _metrics(report: SurviveReport) -> Iterator[Metric]:
    losses = report.losses
    yield "survive_losses", "Domains that were lost, each by itself.", [({}, len(losses))]
    yield (
        "survive_can_be_lost",
        "1 where the domain can be lost: no pod waits or is lost for good, and no workload is degraded.",
        [(_domain(loss), int(not loss.trouble)) for loss in losses],
    )
    yield "survive_nodes", "Nodes of the domain.", [(_domain(loss), loss.nodes) for loss in losses]
    yield (
        "survive_pending_pods",
        "Pods without a node that had one before.",
        [(_domain(loss), loss.pending) for loss in losses],
    )
    yield (
        "survive_short_workloads",
        "Workloads with fewer ready pods than before and than desired.",
        [(_domain(loss), len(loss.short)) for loss in losses],
    )
    yield (
        "survive_lost_pods",
        "Pods that nobody makes again.",
        [(_domain(loss), len(loss.not_made_again)) for loss in losses],
    )


def _domain(loss: DomainLoss) -> dict[str, str]:
    return {"topology_key": loss.topology_key, "domain": loss.domain}
