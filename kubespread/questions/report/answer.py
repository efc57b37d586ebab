"""Report on a cluster: one question after another is asked, and the bad news in their answers is collected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from functools import cached_property, partial
from itertools import accumulate
from shlex import quote
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from kubespread.controllers.disruption import LET_THROUGH, Expectation, disruptions_allowed, evict
from kubespread.controllers.outage import is_silent
from kubespread.kube.api.cluster_objects import HorizontalPodAutoscaler
from kubespread.kube.api.core import Pod
from kubespread.kube.owners import NamespacedName, WorkloadName, full_name, is_active
from kubespread.kube.providers import POOLS
from kubespread.kube.well_known import HOSTNAME, ZONE
from kubespread.questions import audit as audits
from kubespread.questions.audit import Audit
from kubespread.questions.commands import Commands
from kubespread.questions.pending import LATER, Pending, PendingReport
from kubespread.questions.remedies.families import SHORT
from kubespread.questions.removable.certain import OBSTACLES, Cause, UndrainedNode, undrained_nodes
from kubespread.questions.report import Badness, Report, ReportLine, Scorecard
from kubespread.questions.report.at_maximum import at_maximum, growing, growth_lines
from kubespread.questions.scene import Inquiry, Scene
from kubespread.questions.survive import Survive, SurviveReport
from kubespread.regex import regex
from kubespread.reports.findings import CAUSES, Area
from kubespread.wording import count_of, domain_noun, short_key, some_of
from kubespread.world.events.world import World
from kubespread.world.reporting.difference import everything
from kubespread.world.reporting.happenings import WorkloadOf, movable_workloads

MOST_DOMAINS, MOST_PODS = 24, 50_000
"""Most domains of a key that are lost, each by itself, and most pods in them together; the ones with the most to lose
are chosen.
"""


def answer(question: Report, scene: Scene) -> Scorecard:
    """Collect everything that is wrong with the cluster; the scene's world is not changed."""
    asking = _Asking(question, scene)
    audit = asking.whole("audit", Audit(**asking.shared))
    rows = () if audit is None else audit.workloads
    zones = len(_domains(scene, ZONE))
    lines = (*asking.lines(rows), *(() if audit is None else asking.audit_lines(audit, zones)))
    listed = _distinct(line for line in lines if question.is_about(line.area))
    return Scorecard(
        kube_version=str(scene.release),
        cluster=scene.source,
        **asking.selected.as_reported(scene.world),
        preemption=question.preemption,
        opened=question.areas,
        nodes=len(scene.edited_snapshot.nodes),
        workloads=len(rows),
        lines=tuple(listed),
        gaps=tuple(dict.fromkeys((*asking.remarks("gaps"), *scene.gaps(scene.world.assumed)))),
        not_modelled=Report.never_modelled,
        notes=(*asking.remarks("notes"), *asking.notes),
        unfinished=scene.budget.missing("question", len(asking.parts), asking.missing),
    )


def _distinct(lines: Iterable[ReportLine]) -> list[ReportLine]:
    """The worst first, each under a key of its own: causes that differ in their numbers alone are numbered."""
    occurrences: Counter[str] = Counter()
    distinct = []
    for line in sorted(lines, key=lambda line: line.badness):
        occurrences[line.key] += 1
        number = occurrences[line.key]
        distinct.append(line if number == 1 else replace(line, key=f"{line.key}/{number}"))
    return distinct


class _TightBudget(Struct, frozen=True):
    """A budget that lets no pod go now."""

    name: NamespacedName
    pods: tuple[NamespacedName, ...]
    """Pods on nodes that it protects."""
    nodes: tuple[str, ...]
    """Nodes where they run."""
    workloads: tuple[WorkloadName, ...]
    message: str
    """API server's message for the first refused eviction."""
    is_for_good: bool
    """True if it lets none go either when all the pods it expects are healthy."""


def _tight_budgets(world: World, workload: WorkloadOf) -> Iterator[_TightBudget]:
    """Yield them by namespace and name; a budget without a pod on a node blocks nothing."""
    protected: dict[NamespacedName, list[tuple[Pod, WorkloadName]]] = {}
    for pod in world.book:
        if pod.spec.node_name and (name := workload(pod)) is not None:
            for budget in world.budgets.protecting(pod, world.time):
                protected.setdefault(full_name(budget), []).append((pod, name))
    budgets = {full_name(budget): budget for budget in world.budgets.current(world.time)}
    for key in sorted(protected):
        budget, pods = budgets[key], [pod for pod, _ in protected[key]]
        status = budget.status
        if status.disruptions_allowed > 0:
            continue
        # One of several pods may go all the same: it is not ready, say.
        answers = [evict(pod, [budget], world.time) for pod in pods]
        refused = next((answer for answer in answers if answer.code != LET_THROUGH), None)
        if refused is not None:
            healthy = Expectation(status.expected_pods, status.desired_healthy)
            yield _TightBudget(
                name=key,
                pods=tuple(map(full_name, pods)),
                nodes=tuple(dict.fromkeys(pod.spec.node_name for pod in pods)),
                workloads=tuple(dict.fromkeys(workload for _, workload in protected[key])),
                message=refused.cause or refused.message or "",
                is_for_good=disruptions_allowed(healthy, status.expected_pods) == 0,
            )


class _Asking(Inquiry):
    """Inquiry into one cluster."""

    def __init__(self, question: Report, scene: Scene) -> None:
        super().__init__(scene)
        self.notes: tuple[str, ...] = ()
        self._is_about = question.is_about
        self.selected = question.selection_in(scene.snapshot)
        self.shared: dict[str, Any] = {
            "workloads": question.workload_names,
            "namespace": question.namespace,
            "selector": question.selector,
            "preemption": question.preemption,
        }
        self._autoscaled = {
            name: getattr(scene.portable_question, name) for name in ("autoscaler", "node_groups", "instance_types")
        }
        self.commands = Commands(scene.snapshot, scene.scheduler, question)

    def lines(self, rows: Sequence[audits.AuditedWorkload]) -> Iterator[ReportLine]:
        """Yield all lines but the audit's; its ``rows`` show which nodes have the most to lose."""
        if self._is_about("running"):
            yield from self._pending()
        if self._is_about("budgets", "drains"):
            yield from self.part("drains", self._eviction_lines)
        if self._is_about("scaling"):
            yield from self._at_maximum()
        if self._is_about("losses"):
            yield from self._loss_lines(rows)

    def _pending(self) -> Iterator[ReportLine]:
        pending = self.whole("pending", Pending(**self.shared, **self._autoscaled))
        if pending is not None:
            pods = {full_name(pod): pod for pod in self.scene.edited_snapshot.pods if not pod.spec.node_name}
            yield from self._waiting(pending, pods)

    def _at_maximum(self) -> Iterator[ReportLine]:
        world = self.scene.world
        world.assume(world.objects.gap(HorizontalPodAutoscaler, "no workload is scaled up"))
        if grown := list(growing(world, self.selected.filter_in(world))):
            yield from self.part("scaling", partial(self._growth_lines, grown))

    @cached_property
    def _pods(self) -> Counter[str]:
        """Number of pods on each node."""
        return Counter(pod.spec.node_name for pod in self.scene.edited_snapshot.pods if is_active(pod))

    def _eviction_lines(self) -> Iterator[ReportLine]:
        """Yield lines on budgets and nodes that keep pods from being evicted."""
        world = self.scene.world
        counts = movable_workloads(world, self.selected.filter_in(world))
        # Computed once: every step below needs it for every pod.
        workloads = {id(pod): counts(pod) for pod in world.book}

        def workload(pod: Pod) -> WorkloadName | None:
            return workloads[id(pod)]

        # A node is drained or not, whatever workloads are selected.
        undrained = list(undrained_nodes(world, movable_workloads(world, everything)))
        tight = list(_tight_budgets(world, workload))
        yield from map(self._budget_line, tight)
        yield from self._drain_lines(undrained)

    def _growth_lines(self, grown: Sequence[tuple[WorkloadName, str, int]]) -> Iterator[ReportLine]:
        """Yield lines on autoscaled workloads at their maximum, all together; alone where pods may be missing then."""
        scene = self.scene
        baseline, _ = scene.asking(scene.question).baseline()
        together = at_maximum(baseline, grown)
        lacking = together.lacking
        alone = (
            together if len(grown) == 1 else at_maximum(baseline, [one])
            for one in grown
            if together.preempted or together.untried_pods or one[0] in lacking
        )
        yield from growth_lines(together, alone, self.commands)

    def _loss_lines(self, rows: Sequence[audits.AuditedWorkload]) -> Iterator[ReportLine]:
        scene = self.scene
        if "audit" not in self.missing and not rows:
            return
        # Nodes first: each takes a moment. After a zone, which takes seconds, they would seem worth starting workers.
        standing = {key: _standing(scene, key) for key in (HOSTNAME, ZONE, *POOLS) if len(_domains(scene, key)) > 1}
        chosen = {key: tuple(self._most_to_lose(key, nodes_of, rows)) for key, nodes_of in standing.items()}
        if not any(chosen.values()):
            return
        question = Survive(**self.shared, **self._autoscaled, keys=tuple(chosen), domains=chosen)
        survive = self.whole("survive", question)
        if survive is not None:
            self.notes = tuple(self._partial_loss_note(chosen, standing))
            yield from self._losses(survive)

    def _most_to_lose(
        self, key: str, nodes_of: Mapping[str, Sequence[str]], rows: Sequence[audits.AuditedWorkload]
    ) -> Iterator[str]:
        """Yield the domains with the last pods of most workloads, then the ones with most pods; one at least."""
        last = Counter(loss.domain for row in rows if (loss := row.worst_loss.get(key)) and not loss.remaining)
        pods = {domain: sum(self._pods[name] for name in names) for domain, names in nodes_of.items()}
        worst = sorted(nodes_of, key=lambda domain: (-last[domain], -pods[domain], domain))[:MOST_DOMAINS]
        for domain, total in zip(worst, accumulate(pods[domain] for domain in worst), strict=True):
            if domain != worst[0] and total > MOST_PODS:
                return
            yield domain

    def _waiting(self, report: PendingReport, pods: Mapping[NamespacedName, Pod]) -> Iterator[ReportLine]:
        """Yield a line for each cause that pods wait for; a pod is not missing if an autoscaler adds its node."""
        scaled = list(report.scaling_lines)
        for group in report.groups:
            is_left = report.autoscaling is None or not set(group.pods).isdisjoint(report.still_pending)
            namespaces = {workload.namespace for workload in group.workloads}
            yield ReportLine(
                code=group.cause,
                key=f"running/pending/{group.cause}/{_NUMBER.sub('#', group.why)}",
                area="running",
                question="pending",
                level="critical" if is_left and group.cause not in LATER else "notice",
                text="; ".join((group.sentence, *(scaled if is_left else scaled[:1]))),
                extent=len(group.pods),
                command=self.commands.ask("pending", namespace=namespaces.pop() if len(namespaces) == 1 else None),
                workloads=group.workloads,
                since=min(
                    (created for pod in group.pods if (created := pods[pod].metadata.creation_timestamp)), default=None
                ),
                remedy=group.remedy,
            )

    def audit_lines(self, report: audits.AuditReport, zones: int) -> Iterator[ReportLine]:
        """Yield lines on findings that `_waiting` does not cover, on unconstrained workloads and on unprotected ones.

        Nothing keeps unconstrained workloads in several of so many ``zones``, wherever they are now.
        """
        command = self.commands.ask("audit")
        free = [row.workload for row in report.workloads if row.replicas > 1 and row.lacks_zone_constraint]
        if zones > 1 and free:
            yield ReportLine.make(
                "unconstrained",
                "notice",
                numbers={"workloads": len(free), "names": [name.short_name for name in free]},
                key="spread/unconstrained",
                area="spread",
                question="audit",
                extent=len(free),
                command=command,
                workloads=tuple(free),
            )
        if bare := report.unprotected:
            yield ReportLine(
                code="unprotected",
                key="budgets/unprotected",
                area="budgets",
                question="audit",
                level="notice",
                text=audits.without_budget(bare),
                extent=len(bare),
                command=command,
                workloads=bare,
            )
        closed: dict[tuple[Literal["noRoom", "noRollout"], str], list[audits.AuditedWorkload]] = {}
        for row in report.workloads:
            for finding in row.findings:
                if finding.code in ("noRoom", "noRollout"):
                    closed.setdefault((finding.code, finding.text), []).append(row)
                elif not (row.pending and CAUSES[finding.code].is_pending):
                    area, level, what, extent = _classify(row, finding)
                    key = f"/{short_key(finding.topology_key)}" if finding.topology_key else ""
                    place = "" if finding.constraint is None else f"/{finding.constraint}"
                    shown_by = "explain" if finding.is_unexplained else "audit"
                    yield ReportLine(
                        code=finding.code,
                        numbers=finding.numbers,
                        key=f"{area}/{what}/{row.workload}{key}{place}",
                        area=area,
                        question="audit",
                        level=level,
                        text=f"{row.called}: {finding.text}",
                        extent=extent,
                        command=self.commands.of_workload(shown_by, row.workload),
                        workloads=(row.workload,),
                        remedy=finding.remedy,
                    )
        for (code, text), rows in closed.items():
            # One line for workloads that are alike. Nobody has requested that pod yet: none is missing.
            workloads = [row.workload for row in rows]
            yield ReportLine(
                code=code,
                key=f"scaling/{code}/{workloads[0]}",
                area="scaling",
                question="audit",
                level=CAUSES[code].badness or "notice",
                text=f"{some_of([row.called for row in rows], _MAX_NAMED)}: {text}",
                extent=len(rows),
                command=self.commands.of_workload("explain", workloads[0]),
                workloads=tuple(workloads),
            )

    def _partial_loss_note(self, chosen: Mapping[str, Sized], domains: Mapping[str, Sized]) -> Iterator[str]:
        """Yield a note if only the ``chosen`` ones of all ``domains`` of a key were lost."""
        fewer = {key: names for key, names in chosen.items() if len(names) < len(domains[key])}
        if fewer:
            of = {key: count_of(len(domains[key]), domain_noun(key)) for key in fewer}
            phrases = [f"{len(names):,} of {of[key]}" for key, names in fewer.items()]
            every = self.commands.ask("survive", *[f"--key {quote(SHORT.get(key, key))}" for key in fewer])
            command = f"; for all of them: {every}" if every else ""
            yield f"only {' and '.join(phrases)} were lost, those with the most to lose{command}"

    def _losses(self, report: SurviveReport) -> Iterator[ReportLine]:
        """A line for the worst domain of each key, or for workloads that no loss tests."""
        if report.needs_tests:
            yield ReportLine(
                code="untested",
                key="losses/untested",
                area="losses",
                question="survive",
                level="warning",
                text=report.not_tested,
                extent=len(report.untested),
                command=self.commands.ask("survive"),
                workloads=report.untested,
            )
        for key, standing in report.standing_by_key.items():
            if (worst := standing[0]).troubles:
                yield ReportLine(
                    code="lost",
                    key=f"losses/{short_key(key)}",
                    area="losses",
                    question="survive",
                    level="warning",
                    text=report.worst_of(standing),
                    extent=max(worst.pending, sum(change.lacks for change in worst.degraded)) + len(worst.lost),
                    command=self.commands.ask("survive", "--key", quote(SHORT.get(key, key))),
                    workloads=tuple(change.workload for change in worst.degraded),
                    nodes=(worst.domain,) if key == HOSTNAME else (),
                )

    def _budget_line(self, budget: _TightBudget) -> ReportLine:
        return ReportLine.make(
            "neverLets" if budget.is_for_good else "letsNone",
            "warning",
            numbers={"budget": budget.name.short_name, "nodes": len(budget.nodes), "why": budget.message},
            key=f"budgets/{budget.name}",
            area="budgets",
            question="report",
            extent=len(budget.pods),
            command=self.commands.of_nodes("removable", quote(budget.nodes[0])),
            workloads=budget.workloads,
            nodes=budget.nodes,
        )

    def _drain_lines(self, undrained: Iterable[UndrainedNode]) -> Iterator[ReportLine]:
        """Yield a line for each reason that keeps nodes from being drained."""
        by_cause: dict[Cause, list[UndrainedNode]] = {}
        for node in undrained:
            by_cause.setdefault(node.cause, []).append(node)
        for cause, rows in by_cause.items():
            level, why = OBSTACLES[cause]
            nodes, pods = tuple(row.node for row in rows), [pod.short_name for row in rows for pod in row.pods]
            yield ReportLine.make(
                "kept",
                level,
                numbers={"kept": len(nodes), "nodes": len(self.scene.edited_snapshot.nodes), "why": why, "pods": pods},
                key=f"drains/{cause}",
                area="drains",
                question="report",
                extent=len(nodes),
                command=self.commands.of_nodes("removable", *map(quote, nodes[:_MAX_NAMED])),
                nodes=nodes,
            )


_MAX_NAMED = 3
_NUMBER = regex(r"\d[\d,]*")


def _classify(row: audits.AuditedWorkload, finding: audits.AuditFinding) -> tuple[Area, Badness, str, int]:
    """Area of an audit's finding, its badness, its kind for the line's key, and its extent."""
    if (badness := CAUSES[finding.code].badness) is not None:
        missing = row.replicas - (row.ready if finding.code == "notReady" else row.placed)
        # The refused pod is the next one, after one that goes: all are there now.
        area: Area = "losses" if finding.code == "refused" else "running"
        return area, badness, finding.code, max(1, missing) if badness == "critical" else 1
    if finding.constraint is not None:
        constraint = row.constraints[finding.constraint]
        exceeded = constraint.skew - constraint.max_skew
        return "spread", "warning" if finding.level == "violated" else "notice", finding.level, exceeded
    if finding.code == "missingLabel":
        return "spread", "notice", "missingLabel", 1
    if finding.code == "missesOwnPods":
        return "spread", "warning", "missesOwnPods", row.replicas
    return "spread", "notice" if row.placed < 2 else "warning", "oneDomain", row.placed


def _domains(scene: Scene, key: str) -> set[str]:
    labels = (node.metadata.labels for node in scene.edited_snapshot.nodes)
    return {own[key] for own in labels if key in own}


def _standing(scene: Scene, key: str) -> dict[str, list[str]]:
    """Nodes that are not silent, by their domain of ``key``."""
    nodes_of: dict[str, list[str]] = {}
    for node in scene.edited_snapshot.nodes:
        if key in node.metadata.labels and not is_silent(node):
            nodes_of.setdefault(node.metadata.labels[key], []).append(node.metadata.name)
    return nodes_of
