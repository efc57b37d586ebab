"""Scores of what pods do, whatever is asked for: a constraint that is deleted takes nothing wrong away.

Each counts where the pods are now, and none what kube-scheduler, an audit or a played failure say of constraints: a
hard one that does not hold, or that leaves pods pending once a zone is lost, is a line and no point less. The one thing
that counts about constraints is that a workload has its own, and that can only be lost by deleting it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kubespread.kube.well_known import HOSTNAME, ZONE
from kubespread.questions.audit.report import AuditedWorkload
from kubespread.questions.report.report import Area, AreaScore

_UNKEPT = 0.5
"""What a workload counts at most whose spread no constraint of its own keeps."""


def scores(workloads: Sequence[AuditedWorkload], zones: int, hosts: int) -> Iterator[AreaScore]:
    """Of the areas that can be counted so; ``zones`` and ``hosts`` are how many there are."""
    desired = sum(row.replicas for row in workloads)
    ready = sum(min(row.ready, row.replicas) for row in workloads)
    yield _score("running", ready, desired, "desired pods are ready")
    several = [row for row in workloads if row.replicas >= 2]
    key, domains = (ZONE, zones) if zones > 1 else (HOSTNAME, hosts)
    name = "zone" if key == ZONE else "node"
    counted = f"workloads of several pods keep without any one {name} as many as even spreading leaves"
    in_part = f"in part for fewer, at most {_UNKEPT:g} without a constraint of their own that keeps them so"
    yield _score("spread", sum(_spread(row, key, domains) for row in several), len(several), f"{counted}; {in_part}")
    remain = sum(all(_remains(row, key) for key in _keys(zones, hosts)) for row in several)
    lost = "node or zone" if zones > 1 else "node"
    yield _score("losses", remain, len(several), f"workloads of several pods keep some without any one {lost}")


def _score(area: Area, points: float, of: int, counted: str) -> AreaScore:
    score = int(100 * points / of) if of else None
    return AreaScore(area=area, score=score, points=round(points, 2), of=of, counted=counted)


def _keys(zones: int, hosts: int) -> Iterable[str]:
    return [key for key, number in ((ZONE, zones), (HOSTNAME, hosts)) if number > 1]


def _remains(row: AuditedWorkload, key: str) -> bool:
    loss = row.worst_loss.get(key)
    return loss is not None and loss.remaining > 0


def _spread(row: AuditedWorkload, key: str, domains: int) -> float:
    """What is left without the fullest domain, as a part of what is left where pods are spread evenly."""
    loss = row.worst_loss.get(key)
    if loss is None or domains < 2:
        return 0.0
    best = row.placed + (-row.placed // domains)
    evenness = loss.remaining / best if best else 0.0
    return min(evenness, 1.0 if _is_kept(row, key) else _UNKEPT)


def _is_kept(row: AuditedWorkload, key: str) -> bool:
    """Whether a constraint of its own asks for it, and not so loosely that all pods may be in one domain."""
    return any(
        constraint.topology_key == key and constraint.source == "pod" and constraint.max_skew < row.replicas
        for constraint in row.constraints
    )
