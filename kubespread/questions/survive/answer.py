"""Losing domains: each in its own copy of the cluster, as if nothing had been lost before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import combinations
from typing import Self

from msgspec import Struct

from kubespread.controllers.outage import is_silent
from kubespread.errors import UsageError
from kubespread.kube.owners import WorkloadName, is_active, is_ready
from kubespread.kube.well_known import HOSTNAME, ZONE
from kubespread.node_groups import Autoscaler
from kubespread.questions.scene import Scene, placed_first
from kubespread.questions.selection import Selection
from kubespread.questions.survive import LostDomain, Survive, SurviveReport
from kubespread.snapshot.topology_keys import check_topology_keys, domain_notes, full_topology_key
from kubespread.wording import EMPTY, domain_noun, short_key
from kubespread.world.events.draining import delete_nodes, fail
from kubespread.world.events.world import World
from kubespread.world.reporting.difference import Baseline
from kubespread.world.reporting.happenings import desired_replicas, without_daemons, workload_of
from kubespread.world.reporting.outcomes import outcome_of

_MOST_DOMAINS, _MOST_PAIRS = 100, 4950


def answer(question: Survive, scene: Scene) -> SurviveReport:
    """Fail the nodes of each domain, delete their Node objects if requested, and place pods again."""
    losing = _Losing.build(question, scene)
    world, selected = losing.world, losing.selected
    workloads, untested = losing.workloads, losing.untested_workloads
    if not workloads.union(untested):
        # Workloads of no replicas have nothing to lose; one that is named was meant to have.
        if selected.names:
            raise selected.no_workload_error(scene.edited_snapshot)
        selected.check_any(world, scene.edited_snapshot)
    domains = list(_domains_to_lose(world, question))
    losses = tuple(scene.tasks(losing, domains))
    return SurviveReport(
        kube_version=str(scene.release),
        cluster=scene.source,
        **selected.as_reported(world),
        preemption=question.preemption,
        workloads=sum(name.kind != "Pod" for name in workloads.union(untested)),
        untested=untested,
        nodes=len(world.living.nodes.objects),
        pending_before=losing.baseline.pending_count(losing.counts),
        placed_first="".join(placed_first(losing.baseline.happenings)),
        losses=losses,
        pairs=question.pairs,
        nodes_deleted=question.nodes_deleted,
        autoscaler=None if question.autoscaler is None else Autoscaler(question.autoscaler).full_name,
        gaps=scene.gaps(world.assumed),
        not_modelled=Survive.never_modelled,
        notes=(
            *scene.notes,
            *losing.baseline.happenings.notes,
            *domain_notes((domain.key for domain in domains), world.living.nodes.objects),
        ),
        unfinished=scene.budget.missing("domain", len(domains), [domain.name for domain in domains[len(losses) :]]),
    )


class _Domain(Struct, frozen=True):
    """The nodes that share one value of a topology key, or two."""

    key: str
    values: tuple[str, ...]
    nodes: tuple[str, ...]

    @property
    def name(self) -> str:
        """``zone a``; the key is left out where the value contains it."""
        key, value = domain_noun(self.key), "+".join(self.values) or EMPTY
        return value if key in value else f"{key} {value}"


def _domains_to_lose(world: World, question: Survive) -> Iterator[_Domain]:
    """Yield the domains of all keys, or each two of one key; by default, of the usual keys."""
    nodes = world.living.nodes.objects
    full = [full_topology_key(key, nodes) for key in question.keys] or _usual_keys(world)
    check_topology_keys(full, nodes)
    for key in dict.fromkeys(full):
        chosen = question.domains.get(key)
        domains = [domain for domain in _domains(world, key) if chosen is None or domain.values[0] in chosen]
        yield from _pairs(domains) if question.pairs else domains


def _usual_keys(world: World) -> list[str]:
    """Zones; where no node is in one, the keys that pods are spread over (racks); without these, hosts."""
    nodes = world.living.nodes
    for zone in (ZONE, short_key(ZONE)):
        if nodes.label(zone).values:
            return [zone]
    constraints = (constraint for pod in world.book for constraint in pod.spec.topology_spread_constraints)
    keys = {constraint.topology_key for constraint in constraints} - {HOSTNAME}
    return sorted(key for key in keys if len(nodes.label(key).values) > 1) or [HOSTNAME]


def _pairs(domains: Sequence[_Domain]) -> Iterator[_Domain]:
    """Each two domains of a key as one. Raises UsageError for too many pairs, or none."""
    number = len(domains) * (len(domains) - 1) // 2
    if domains and not 0 < number <= _MOST_PAIRS:
        key = domains[0].key
        raise UsageError(f"--pairs takes 2 to {_MOST_DOMAINS} domains of a key, and {key} has {len(domains):,}")
    for one, other in combinations(domains, 2):
        yield _Domain(one.key, one.values + other.values, one.nodes + other.nodes)


def _domains(world: World, key: str) -> list[_Domain]:
    """The domains of ``key``, by value; nodes without the label are in none."""
    nodes: dict[str, list[str]] = {}
    for node in world.living.nodes.objects:
        if (value := node.metadata.labels.get(key)) is not None:
            nodes.setdefault(value, []).append(node.metadata.name)
    return [_Domain(key, (value,), tuple(nodes[value])) for value in sorted(nodes)]


class _Losing:
    """Loses domains, each in its own copy of a world."""

    def __init__(self, baseline: Baseline, selected: Selection, *, nodes_deleted: bool) -> None:
        self.baseline, self.selected = baseline, selected
        self.assumed = baseline.world.assumed
        self._nodes_deleted, self.counts = nodes_deleted, selected.filter_in(baseline.world)
        self._trial, self._moves = baseline.trial(self.counts), without_daemons(self.counts)

    @classmethod
    def build(cls, question: Survive, scene: Scene) -> Self:
        selected = question.selection_in(scene.snapshot)
        return cls(scene.baseline()[0], selected, nodes_deleted=question.nodes_deleted)

    @property
    def world(self) -> World:
        """The world that each domain is lost in."""
        return self._trial.world

    @property
    def workloads(self) -> set[WorkloadName]:
        """Selected workloads that have pods, single pods included, without workloads with a pod per node."""
        world = self.baseline.world
        return set(filter(self._moves, {workload_of(world, pod) for pod in world.book}))

    @property
    def untested_workloads(self) -> tuple[WorkloadName, ...]:
        """Selected workloads without a ready pod, though they are to have pods."""
        world = self.baseline.world
        names = [name for name in self.selected.chosen_in(world) if self._moves(name)]
        pods = {name: list(filter(is_active, world.pods_of(name))) for name in names}
        return tuple(
            name
            for name in names
            if (pods[name] or desired_replicas(world, name)) and not any(map(is_ready, pods[name]))
        )

    def __call__(self, domain: _Domain) -> LostDomain:
        nodes = self.world.living.nodes
        events = [partial(fail, names=domain.nodes)]
        if self._nodes_deleted:
            events.append(partial(delete_nodes, nodes=domain.nodes))
        return outcome_of(
            LostDomain,
            domain.name,
            self._trial.fork(),
            *events,
            barred={domain.key: domain.values},
            moves=self._moves,
            topology_key=domain.key,
            domain="+".join(domain.values),
            size=len(domain.nodes),
            already_lost=all(is_silent(nodes.objects[nodes.index[name]]) for name in domain.nodes),
        )
