"""Metrics of pods without a node: by what they wait for, and how many of them a change frees."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import get_args

from kubespread.kube.owners import WorkloadName
from kubespread.questions.pending.report import PendingFor, PendingReport
from kubespread.views.view import Metric


def metrics(report: PendingReport) -> Iterator[Metric]:
    waiting, freed, unmade = Counter[PendingFor](), Counter[PendingFor](), Counter[WorkloadName]()
    for group in report.groups:
        waiting[group.cause] += len(group.pods)
        freed[group.cause] += group.freed
    for row in report.not_made:
        unmade[row.workload] += row.count
    yield "cluster_pods", "Pods of the cluster.", [({}, report.pods)]
    # Not what is lacking in words: these have numbers in them, and each would be a series of its own.
    yield (
        "pending_pods",
        "Pods without a node, by what they wait for.",
        [({"cause": cause}, waiting[cause]) for cause in get_args(PendingFor)],
    )
    yield (
        "pending_freed_pods",
        "How many of them the least change that was found frees.",
        [({"cause": cause}, freed[cause]) for cause in get_args(PendingFor)],
    )
    yield (
        "pending_unmade_pods",
        "Desired pods of the same workloads that do not exist.",
        [(workload.labels, count) for workload, count in unmade.items()],
    )
