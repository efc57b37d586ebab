"""Simulations: where replicas land, one placement after another, and what stops them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from kubespread.planner.reports.simulate import SimulateReport, totals
from kubespread.views.accounts.rollouts import pass_frames, pods_at_start
from kubespread.views.accounts.spread import placed_bars
from kubespread.views.phrases import cluster_phrase
from kubespread.views.sheet import Row, Table, Tone
from kubespread.views.simulate.rows import MAX_REPLICAS
from kubespread.views.view import Bars, Frame, NodeFacts, View, beside, source
from kubespread.wording import count_of, short_key

_MAX_FRAMES = 200


def account(reports: Sequence[SimulateReport]) -> View:
    first = reports[0]
    is_one = len(reports) == 1
    return View(
        title=f"{first.subject} in {first.pod.namespace}" if is_one else f"{len(reports):,} workloads",
        provenance=source(cluster_phrase(first.cluster), first.kube_version, f"profile {first.scheduler_name}"),
        answer=first.answer if is_one else [totals(reports)],
        tone=Tone.GOOD if all(report.verdict == "yes" for report in reports) else Tone.BAD,
        bars=[bars for report in reports for bars in _bars(report, is_one=is_one)],
        tables=[_workloads(reports), *_placements(reports), *_losses(reports)],
        nodes=_nodes(reports),
        before=_before(reports),
        is_rollout=any(report.rollout is not None for report in reports),
        frames=list(_frames(reports)),
        beside=beside(reports),
    )


def _bars(report: SimulateReport, *, is_one: bool) -> Iterator[Bars]:
    whose = "" if is_one else f"{report.pod.namespace}/{report.subject} "
    for place, constraint in enumerate(report.constraints):
        made = placed_bars(constraint, place, report.distribution[place], report.skew[place])
        yield Bars(f"{whose}{made.title}", made.bars)


def _workloads(reports: Sequence[SimulateReport]) -> Table:
    rows = [
        Row(
            [
                report.pod.namespace,
                report.subject,
                MAX_REPLICAS if report.replicas is None else str(report.replicas),
                str(report.present),
                str(report.placed),
                str(report.pending),
                str(report.not_created),
                str(report.not_made_yet),
                report.conclusion or report.stopped or "",
            ],
            Tone.BAD if report.lacking else Tone.GOOD,
        )
        for report in reports
    ]
    header = (
        "Namespace", "Workload", "Wanted", "Running", "Placed", "Pending", "Not created", "Not made yet", "Why",
    )  # fmt: skip
    return Table("Workloads", header, rows)


def _placements(reports: Sequence[SimulateReport]) -> Iterator[Table]:
    rows = [
        Row([each.pod, each.node, str(each.total), str(each.ties)]) for report in reports for each in report.placements
    ]
    if rows:
        yield Table("Placements", ("Pod", "Node", "Score", "Nodes with that score"), rows, is_detail=True)
    preempted = [
        Row([each.pod, each.node, each.made_room_for, ", ".join(each.broken_budgets)], Tone.BAD)
        for report in reports
        for each in report.preempted
    ]
    if preempted:
        yield Table("Preempted pods", ("Pod", "Node", "For", "Budgets broken"), preempted)
    deleted = [Row([each.pod, each.node]) for report in reports for each in report.deleted]
    if deleted:
        yield Table("Deleted replicas", ("Pod", "Node"), deleted, is_detail=True)


def _losses(reports: Sequence[SimulateReport]) -> Iterator[Table]:
    rows = [
        Row([report.subject, short_key(key), loss.domain, str(loss.remaining), str(report.running)])
        for report in reports
        for key, loss in report.worst_loss.items()
        if report.running
    ]
    if rows:
        header = ("Workload", "Key", "Worst domain to lose", "Replicas left", "Of")
        yield Table("What the loss of a domain leaves", header, rows, is_detail=True)


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
    """The replicas that run before anything is placed or deleted, those that a rollout replaces among them."""
    before = Counter[str]()
    for report in reports:
        if report.rollout is not None:
            before.update(pods_at_start(report.rollout))
            continue
        for node in report.nodes:
            before[node.name] += node.present
        before.update(each.node for each in report.deleted)
    return dict(before)


def _frames(reports: Sequence[SimulateReport]) -> Iterator[Frame]:
    """Each placement, of very many some together, then the replicas that go, and each pass of a rollout."""
    now = Counter(_before(reports))
    yield from _placing([report for report in reports if report.rollout is None], now)
    for report in reports:
        for each in report.deleted:
            now[each.node] -= 1
            yield Frame(report.subject, f"{each.pod} deleted on {each.node}", {each.node: now[each.node]})
        if report.rollout is not None:
            yield from pass_frames(report.subject, report.rollout, now, tells_old=True)


def _placing(reports: Sequence[SimulateReport], now: Counter[str]) -> Iterator[Frame]:
    moves = [(report, each) for report in reports for each in report.placements]
    together = max(1, -(-len(moves) // _MAX_FRAMES))
    for start in range(0, len(moves), together):
        some = moves[start : start + together]
        now.update(each.node for _, each in some)
        last_report, last = some[-1]
        text = f"{last.pod} on {last.node}, score {last.total}"
        tied = f", one of {last.ties} nodes with it" if last.ties > 1 else ""
        more = f", and {len(some) - 1} before it" if len(some) > 1 else ""
        changed = {each.node: now[each.node] for _, each in some}
        yield Frame(last_report.subject, f"{text}{tied}{more}", changed)
