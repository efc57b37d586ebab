"""Simulations: where replicas land, one placement after another, and what stops them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from kubespread.questions.simulate.autoscaling_view import account_of, scaling
from kubespread.questions.simulate.overview import overview
from kubespread.questions.simulate.picture import DomainRow, desired_text, domain_rows, picture
from kubespread.questions.simulate.report import DeletedReplica, Placement, Run, SimulateReport, totals
from kubespread.reports.gang import GangDomain, GangReport
from kubespread.reports.parts import ConstraintReport, PreemptedPod
from kubespread.views.constraints import placed_bars
from kubespread.views.layout import Line
from kubespread.views.look import Look, Tone
from kubespread.views.rollouts import pass_frames, pods_at_start
from kubespread.views.sheet import Column, Readers, Row, Sheet, count
from kubespread.views.view import Bars, Frame, NodeFacts, Tile, View, beside, source, unwanted
from kubespread.wording import EMPTY, count_of, short_key

_MAX_FRAMES = 200
_Of = tuple[SimulateReport, *tuple[Any, ...]]
"""A row of any sort, after its workload's report."""


def _whose(readers: Readers) -> Sequence[Column[_Of]]:
    return (
        Column("NAMESPACE", lambda row: row[0].pod.namespace, readers=readers),
        Column("WORKLOAD", lambda row: row[0].subject, readers=readers),
    )


_WHOSE = _whose(Readers.PIPES)
_DOMAIN: Sequence[Column[tuple[SimulateReport, ConstraintReport, DomainRow]]] = (
    Column("KEY", lambda row: row[1].topology_key),
    Column("MAX-SKEW", lambda row: row[1].max_skew),
    Column("DOMAIN", lambda row: row[2].change.value or EMPTY),
    Column("BEFORE", lambda row: row[2].change.before),
    Column("AFTER", lambda row: row[2].change.after),
)
_OF_RUNS: Sequence[Column[tuple[SimulateReport, ConstraintReport, DomainRow]]] = (
    Column("MIN", lambda row: row[2].after_runs and row[2].after_runs.minimum),
    Column("MEDIAN", lambda row: row[2].after_runs and row[2].after_runs.median),
    Column("MAX", lambda row: row[2].after_runs and row[2].after_runs.maximum),
)
_NODE: Sequence[Column[tuple[SimulateReport, str, int]]] = (
    Column("NODE", lambda row: row[1]),
    Column("PLACED", lambda row: row[2]),
)
_RUN: Sequence[Column[tuple[SimulateReport, Run, int]]] = (
    Column("SEED", lambda row: row[1].seed),
    Column("FROM-NODE", lambda row: row[1].start),
    Column("PLACED", lambda row: row[1].placed),
    Column("KEY", lambda row: row[0].constraints[row[2]].topology_key),
    Column("SKEW", lambda row: row[1].skew[row[2]]),
    Column("LEAST", lambda row: min(row[1].domains[row[2]], default=None)),
    Column("MOST", lambda row: max(row[1].domains[row[2]], default=None)),
)
_GANG_DOMAIN: Sequence[Column[tuple[SimulateReport, GangReport, GangDomain]]] = (
    Column("KEY", lambda row: row[1].topology_key),
    Column("DOMAIN", lambda row: row[2].value or EMPTY),
    Column("NODES", lambda row: row[2].nodes),
    Column("FIT", lambda row: row[2].members),
    Column("MEMBERS", lambda row: row[1].members),
    Column("FITS", lambda row: row[2].fits),
    Column("SCORE", lambda row: row[2].total),
    Column("WHY", lambda row: None if row[2].fits else row[2].stopped),
)
_PREEMPTED: Sequence[Column[tuple[SimulateReport, PreemptedPod]]] = (
    Column("PREEMPTED", lambda row: row[1].pod, title="Pod"),
    Column("ON-NODE", lambda row: row[1].node, title="Node"),
    Column("FOR", lambda row: row[1].made_room_for),
    Column("BROKEN-BUDGETS", lambda row: row[1].broken_budgets, title="Budgets broken"),
)
# Columns with spaces come last.
_WORKLOAD: Sequence[Column[tuple[SimulateReport]]] = (
    Column("REPLICAS", lambda row: desired_text(row[0]), title="Wanted"),
    count("RUNNING", lambda row: row[0].present),
    count("PLACED", lambda row: row[0].placed),
    count("PENDING", lambda row: row[0].pending),
    count("NOT-CREATED", lambda row: row[0].not_created),
    Column("NOT-MADE", lambda row: row[0].not_made_yet, is_number=True, title="Not made yet"),
    Column("WHY", lambda row: row[0].conclusion or row[0].stopped),
)
_PLACEMENT: Sequence[Column[tuple[SimulateReport, Placement]]] = (
    Column("REPLICA", lambda row: row[1].replica, readers=Readers.SPREADSHEET),
    Column("POD", lambda row: row[1].pod),
    Column("NODE", lambda row: row[1].node),
    Column("TOTAL", lambda row: row[1].total, title="Score"),
    Column("TIES", lambda row: row[1].ties, title="Nodes with that score"),
)
_DELETED: Sequence[Column[DeletedReplica]] = (Column("POD", lambda row: row.pod), Column("NODE", lambda row: row.node))
_LOSS: Sequence[Column[tuple[SimulateReport, str]]] = (
    Column("WORKLOAD", lambda row: row[0].subject),
    Column("KEY", lambda row: short_key(row[1])),
    Column("WORST-DOMAIN-TO-LOSE", lambda row: row[0].worst_loss[row[1]].domain),
    count("REPLICAS-LEFT", lambda row: row[0].worst_loss[row[1]].remaining),
    count("OF", lambda row: row[0].running),
)
_LOOP: Sequence[Column[Any]] = (
    Column("LOOP", lambda row: row[0].number),
    Column("GROUP", lambda row: row[1].group),
    Column("ZONE", lambda row: row[1].zone),
    Column("ADDED", lambda row: len(row[1].nodes)),
    Column("PLACED", lambda row: row[0].placed),
    Column("PENDING", lambda row: row[0].left),
    Column("TYPES", lambda row: ", ".join(dict.fromkeys(row[1].types)) or None),
)


def view_of_several(reports: Sequence[SimulateReport]) -> View:
    """Workload after workload, and what an autoscaler does for all of them."""
    first = reports[0]
    is_one = len(reports) == 1
    return View(
        title=f"{first.subject} in {first.pod.namespace}" if is_one else f"{len(reports):,} workloads",
        provenance=source(first.cluster, first.kube_version, f"profile {first.scheduler_name}"),
        answer=first.answer if is_one else [totals(reports)],
        tone=Tone.GOOD if all(report.verdict == "yes" for report in reports) else Tone.BAD,
        bars=[bars for report in reports for bars in _bars(report, is_one=is_one)],
        sheets_of=lambda: [*_sheets(reports)],
        names=[
            (f"{report.pod.namespace}/{placement.pod}", placement.node)
            for report in reports
            for placement in report.placements
        ],
        nodes=_nodes(reports),
        before=_before(reports),
        is_rollout=any(report.rollout is not None for report in reports),
        frames=list(_frames(reports)),
        beside=beside(reports),
        picture=lambda look: _lines(reports, look),
        tiles=[
            Tile("replicas placed", f"{sum(report.placed for report in reports):,}"),
            Tile("running before", f"{sum(report.present for report in reports):,}"),
            unwanted("pending", sum(report.pending for report in reports)),
            unwanted("not created, or not made yet", sum(each.not_created + each.not_made_yet for each in reports)),
            Tile("pods preempted", f"{sum(len(report.preempted) for report in reports):,}"),
        ],
    )  # fmt: skip


def _lines(reports: Sequence[SimulateReport], look: Look) -> Iterator[Line]:
    """One workload as a picture, several as one line each unless shown in full."""
    if len(reports) > 1 and not look.in_full:
        yield from overview(reports, look)
    else:
        for number, report in enumerate(reports):
            if number:
                yield ()
            yield from picture(report, look)
    account = account_of(reports)
    if account is not None:
        yield from scaling(account, look)


def _sheets(reports: Sequence[SimulateReport]) -> Iterator[Sheet[Any]]:
    runs = _OF_RUNS if any(report.runs is not None for report in reports) else ()
    yield Sheet(
        title="Domains", columns=[*_WHOSE, *_DOMAIN, *runs], readers=Readers.COLUMNS,
        rows=[
            (report, constraint, row)
            for report in reports
            for place, constraint in enumerate(report.constraints)
            for row in domain_rows(report, place)
        ],
    )  # fmt: skip
    yield Sheet(
        title="Nodes of what is not spread over domains", columns=[*_WHOSE, *_NODE], readers=Readers.COLUMNS,
        rows=[
            (report, *item) for report in reports if not any(report.distribution) for item in report.per_node.items()
        ],
    )  # fmt: skip
    yield Sheet(
        title="Runs", columns=[*_WHOSE, *_RUN], readers=Readers.COLUMNS,
        rows=[
            (report, run, place)
            for report in reports if report.runs is not None
            for run in report.runs.each
            for place in range(len(report.constraints))
        ],
    )  # fmt: skip
    yield Sheet(
        title="Domains of gangs", columns=[*_WHOSE, *_GANG_DOMAIN], readers=Readers.COLUMNS,
        rows=[
            (report, report.gang, domain)
            for report in reports if report.gang is not None
            for domain in report.gang.domains
        ],
    )  # fmt: skip
    preempted = Sheet(
        title="Preempted pods", columns=[*_WHOSE, *_PREEMPTED], readers=Readers.COLUMNS, tone=lambda _: Tone.BAD,
        rows=[(report, pod) for report in reports for pod in report.preempted],
    )  # fmt: skip
    yield preempted
    yield Sheet(
        title="Workloads", columns=[*_whose(Readers.RECORDS), *_WORKLOAD], rows=[(report,) for report in reports],
        tone=lambda row: Tone.BAD if row[0].lacking else Tone.GOOD,
    )  # fmt: skip
    yield Sheet(
        title="Placements", columns=[*_WHOSE, *_PLACEMENT], is_answer=True, is_detail=True,
        readers=Readers.SPREADSHEET | Readers.PAGES,
        rows=[(report, placement) for report in reports for placement in report.placements],
    )  # fmt: skip
    # A page first shows how many of each are placed.
    yield replace(preempted, readers=Readers.PAGES)
    yield Sheet(
        title="Deleted replicas", columns=_DELETED, readers=Readers.PAGES, is_detail=True,
        rows=[victim for report in reports for victim in report.deleted],
    )  # fmt: skip
    yield Sheet(
        title="What the loss of a domain leaves", columns=_LOSS, readers=Readers.PAGES, is_detail=True,
        rows=[(report, key) for report in reports if report.running for key in report.worst_loss],
    )  # fmt: skip
    account = account_of(reports)
    yield Sheet(
        title="Loops of the autoscaler", columns=_LOOP, readers=Readers.COLUMNS,
        rows=[(loop, group) for loop in (() if account is None else account.loops) for group in loop.added],
    )  # fmt: skip


def _bars(report: SimulateReport, *, is_one: bool) -> Iterator[Bars]:
    whose = "" if is_one else f"{report.pod.namespace}/{report.subject} "
    for place, constraint in enumerate(report.constraints):
        made = placed_bars(constraint, place, report.distribution[place], report.skew[place])
        yield Bars(f"{whose}{made.title}", made.bars)


def _nodes(reports: Sequence[SimulateReport]) -> NodeFacts:
    present, placed = Counter[str](), Counter[str]()
    for report in reports:
        for node in report.nodes:
            present[node.name] += node.present
            placed[node.name] += node.placed
    names = {name: None for report in reports for name in (node.name for node in report.nodes)}
    return NodeFacts(
        ("Present", "Placed", "Replicas"),
        {
            name: Row(
                [str(present[name]), str(placed[name]), str(present[name] + placed[name])],
                Tone.GOOD if placed[name] else Tone.PLAIN,
            )
            for name in names
        },
        {name: f"{count_of(present[name], 'replica')} present, {placed[name]} placed" for name in names},
        "green gets replicas",
    )


def _before(reports: Sequence[SimulateReport]) -> dict[str, int]:
    """The replicas that run before anything is placed or deleted, including those that a rollout replaces."""
    before = Counter[str]()
    for report in reports:
        if report.rollout is not None:
            before.update(pods_at_start(report.rollout))
            continue
        for node in report.nodes:
            before[node.name] += node.present
        before.update(victim.node for victim in report.deleted)
    return dict(before)


def _frames(reports: Sequence[SimulateReport]) -> Iterator[Frame]:
    """Each placement (very many are grouped), then the deleted replicas, and each pass of a rollout."""
    now = Counter(_before(reports))
    yield from _placing([report for report in reports if report.rollout is None], now)
    for report in reports:
        for victim in report.deleted:
            now[victim.node] -= 1
            yield Frame(report.subject, f"{victim.pod} deleted on {victim.node}", {victim.node: now[victim.node]})
        if report.rollout is not None:
            yield from pass_frames(report.subject, report.rollout, now, tells_old=True)


def _placing(reports: Sequence[SimulateReport], now: Counter[str]) -> Iterator[Frame]:
    moves = [(report, placement) for report in reports for placement in report.placements]
    together = max(1, -(-len(moves) // _MAX_FRAMES))
    for start in range(0, len(moves), together):
        some = moves[start : start + together]
        now.update(group.node for _, group in some)
        last_report, last = some[-1]
        text = f"{last.pod} on {last.node}, score {last.total}"
        tied = f", one of {last.ties} nodes with it" if last.ties > 1 else ""
        more = f", and {len(some) - 1} before it" if len(some) > 1 else ""
        changed = {row.node: now[row.node] for _, row in some}
        yield Frame(last_report.subject, f"{text}{tied}{more}", changed)
