"""Simulations: where replicas land, one placement after another, and what stops them; several workloads at a glance,
one line each; and the nodes that an autoscaler adds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from kubespread.escaping import escaped
from kubespread.kube.owners import NamespacedName
from kubespread.questions.simulate.picture import (
    PlacedDomain,
    desired_text,
    domain_rows,
    picture,
    provenance,
    sampling_sentence,
)
from kubespread.questions.simulate.report import DeletedReplica, Placement, Run, SimulateReport, totals
from kubespread.reports.autoscaling import AutoscalingReport
from kubespread.reports.columns import Readers
from kubespread.reports.gang import GangDomain, GangReport
from kubespread.reports.parts import ConstraintReport, PreemptedPod, letter
from kubespread.reports.reason_words import reasons_in
from kubespread.views.autoscaling import scaling
from kubespread.views.constraints import placed_bars
from kubespread.views.lines import width_of
from kubespread.views.look import Cell, Line, Look, Part, Tone, Weight
from kubespread.views.outcomes import pass_frames, pods_at_start
from kubespread.views.sheet import Column, Row, Sheet, count
from kubespread.views.terminal import GAP, INDENT, Laid, aim, because, fitted, flowed, laid_out, subject
from kubespread.views.view import Bars, Frame, NodeFacts, Tile, View, beside, source, unwanted
from kubespread.wording import EMPTY, count_of, short_key

_LEAST_NAME = 16
_WORKLOAD_HEADER, _SURVIVE = "WORKLOAD", "SURVIVE"


def overview(reports: Sequence[SimulateReport], look: Look) -> Iterator[Part]:
    """Lines limited by ``look.width``. Causes without room are listed below the lines."""
    names, causes = [escaped(name) for name in _names(reports)], [_cause(report) for report in reports]
    room = aim(look) - len(INDENT)
    least = min(_LEAST_NAME, max(map(width_of, (*names, _WORKLOAD_HEADER))))
    columns = _overview_columns(reports, room - least)
    room -= _taken(columns)
    columns.insert(0, Laid(_WORKLOAD_HEADER, fitted(names, max(room, least))))
    why = Laid("WHY", causes)
    has_room = look.width is None or why.width + GAP <= room - columns[0].width
    if any(causes) and has_room:
        columns.append(why)
    yield from flowed([_totals(reports)], look, indent="", weight=Weight.VERDICT)
    if look.headers:
        yield from subject([_overview_title(reports), provenance(reports)], look)
    yield laid_out(columns, look, "workload")
    if not has_room:
        yield from because(((name, why) for name, why in zip(names, causes, strict=True) if why), len(names))
    yield from flowed(_sampled(reports), look, indent="")
    if look.headers:
        yield from flowed(_hints(reports, columns), look, indent="")


def _sampled(reports: Sequence[SimulateReport]) -> Iterator[Line]:
    """The requested sampling; that all nodes are scored is told per workload in the full view."""
    sampled = next((report for report in reports if report.sampling is not None and report.seed is not None), None)
    if sampled is not None and (sentence := sampling_sentence(sampled)) is not None:
        yield [Cell(sentence, Tone.FAINT)]


def _overview_title(reports: Sequence[SimulateReport]) -> Line:
    namespaces = {report.pod.namespace for report in reports}
    where = f" in {namespaces.pop()}" if len(namespaces) == 1 else ""
    return [Cell(f"{len(reports):,} workloads{where}", Tone.STRONG)]


def _names(reports: Sequence[SimulateReport]) -> list[str]:
    """Names as short as they stay distinct: without a shared namespace, with the kind where needed."""
    is_one = len({report.pod.namespace for report in reports}) == 1
    prefixes = ["" if is_one else f"{report.pod.namespace}/" for report in reports]
    short = [f"{prefix}{report.subject.partition('/')[2]}" for prefix, report in zip(prefixes, reports, strict=True)]
    times = Counter(short)
    return [
        name if times[name] == 1 else f"{prefix}{report.subject}"
        for name, prefix, report in zip(short, prefixes, reports, strict=True)
    ]


def _overview_columns(reports: Sequence[SimulateReport], width: int) -> list[Laid]:
    """All columns that fit in ``width``; of the optional ones the most telling is dropped last."""
    pending = [Cell(str(report.pending), Tone.BAD if report.pending else Tone.GOOD) for report in reports]
    figures = [
        Laid("WANT", [desired_text(report) for report in reports], is_number=True),
        Laid("RUN", [str(report.present) for report in reports], is_number=True),
        Laid("PLACED", [str(report.placed) for report in reports], is_number=True),
        Laid("PENDING", pending, is_number=True),
    ]
    unmade = {
        "NOT CREATED": [report.not_created for report in reports],
        "NOT MADE": [report.not_made_yet for report in reports],
    }
    figures += (
        Laid(header, [Cell(str(count), Tone.BAD if count else Tone.PLAIN) for count in counts], is_number=True)
        for header, counts in unmade.items()
        if any(counts)
    )
    survivors = [_survivors(report) for report in reports]
    survive = [Laid(_SURVIVE, survivors, is_number=True)] if any(survivors) else []
    lettered, plain = (
        Laid("SKEW", [_skew(report, has_letters=has_letters) for report in reports]) for has_letters in (True, False)
    )
    for more in ([lettered, *survive], [plain, *survive], [plain]):
        if _taken([*figures, *more]) <= width:
            return [*figures, *more]
    return figures


def _taken(columns: Sequence[Laid]) -> int:
    return sum(column.width + GAP for column in columns)


def _skew(report: SimulateReport, *, has_letters: bool) -> Cell:
    """``A zone 1 · B hostname 3 > 1``: the comparison where a hard constraint is violated."""
    phrases, is_bad = [], False
    for position, change in enumerate(report.skew):
        is_exceeded = change.is_violated
        whose = f"{letter(position)} " if has_letters else ""
        exceeds = change.exceeds if is_exceeded else ""
        phrases.append(f"{whose}{short_key(change.topology_key)} {change.range_after}{exceeds}")
        is_bad |= is_exceeded
    return Cell(" · ".join(phrases), Tone.BAD if is_bad else Tone.PLAIN)


def _survivors(report: SimulateReport) -> str:
    return "" if report.grouping is None else str(report.worst_loss[report.grouping].remaining)


def _cause(report: SimulateReport) -> str:
    """What bars the next replica; kube-scheduler's message without its usual beginning."""
    return report.conclusion or reasons_in(report.stopped or "")


def _said(reports: Sequence[SimulateReport]) -> str:
    """The totals, after the word of a no where any of them is one."""
    return f"{next((report.word for report in reports if report.word), '')}{totals(reports)}"


def _totals(reports: Sequence[SimulateReport]) -> Line:
    is_bad = any(report.lacking for report in reports)
    return [Cell(_said(reports), Tone.BAD if is_bad else Tone.GOOD)]


def _hints(reports: Sequence[SimulateReport], columns: Sequence[Laid]) -> Iterator[Line]:
    if any(column.header == _SURVIVE for column in columns):
        keys = dict.fromkeys(short_key(report.grouping) for report in reports if report.grouping is not None)
        yield [Cell(f"{_SURVIVE}: replicas left when the fullest {' or '.join(keys)} is lost", Tone.FAINT)]
    yield [Cell("-v or --name NAME: where the replicas of each land", Tone.FAINT)]


def account_of(reports: Iterable[SimulateReport]) -> AutoscalingReport | None:
    """The account of all workloads together, None where none was requested or nothing waited."""
    return next((report.autoscaling for report in reports if report.autoscaling is not None), None)


_MAX_FRAMES = 200
_Of = tuple[SimulateReport, *tuple[Any, ...]]
"""A row of any sort, after its workload's report."""


def _whose(readers: Readers) -> Sequence[Column[_Of]]:
    return (
        Column("NAMESPACE", lambda row: row[0].pod.namespace, readers),
        Column("WORKLOAD", lambda row: row[0].subject, readers),
    )


_WHOSE = _whose(Readers.PIPES)
_DOMAIN: Sequence[Column[tuple[SimulateReport, ConstraintReport, PlacedDomain]]] = (
    Column("KEY", lambda row: row[1].topology_key),
    Column("MAX-SKEW", lambda row: row[1].max_skew),
    Column("DOMAIN", lambda row: row[2].change.value or EMPTY),
    Column("BEFORE", lambda row: row[2].change.before),
    Column("AFTER", lambda row: row[2].change.after),
)
_OF_RUNS: Sequence[Column[tuple[SimulateReport, ConstraintReport, PlacedDomain]]] = (
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
    Column("REPLICA", lambda row: row[1].replica, Readers.SPREADSHEET),
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
        answer=first.said if is_one else [_said(reports)],
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
        tiles=_tiles(reports),
        tiles_before=_tiles(reports, {*map(_name, _moves(reports))}),
    )


def _tiles(reports: Sequence[SimulateReport], waiting: Collection[str] = ()) -> list[Tile]:
    """In the end, or while the replicas ``waiting`` are yet to be placed."""
    preempted = [pod for report in reports for pod in report.preempted if pod.made_room_for not in waiting]
    return [
        Tile("replicas placed", f"{sum(report.placed for report in reports) - len(waiting):,}"),
        Tile("running before", f"{sum(report.present for report in reports):,}"),
        unwanted("pending", sum(report.pending for report in reports) + len(waiting)),
        unwanted("not created, or not made yet", sum(each.not_created + each.not_made_yet for each in reports)),
        Tile("pods preempted", f"{len(preempted):,}"),
    ]


def _moves(reports: Sequence[SimulateReport]) -> list[tuple[SimulateReport, Placement]]:
    """The replicas that frames place one after another: those of a rollout come with its passes."""
    return [(report, placement) for report in reports if report.rollout is None for placement in report.placements]


def _name(move: tuple[SimulateReport, Placement]) -> NamespacedName:
    report, placement = move
    return NamespacedName(report.pod.namespace, placement.pod)


def _together(moves: Sequence[tuple[SimulateReport, Placement]]) -> int:
    """How many of them share a frame."""
    return max(1, -(-len(moves) // _MAX_FRAMES))


def _lines(reports: Sequence[SimulateReport], look: Look) -> Iterator[Part]:
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
        title="Domains",
        columns=[*_WHOSE, *_DOMAIN, *runs],
        readers=Readers.COLUMNS,
        rows=[
            (report, constraint, row)
            for report in reports
            for place, constraint in enumerate(report.constraints)
            for row in domain_rows(report, place)
        ],
    )
    yield Sheet(
        title="Nodes of what is not spread over domains",
        columns=[*_WHOSE, *_NODE],
        readers=Readers.COLUMNS,
        rows=[
            (report, *item) for report in reports if not any(report.distribution) for item in report.per_node.items()
        ],
    )
    yield Sheet(
        title="Runs",
        columns=[*_WHOSE, *_RUN],
        readers=Readers.COLUMNS,
        rows=[
            (report, run, place)
            for report in reports
            if report.runs is not None
            for run in report.runs.each
            for place in range(len(report.constraints))
        ],
    )
    yield Sheet(
        title="Domains of gangs",
        columns=[*_WHOSE, *_GANG_DOMAIN],
        readers=Readers.COLUMNS,
        rows=[
            (report, report.gang, domain)
            for report in reports
            if report.gang is not None
            for domain in report.gang.domains
        ],
    )
    preempted = Sheet(
        title="Preempted pods",
        columns=[*_WHOSE, *_PREEMPTED],
        readers=Readers.COLUMNS,
        tone=lambda _: Tone.BAD,
        rows=[(report, pod) for report in reports for pod in report.preempted],
    )
    yield preempted
    yield Sheet(
        title="Workloads",
        columns=[*_whose(Readers.RECORDS), *_WORKLOAD],
        rows=[(report,) for report in reports],
        tone=lambda row: Tone.BAD if row[0].lacking else Tone.GOOD,
    )
    moves = _moves(reports)
    frame_of = {id(placement): place // _together(moves) + 1 for place, (_, placement) in enumerate(moves)}
    yield Sheet(
        title="Placements",
        columns=[*_WHOSE, *_PLACEMENT],
        is_answer=True,
        is_detail=True,
        frames=lambda row: (frame_of.get(id(row[1]), 0), None),
        readers=Readers.SPREADSHEET | Readers.PAGES,
        rows=[(report, placement) for report in reports for placement in report.placements],
    )
    # A page first shows how many of each are placed.
    yield replace(preempted, readers=Readers.PAGES)
    yield Sheet(
        title="Deleted replicas",
        columns=_DELETED,
        readers=Readers.PAGES,
        is_detail=True,
        rows=[victim for report in reports for victim in report.deleted],
    )
    yield Sheet(
        title="What the loss of a domain leaves",
        columns=_LOSS,
        readers=Readers.PAGES,
        is_detail=True,
        rows=[(report, key) for report in reports if report.running for key in report.worst_loss],
    )
    account = account_of(reports)
    yield Sheet(
        title="Loops of the autoscaler",
        columns=_LOOP,
        readers=Readers.COLUMNS,
        rows=[(loop, group) for loop in (() if account is None else account.loops) for group in loop.added],
    )


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
        colors={Tone.GOOD: "gets replicas"},
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
    yield from _placing(reports, now)
    for report in reports:
        for victim in report.deleted:
            now[victim.node] -= 1
            yield Frame(report.subject, f"{victim.pod} deleted on {victim.node}", {victim.node: now[victim.node]})
        if report.rollout is not None:
            yield from pass_frames(report.subject, report.rollout, now, tells_old=True)


def _placing(reports: Sequence[SimulateReport], now: Counter[str]) -> Iterator[Frame]:
    moves = _moves(reports)
    together, waiting = _together(moves), {*map(_name, moves)}
    for start in range(0, len(moves), together):
        some = moves[start : start + together]
        now.update(group.node for _, group in some)
        last_report, last = some[-1]
        text = f"{last.pod} on {last.node}, score {last.total}"
        tied = f", one of {last.ties} nodes with it" if last.ties > 1 else ""
        more = f", and {len(some) - 1} before it" if len(some) > 1 else ""
        changed = {row.node: now[row.node] for _, row in some}
        waiting.difference_update(map(_name, some))
        yield Frame(last_report.subject, f"{text}{tied}{more}", changed, tiles=_tiles(reports, waiting))
