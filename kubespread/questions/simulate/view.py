"""Screens of simulations. One workload is a picture: the cause of pending replicas, its constraints, the domains with
their nodes, the effect of a loss, and every domain's verdict on a gang. Several workloads are a line each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any

from msgspec import Struct
from msgspec.structs import asdict

from kubespread.controllers.statefulset import POD_NAME_LABEL
from kubespread.escaping import escape
from kubespread.kube.versions import KubeVersion
from kubespread.questions.simulate import (
    NodeReplicas,
    Placement,
    SimulateReport,
    alternatives,
    beside_placed,
    cause,
    deletion_sentences,
    nothing_to_place,
    outdated_clause,
    totals,
    waiting_revision_clause,
)
from kubespread.reports.autoscaling import AutoscalingReport
from kubespread.reports.columns import Col, Fit, Readers
from kubespread.reports.gang import GangDomain, GangReport, gang_outcome
from kubespread.reports.parts import ConstraintReport, DomainChange, PreemptedPod, SkewChange, letter
from kubespread.reports.reason_words import reasons_in
from kubespread.reports.rollout import rollout_sentence
from kubespread.views.autoscaling import scaling
from kubespread.views.constraints import placed_bars, policies
from kubespread.views.lines import cut_middle, width_of
from kubespread.views.look import Cell, Line, Look, Part, Rows, Sentence, Tone
from kubespread.views.outcomes import passes
from kubespread.views.sheet import Column, Row, Sheet, columns_of
from kubespread.views.terminal import (
    Layout,
    aim,
    distinct_names,
    flow,
    fold,
    of_sheet,
    reason_sentences,
    remarks,
    room_beside,
    subject,
    tabulate,
)
from kubespread.views.view import Bars, NodeFacts, Tile, View, side_notes, source, unwanted_tile
from kubespread.wording import EMPTY, count_of, counted_in, short_key, without_gates

_MAX_DOMAINS, _MAX_NODES, _MAX_NAMED = 12, 20, 20
_MAX_FIGURES = 6
"""The most domains listed individually in one phrase."""
_DEFAULT_PROFILE = "default-scheduler"
_SHORT_NAME = 16
_SEPARATOR = " · "
_PRESENT, _ADDED, _REMOVED = "▒", "█", "░"
_MAX_BAR, _BARS_PER_WIDTH = 30, 6
_NAMES_PER_WIDTH = 3


def picture(report: SimulateReport, look: Look) -> Iterator[Part]:
    """Lines that ``look.width`` bounds."""
    yield from flow([_headline(report), provenance([report])], look, indent="")
    yield from remarks((*alternatives(report), *cause(report)))
    yield from flow(_constraint_phrases(report), look)
    if report.grouping is not None:
        yield from _domains(report, report.grouping, look)
    else:
        yield from _nodes(report, look)
    yield from flow(_losses(report), look, gutter=_SEPARATOR)
    ties = sum(placement.ties > 1 for placement in report.placements)
    if ties and report.seed is None:
        were = "was a tie" if ties == 1 else "were ties"
        # Older ones take any.
        is_own = KubeVersion.parse(report.kube_version).reaches(35)
        order = "kube-scheduler's own order" if is_own else "the order of kube-scheduler 1.35"
        tied = f"{ties:,} of {report.placed:,} placements {were}, taken in {order}"
        yield fold(Cell(tied, Tone.FAINT))
    if (sampled := sampling_sentence(report)) is not None:
        yield fold(Cell(sampled, Tone.FAINT))
    yield from flow(deletion_sentences(report), look)
    if report.rollout is not None:
        yield fold(rollout_sentence(report.rollout))
        yield passes("Rollout", report.rollout, look)
    if report.gang is not None:
        yield from _verdicts(report.gang, look)


def _verdicts(gang: GangReport, look: Look) -> Iterator[Part]:
    """Table of a gang's domains, the best first, with their scores or the reason the gang does not fit."""
    if gang.domains:
        legend = "SCORE: members that fit + how much of the domain is taken then, each 0 to 100"
        verdicts = Sheet(
            title="",
            columns=columns_of(GangDomain),
            rows=gang.domains,
            noun="domain",
            legend=legend if any(domain.fits for domain in gang.domains) else "",
        )
        yield of_sheet(verdicts, look)


def _headline(report: SimulateReport) -> Line:
    grown = f"{report.present:,} → {report.running:,}" if report.present else f"{report.running:,}"
    older = ""
    if report.rollout is not None:
        outcome = f"rolled out, {report.running:,} of {report.replicas:,} new replicas placed"
    elif report.deleted:
        before = report.running + len(report.deleted)
        outcome = f"{before:,} → {count_of(report.running, 'replica')}"
    elif report.gang is not None:
        outcome = gang_outcome(report.gang, report.running, report.replicas)
    elif report.replicas is None:
        outcome = f"{grown} fit"
    elif (sentence := nothing_to_place(report)) is not None:
        outcome = sentence
    elif report.outdated:
        outcome, older = waiting_revision_clause(report), f"; {outdated_clause(report)}"
    else:
        outcome = f"{grown} of {count_of(report.replicas, 'replica')} placed"
    outcome = without_gates(report.gates, outcome)
    pending = f", {report.pending:,} pending" if report.pending and report.gang is None else ""
    is_bad = report.gates or report.lacking or (report.replicas is None and not report.running)
    return [
        Cell(report.word, Tone.BAD),
        Cell(report.subject, Tone.STRONG),
        Cell(f" in {report.pod.namespace}: "),
        Cell(f"{outcome}{pending}{beside_placed(report)}{older}", Tone.BAD if is_bad else Tone.GOOD),
    ]


def _domains(report: SimulateReport, key: str, look: Look) -> Iterator[Part]:
    """Show one row per domain with its nodes."""
    rows, between = _extremes(domains_of(report, key))
    if not any(row.after for row in rows):
        return
    width = aim(look)
    columns = [
        Layout("", [cut_middle(escape(row.value) or EMPTY, width // _NAMES_PER_WIDTH) for row in rows]),
        Layout("", [f"{row.before:,} → {row.after:,}" for row in rows], is_number=True),
        Layout("", _bars(rows, min(_MAX_BAR, width // _BARS_PER_WIDTH))),
    ]
    by_domain = _nodes_by_domain(report, key)
    nodes = _node_cells([by_domain.get(row.value, ()) for row in rows], room_beside(columns, look))
    columns.append(Layout("", nodes))
    yield Rows([], [[Sentence(line)] for line in tabulate(columns, headers=False)], short_key(key))
    if between:
        yield fold(f"and {count_of(between, 'domain')} between these")


def _extremes(rows: Sequence[DomainChange]) -> tuple[Sequence[DomainChange], int]:
    """All rows if there are few, else the fullest and the emptiest, and the number of rows between them."""
    if len(rows) <= _MAX_DOMAINS:
        return rows, 0
    ordered = sorted(rows, key=lambda row: (-row.after, row.value))
    return [*ordered[: _MAX_DOMAINS // 2], *ordered[-_MAX_DOMAINS // 2 :]], len(rows) - _MAX_DOMAINS


def _bars(rows: Sequence[DomainChange], width: int) -> list[Cell]:
    """Bars for existing, added and removed pods, to one scale."""
    most = max(max(row.before, row.after) for row in rows)
    scale = min(1.0, width / most) if most else 0.0
    lengths = [(round(row.before * scale), round(row.after * scale)) for row in rows]
    return [
        Cell(_PRESENT * min(was, now) + _ADDED * (now - was) + _REMOVED * (was - now), Tone.GOOD)
        for was, now in lengths
    ]


def _nodes(report: SimulateReport, look: Look) -> Iterator[Part]:
    """Nodes that no label groups."""
    nodes = _most_first(report.nodes)
    phrases = [f"{escape(node.name)} +{node.placed:,}" for node in nodes[:_MAX_NODES]]
    if len(nodes) > _MAX_NODES:
        phrases.append(f"and {_count_text(nodes[_MAX_NODES:])}")
    yield from flow(phrases, look, gutter=_SEPARATOR)


def _losses(report: SimulateReport) -> Iterator[str]:
    """Losses by key; the key is shown where nothing else shows the domain's name."""
    for key, loss in report.worst_loss.items() if report.running else ():
        is_named = key == report.grouping or report.is_about_nodes(key)
        what = f"{'' if is_named else f'{short_key(key)} '}{loss.domain or EMPTY}"
        yield f"losing {what} leaves {loss.remaining:,} of {report.running:,}"


def _constraint_phrases(report: SimulateReport) -> Iterator[Line]:
    """One phrase per constraint; a shared selector is written once, after the last of them."""
    selectors = [constraint.selector for constraint in report.constraints]
    for position, constraint in enumerate(report.constraints):
        yield _phrase(report, position)
        if constraint.selector not in selectors[position + 1 :] and not constraint.counts_nothing:
            # A Service that selects one pod of a StatefulSet makes default constraints do so.
            alone = ": each replica by itself" if POD_NAME_LABEL in constraint.selector else ""
            yield [Cell(f"counting {constraint.selector}{alone}", Tone.FAINT)]


def _phrase(report: SimulateReport, position: int) -> Line:
    constraint, skew = report.constraints[position], report.skew[position]
    is_exceeded = skew.is_violated
    facts = ", ".join([*([] if constraint.is_hard else ["soft"]), *policies(constraint)])
    counts = _counts(report, constraint, report.distribution[position])
    return [
        Cell(letter(position), Tone.STRONG),
        Cell(f" {short_key(constraint.topology_key)} ≤ {constraint.max_skew}  {counts}"),
        Cell(
            f", skew {_change(skew)}" if report.distribution[position] else "", Tone.BAD if is_exceeded else Tone.PLAIN
        ),
        Cell(f" ({facts})" if facts else ""),
    ]


def _change(skew: SkewChange) -> str:
    after = skew.range_after
    return after if f"{skew.before:,}" == after else f"{skew.before:,} → {after}"


def _counts(report: SimulateReport, constraint: ConstraintReport, changes: Sequence[DomainChange]) -> str:
    """Matching pods of the domains, before and after; names only where no row shows them."""
    if not changes:
        return f"no node has the label {constraint.topology_key}"
    if constraint.topology_key == report.grouping or report.is_about_nodes(constraint.topology_key):
        before, after = [change.before for change in changes], [change.after for change in changes]
        if not constraint.is_hard and len(changes) > _MAX_FIGURES and min(after) != max(after):
            return f"{_figures(before)} → up to {max(after)}"
        return f"{_figures(before)} → {_figures(after)}"
    if len(changes) > _MAX_FIGURES or len({(change.before, change.after) for change in changes}) == 1:
        ends = (_figures([change.before for change in changes]), _figures([change.after for change in changes]))
        return f"{' → '.join(ends)} in {count_of(len(changes), 'domain')}"
    return " · ".join(counted_in(change.value, f"{change.before:,} → {change.after:,}") for change in changes)


def _figures(counts: Sequence[int]) -> str:
    """Pods of domains: ``3 each``, ``37·38·38``, or the extremes of many."""
    least, most = min(counts), max(counts)
    if len(counts) == 1:
        return str(least)
    if least == most:
        return f"{least:,} each"
    return "·".join(map(str, counts)) if len(counts) <= _MAX_FIGURES else f"{least:,}–{most:,}"


def provenance(reports: Sequence[SimulateReport]) -> Line:
    """``snapshot prod.json.gz, 2 h old · kube-scheduler v1.36``, with profiles after it where they say something."""
    profiles = list(dict.fromkeys(report.scheduler_name for report in reports))
    profile = "" if profiles == [_DEFAULT_PROFILE] else f"profile {', '.join(profiles)}"
    return [Cell(source(reports[0].cluster, reports[0].kube_version, profile), Tone.FAINT)]


def _node_cells(rows: Sequence[Sequence[NodeReplicas]], room: int) -> Sequence[str]:
    """Per row the nodes that got replicas, most first: by name if all rows fit in ``room``, else by number."""
    ordered = [_most_first(nodes) for nodes in rows]
    names = [escape(node.name) for nodes in ordered for node in nodes]
    for shown in (names, distinct_names(names, _SHORT_NAME)):
        called = dict(zip(names, shown, strict=True))
        named = [
            _SEPARATOR.join(f"{called[escape(node.name)]} +{node.placed:,}" for node in nodes) for nodes in ordered
        ]
        if all(width_of(cell) <= room for cell in named) and all(len(nodes) <= _MAX_NAMED for nodes in ordered):
            return named
    return [*map(_count_text, ordered)]


def _most_first(nodes: Sequence[NodeReplicas]) -> list[NodeReplicas]:
    """The nodes that got replicas, equals by name."""
    return sorted((node for node in nodes if node.placed), key=lambda node: (-node.placed, node.name))


def _count_text(nodes: Sequence[NodeReplicas]) -> str:
    """``4 nodes +8 to +9``, of nodes that got replicas, most first."""
    if not nodes:
        return ""
    most, least = nodes[0].placed, nodes[-1].placed
    per_node = f"+{least:,} to +{most:,}" if least < most else f"+{most:,}{' each' if len(nodes) > 1 else ''}"
    return f"{count_of(len(nodes), 'node')} {per_node}"


def domains_of(report: SimulateReport, key: str) -> Sequence[DomainChange]:
    """The domains of ``key``, as counted by the first constraint over it that matches the replicas, else by these."""
    for changes, constraint in zip(report.distribution, report.constraints, strict=True):
        if constraint.topology_key == key and constraint.self_match:
            return changes
    return [
        DomainChange(
            value=value,
            before=sum(node.present for node in nodes),
            after=sum(node.present + node.placed for node in nodes),
        )
        for value, nodes in sorted(_nodes_by_domain(report, key).items())
    ]


def _nodes_by_domain(report: SimulateReport, key: str) -> Mapping[str, Sequence[NodeReplicas]]:
    """Nodes with replicas, by their value of ``key``; nodes without the label are left out."""
    by_domain: dict[str, list[NodeReplicas]] = {}
    for node in report.nodes:
        if key in node.domains:
            by_domain.setdefault(node.domains[key], []).append(node)
    return by_domain


def sampling_sentence(report: SimulateReport) -> str | None:
    """Say how many nodes are scored for each placement, where kube-scheduler does not score all."""
    sampling = report.sampling
    if sampling is None:
        return None
    if report.seed is None:
        return (
            f"every node that fits is scored; kube-scheduler stops at {sampling.enough:,} of {sampling.nodes:,}, "
            "as --seed does"
        )
    return f"sampled: at most {sampling.enough:,} of {sampling.nodes:,} nodes are scored for each placement"


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
    "surviving",
    "skews",
    "why",
)


def overview(reports: Sequence[SimulateReport], look: Look) -> Iterator[Part]:
    """Totals, the cause per workload with a pending replica, and a row per workload."""
    names = dict(zip(map(id, reports), _names(reports), strict=True))
    domain = " or ".join(dict.fromkeys(short_key(report.grouping or "") for report in reports if report.surviving))
    workloads = Sheet(
        title="",
        columns=[Column("WORKLOAD", lambda row: names[id(row)], fit=Fit.NAMES), *_WORKLOADS],
        rows=reports,
        tone=_tone,
        noun="workload",
        legend=f"SURVIVE: replicas left when the fullest {domain} is lost" if domain else "",
    )
    yield from flow([_totals(reports)], look, indent="")
    if look.headers:
        yield from subject([[Cell(_title(reports), Tone.STRONG)], provenance(reports)], look)
    yield from reason_sentences((escape(names[id(report)]), why) for report in reports if (why := _cause(report)))
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
    """The one cause that keeps the next replica pending, else the reasons in kube-scheduler's message."""
    return report.conclusion or reasons_in(report.stopped or "")


def _totals_line(reports: Sequence[SimulateReport]) -> str:
    """The totals, after the word for a no if any verdict is one."""
    return f"{next((report.word for report in reports if report.word), '')}{totals(reports)}"


def _totals(reports: Sequence[SimulateReport]) -> Line:
    is_bad = any(report.lacking for report in reports)
    return [Cell(_totals_line(reports), Tone.BAD if is_bad else Tone.GOOD)]


def account_of(reports: Iterable[SimulateReport]) -> AutoscalingReport | None:
    """The autoscaler's account of all workloads together; None without an autoscaler, or if nothing waited."""
    return next((report.autoscaling for report in reports if report.autoscaling is not None), None)


class _PlacedReplica(Placement, frozen=True):
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
    """View of all workloads, followed by the nodes that an autoscaler adds for them together."""
    first = reports[0]
    is_one = len(reports) == 1
    return View(
        title=_title(reports),
        provenance=source(first.cluster, first.kube_version, f"profile {first.scheduler_name}"),
        answer=first.statements if is_one else [_totals_line(reports)],
        tone=Tone.GOOD if all(report.verdict == "yes" for report in reports) else Tone.BAD,
        bars=[bars for report in reports for bars in _constraint_bars(report, is_one=is_one)],
        sheets_of=lambda: [*_sheets(reports)],
        names=[
            (f"{report.pod.namespace}/{placement.pod}", placement.node)
            for report in reports
            for placement in report.placements
        ],
        nodes=_node_facts(reports),
        replicas={node.name: node.present + node.placed for report in reports for node in report.nodes},
        beside=side_notes(reports),
        picture=lambda look: _lines(reports, look),
        tiles=_tiles(reports),
    )


def _tiles(reports: Sequence[SimulateReport]) -> list[Tile]:
    return [
        Tile("replicas placed", f"{sum(report.placed for report in reports):,}"),
        Tile("running before", f"{sum(report.present for report in reports):,}"),
        unwanted_tile("pending", sum(report.pending for report in reports)),
        unwanted_tile("not created", sum(report.not_created + report.not_made_yet for report in reports)),
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
    if domains := [*_domain_rows(reports)]:
        yield Sheet(title="Domains", columns=columns_of(_Domain), readers=Readers.COLUMNS, rows=domains)
    workloads = Readers.ALL & ~Readers.SPREADSHEET
    yield Sheet(title="Workloads", columns=_WORKLOADS, rows=reports, tone=_tone, readers=workloads)
    yield Sheet(
        title="Placements",
        columns=columns_of(_PlacedReplica),
        readers=Readers.SPREADSHEET | Readers.PAGES,
        rows=[*_placed_replicas(reports)],
    )
    yield Sheet(
        title="Preempted pods",
        columns=columns_of(PreemptedPod),
        readers=Readers.COLUMNS | Readers.PAGES,
        tone=lambda _: Tone.BAD,
        rows=[pod for report in reports for pod in report.preempted],
    )


def _domain_rows(reports: Sequence[SimulateReport]) -> Iterator[_Domain]:
    for report in reports:
        for constraint, changes in zip(report.constraints, report.distribution, strict=True):
            about = report.namespace, report.subject, constraint.topology_key, constraint.max_skew
            for change in changes:
                yield _Domain(*about, change.value or EMPTY, change.before, change.after)


def _placed_replicas(reports: Sequence[SimulateReport]) -> Iterator[_PlacedReplica]:
    for report in reports:
        for placement in report.placements:
            yield _PlacedReplica(**asdict(placement), namespace=report.namespace, workload=report.subject)


def _constraint_bars(report: SimulateReport, *, is_one: bool) -> Iterator[Bars]:
    prefix = "" if is_one else f"{report.pod.namespace}/{report.subject} "
    for place, constraint in enumerate(report.constraints):
        bars = placed_bars(constraint, place, report.distribution[place], report.skew[place])
        yield Bars(f"{prefix}{bars.title}", bars.bars)


def _node_facts(reports: Sequence[SimulateReport]) -> NodeFacts:
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
