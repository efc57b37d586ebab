"""An explanation: the verdict and its reasons, the constraints, then one row per node."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Annotated, Any

from msgspec import Struct
from msgspec.structs import replace

from kubespread.escaping import escape
from kubespread.questions.explain.report import ExplainReport, Fix, opening, summary
from kubespread.questions.explain.tables import MAX_NODES, NodeRow, NodeRows, node_table, rows_of, shown_nodes
from kubespread.reports.advice import Suggestion
from kubespread.reports.columns import Col, Fit, Readers
from kubespread.reports.judged_nodes import SPREAD_PLUGIN, NodeConstraint, NodeReport
from kubespread.reports.parts import ConstraintReport, CountedPod, letter
from kubespread.views.constraints import ASCII, PRETTY, constraint_lines, current_bars, formula, policies, score_steps
from kubespread.views.look import Cell, Look, Part, Rows, Sentence, Text, Tone
from kubespread.views.sheet import Column, Sheet, columns_of, count
from kubespread.views.terminal import fold, lay_table, remarks, shared_suffix, subject
from kubespread.views.view import NodeFacts, Tile, View, shared_fields, side_notes, source
from kubespread.wording import EMPTY, count_of, short_key


class _CountedPod(Struct, frozen=True):
    """A pod that counts in a domain of a constraint, as a row."""

    by: Annotated[str, Col()]
    """The constraint's letter."""
    domain: Annotated[str, Col(fit=Fit.NAMES)]
    pod: Annotated[str, Col(fit=Fit.NAMES)]
    owner: Annotated[str | None, Col()]
    node: Annotated[str, Col(fit=Fit.NAMES)]
    state: Annotated[str, Col()]


def view(report: ExplainReport) -> View:
    """Nodes with their arithmetic; reasons last, since they contain spaces."""
    if report.fix is not None:
        return _view_of_changes(report, report.fix)
    tone = Tone.GOOD if report.schedulable else Tone.BAD
    return View(
        title=f"Pod {report.pod.namespace}/{report.pod.name} against {count_of(len(report.nodes), 'node')}",
        provenance=_source(report),
        answer=report.statements,
        tone=tone,
        sheets_of=lambda: list(_sheets(report)),
        names=_fitting(report),
        picture=lambda look: _lines(report, look),
        tiles=[
            Tile("nodes fit", f"{len(report.feasible):,} of {len(report.nodes):,}", tone),
            Tile("constraints", f"{len(report.constraints):,}"),
        ],
        sentences=(lambda: _in_sentences(report)) if "nodes" in report.question else None,
        is_wide_on_terminals=True,
        bars=[current_bars(constraint, position) for position, constraint in enumerate(report.constraints)],
        nodes_of=lambda: _facts(report),
        beside=side_notes([report]),
    )


def _fitting(report: ExplainReport) -> Sequence[str]:
    """The feasible nodes in the report, best first."""
    shown = {node.name for node in report.nodes}
    return [name for name in report.feasible if name in shown]


def _sheets(report: ExplainReport) -> Iterator[Sheet[Any]]:
    rows = rows_of(report, report.nodes)
    yield Sheet(
        title="Nodes",
        columns=list(_columns(rows)),
        rows=rows.rows,
        readers=Readers.PIPES,
        tone=lambda row: Tone.GOOD if row.node.feasible else Tone.BAD,
    )
    counted = columns_of(_CountedPod)
    yield Sheet(title="Pods", columns=counted, rows=list(_counted_pods(report)), readers=Readers.COLUMNS)


def _columns(rows: NodeRows) -> Iterator[Column[NodeRow]]:
    yield Column("NODE", lambda row: row.node.name)
    for place, key in enumerate(rows.domains):
        yield Column(short_key(key).upper(), partial(_domain, place), Readers.PIPES)
    yield Column("FITS", lambda row: row.node.feasible)
    for place, (header, constraint) in enumerate(zip(_letters(rows), rows.arithmetic, strict=True)):
        title = f"{letter(place)} {short_key(constraint.topology_key)}"
        yield Column(header, partial(_formula, place), text=partial(_pretty, place), title=title)
    for place, plugin in enumerate(rows.scores):
        yield Column(plugin.upper(), partial(_score, place), Readers.WIDE)
    yield Column("SCORE", lambda row: row.node.total)
    yield Column("WHY-NOT", lambda row: row.why_not, text=lambda row: row.with_numbers)


def _domain(place: int, row: NodeRow) -> str | None:
    domain = row.domains[place]
    return None if domain is None else domain or EMPTY


def _formula(place: int, row: NodeRow) -> str:
    return row.arithmetic[place].text(ASCII)


def _pretty(place: int, row: NodeRow) -> str:
    return row.arithmetic[place].text(PRETTY)


def _score(place: int, row: NodeRow) -> str | None:
    detail = row.scores[place]
    return None if detail is None else score_steps(detail)


def _letters(rows: NodeRows) -> list[str]:
    """``A:ZONE<=1``."""
    return [
        f"{letter(position)}:{short_key(constraint.topology_key)}<={constraint.max_skew}".upper()
        for position, constraint in enumerate(rows.arithmetic)
    ]


def _counted_pods(report: ExplainReport) -> Iterator[_CountedPod]:
    """One row per pod and domain; none where the report does not name the pods.

    A constraint that counts the same pods as an earlier one has no rows: each pod is next to its node already.
    """
    listed = list[set[tuple[str, str]]]()
    for position, constraint in enumerate(report.constraints):
        names = {(pod.name, pod.node) for domain in constraint.domains for pod in domain.pods or ()}
        if names in listed:
            continue
        listed.append(names)
        for domain in constraint.domains:
            for pod in domain.pods or ():
                where = domain.value or EMPTY
                yield _CountedPod(letter(position), where, pod.name, pod.owner, pod.node, _state(pod))


def _lines(report: ExplainReport, look: Look) -> Iterator[Part]:
    suffix = shared_suffix([node.name for node in report.nodes]) if look.headers and look.width is not None else ""
    if report.nodes:
        tone = Tone.GOOD if report.schedulable else Tone.BAD
        yield fold(Cell(f"{report.word}{summary(report, suffix)}", tone), indent="", hanging=0)
    yield from _title(report, suffix, look)
    for sentence in opening(report):
        tone = Tone.WARN if report.waiting else Tone.PLAIN
        yield fold(Cell(sentence, tone), indent="")
    yield from remarks(report.statements[len(opening(report)) + 1 :])
    if look.headers:
        yield from constraint_lines(report.constraints, look.width)
    if report.nodes:
        shown = shown_nodes(report, most=len(report.nodes) if look.in_full else MAX_NODES)
        yield replace(node_table(rows_of(report, shown), suffix, look), hidden=len(report.nodes) - len(shown))
    if counted := list(_counted_pods(report)):
        yield []
        yield lay_table(columns_of(_CountedPod), counted, look)


def _title(report: ExplainReport, suffix: str, look: Look) -> Iterator[Sentence]:
    """The pod, the cluster and the scheduler; ``suffix`` is the shared end of the nodes' names, omitted in rows."""
    pod = f"{report.pod.namespace}/{report.pod.name}"
    nodes = f"{count_of(len(report.nodes), 'node')}{f' (*{suffix})' if suffix else ''}"
    question = [Cell("Pod "), Cell(pod, Tone.STRONG), Cell(f" against {nodes}")]
    return subject([question, [Cell(_source(report), Tone.FAINT)]], look) if look.headers else iter(())


def _source(report: ExplainReport) -> str:
    return source(report.cluster, report.kube_version, f"profile {report.scheduler_name}")


def _facts(report: ExplainReport) -> NodeFacts:
    nodes, _ = _sheets(report)
    return NodeFacts.from_sheet(nodes, _verdict, {Tone.GOOD: "fits", Tone.BAD: "does not fit"})


def _verdict(row: NodeRow) -> str:
    return "fits" if row.node.feasible else f"does not fit: {', '.join(row.short_reasons)}"


_INSIDE = 4
_SUMMARIES: Mapping[str, tuple[str, str]] = {
    "uncordon": ("uncordon", "node"),
    "untaint": ("untaint", "node"),
    "wait": ("wait for", "terminating pod"),
    "evict": ("evict", "pod"),
}
"""Verb and noun, by family."""


def _summary(suggestion: Suggestion) -> str:
    """The change in a few words, without the names of nodes and pods: its option has them."""
    of = f" of {len(suggestion.alternatives) + 1}" if suggestion.alternatives else ""
    if suggestion.family in _SUMMARIES and len(suggestion.options) == 1:
        verb, noun = _SUMMARIES[suggestion.family]
        return f"{verb} 1{of} {noun}{'s' if of else ''}"
    return suggestion.brief


def _with_options(suggestion: Suggestion) -> str:
    return ": ".join(filter(None, (_summary(suggestion), " ".join(suggestion.options))))


def _remarks(suggestion: Suggestion) -> tuple[str, ...]:
    """Notes on the change, and its consequences for other pods."""
    return (*suggestion.notes, *suggestion.consequences)


def _fits(suggestion: Suggestion) -> int:
    return (suggestion.nodes if suggestion.nodes is not None else suggestion.placed) or 0


_CHANGES: Sequence[Column[Suggestion]] = (
    Column("CHANGE", lambda row: row.change, Readers.RECORDS, tone=lambda _: Tone.STRONG),
    count("FITS", _fits),
    # Options are meant to be copied, so they are never cut.
    Column("CHANGE", _with_options, Readers.TERMINAL, fit=Fit.SENTENCE),
    Column("OPTIONS", lambda row: " ".join(row.options), Readers.RECORDS),
    Column("NOTES", lambda row: "; ".join(_remarks(row)), Readers.RECORDS),
    Column("COMMANDS", lambda row: "; ".join(row.commands), Readers.PAGES, is_command=True),
)


def _view_of_changes(report: ExplainReport, fix: Fix) -> View:
    """The smallest changes first, each with how to make it."""
    enough = report.advice.enough if report.advice is not None else ()
    changes_view = View(
        **shared_fields(report),
        title=_question_text(report, fix),
        bars=[
            current_bars(constraint, place)
            for place, constraint in enumerate(report.constraints if report.advice else ())
        ],
        sheets=[Sheet(title="Changes that suffice", columns=_CHANGES, rows=enough)],
        parts=lambda look: _changes(report, fix, enough, look),
        tiles=[
            Tile("changes suffice", f"{len(enough):,}", Tone.GOOD if enough else Tone.PLAIN),
            Tile("changes tried", f"{0 if report.advice is None else report.advice.tried:,}"),
        ],
    )
    return replace(
        changes_view,
        provenance=_source(report),
        answer=[*report.statements, *_why_not(report)],
        tone=Tone.GOOD if report.fits else Tone.WARN if enough else Tone.BAD,
    )


def _why_not(report: ExplainReport) -> Iterator[str]:
    """Yield kube-scheduler's message and the one cause, without repeating the answer; nothing if the pod fits."""
    for text in (report.message, report.conclusion):
        if text and (report.advice or not report.fits) and text not in report.statements[0]:
            yield text


def _question_text(report: ExplainReport, fix: Fix) -> str:
    pod = f"{report.pod.namespace}/{report.pod.name} against {count_of(len(report.nodes), 'node')}"
    if fix.replicas is None:
        return f"Pod {pod}"
    return f"{count_of(fix.replicas, 'replica')}{f' of {fix.workload}' if fix.workload else ''}, pod {pod}"


def _changes(report: ExplainReport, fix: Fix, enough: Sequence[Suggestion], look: Look) -> Iterator[Part]:
    """Show the changes that are enough, in full with the patch of each; options stay whole."""
    if look.headers and report.advice is not None:
        yield from constraint_lines(report.constraints, look.width)
    fits = "NODES" if fix.replicas is None else "PLACED"
    columns = [replace(column, short=fits) if column.header == "FITS" else column for column in _CHANGES]
    yield lay_table(columns, enough, look) if enough else Rows([], [])
    for suggestion in enough if look.in_full else enough[:1]:
        yield from _in_full(suggestion, look)


def _in_full(suggestion: Suggestion, look: Look) -> Iterator[Text]:
    """Its remarks and its patch, if it has any. Commands, to be copied, stay in one line."""
    inside = partial(fold, indent=" " * _INSIDE, hanging=_INSIDE + 2)
    others = suggestion.alternatives if look.in_full else ()
    if _remarks(suggestion) or suggestion.commands or others:
        yield fold(Cell(f"{suggestion.change}:", Tone.STRONG))
    for text in _remarks(suggestion):
        yield inside(text)
    yield from ([Cell(" " * _INSIDE + command)] for command in suggestion.commands)
    for other in others:
        yield inside(Cell(f"or {other}", Tone.FAINT))


def _in_sentences(report: ExplainReport) -> str:
    return "\n".join("".join(f"{escape(line)}\n" for line in _paragraph(report, node)) for node in report.nodes)


def _state(pod: CountedPod) -> str:
    return "terminating, not counted" if pod.terminating else "counted"


def _paragraph(report: ExplainReport, node: NodeReport) -> list[str]:
    pod = f"{report.pod.namespace}/{report.pod.name}"
    lines = [f"Node {node.name}: Pod {pod} {'fits' if node.feasible else 'does not fit'}"]
    for position, (constraint, spread) in enumerate(zip(node.constraints, report.constraints, strict=True)):
        lines.append(f"  {letter(position)}  {_constraint_in_full(constraint, spread)}")
        lines += [f"       {pod}" for pod in _counted_there(constraint, spread)]
    lines.append(f"  Verdict: {_verdict_in_full(node)}")
    rejections = {rejection.plugin: rejection for rejection in node.rejections}
    for plugin in report.filter_plugins:
        rejection = rejections.get(plugin)
        judgment = f"rejects ({rejection.code}): {', '.join(rejection.reasons)}" if rejection else "passes"
        lines.append(f"    {plugin:<22}{judgment}")
        lines += [f"      {detail.short}" for detail in (rejection.details if rejection else ())]
    if node.total is not None:
        lines.append(f"  Score: {_sum(node)}")
        lines += [f"    {share}" for share in _shares(report, node)]
    return lines


def _counted_there(constraint: NodeConstraint, about: ConstraintReport) -> list[str]:
    """The pods that the node's domain counts."""
    domain = next((domain for domain in about.domains if domain.value == constraint.domain), None)
    pods = domain.pods if domain is not None else None
    return [f"{pod.name} ({pod.owner or 'no owner'}) on {pod.node}, {_state(pod)}" for pod in pods or ()]


def _constraint_in_full(constraint: NodeConstraint, about: ConstraintReport) -> str:
    text = ", ".join((f"pods {about.selector}", *policies(about)))
    head = f"{about.topology_key} {about.when_unsatisfiable} maxSkew {about.max_skew} ({text}):"
    if constraint.domain is None:
        ending = "which a hard constraint requires" if about.is_hard else "so the constraint does not count for it"
        return f"{head} the node has no label {about.topology_key}, {ending}."
    where = f"domain {constraint.domain or '(empty value)'} has {count_of(constraint.matching or 0, 'matching pod')}"
    itself = "the pod itself adds 1" if constraint.self_match else "the pod itself does not match and adds 0"
    minimum = (
        "no domain is compared"
        if constraint.global_minimum is None
        else f"the least of all domains{'' if about.is_hard else ' where it fits'} is {constraint.global_minimum}"
    )
    skew = formula(constraint, PRETTY, rejects=False)
    if constraint.satisfied:
        outcome = f"within maxSkew {about.max_skew}"
    elif about.is_hard:
        outcome = f"more than maxSkew {about.max_skew}: rejected"
    else:
        outcome = f"more than maxSkew {about.max_skew}, which costs score and rejects nothing"
    return f"{head} {where}, {itself}, {minimum}; {skew}, {outcome}."


def _verdict_in_full(node: NodeReport) -> str:
    if node.feasible:
        return node.verdict.code
    if not node.verdict.code:
        return "no verdict: every scheduling cycle of the pod ends in an error"
    by = f" by {node.verdict.plugin}" if node.verdict.plugin else ""
    return f"{node.verdict.code}{by}: {', '.join(node.verdict.reasons)}"


def _sum(node: NodeReport) -> str:
    terms = " + ".join(f"{plugin} {score}" for plugin, score in node.scores.items())
    return f"{terms} = {node.total}" if terms else str(node.total)


def _shares(report: ExplainReport, node: NodeReport) -> list[str]:
    """Each soft constraint's part of the raw spread score; smaller is better."""
    return [
        f"{SPREAD_PLUGIN} raw, {letter(position)} {about.topology_key}: {share:.3f}"
        for position, (share, about) in enumerate(zip(node.spread_scores, report.constraints, strict=True))
        if share is not None
    ]
