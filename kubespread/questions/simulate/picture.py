"""Where one workload's replicas land: domains with the nodes inside them, what a loss leaves, what
every domain says to a gang, and the cause last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from kubespread.controllers.statefulset import POD_NAME_LABEL
from kubespread.escaping import escaped
from kubespread.kube.versions import KubeVersion
from kubespread.questions.simulate.report import (
    NodeReplicas,
    Run,
    SimulateReport,
    alternatives,
    beside_placed,
    cause,
    deleted,
    nothing_to_place,
    of_waiting_revision,
    outdated,
)
from kubespread.reports.gang import GangDomain, GangReport, gang_outcome
from kubespread.reports.parts import ConstraintReport, DomainChange, Range, SkewChange, letter
from kubespread.reports.reason_words import reasons_in
from kubespread.reports.rollout import rollout_sentence
from kubespread.views.constraints import policies
from kubespread.views.lines import CUT, cut_middle, width_of
from kubespread.views.look import Cell, Line, Look, Part, Rows, Sentence, Tone, Weight
from kubespread.views.outcomes import passes
from kubespread.views.terminal import (
    GAP,
    HANGING,
    INDENT,
    Laid,
    aim,
    because,
    flowed,
    folded,
    laid_out,
    room_beside,
    shared,
    tabulated,
)
from kubespread.views.view import source
from kubespread.wording import EMPTY, count_of, counted_in, short_key

_MAX_STUCK = 3


class _GangRow(Struct, frozen=True):
    """One domain, or several with the same verdict."""

    domain: GangDomain
    """The first of them."""
    others: int = 0


def domain_verdicts(gang: GangReport, look: Look) -> Iterator[Part]:
    """One row per domain, the best first, and which one is taken; with many, those with the same verdict share a row.
    Lines are limited by ``look.width``.
    """
    if gang.topology_key is None or not gang.domains:
        return
    rows = list(map(_GangRow, gang.domains))
    if len(rows) > _MAX_DOMAINS and not look.in_full:
        rows = _alike(gang.domains)
    shown, rest = (rows, []) if look.in_full else (rows[:_MAX_DOMAINS], rows[_MAX_DOMAINS:])
    names = [_named_domain(row, aim(look) // _NAMES_PER_WIDTH) for row in shown]
    columns = [
        Laid(short_key(gang.topology_key).upper(), names),
        Laid("NODES", [str(row.domain.nodes) for row in shown], is_number=True),
        Laid("FIT", [_members(gang, row.domain) for row in shown]),
        Laid("SCORE", [_score(row.domain) for row in shown]),
    ]
    why = Laid("WHY NOT", [_why_not(row.domain) for row in shown])
    has_room = room_beside((*columns, why), look) + GAP >= 0
    if has_room and any(part.text for part in why.cells):
        columns.append(why)
    yield laid_out(columns, look, "domain")
    if rest:
        count = sum(row.others + 1 for row in rest)
        fitting = sum(row.others + 1 for row in rest if row.domain.fits)
        yield folded(f"and {count_of(count, 'more domain')}, of which {fitting or 'none'} fit")
    if not has_room:
        whys = ((name, _why_not(row.domain)) for name, row in zip(names, shown, strict=True))
        yield from because((pair for pair in whys if pair[1]), _MAX_STUCK)
    if any(domain.fits for domain in gang.domains):
        key = "SCORE: members that fit + how much of the domain is taken then, each 0 to 100"
        yield folded(Cell(key, Tone.FAINT))


def _alike(domains: Sequence[GangDomain]) -> list[_GangRow]:
    """Domains of equal size with the same verdict in one row, each row where its first domain was; the best by
    itself.
    """
    rows: dict[object, _GangRow] = {}
    for domain in domains:
        key = (
            0
            if domain is domains[0] and domain.fits
            else (domain.nodes, domain.members, domain.total, _why_not(domain))
        )
        row = rows.get(key)
        rows[key] = _GangRow(domain) if row is None else _GangRow(row.domain, row.others + 1)
    return list(rows.values())


def _named_domain(row: _GangRow, width: int) -> str:
    more = f" and {row.others} more" if row.others else ""
    return f"{cut_middle(escaped(row.domain.value) or EMPTY, width - len(more))}{more}"


def _members(gang: GangReport, domain: GangDomain) -> Cell:
    return Cell(f"{domain.members} of {gang.members}", Tone.GOOD if domain.fits else Tone.PLAIN)


def _score(domain: GangDomain) -> str:
    """``100+51 = 151``: for the members that fit, and for the share of the domain that they and others use."""
    return "" if domain.total is None else f"{domain.pods_score}+{domain.resources_score or 0} = {domain.total}"


def _why_not(domain: GangDomain) -> str:
    return "" if domain.fits else reasons_in(domain.stopped or "")


_MAX_DOMAINS, _MAX_NODES, _MAX_NAMED, _MAX_RUNS = 12, 20, 20, 10
_MAX_FIGURES = 6
"""The most domains listed individually in one phrase."""
_DEFAULT_PROFILE = "default-scheduler"
_SEPARATOR = " · "
_THERE, _ADDED, _GONE = "▒", "█", "░"
_MAX_BAR, _BARS_PER_WIDTH = 30, 6
_NAMES_PER_WIDTH = 3


def picture(report: SimulateReport, look: Look) -> Iterator[Part]:
    """Lines that ``look.width`` bounds."""
    yield from flowed([_headline(report), provenance([report])], look, indent="", weight=Weight.VERDICT)
    if report.unfinished is not None:
        yield folded(Cell(report.unfinished.sentence, Tone.BAD), weight=Weight.SUBJECT)
    yield from flowed(_constraint_phrases(report), look, weight=Weight.REASON)
    if report.grouping is not None:
        yield from _domains(report, report.grouping, look)
    else:
        yield from _nodes(report, look)
    yield from flowed(_losses(report), look, gutter=" · ")
    ties = sum(placement.ties > 1 for placement in report.placements)
    if ties and report.seed is None:
        were = "was a tie" if ties == 1 else "were ties"
        # Older ones take any.
        is_own = KubeVersion.parse(report.kube_version).since(35)
        order = "kube-scheduler's own order" if is_own else "the order of kube-scheduler 1.35"
        tied = f"{ties:,} of {report.placed:,} placements {were}, taken in {order}"
        yield folded(Cell(tied, Tone.FAINT))
    if (sampled := sampling_sentence(report)) is not None:
        yield folded(Cell(sampled, Tone.FAINT))
    yield from _run_rows(report, look)
    yield from flowed(deleted(report), look)
    if report.rollout is not None:
        yield folded(rollout_sentence(report.rollout))
        yield passes("Rollout", report.rollout, look)
    if report.gang is not None:
        yield from domain_verdicts(report.gang, look)
    for sentence in (*alternatives(report), *cause(report)):
        yield folded(sentence, weight=Weight.REASON)


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
        outcome, older = of_waiting_revision(report), f"; {outdated(report)}"
    else:
        outcome = f"{grown} of {count_of(report.replicas, 'replica')} placed"
    pending = f", {report.pending:,} pending" if report.pending and report.gang is None else ""
    is_bad = report.lacking or (report.replicas is None and not report.running)
    return [
        Cell(report.word, Tone.BAD),
        Cell(report.subject, Tone.STRONG),
        Cell(f" in {report.pod.namespace}: "),
        Cell(f"{outcome}{pending}{beside_placed(report)}{older}", Tone.BAD if is_bad else Tone.GOOD),
    ]


def _domains(report: SimulateReport, key: str, look: Look) -> Iterator[Part]:
    """One row per domain with its nodes; one phrase for many that are all alike."""
    rows, between = _extremes(rows_of_key(report, key))
    if not any(row.change.after for row in rows):
        return
    if between and (sentence := _all_equal(report, key)):
        yield folded(sentence)
        return
    width = aim(look)
    columns = [
        Laid("", [cut_middle(escaped(row.change.value) or EMPTY, width // _NAMES_PER_WIDTH) for row in rows]),
        Laid("", [f"{row.change.before:,} → {row.change.after:,}" for row in rows], is_number=True),
        Laid("", _bars(rows, min(_MAX_BAR, width // _BARS_PER_WIDTH))),
        *([Laid("", ranges)] if any(ranges := [_runs(row) for row in rows]) else []),
    ]
    by_domain = _nodes_by_domain(report, key)
    nodes = _node_column(
        {row.change.value: by_domain.get(row.change.value, ()) for row in rows}, room_beside(columns, look)
    )
    columns.append(Laid("", [nodes.cells[row.change.value] for row in rows]))
    yield Rows([], [[Sentence(line, HANGING)] for line in tabulated(columns, headers=False)], short_key(key))
    if between:
        yield [Cell(f"{INDENT}and {count_of(between, 'domain')} between these")]
    if nodes.left_out:
        yield folded(Cell(f"node names: {nodes.left_out}", Tone.FAINT))


def _extremes(rows: Sequence[PlacedDomain]) -> tuple[Sequence[PlacedDomain], int]:
    """All rows if few, else those that show best how even it is, and how many are left out."""
    if len(rows) <= _MAX_DOMAINS:
        return rows, 0
    ordered = sorted(rows, key=lambda row: (-row.change.after, row.change.value))
    return [*ordered[: _MAX_DOMAINS // 2], *ordered[-_MAX_DOMAINS // 2 :]], len(rows) - _MAX_DOMAINS


def _all_equal(report: SimulateReport, key: str) -> str | None:
    rows = rows_of_key(report, key)
    alike = {(row.change.before, row.change.after, row.after_runs) for row in rows}
    if len(alike) > 1:
        return None
    change = rows[0].change
    return f"{len(rows):,} domains of {short_key(key)}, each {change.before:,} → {change.after:,}"


def _bars(rows: Sequence[PlacedDomain], width: int) -> list[Cell]:
    """Bars for existing, added and removed pods, to one scale."""
    most = max(max(row.change.before, row.change.after) for row in rows)
    scale = min(1.0, width / most) if most else 0.0
    before = [round(row.change.before * scale) for row in rows]
    all_ = [round(row.change.after * scale) for row in rows]
    return [
        Cell(_THERE * min(was, now) + _ADDED * (now - was) + _GONE * (was - now), Tone.GOOD)
        for was, now in zip(before, all_, strict=True)
    ]


def _runs(row: PlacedDomain) -> str:
    runs = row.after_runs
    if runs is None or runs.minimum == runs.maximum:
        return ""
    return f"({runs.minimum} to {runs.maximum}, median {runs.median})"


def _nodes(report: SimulateReport, look: Look) -> Iterator[Line]:
    """Nodes that no label groups: one line, or as many as their shortened names take."""
    nodes = _most_first(report.nodes)
    shown, rest = nodes[:_MAX_NODES], [node.placed for node in nodes[_MAX_NODES:]]
    prefix, suffix = shared([escaped(node.name) for node in shown])
    names = [escaped(node.name) for node in shown]
    if sum(map(width_of, names)) > aim(look) and (prefix or suffix):
        names = [f"{CUT if prefix else ''}{name.removeprefix(prefix).removesuffix(suffix)}" for name in names]
    phrases = [f"{name} +{node.placed:,}" for name, node in zip(names, shown, strict=True)]
    if rest:
        per_domain = f"+{min(rest):,} each" if min(rest) == max(rest) else f"+{min(rest):,} to +{max(rest):,}"
        phrases.append(f"and {count_of(len(rest), 'more node')} {per_domain}")
    yield from flowed(phrases, look, gutter=" · ")
    if names != [escaped(node.name) for node in shown]:
        yield folded(Cell(f"node names: {prefix}{CUT}{suffix}", Tone.FAINT))


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


def desired_text(report: SimulateReport) -> str:
    """The number of desired replicas."""
    return "max" if report.replicas is None else str(report.replicas)


class _NodeColumn(Struct, frozen=True):
    """One cell per row, and the part of names that the cells leave out."""

    cells: Mapping[str, str]
    left_out: str = ""
    """``gke-prod-pool-…``: what all names begin or end with and the cells do not repeat."""


def _node_column(rows: Mapping[str, Sequence[NodeReplicas]], room: int) -> _NodeColumn:
    """Per row the nodes that got replicas, most first: by name if all rows fit in ``room``, else by number."""
    names = [escaped(node.name) for nodes in rows.values() for node in nodes]
    prefix, suffix = shared(names)
    for begin, end in dict.fromkeys((("", ""), ("", suffix), (prefix, suffix))):
        spelled = {row: _named(nodes, _shortened(begin, end)) for row, nodes in rows.items()}
        fits = all(width_of(cell) <= room for cell in spelled.values())
        if fits and all(len(nodes) <= _MAX_NAMED for nodes in rows.values()):
            return _NodeColumn(spelled, f"{begin}{CUT}{end}" if begin or end else "")
    return _NodeColumn({row: _counted(nodes) for row, nodes in rows.items()})


def _shortened(prefix: str, suffix: str) -> Callable[[str], str]:
    def short(name: str) -> str:
        return f"{CUT if prefix else ''}{escaped(name).removeprefix(prefix).removesuffix(suffix)}"

    return short


def _most_first(nodes: Sequence[NodeReplicas]) -> list[NodeReplicas]:
    """The nodes that got replicas, equals by name."""
    return sorted((node for node in nodes if node.placed), key=lambda node: (-node.placed, node.name))


def _named(nodes: Sequence[NodeReplicas], short: Callable[[str], str]) -> str:
    return _SEPARATOR.join(f"{short(node.name)} +{node.placed:,}" for node in _most_first(nodes))


def _counted(nodes: Sequence[NodeReplicas]) -> str:
    """``4 nodes +8 to +9``."""
    placed = [node.placed for node in nodes if node.placed]
    if not placed:
        return ""
    if len(placed) == 1:
        return f"1 node +{placed[0]:,}"
    least, most = min(placed), max(placed)
    return (
        f"{len(placed):,} nodes +{least:,} each" if least == most else f"{len(placed):,} nodes +{least:,} to +{most:,}"
    )


class PlacedDomain(Struct, frozen=True):
    """One domain of one constraint; ``after_runs`` only for several runs."""

    change: DomainChange
    after_runs: Range | None


def domain_rows(report: SimulateReport, position: int) -> Sequence[PlacedDomain]:
    """The domains of the constraint at ``position``."""
    changes = report.distribution[position]
    if report.runs is None:
        return [PlacedDomain(change, None) for change in changes]
    ranges = report.runs.distribution[position]
    return [PlacedDomain(change, domain.after) for change, domain in zip(changes, ranges, strict=True)]


def rows_of_key(report: SimulateReport, key: str) -> Sequence[PlacedDomain]:
    """The domains of ``key``: of the first constraint over it that counts the replicas, else of these themselves."""
    for position, constraint in enumerate(report.constraints):
        if constraint.topology_key == key and constraint.self_match:
            return domain_rows(report, position)
    return [
        PlacedDomain(
            DomainChange(
                value=value,
                before=sum(node.present for node in nodes),
                after=sum(node.present + node.placed for node in nodes),
            ),
            None,
        )
        for value, nodes in sorted(_nodes_by_domain(report, key).items())
    ]


def _nodes_by_domain(report: SimulateReport, key: str) -> Mapping[str, Sequence[NodeReplicas]]:
    """The nodes that hold replicas, by their value of ``key``; those without the label are left out."""
    by_domain: dict[str, list[NodeReplicas]] = {}
    for node in report.nodes:
        if key in node.domains:
            by_domain.setdefault(node.domains[key], []).append(node)
    return by_domain


def sampling_sentence(report: SimulateReport) -> str | None:
    """How many nodes are scored for each placement, where kube-scheduler does not score all."""
    sampling = report.sampling
    if sampling is None:
        return None
    if report.seed is None:
        return (
            f"every node that fits is scored; kube-scheduler stops at {sampling.enough:,} of {sampling.nodes:,}, "
            "as --seed does"
        )
    return f"sampled: at most {sampling.enough:,} of {sampling.nodes:,} nodes are scored for each placement"


def _run_rows(report: SimulateReport, look: Look) -> Iterator[Part]:
    """One row per run with the pods of each constraint's domains, where runs differ; with many runs, those with the
    greatest and smallest skew.
    """
    if report.runs is None or len({(run.placed, run.skew) for run in report.runs.each}) == 1:
        return
    shown, between = _extreme_runs(report.runs.each)
    columns = [
        Laid("SEED", ["none" if run.seed is None else str(run.seed) for run in shown], is_number=True),
        Laid("PLACED", [str(run.placed) for run in shown], is_number=True),
        *(
            Laid(f"{letter(place)} {short_key(constraint.topology_key)}", [_run_outcome(run, place) for run in shown])
            for place, constraint in enumerate(report.constraints)
        ),
    ]
    runs = laid_out(columns, look, "run")
    yield replace(runs, rows=[[Sentence(line, HANGING)] for (line,) in runs.rows])
    if between:
        yield [Cell(f"{INDENT}and {count_of(between, 'run')} between these")]


def _extreme_runs(runs: Sequence[Run]) -> tuple[Sequence[Run], int]:
    if len(runs) <= _MAX_RUNS:
        return runs, 0
    ordered = sorted(runs, key=lambda run: tuple(-skew for skew in run.skew))
    return [*ordered[: _MAX_RUNS // 2], *ordered[-_MAX_RUNS // 2 :]], len(runs) - _MAX_RUNS


def _run_outcome(run: Run, place: int) -> str:
    domains = run.domains[place]
    return f"{_figures(domains)}, skew {run.skew[place]}" if domains else ""
