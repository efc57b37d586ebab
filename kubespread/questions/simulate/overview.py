"""Several workloads at a glance: one line each, and the totals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from kubespread.escaping import escaped
from kubespread.questions.simulate.picture import desired_text, provenance, sampling_sentence
from kubespread.questions.simulate.report import SimulateReport, totals
from kubespread.reports.parts import letter
from kubespread.reports.reason_words import reasons_in
from kubespread.views.layout import (
    GAP,
    HANGING,
    INDENT,
    Cell,
    Laid,
    Line,
    aim,
    flowed,
    tabulated,
    told_apart,
    width_of,
    wrapped,
)
from kubespread.views.look import Look, Tone
from kubespread.wording import short_key

_LEAST_NAME = 16
_WORKLOAD, _SURVIVE = "WORKLOAD", "SURVIVE"


def overview(reports: Sequence[SimulateReport], look: Look) -> Iterator[Line]:
    """Lines limited by ``look.width``. Causes without room are listed below the lines."""
    names, causes = [escaped(name) for name in _names(reports)], [Cell(_cause(report)) for report in reports]
    room = aim(look) - len(INDENT)
    least = min(_LEAST_NAME, max(map(width_of, (*names, _WORKLOAD))))
    columns = _columns(reports, room - least)
    room -= _taken(columns)
    columns.insert(0, Laid(_WORKLOAD, [Cell(name) for name in told_apart(names, max(room, least))]))
    why = Laid("WHY", causes)
    has_room = look.width is None or why.width + GAP <= room - columns[0].width
    if any(cause.text for cause in causes) and has_room:
        columns.append(why)
    if look.headers:
        yield from flowed([_title(reports), provenance(reports)], look, indent="")
    yield from tabulated(columns, headers=look.headers)
    if not has_room:
        yield from _causes(names, causes, look)
    yield from flowed([_totals(reports)], look, indent="")
    yield from flowed(_sampled(reports), look, indent="")
    if look.headers:
        yield from flowed(_hints(reports, columns), look, indent="")


def _sampled(reports: Sequence[SimulateReport]) -> Iterator[Line]:
    """The requested sampling; that all nodes are scored is told per workload in the full view."""
    sampled = next(
        (report for report in reports if report.sampling is not None and report.sampling.start is not None), None
    )
    if sampled is not None and (sentence := sampling_sentence(sampled)) is not None:
        yield [Cell(sentence, Tone.FAINT)]


def _causes(names: Sequence[str], causes: Sequence[Cell], look: Look) -> Iterator[Line]:
    """Workloads that are stuck for the same cause in one line."""
    stuck: dict[str, list[str]] = {}
    for name, cause in zip(names, causes, strict=True):
        if cause.text:
            stuck.setdefault(cause.text, []).append(name)
    for text, whose in stuck.items():
        yield from wrapped([Cell(f"{INDENT}{', '.join(whose)}: {text}")], look.width, HANGING)


def _title(reports: Sequence[SimulateReport]) -> Line:
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


def _columns(reports: Sequence[SimulateReport], width: int) -> list[Laid]:
    """All columns that fit in ``width``; of the optional ones the most telling is dropped last."""
    pending = [Cell(str(report.pending), Tone.BAD if report.pending else Tone.GOOD) for report in reports]
    figures = [
        Laid("WANT", [Cell(desired_text(report)) for report in reports], is_number=True),
        Laid("RUN", [Cell(str(report.present)) for report in reports], is_number=True),
        Laid("PLACED", [Cell(str(report.placed)) for report in reports], is_number=True),
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
    survivors = [Cell(_survivors(report)) for report in reports]
    survive = [Laid(_SURVIVE, survivors, is_number=True)] if any(survivor.text for survivor in survivors) else []
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
    for position, (constraint, change) in enumerate(zip(report.constraints, report.skew, strict=True)):
        is_exceeded = change.is_violated
        whose = f"{letter(position)} " if has_letters else ""
        exceeds = f" > {constraint.max_skew}" if is_exceeded else ""
        phrases.append(f"{whose}{short_key(change.topology_key)} {change.range_after}{exceeds}")
        is_bad |= is_exceeded
    return Cell(" · ".join(phrases), Tone.BAD if is_bad else Tone.PLAIN)


def _survivors(report: SimulateReport) -> str:
    return "" if report.grouping is None else str(report.worst_loss[report.grouping].remaining)


def _cause(report: SimulateReport) -> str:
    """What bars the next replica; kube-scheduler's message without its usual beginning."""
    return report.conclusion or reasons_in(report.stopped or "")


def _totals(reports: Sequence[SimulateReport]) -> Line:
    is_bad = any(report.lacking for report in reports)
    return [Cell(totals(reports), Tone.BAD if is_bad else Tone.GOOD)]


def _hints(reports: Sequence[SimulateReport], columns: Sequence[Laid]) -> Iterator[Line]:
    if any(column.header == _SURVIVE for column in columns):
        keys = dict.fromkeys(short_key(report.grouping) for report in reports if report.grouping is not None)
        yield [Cell(f"{_SURVIVE}: replicas left when the fullest {' or '.join(keys)} is lost", Tone.FAINT)]
    yield [Cell("-v or --name NAME: where the replicas of each land", Tone.FAINT)]
