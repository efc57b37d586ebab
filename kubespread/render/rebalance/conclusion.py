"""What comes of a plan, in a few sentences, the answer last."""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.planner.reports.rebalance import DeschedulerReport, RebalanceReport
from kubespread.render.phrases import count_of, workload_name


def conclusion(report: RebalanceReport) -> Iterator[str]:
    """What stands in the way, what the descheduler does, and the answer."""
    if report.staying:
        pods = (f"{count_of(each.pods, 'pod')} {each.why}" for each in report.staying)
        yield f"never evicted: {', '.join(pods)}"
    for obstacle in report.obstacles:
        tried = count_of(obstacle.tried, "eviction")
        yield f"{', '.join(map(workload_name, obstacle.workloads[:3]))}: {tried} tried: {obstacle.why}"
    if report.descheduler is not None:
        yield _descheduler(report.descheduler)
    yield answer(report)


def answer(report: RebalanceReport) -> str:
    """The last line."""
    number = report.constraints_in_force
    if not number:
        return "nothing to do: no such constraint is in force"
    whole = "the constraint holds" if number == 1 else f"all {number:,} constraints hold"
    if not report.violated_before:
        return f"nothing to do: {whole}"
    waits = f", {report.waits} of which {'waits' if report.waits == 1 else 'wait'} for a budget" if report.waits else ""
    evictions = count_of(len(report.steps), "eviction")
    if report.holds:
        return f"{evictions}, {_fewest(report)}{waits}: then {whole}"
    stays = "stays" if report.violated_after == 1 else "stay"
    left = f"{'the constraint' if number == 1 else f'{report.violated_after} of {number:,}'} {stays} violated"
    proven = ", whatever is evicted in whatever order" if report.is_fewest else ""
    if report.steps:
        return f"no plan found for all constraints: {evictions}{waits}, then {left}{proven}"
    return f"no plan found: {left}{proven}"


def _fewest(report: RebalanceReport) -> str:
    if report.is_fewest:
        return "the fewest possible"
    return f"at most {len(report.steps) - report.at_least} more than the fewest possible"


def _descheduler(found: DeschedulerReport) -> str:
    rounds = count_of(len(found.rounds) - found.settles, "round")
    evictions = count_of(found.evictions, "eviction")
    result = "all constraints hold" if found.holds else _violated(found.rounds[-1].violated)
    if found.settles and not found.evictions:
        return f"the descheduler evicts nothing: {result}"
    if found.settles:
        return f"the descheduler rests after {rounds} and {evictions}: {result}"
    if found.repeats is not None:
        return f"the descheduler never rests: after {rounds} all is as after round {found.repeats} ({evictions} so far)"
    return f"the descheduler does not rest within {rounds} ({evictions} so far): {result}"


def _violated(number: int) -> str:
    return f"{count_of(number, 'constraint')} {'stays' if number == 1 else 'stay'} violated"
