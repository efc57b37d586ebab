"""What an answer says of one thing that is promised: whether it holds, by how much, and what breaks it.

Nothing is computed about the cluster here: each function reads the report of the question that decides.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from shlex import quote

from msgspec import Struct

from kubespread.kube.owners import NamespacedName, WorkloadName
from kubespread.kube.quantity import NANO, Quantity, parse, rounded
from kubespread.kube.well_known import ZONE
from kubespread.questions.audit.report import AuditedWorkload, counts_text
from kubespread.questions.capacity.report import CapacityReport
from kubespread.questions.plan.report import PlanReport
from kubespread.questions.simulate.report import SimulateReport
from kubespread.questions.survive.report import DomainLoss, LostWorkload, SurviveReport, domain_called
from kubespread.questions.verify.report import Kept
from kubespread.reports.autoscaling import autoscaler_sentence
from kubespread.reports.outcome import Happened  # TODO
from kubespread.scenario.promises import Amount, Room
from kubespread.wording import count_of, domain_noun, verb_of

NO_PODS = "it is to have no pods, and has none"


class Found(Struct, frozen=True):
    """What became of one thing that is promised."""

    state: Kept
    says: str
    margin: float | None = None
    step: str | None = None
    words: Sequence[str] = ()
    """More words of the command that shows the answer."""
    needed: float | None = None
    """What is promised, in ``unit``."""
    unit: str = "pods"


_Row = tuple[DomainLoss, LostWorkload]


def back(report: SurviveReport, workload: WorkloadName) -> Found:
    """Whether as many pods are ready as before, and no more of them wait."""
    rows, of = _rows(report, workload)
    if not rows:
        return _none_left(report)
    if rows[0][1].wanted and not rows[0][1].ready_before:
        return Found("unknown", f"none of {count_of(rows[0][1].wanted, 'pod')} is ready before anything is lost")
    domain, worst = max(rows, key=lambda row: _missing(row[1]))
    missing, step, needed = _missing(worst), f"losing {domain_called(domain)}", worst.enough
    late = "once its nodes are deleted" if report.nodes_deleted else "while its nodes are silent"
    if report.autoscaler is not None:
        late = f"{late} and {report.autoscaler} has added others"
    if missing:
        safe = sum(not _missing(row) for _, row in rows)
        left = f"{step} leaves {worst.ready:,} of {worst.wanted:,} ready {late}{_why(worst)}"
        grown = "" if domain.autoscaling is None else f"; {autoscaler_sentence(domain.autoscaling)}"
        state: Kept = "unknown" if domain.may_pass or worst.controller_unknown else "broken"
        return Found(state, f"{left}; {safe:,} of {of} can be lost{grown}", -missing, step, needed=needed)
    found = f"{needed:,} of {count_of(worst.wanted, 'pod')} ready again {late}, whichever of {of} is lost"
    return _if_finished(report, Found("held", found, 0, step, needed=needed))


def ready_without(report: SurviveReport, workload: WorkloadName, promised: Amount) -> Found:
    """Whether so many pods are ready at the worst moment: when the domain falls silent, or once others are placed."""
    rows, of = _rows(report, workload)
    if not rows:
        return _none_left(report)
    domain, worst = min(rows, key=lambda row: _fewest(row[1]) - promised.of(row[1].wanted))
    fewest, least, step = _fewest(worst), promised.of(worst.wanted), f"losing {domain_called(domain)}"
    is_at_first = fewest == worst.ready_at_first
    when = "at first" if is_at_first else "once others are placed"
    if fewest < least:
        why = "" if is_at_first else _why(worst)
        safe = sum(_fewest(row) >= promised.of(row.wanted) for _, row in rows)
        says = f"{step} leaves {fewest:,} ready {when}, {least:,} promised{why}; {safe:,} of {of} can be lost"
        state: Kept = "unknown" if why and worst.controller_unknown else "broken"
        return Found(state, says, fewest - least, step, needed=least)
    says = f"{step} leaves {fewest:,} ready {when}, {_more(fewest - least)}, the worst of {of}"
    return _if_finished(report, Found("held", says, fewest - least, step, needed=least))


def _rows(report: SurviveReport, workload: WorkloadName) -> tuple[list[_Row], str]:
    """The domains that are not lost yet, and how many they are."""
    standing = [loss for loss in report.losses if not loss.already_lost]
    rows = [(loss, row) for loss in standing for row in loss.workloads if row.workload == workload]
    noun = domain_noun(standing[0].topology_key) if standing else ""
    return rows, count_of(len(rows), noun)


def _missing(row: LostWorkload) -> int:
    """How many ready pods it lacks, or how many wait for a node or are not made, whichever is more."""
    return max(row.lacks, row.pending + row.not_made)


def _fewest(row: LostWorkload) -> int:
    return min(row.ready_at_first, row.ready)


def _why(row: LostWorkload) -> str:
    return f": {row.why.removesuffix('.')}" if row.why else ""


def _none_left(report: SurviveReport) -> Found:
    if report.unfinished is not None:
        return Found("unknown", report.unfinished.sentence)
    return Found("unknown", "no domain is left to lose: none of their nodes answers")


def _if_finished(report: SurviveReport, found: Found) -> Found:
    """What holds of every domain that was lost holds of all only where all were."""
    return found if report.unfinished is None else Found("unknown", report.unfinished.sentence)


def _more(margin: int) -> str:
    return f"{margin:,} more than promised" if margin else "no more than promised"


def ready_now(row: AuditedWorkload, promised: Amount) -> Found:
    least = promised.of(row.replicas)
    state: Kept = "held" if row.ready >= least else "broken"
    beside = _more(row.ready - least) if state == "held" else f"{least:,} promised"
    return Found(
        state, f"{row.ready:,} of {count_of(row.replicas, 'pod')} ready, {beside}", row.ready - least, needed=least
    )


def without_pods(workload: WorkloadName) -> AuditedWorkload:
    """The row of one that is to have none, which an audit leaves out."""
    return AuditedWorkload(
        workload=workload,
        level="ok",
        replicas=0,
        placed=0,
        pending=0,
        constraints=(),
        zones=(),
        worst_loss={},
        next_fits=None,
        findings=(),
    )


def spread(row: AuditedWorkload, key: str, most: int) -> Found:
    """By the skew that the workload's own constraints over ``key`` have; without one, that of all its pods."""
    own = [row for row in row.constraints if row.topology_key == key and row.source == "pod"]
    counts = row.zones if key == ZONE else row.domains
    if not row.placed:
        return Found("unknown", "none of its pods is on a node") if row.replicas else Found("held", NO_PODS, most)
    if own:
        worst = max(own, key=lambda constraint: constraint.skew)
        skew, text = worst.skew, counts_text(worst.counts, worst)
    else:
        pods = [domain.pods for domain in counts]
        skew, text = max(pods, default=0) - min(pods, default=0), counts_text(counts)
    if skew <= most:
        beside = f"{most - skew:,} less than promised" if skew < most else "as promised"
        return Found("held", f"skew {skew:,} ({text}), {beside}", most - skew, needed=most, unit="skew")
    return Found("broken", f"skew {skew:,} ({text}), {most:,} promised", most - skew, needed=most, unit="skew")


def fits(report: SimulateReport, most: SimulateReport | None, wanted: str) -> Found:
    """Whether all replicas find a node; ``most`` is as many as fit, where nobody is preempted for them."""
    replicas = report.replicas or 0
    words = ("--replicas", str(replicas))
    if report.lacking:
        scaled = "" if report.autoscaling is None else f"; {autoscaler_sentence(report.autoscaling)}"
        if report.verdict == "yes":
            return Found("held", f"all {count_of(replicas, 'replica')}{wanted} find a node{scaled}", 0, words=words)
        lacking = replicas - report.running
        why = f": {report.stopped}" if report.stopped else ""
        others = f"{lacking:,} {verb_of(lacking, 'do')} not"
        says = f"{report.running:,} of {count_of(replicas, 'replica')}{wanted} find a node, {others}{why}{scaled}"
        state: Kept = "unknown" if report.verdict == "unknown" else "broken"
        return Found(state, says, -lacking, f"replica {report.running + 1:,}", words, needed=replicas, unit="replicas")
    all_find = f"all {count_of(replicas, 'replica')}{wanted} find a node"
    if most is None:
        victims = count_of(len(report.preempted), "pod")
        return Found("held", f"{all_find}, preempting {victims}", 0, words=words)
    margin = max(0, most.running - replicas)
    says = f"{all_find}, and {margin:,} more would"
    return Found("held", says, margin, f"replica {most.running + 1:,}", words, needed=replicas, unit="replicas")


def rollout(report: PlanReport, promised: Amount) -> Found:
    """Whether a restart gets done, with so many pods ready all the time."""
    step = report.steps[0]
    if step.failed is not None or not step.rollouts:
        return Found("unknown", step.failed or "it has no pods to replace")
    told = step.rollouts[0]
    least = promised.of(told.replicas)
    if not told.complete or told.stuck_runs:
        chance = f" in {told.stuck_runs} of {told.runs} runs" if told.may_get_stuck else ""
        state: Kept = "unknown" if _may_grow(report) else "broken"
        says = f"its rollout does not get done{chance}: {told.wedged_on or told.stuck_on}"
        return Found(state, says, None, "its rollout")
    margin = told.fewest_ready - least
    says = f"{told.fewest_ready:,} of {count_of(told.replicas, 'pod')} ready at worst"
    if margin < 0:
        says = f"{says} while it is rolled out, {least:,} promised"
        return Found("broken", says, margin, "its rollout", needed=least)
    return Found("held", f"{says} while it is rolled out, {_more(margin)}", margin, "its rollout", needed=least)


def drain(drains: Iterable[tuple[str, PlanReport]], workload: WorkloadName, pods: Collection[NamespacedName]) -> Found:
    """Whether every node lets go of those of ``pods`` that it has, and the workload is no worse once it is deleted:
    each node by itself.
    """
    nodes, bad, is_known = list[str](), list[tuple[int, str, str]](), False
    refused = ""
    for node, report in drains:
        nodes.append(node)
        drained, last = report.steps[0], report.steps[-1]
        if drained.failed is not None:
            refused = refused or f"draining {node}: {drained.failed}"
        if stays := [blocked for blocked in drained.happened.blocked if blocked.pod in pods]:
            more = f" and {len(stays) - 1:,} more" if len(stays) > 1 else ""
            bad.append((len(stays), node, f"is blocked by {stays[0].pod}{more}{{others}}: {stays[0].refusal}"))
            is_known |= not all(blocked.finalizers for blocked in stays)
        elif workload in report.worse:
            number, says = _left(report, last.happened, workload)
            bad.append((number, node, says))
            is_unknown = any(row.workload == workload and row.controller_unknown for row in report.short)
            is_known |= not (is_unknown or _may_grow(report))
    if bad:
        number, node, says = max(bad, key=lambda item: item[0])
        others = f" ({len(bad):,} of {count_of(len(nodes), 'node')} with its pods)" if len(nodes) > 1 else ""
        says = f"draining {node} {says.replace('{others}', others)}"
        state: Kept = "broken" if is_known else "unknown"
        return Found(state, says, -sum(count for count, *_ in bad), f"draining {node}", _planned(node))
    if refused or not nodes:
        return Found("unknown", refused or "none of its pods is on a node")
    says = f"{count_of(len(nodes), 'node')} with its pods can be drained, each by itself"
    return Found("held", says, words=_planned(nodes[0]))


def _may_grow(report: PlanReport) -> bool:
    """Whether new nodes may take what waits, of which nothing tells what they are like."""
    return any(step.autoscaling is not None and step.autoscaling.unknown_groups for step in report.steps)


def _left(report: PlanReport, last: Happened, workload: WorkloadName) -> tuple[int, str]:
    """How many pods the workload lacks once a node is deleted, and why."""
    if (more := last.waiting[workload] - report.start.waiting[workload]) > 0:
        message = next(row.message for row in last.pending if row.workload == workload)
        return more, f"leaves {count_of(more, 'more pod')} pending{{others}}: {message}"
    unmade = [row for row in (*last.not_created, *last.not_made_yet) if row.workload == workload]
    if unmade:
        return unmade[0].count, f"leaves {count_of(unmade[0].count, 'pod')} not made{{others}}: {unmade[0].message}"
    short = next((row for row in report.short if row.workload == workload), None)
    if short is None:
        return 1, "takes pods for good{others}"
    return short.wanted - short.ready, f"leaves {short.ready:,} of {short.wanted:,} ready{{others}}"


def _planned(node: str) -> Sequence[str]:
    """The words of the command that shows it."""
    return "--drain", quote(f"{node} --force"), "--delete-node", quote(node)


def room(report: CapacityReport, resource: str, promised: Room) -> Found:
    """What is free where some pod can use it: on nodes with taints too, but not on cordoned or silent ones, nor where
    another resource is used up.
    """
    row = next((row for row in report.resources if row.resource == resource), None)
    if row is None:
        return Found("broken", f"no node has any {resource}")
    tainted = (parse(part.amount) for part in row.stranded if part.tolerable)
    usable, whole = sum(tainted, parse(row.usable)), parse(row.allocatable)
    if isinstance(promised, Amount):
        share = 100 * usable.nano / whole.nano if whole.nano else 0.0
        margin, says = share - promised.number, f"{share:.1f} % left ({_text(usable)} of {_text(whole)})"
        if not whole.nano or 100 * usable.nano < promised.number * whole.nano:
            return Found("broken", f"{says}, {promised} promised", round(margin, 1), needed=promised.number, unit="%")
        says = f"{says}, {margin:.1f} points more than promised"
        return Found("held", says, round(margin, 1), needed=promised.number, unit="%")
    least = parse(promised)
    more = Quantity(usable.nano - least.nano, usable.format)
    if more.nano < 0:
        says = f"{_text(usable)} left, {promised} promised"
        return Found("broken", says, more.nano / NANO, needed=least.nano / NANO, unit=resource)
    beside = f"{_text(more)} more than promised" if more.nano else "no more than promised"
    says = f"{_text(usable)} left, {beside}"
    return Found("held", says, more.nano / NANO, needed=least.nano / NANO, unit=resource)


def _text(quantity: Quantity) -> str:
    return rounded(str(quantity))
