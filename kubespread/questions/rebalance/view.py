"""A plan: constraints before and after, a row an eviction, what to type so that it happens, and what else would do.

Commands are never folded, so that they can be copied.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from shlex import quote

from msgspec.structs import replace

from kubespread.escaping import escaped
from kubespread.questions.map.report import TopologyMap
from kubespread.questions.rebalance.report import (
    DeschedulerReport,
    DeschedulerRound,
    EvictionStep,
    RebalancedConstraint,
    RebalanceReport,
    ScaleDown,
)
from kubespread.reports.parts import letter
from kubespread.views.constraints import PRETTY
from kubespread.views.lines import cut_middle, line_width
from kubespread.views.look import Cell, Line, Look, Part, Tone
from kubespread.views.sheet import NONE, Column, Readers, Sheet, count
from kubespread.views.terminal import (
    GAP,
    INDENT,
    Laid,
    aim,
    fitted,
    flowed,
    folded,
    laid_out,
    left_out,
    room_beside,
    tabled,
)
from kubespread.views.view import Bar, Bars, Frame, Tile, View, about, whose
from kubespread.wording import EMPTY, count_of, short_key, some_of

_MAX_STEPS = 20
_MAX_ASKED = 3
_LEAST_NAME = 12
_LONGEST_DOMAIN, _SHORT_DOMAIN = 14, 8
_HOSTNAME = "hostname"
_MAX_CONSTRAINTS, _MAX_DOMAINS, _MAX_WORKLOADS = 10, 6, 2
_LONGEST_NAME = 24
_GUTTER = "   "
_MARGIN = len(INDENT) + 3 * len(_GUTTER)
_MAX_COMMANDS = 10
_MAX_SCALE_DOWNS = 2
_FUNCTION = """\
evict() {
  printf '{"apiVersion": "policy/v1", "kind": "Eviction",
    "metadata": {"namespace": "%s", "name": "%s"}}' "$1" "$2" |
    kubectl create --raw "/api/v1/namespaces/$1/pods/$2/eviction" -f - &&
    kubectl wait -n "$1" --for=delete "pod/$2" --timeout=10m
}"""
"""kubectl has no command for an eviction by itself, but it can post one."""
_COST = (
    'cost() { kubectl annotate pod -n "$1" --overwrite "$2" \\',
    '  controller.kubernetes.io/pod-deletion-cost="$3"; }',
)

_CONSTRAINT: Sequence[Column[RebalancedConstraint]] = (
    Column("KEY", lambda row: row.topology_key),
    count("MAX-SKEW", lambda row: row.max_skew),
    Column("WHENUNSATISFIABLE", lambda row: row.when_unsatisfiable),
    count("SKEW", lambda row: row.skew_before),
    count("SKEW-AFTER", lambda row: row.skew_after),
    Column("DOMAINS", lambda row: [f"{one.value or EMPTY}={one.before}>{one.after}" for one in row.domains]),
    Column("WORKLOADS", lambda row: row.workloads),
)


def _moved(step: EvictionStep) -> list[str]:
    return [
        f"{short_key(domain.topology_key)}={_domain(domain.before)}>{_domain(domain.after)}" for domain in step.domains
    ]


def _domain(value: str | None) -> str:
    return NONE if value is None else value or EMPTY


_STEP: Sequence[Column[EvictionStep]] = (
    count("STEP", lambda step: step.number),
    Column("POD", lambda step: step.pod),
    Column("NODE", lambda step: step.node),
    Column("LANDS-ON", lambda step: step.lands_on),
    Column("DOMAINS", _moved),
    Column("WAITS-FOR", lambda step: step.waits_for),
    Column("WORKLOAD", lambda step: step.workload),
)
_COMMAND: Sequence[Column[tuple[EvictionStep, str]]] = (
    count("STEP", lambda row: row[0].number),
    Column("COMMAND", lambda row: row[1]),
)
_SCALE_DOWN: Sequence[Column[ScaleDown]] = (
    Column("WORKLOAD", lambda row: row.workload),
    count("REPLICAS", lambda row: row.replicas),
    count("REPLICAS-AFTER", lambda row: row.replicas_after),
    Column("DELETE-FIRST", lambda row: [marked.pod for marked in row.pods]),
)
_ROUND: Sequence[Column[DeschedulerRound]] = (
    count("ROUND", lambda row: row.number),
    count("EVICTED", lambda row: len(row.evicted)),
    count("HELD", lambda row: sum(staying.pods for staying in row.held)),
    Column(
        "PENDING", lambda row: row.pending, is_number=True, tone=lambda row: Tone.BAD if row.pending else Tone.PLAIN
    ),
    Column("VIOLATED", lambda row: row.violated, tone=lambda row: Tone.BAD if row.violated else Tone.GOOD),
)


def view(report: RebalanceReport) -> View:
    """Constraints before and after, the evictions, the alternatives, and the descheduler's rounds."""
    kinds = "hard and soft" if report.soft else "hard"
    violated = f"{report.violated_before} of {count_of(report.constraints_in_force, f'{kinds} constraint')} violated"
    tone = Tone.BAD if report.violated_after else Tone.GOOD
    return View(
        **about(report),
        title=f"Rebalancing {whose(report, report.workloads)}, {count_of(report.nodes, 'node')}: {violated}",
        sheets=[
            Sheet(title="Constraints", columns=_CONSTRAINT, rows=report.constraints, readers=Readers.PIPES),
            Sheet(
                title="Evictions",
                columns=_STEP,
                rows=report.steps,
                is_answer=True,
                frames=lambda step: (step.number, None),
            ),
            Sheet(
                title="Commands",
                columns=_COMMAND,
                readers=Readers.PAGES,
                is_detail=True,
                frames=lambda row: (row[0].number, None),
                rows=[(step, command) for step in report.steps for command in step.commands],
            ),
            Sheet(title="Scale-downs", columns=_SCALE_DOWN, rows=report.scale_downs, readers=Readers.PIPES),
            Sheet(
                title="Rounds of the descheduler",
                columns=_ROUND,
                readers=Readers.PIPES,
                rows=() if report.descheduler is None else report.descheduler.rounds,
            ),
        ],
        names=[step.pod for step in report.steps],
        answer_tone=Tone.GOOD if report.holds else Tone.BAD,
        parts=lambda look: _parts(report, look),
        tiles=[
            Tile("constraints violated", f"{report.violated_before} → {report.violated_after}", tone),
            Tile("evictions", f"{len(report.steps):,}"),
            Tile("wait for a budget", f"{report.waits:,}", Tone.WARN if report.waits else Tone.PLAIN),
            Tile("constraints in force", f"{report.constraints_in_force:,}"),
        ],
        bars=[_bars(constraint, report.steps) for constraint in report.constraints],
        frames_on=lambda drawn: _frames(report, drawn),
    )


def _frames(report: RebalanceReport, drawn: TopologyMap) -> Iterator[Frame]:
    """One frame per eviction: one pod fewer at its old node, one more at its replacement's."""
    now = Counter({node.name: node.pods for node in drawn.nodes})
    for step in report.steps:
        now[step.node] -= 1
        now[step.lands_on] += 1
        text = f"{step.pod} leaves {step.node}, its replacement is on {step.lands_on}"
        yield Frame(f"step {step.number}", text, {node: max(0, now[node]) for node in (step.node, step.lands_on)})


def _bars(constraint: RebalancedConstraint, steps: Sequence[EvictionStep]) -> Bars:
    limit = f" > {constraint.max_skew}" if not constraint.holds_after else f" ≤ {constraint.max_skew}"
    label = f"{short_key(constraint.topology_key)} {constraint.when_unsatisfiable} · {constraint.selector}"
    bars = [
        Bar(domain.value or EMPTY, domain.before, domain.after, f"{domain.before} → {domain.after}")
        for domain in constraint.domains
    ]
    moves = Counter(
        (domain.before or EMPTY, domain.after or EMPTY)
        for step in steps
        if step.workload in constraint.workloads
        for domain in step.domains
        if domain.topology_key == constraint.topology_key and None not in (domain.before, domain.after)
    )
    title = f"{label} · skew {constraint.skew_before} → {constraint.skew_after}{limit}"
    return Bars(title, bars, is_beside=True, moves={move: pods for move, pods in moves.items() if len({*move}) > 1})


def _parts(report: RebalanceReport, look: Look) -> Iterator[Part]:
    """In full every step and command."""
    yield from _constraint_lines(report, look)
    if report.steps:
        shown = report.steps if look.in_full else report.steps[:_MAX_STEPS]
        yield laid_out(_laid(shown, look), look, "eviction")
        yield from left_out(len(report.steps) - len(shown), "eviction")
        yield from _evictions(report, look)
    yield from _deletion_costs(report, look)
    if report.descheduler is not None:
        yield from _rounds(report.descheduler, report, look)


def _laid(steps: Sequence[EvictionStep], look: Look) -> list[Laid]:
    keys = dict.fromkeys(change.topology_key for step in steps for change in step.domains)
    # Nodes lose what all of them share, whichever column they are in.
    nodes = [escaped(step.node) for step in steps], [escaped(step.lands_on) for step in steps]
    pods = [escaped(step.pod.called) for step in steps]
    names = {
        "EVICT": (pods, pods),
        "FROM": (nodes[0], [*nodes[0], *nodes[1]]),
        "LANDS ON": (nodes[1], [*nodes[1], *nodes[0]]),
    }
    needed = [Laid(header, texts).width for header, (texts, _) in names.items()]
    number = Laid("STEP", [str(step.number) for step in steps], True)
    waits = Laid("WAITS FOR", [step.waits_for or "" for step in steps])
    others, room = list[Laid](), 0
    for longest in (_LONGEST_DOMAIN, _SHORT_DOMAIN):
        # The node's name already tells its hostname.
        others = [_moves(key, steps, longest) for key in keys if short_key(key) != _HOSTNAME]
        others += [waits] if any(step.waits_for for step in steps) else []
        room = room_beside((number, *others), look) - 3 * GAP
        if sum(needed) <= room:
            break
    widths = (max(width, _LEAST_NAME) for width in _shared(needed, room))
    named = [
        Laid(header, fitted(among, width)[: len(steps)])
        for (header, (_, among)), width in zip(names.items(), widths, strict=True)
    ]
    return [number, *named, *others]


def _shared(widths: Sequence[int], room: int) -> list[int]:
    """Divide the room among columns of these widths: what narrow columns leave goes to the others."""
    shares, available = [0] * len(widths), room
    for done, place in enumerate(sorted(range(len(widths)), key=widths.__getitem__)):
        shares[place] = min(widths[place], available // (len(widths) - done))
        available -= shares[place]
    return shares


def _moves(key: str, steps: Sequence[EvictionStep], longest: int) -> Laid:
    """``…a → …c``: domains without what all of them share, which the constraints above name in full."""
    changes = [next((domain for domain in step.domains if domain.topology_key == key), None) for step in steps]
    values = [value for change in changes if change is not None for value in (change.before, change.after) if value]
    names = list(dict.fromkeys(map(escaped, values)))
    short = dict(zip(names, fitted(names, longest), strict=True))
    pairs = (() if change is None else (change.before, change.after) for change in changes)
    return Laid(
        short_key(key).upper(),
        [" → ".join("none" if name is None else short.get(escaped(name), EMPTY) for name in pair) for pair in pairs],
    )


def _rounds(descheduler: DeschedulerReport, report: RebalanceReport, look: Look) -> Iterator[Part]:
    yield folded(Cell(f"The descheduler with {descheduler.policy}, round by round:", Tone.STRONG), indent="")
    *others, violated = _ROUND
    of_all = replace(violated, text=lambda row: f"{row.violated} of {report.constraints_in_force}")
    yield tabled([*others, of_all], descheduler.rounds, look)
    reasons = dict.fromkeys(staying.why for one in descheduler.rounds for staying in one.held)
    if reasons:
        yield folded(Cell(f"held: {', '.join(reasons)}", Tone.FAINT))


def _constraint_lines(report: RebalanceReport, look: Look) -> Iterator[Line]:
    """One paragraph per violated constraint, with many first those that stay violated."""
    violated = [
        (place, constraint)
        for place, constraint in enumerate(report.constraints)
        if not (constraint.held_before and constraint.holds_after)
    ]
    shown = violated
    if not look.in_full and len(violated) > _MAX_CONSTRAINTS:
        shown = sorted(violated, key=lambda item: (item[1].holds_after, item[0]))[:_MAX_CONSTRAINTS]
    for place, constraint in shown:
        head, counts = _head(letter(place), constraint), _counts(constraint)
        if sum(map(line_width, (*head, *counts))) <= aim(look) - _MARGIN:
            yield from flowed([*head, *counts], look, gutter=_GUTTER)
        else:
            yield from flowed(head, look, gutter=_GUTTER)
            yield from flowed(counts, look, gutter=_GUTTER, indent=" " * 5)
    yield from left_out(len(violated) - len(shown), "constraint")


def _head(name: str, constraint: RebalancedConstraint) -> Sequence[Line]:
    workloads = some_of([workload.called for workload in constraint.workloads], _MAX_WORKLOADS)
    default = "" if constraint.source == "pod" else f"  {constraint.source} default"
    return [
        [
            Cell(f"{name}  {short_key(constraint.topology_key)} ≤ {constraint.max_skew}"),
            Cell(f"  {constraint.when_unsatisfiable}{default}", Tone.FAINT),
        ],
        [Cell(workloads)],
    ]


def _counts(constraint: RebalancedConstraint) -> Sequence[Line]:
    before = _skew(constraint, after=False)
    skew = [before] if constraint.steady else [before, Cell(", then "), _skew(constraint, after=True)]
    return [[Cell(_domains(constraint))], skew]


def _domains(constraint: RebalancedConstraint) -> str:
    """``a 4→2 · b 1→2``, or the extremes of many."""
    domains = constraint.domains
    if len(domains) <= _MAX_DOMAINS:
        return " · ".join(
            f"{cut_middle(domain.value or EMPTY, _LONGEST_NAME)} {_change(domain.before, domain.after)}"
            for domain in domains
        )
    extremes = [
        f"{min(counts)} to {max(counts)}"
        for counts in ([domain.before for domain in domains], [domain.after for domain in domains])
    ]
    key = short_key(constraint.topology_key)
    return f"{len(domains):,} {key}s with {', then '.join(dict.fromkeys(extremes))} pods"


def _change(before: int, after: int) -> str:
    return str(before) if before == after else f"{before}→{after}"


def _skew(constraint: RebalancedConstraint, *, after: bool) -> Cell:
    """``4−0 = 4 > 1``; the comparison only where it is violated."""
    skew = constraint.skew_after if after else constraint.skew_before
    minimum = constraint.minimum_after if after else constraint.minimum_before
    holds = constraint.holds_after if after else constraint.held_before
    text = f"{skew + minimum}{PRETTY.minus}{minimum}{PRETTY.equals}{skew}"
    return Cell(text, Tone.GOOD) if holds else Cell(f"{text}{PRETTY.exceeds}{constraint.max_skew}", Tone.BAD)


def _evictions(report: RebalanceReport, look: Look) -> Iterator[Line]:
    """A shell function that evicts through the API, and the steps, each waiting until its workload is whole again."""
    heading = "To carry it out, one step after another (evictions respect budgets, kubectl delete would not):"
    yield folded(Cell(heading, Tone.STRONG), indent="")
    yield from ([Cell(f"{INDENT}{line}")] for line in _FUNCTION.split("\n"))
    shown = report.steps if look.in_full else report.steps[:_MAX_COMMANDS]
    for step in shown:
        yield [Cell(f"{INDENT}evict {quote(step.pod.namespace)} {quote(step.pod.name)} &&")]
        yield [Cell(f"{INDENT}{INDENT}{step.commands[-1]}")]
    yield from _more(len(report.steps) - len(shown), "eviction")


def _deletion_costs(report: RebalanceReport, look: Look) -> Iterator[Line]:
    """Instead of evictions: the order in which a scale-down should delete pods."""
    shown = report.scale_downs if look.in_full else report.scale_downs[:_MAX_SCALE_DOWNS]
    for row in shown:
        heading = (
            f"Or scale down: marked like this, {row.workload.called} loses pods of the fullest domains first, and its "
            f"constraints hold at {count_of(row.replicas_after, 'replica')} of {row.replicas}:"
        )
        yield folded(Cell(heading, Tone.STRONG), indent="")
        yield from ([Cell(f"{INDENT}{line}")] for line in (_COST if row is shown[0] else ()))
        pods = row.pods if look.in_full else row.pods[:_MAX_COMMANDS]
        for marked in pods:
            named = f"{quote(marked.pod.namespace)} {quote(marked.pod.name)}"
            yield [Cell(f"{INDENT}cost {named} {marked.deletion_cost}")]
        yield from _more(len(row.pods) - len(pods), "pod")
    yield from _more(len(report.scale_downs) - len(shown), "scale-down")


def _more(hidden: int, what: str) -> Iterator[Line]:
    if hidden:
        yield [Cell(f"{INDENT}# {count_of(hidden, f'more {what}')} (--full)", Tone.FAINT)]
