"""Asks one question after another about the same cluster, and keeps what is bad in their answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import accumulate
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from kubespread.controllers.outage import is_silent
from kubespread.errors import UsageError
from kubespread.kube.api.cluster_objects import HorizontalPodAutoscaler
from kubespread.kube.api.core import Pod
from kubespread.kube.owners import NamespacedName, WorkloadName, is_active
from kubespread.kube.providers import POOLS
from kubespread.kube.well_known import HOSTNAME, ZONE
from kubespread.manifest.json_stream import read_json
from kubespread.manifest.text import display_name
from kubespread.questions.audit.question import Audit
from kubespread.questions.audit.report import AuditedWorkload
from kubespread.questions.capacity.question import Capacity
from kubespread.questions.commands import Commands
from kubespread.questions.pending.question import Pending
from kubespread.questions.question import AUTOSCALER_TYPES
from kubespread.questions.removable.certain import KEPT, KeptNode, kept_nodes
from kubespread.questions.removable.question import Removable
from kubespread.questions.report import lines
from kubespread.questions.report.areas import AREAS, Area
from kubespread.questions.report.at_maximum import at_maximum, growing, of_growth
from kubespread.questions.report.question import Report
from kubespread.questions.report.report import AreaScore, Badness, ReportLine, Scorecard, Since
from kubespread.questions.scene import Inquiry, Scene
from kubespread.questions.survive.question import Survive
from kubespread.reports.changes import Cell, changes_between
from kubespread.reports.parts import ClusterReference
from kubespread.world.events.world import World
from kubespread.world.reporting.difference import everything
from kubespread.world.reporting.tight_budgets import TightBudget, WorkloadOf, tight_budgets, whose


class _Line(msgspec.Struct, rename="camel"):
    key: str
    level: Badness
    extent: int
    what: str = ""
    area: str = ""


class _Score(msgspec.Struct, rename="camel"):
    area: str
    score: int | None = None


class _Card(msgspec.Struct, rename="camel"):
    """What is read of an earlier report; of a fleet's, of those of its clusters."""

    kind: str = ""
    lines: tuple[_Line, ...] = ()
    areas: tuple[_Score, ...] = ()
    opened: tuple[str, ...] = ()
    cluster: ClusterReference | None = None
    clusters: tuple[_Member, ...] = ()


class _Member(msgspec.Struct, rename="camel"):
    reports: tuple[_Card, ...] = ()


def _read_earlier(path: str, cluster: ClusterReference | None) -> _Card:
    """The report of ``cluster`` in a file, alone or with those of a fleet's other clusters.

    Raises ManifestError, and UsageError where that is of others.
    """
    file, expected = display_name(path), "what kubespread report -o json writes"
    card = read_json(path, _Card, expected)
    if card.kind == "FleetReport":
        asked = None if cluster is None else (cluster.snapshot, cluster.context)
        cards = [card for member in card.clusters for card in member.reports]
        of_cluster = (card for card in cards if card.cluster and (card.cluster.snapshot, card.cluster.context) == asked)
        found = next(of_cluster, None)
        if found is None:
            raise UsageError(f"{file}: none of its {len(cards)} clusters is this one")
        card = found
    if card.kind != "Scorecard":
        raise UsageError(f"{file}: not {expected}: kind {card.kind or 'missing'}")
    return card


def _since(earlier: _Card, report: Scorecard) -> Since:
    def rows(card: _Card | Scorecard) -> dict[str, Mapping[str, Cell]]:
        areas = (set(report.opened) or set(AREAS)) & (set(earlier.opened) or set(AREAS))
        lines = (line for line in card.lines if line.area in areas)
        return {
            **{score.area: {"score": score.score} for score in card.areas if score.area in areas},
            **{line.key: {"level": line.level, "extent": line.extent, "what": line.what} for line in lines},
        }

    before, after = rows(earlier), rows(report)
    if report.unfinished is not None:
        before = {key: row for key, row in before.items() if key in after}
    time = None if earlier.cluster is None else earlier.cluster.time
    return Since(time=time, changes=tuple(changes_between(before, after)))


# Scores of what pods do, whatever is asked for: a constraint that is deleted takes nothing wrong away.
#
# Each counts where the pods are now, and none what kube-scheduler, an audit or a played failure say of constraints: a
# hard one that does not hold, or that leaves pods pending once a zone is lost, is a line and no point less. What counts
# about constraints is only that a workload has its own, and that can only be lost by deleting it.


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
    nodes = frozenset(node.node for node in kept if KEPT[node.cause][0] == "warning")
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
    # Of one zone alone a full score would promise what nobody can lose.
    losing = several if zones > 1 else []
    keys = (ZONE, HOSTNAME) if hosts > 1 else (ZONE,)
    remain = sum(all(key in row.worst_loss and row.worst_loss[key].remaining for key in keys) for row in losing)
    yield _score(
        "losses", remain, len(losing), "workloads of several pods keep at least one whichever node or zone is lost"
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


MOST_DOMAINS, MOST_PODS = 24, 50_000
"""How many domains of a key are lost, each by itself, and how many pods they hold together: of more those with the most
to lose. As many nodes are tried to do without: those with the fewest pods.
"""


def answer(question: Report, scene: Scene) -> Scorecard:
    """Nothing happens in the scene's world."""
    if question.fail_on in ("new", "worse") and question.since is None:
        raise UsageError(f"--fail-on {question.fail_on} has no effect without --since")
    earlier = None if question.since is None else _read_earlier(question.since, scene.source)
    asking = _Asking(question, scene)
    audit = asking.whole("audit", Audit(**asking.shared), "auditing workloads")
    rows = () if audit is None else audit.workloads
    zones, hosts = (len(_domains(scene, key)) for key in (ZONE, HOSTNAME))
    found = (*asking.lines(rows), *(() if audit is None else lines.of_audit(audit, zones, asking.commands)))
    listed = _distinct(line for line in found if question.is_about(line.area))
    scored = () if audit is None else scores(rows, zones, hosts, asking.held)
    areas = tuple(score for score in scored if question.is_about(score.area))
    report = Scorecard(
        kube_version=str(scene.release),
        cluster=scene.source,
        **asking.whose.as_reported(scene.world),
        preemption=question.preemption,
        opened=question.opened,
        nodes=len(scene.now.nodes),
        workloads=len(rows),
        areas=areas,
        lines=tuple(listed),
        gaps=tuple(dict.fromkeys((*asking.said("gaps"), *scene.gaps(scene.world.assumed)))),
        not_modelled=Report.never_modelled,
        notes=(*asking.said("notes"), *asking.notes),
        unfinished=scene.unfinished("question", len(asking.asked), asking.missing),
    )
    return report if earlier is None else replace(report, since=_since(earlier, report))


def _distinct(found: Iterable[ReportLine]) -> list[ReportLine]:
    """The worst first, each under a key of its own: causes that differ in their numbers alone are numbered."""
    seen: Counter[str] = Counter()
    distinct = []
    for line in sorted(found, key=lambda line: line.badness):
        seen[line.key] += 1
        number = seen[line.key]
        distinct.append(line if number == 1 else replace(line, key=f"{line.key}/{number}"))
    return distinct


class _Asking(Inquiry):
    """What is asked of one cluster."""

    def __init__(self, question: Report, scene: Scene) -> None:
        super().__init__(scene)
        self.notes: tuple[str, ...] = ()
        self.held: Held | None = None
        self._is_about = question.is_about
        self.whose = question.asked_in(scene.snapshot)
        self.shared: dict[str, Any] = {
            "workloads": question.named,
            "namespace": question.namespace,
            "selector": question.selector,
            "preemption": question.preemption,
        }
        self._autoscaled = {name: getattr(scene.asked, name) for name in AUTOSCALER_TYPES}
        self.commands = Commands(scene.snapshot, scene.scheduler, question)

    def lines(self, rows: Sequence[AuditedWorkload]) -> Iterator[ReportLine]:
        """All but those of the audit, whose ``rows`` say which nodes have the most to lose."""
        if self._is_about("running"):
            yield from self._pending()
        if self._is_about("budgets", "drains", "rules"):
            yield from self.part("drains", self._as_it_is)
        if self._is_about("scaling"):
            yield from self._at_maximum()
        if self._is_about("losses"):
            yield from self._lost(rows)
        if self._is_about("room"):
            yield from self._room()

    def _pending(self) -> Iterator[ReportLine]:
        pending = self.whole("pending", Pending(**self.shared, **self._autoscaled), "looking at pending pods")
        if pending is not None:
            pods = {NamespacedName.of(pod): pod for pod in self.scene.now.pods if not pod.spec.node_name}
            yield from lines.of_pending(pending, pods, self.commands)

    def _at_maximum(self) -> Iterator[ReportLine]:
        world = self.scene.world
        world.assume(world.objects.gap(HorizontalPodAutoscaler, "no workload is scaled up"))
        if grown := list(growing(world, self.whose.those_in(world))):
            yield from self.part("scaling", partial(self._grown, grown))

    def _room(self) -> Iterator[ReportLine]:
        scene, commands = self.scene, self.commands
        capacity = self.whole("capacity", Capacity(), "adding up what is free")
        if capacity is not None:
            yield from lines.of_capacity(capacity, commands)
        if len(scene.now.nodes) > 1:
            going = Removable(most=MOST_DOMAINS, preemption=self.shared["preemption"], remedies=False)
            removable = self.whole("removable", going, "draining nodes")
            if removable is not None:
                yield from lines.of_removable(removable, commands)

    @cached_property
    def _pods(self) -> Counter[str]:
        """How many pods each node has."""
        return Counter(pod.spec.node_name for pod in self.scene.now.pods if is_active(pod))

    def _as_it_is(self) -> Iterator[ReportLine]:
        """What keeps pods from being evicted, and which of them break rules of their own."""
        world = self.scene.world
        counts = whose(world, self.whose.those_in(world))
        # Each of what follows asks it of every pod.
        known = {id(pod): counts(pod) for pod in world.book}

        def workload(pod: Pod) -> WorkloadName | None:
            return known[id(pod)]

        # A node is drained or not, whoever asks about which workloads.
        kept, tight = list(kept_nodes(world, whose(world, everything))), list(tight_budgets(world, workload))
        self.held = held_by(kept, tight, world, workload)
        yield from lines.of_budgets(tight, self.commands)
        yield from lines.of_kept_nodes(kept, len(self.scene.now.nodes), self.commands)
        yield from lines.of_strays(lines.strays(world, workload), self.commands)

    def _grown(self, grown: Sequence[tuple[WorkloadName, str, int]]) -> Iterator[ReportLine]:
        """Autoscaled workloads at their maximum, all together; alone those that lack pods then, or may take others'."""
        scene = self.scene
        baseline, _ = scene.asking(scene.question, "scaling up").settled("anything is scaled up")
        together = at_maximum(baseline, grown)
        lacking = together.lacking
        alone = (
            together if len(grown) == 1 else at_maximum(baseline, [one])
            for one in grown
            if together.preempted or together.untold or one[0] in lacking
        )
        yield from of_growth(together, alone, self.commands)

    def _lost(self, rows: Sequence[AuditedWorkload]) -> Iterator[ReportLine]:
        """Lines about losing a zone, a pool or a node."""
        scene = self.scene
        if "audit" not in self.missing and not any(row.placed + row.pending + row.terminating for row in rows):
            return
        # Nodes first: each takes a moment. After a zone, which takes seconds, they would seem worth starting workers.
        standing = {key: _standing(scene, key) for key in (HOSTNAME, ZONE, *POOLS) if len(_domains(scene, key)) > 1}
        chosen = {key: tuple(self._most_to_lose(key, nodes_of, rows)) for key, nodes_of in standing.items()}
        if not any(chosen.values()):
            return
        lost = Survive(**self.shared, **self._autoscaled, keys=tuple(chosen), domains=chosen)
        survive = self.whole("survive", lost, "losing zones and nodes")
        if survive is not None:
            self.notes = tuple(lines.not_lost(chosen, standing, self.commands))
            yield from lines.of_survive(survive, standing, self.commands)

    def _most_to_lose(
        self, key: str, nodes_of: Mapping[str, Sequence[str]], rows: Sequence[AuditedWorkload]
    ) -> Iterator[str]:
        """Those domains that hold the last pods of most workloads, then those that hold most pods; one at least."""
        last = Counter(loss.domain for row in rows if (loss := row.worst_loss.get(key)) and not loss.remaining)
        pods = {domain: sum(self._pods[name] for name in names) for domain, names in nodes_of.items()}
        worst = sorted(nodes_of, key=lambda domain: (-last[domain], -pods[domain], domain))[:MOST_DOMAINS]
        for domain, held in zip(worst, accumulate(pods[domain] for domain in worst), strict=True):
            if domain != worst[0] and held > MOST_PODS:
                return
            yield domain


def _domains(scene: Scene, key: str) -> set[str]:
    labels = (node.metadata.labels for node in scene.now.nodes)
    return {own[key] for own in labels if key in own}


def _standing(scene: Scene, key: str) -> dict[str, list[str]]:
    """The nodes that answer, by their domain of ``key``."""
    nodes_of: dict[str, list[str]] = {}
    for node in scene.now.nodes:
        if key in node.metadata.labels and not is_silent(node):
            nodes_of.setdefault(node.metadata.labels[key], []).append(node.metadata.name)
    return nodes_of
