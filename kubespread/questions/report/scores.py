"""Scores of what pods do, whatever is asked for: a constraint that is deleted takes nothing wrong away.

Each counts where the pods are now, and none what kube-scheduler, an audit or a played failure say of constraints: a
hard one that does not hold, or that leaves pods pending once a zone is lost, is a line and no point less. The one thing
that counts about constraints is that a workload has its own, and that can only be lost by deleting it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from kubespread.kube.owners import NamespacedName, WorkloadName
from kubespread.kube.well_known import HOSTNAME, ZONE
from kubespread.questions.audit.report import AuditedWorkload
from kubespread.questions.removable.evictions import KeptNode, TightBudget, WorkloadOf
from kubespread.questions.report.report import Area, AreaScore
from kubespread.world.events.world import World

_UNKEPT = 0.5
"""What a workload counts at most whose spread no constraint of its own keeps."""


class Held(Struct, frozen=True):
    """What drains and budgets let go."""

    nodes: frozenset[str]
    """Those that kubectl drain does not empty, or not now."""
    loose: frozenset[WorkloadName]
    """Workloads with a budget, which lets one of their pods go."""
    of: int
    """How many nodes there are."""


def held_by(kept: Iterable[KeptNode], tight: Iterable[TightBudget], world: World, workload: WorkloadOf) -> Held:
    """What `Held` says, of the lines' own rows."""
    held = {budget.name for budget in tight}
    loose: dict[WorkloadName, bool] = {}
    for pod in world.book:
        name = workload(pod)
        if name is not None and (budgets := world.budgets.protecting(pod, world.time)):
            lets_go = len(budgets) == 1 and NamespacedName.of(budgets[0]) not in held
            loose[name] = loose.get(name, True) and lets_go
    nodes = frozenset(node.node for node in kept if node.cause in ("budget", "noController", "daemonSet"))
    return Held(nodes, frozenset(name for name, lets_go in loose.items() if lets_go), len(world.living.nodes))


def scores(workloads: Sequence[AuditedWorkload], zones: int, hosts: int, held: Held | None) -> Iterator[AreaScore]:
    """Of the areas that can be counted so; ``zones`` and ``hosts`` are how many there are, ``held`` is None where there
    was no time for it.
    """
    desired = sum(row.replicas for row in workloads)
    ready = sum(min(row.ready, row.replicas) for row in workloads)
    yield _score("running", ready, desired, "desired pods are ready")
    several = [row for row in workloads if row.replicas >= 2]
    key, domains = (ZONE, zones) if zones > 1 else (HOSTNAME, hosts)
    name = "zone" if key == ZONE else "node"
    counted = (
        f"workloads of several pods are spread over {name}s: 1 for each that keeps as many without its fullest {name} "
        f"as even spreading would, less for fewer, at most {_UNKEPT:g} without a constraint of its own over {name}s"
    )
    yield _score("spread", sum(_spread(row, key, domains) for row in several), len(several), counted)
    remain = sum(all(_remains(row, key) for key in _keys(zones, hosts)) for row in several)
    lost = "node or zone" if zones > 1 else "node"
    yield _score(
        "losses", remain, len(several), f"workloads of several pods keep at least one whichever {lost} is lost"
    )
    if held is None:
        return
    loose = sum(row.workload in held.loose for row in several)
    yield _score(
        "budgets", loose, len(several), "workloads of several pods have a disruption budget that allows an eviction now"
    )
    yield _score(
        "drains",
        held.of - len(held.nodes),
        held.of,
        "nodes can be drained: budgets allow every eviction, and each pod is created again",
    )


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
