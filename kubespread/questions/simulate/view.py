"""Simulations: where replicas land, one placement after another, and what stops them; several workloads at a glance,
one line each; and the nodes that an autoscaler adds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any

from msgspec import Struct
from msgspec.structs import asdict

from kubespread.escaping import escaped
from kubespread.questions.simulate.picture import picture, provenance
from kubespread.questions.simulate.report import Placement, SimulateReport, totals
from kubespread.reports.autoscaling import AutoscalingReport
from kubespread.reports.columns import Col, Fit, Readers
from kubespread.reports.parts import PreemptedPod
from kubespread.reports.reason_words import reasons_in
from kubespread.views.autoscaling import scaling
from kubespread.views.constraints import placed_bars
from kubespread.views.look import Cell, Line, Look, Part, Tone
from kubespread.views.sheet import Column, Row, Sheet, columns_of
from kubespread.views.terminal import because, flowed, of_sheet, subject
from kubespread.views.view import Bars, NodeFacts, Tile, View, beside, source, unwanted
from kubespread.wording import EMPTY, count_of, short_key

_LEAST_NAME = 16
_WORKLOADS = columns_of(
    SimulateReport,
    "namespace",
    "subject",
    "replicas",
    "present",
    "placed",
    "pending",
    "not_created",
    "not_made_yet",
    "skews",
    "surviving",
    "why",
)


def overview(reports: Sequence[SimulateReport], look: Look) -> Iterator[Part]:
    """A row per workload, and below them what bars the next replica of each."""
    names = dict(zip(map(id, reports), _names(reports), strict=True))
    lost = " or ".join(dict.fromkeys(short_key(report.grouping or "") for report in reports if report.surviving))
    workloads = Sheet(
        title="",
        columns=[Column("WORKLOAD", lambda row: names[id(row)], fit=Fit.NAMES, least=_LEAST_NAME), *_WORKLOADS],
        rows=reports,
        tone=_tone,
        noun="workload",
        legend=f"SURVIVE: replicas left when the fullest {lost} is lost" if lost else "",
    )
    yield from flowed([_totals(reports)], look, indent="")
    if look.headers:
        yield from subject([[Cell(_title(reports), Tone.STRONG)], provenance(reports)], look)
    yield from because((escaped(names[id(report)]), why) for report in reports if (why := _cause(report)))
    yield of_sheet(workloads, look)
    if look.headers:
        yield [Cell("-v or --name NAME: where the replicas of each land", Tone.FAINT)]


def _tone(report: SimulateReport) -> Tone:
    return Tone.BAD if report.lacking else Tone.GOOD


def _title(reports: Sequence[SimulateReport]) -> str:
    namespaces = {report.namespace for report in reports}
    what = reports[0].subject if len(reports) == 1 else f"{len(reports):,} workloads"
    return f"{what} in {namespaces.pop()}" if len(namespaces) == 1 else what


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


def _cause(report: SimulateReport) -> str:
    """Name what bars the next replica; kube-scheduler's message without its usual beginning."""
    return report.conclusion or reasons_in(report.stopped or "")


def _said(reports: Sequence[SimulateReport]) -> str:
    """The totals, after the word of a no where any of them is one."""
    return f"{next((report.word for report in reports if report.word), '')}{totals(reports)}"


def _totals(reports: Sequence[SimulateReport]) -> Line:
    is_bad = any(report.lacking for report in reports)
    return [Cell(_said(reports), Tone.BAD if is_bad else Tone.GOOD)]


def account_of(reports: Iterable[SimulateReport]) -> AutoscalingReport | None:
    """The account of all workloads together, None where none was requested or nothing waited."""
    return next((report.autoscaling for report in reports if report.autoscaling is not None), None)


class _Placed(Placement, frozen=True):
    """One replica with its workload, as a row."""

    namespace: Annotated[str, Col(readers=Readers.PIPES)]
    workload: Annotated[str, Col(readers=Readers.PIPES)]


class _Domain(Struct, frozen=True):
    """One domain of one constraint of one workload, as a row."""

    namespace: Annotated[str, Col()]
    workload: Annotated[str, Col()]
    key: Annotated[str, Col()]
    max_skew: Annotated[int, Col()]
    domain: Annotated[str, Col()]
    before: Annotated[int, Col()]
    after: Annotated[int, Col()]


def view_of_several(reports: Sequence[SimulateReport]) -> View:
    """Workload after workload, and what an autoscaler does for all of them."""
    first = reports[0]
    is_one = len(reports) == 1
    return View(
        title=_title(reports),
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
        replicas={node.name: node.present + node.placed for report in reports for node in report.nodes},
        beside=beside(reports),
        picture=lambda look: _lines(reports, look),
        tiles=_tiles(reports),
    )


def _tiles(reports: Sequence[SimulateReport]) -> list[Tile]:
    return [
        Tile("replicas placed", f"{sum(report.placed for report in reports):,}"),
        Tile("running before", f"{sum(report.present for report in reports):,}"),
        unwanted("pending", sum(report.pending for report in reports)),
        unwanted("not created", sum(each.not_created + each.not_made_yet for each in reports)),
        Tile("pods preempted", f"{sum(len(report.preempted) for report in reports):,}"),
    ]


def _lines(reports: Sequence[SimulateReport], look: Look) -> Iterator[Part]:
    """Show one workload as a picture, several as one line each unless shown in full."""
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
    yield Sheet(title="Domains", columns=columns_of(_Domain), readers=Readers.COLUMNS, rows=[*_domains(reports)])
    workloads = Readers.ALL & ~Readers.SPREADSHEET
    yield Sheet(title="Workloads", columns=_WORKLOADS, rows=reports, tone=_tone, readers=workloads)
    yield Sheet(
        title="Placements",
        columns=columns_of(_Placed),
        readers=Readers.SPREADSHEET | Readers.PAGES,
        rows=[*_placed(reports)],
    )
    yield Sheet(
        title="Preempted pods",
        columns=columns_of(PreemptedPod),
        readers=Readers.COLUMNS | Readers.PAGES,
        tone=lambda _: Tone.BAD,
        rows=[pod for report in reports for pod in report.preempted],
    )


def _domains(reports: Sequence[SimulateReport]) -> Iterator[_Domain]:
    for report in reports:
        for constraint, changes in zip(report.constraints, report.distribution, strict=True):
            about = report.namespace, report.subject, constraint.topology_key, constraint.max_skew
            for change in changes:
                yield _Domain(*about, change.value or EMPTY, change.before, change.after)


def _placed(reports: Sequence[SimulateReport]) -> Iterator[_Placed]:
    for report in reports:
        for each in report.placements:
            yield _Placed(**asdict(each), namespace=report.namespace, workload=report.subject)


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
