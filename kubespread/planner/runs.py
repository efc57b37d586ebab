"""What several runs of one simulation come to, and how much of the cluster each of them looked at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median_low

from kubespread.planner.entries import Outcome
from kubespread.planner.manner import Manner, Way
from kubespread.planner.reports.runs import DomainRange, Range, Run, Runs, Sampling
from kubespread.planner.skew import skew_now
from kubespread.scheduler.sampling import SearchRules


def sampling(shown: Outcome, rules: SearchRules, way: Way) -> Sampling | None:
    """None where kube-scheduler looks at every node."""
    enough = rules.enough(shown.listed)
    if enough is None or not shown.listed:
        return None
    return Sampling(nodes=shown.listed, enough=enough, start=way.start)


def sampling_not_modelled(sampled: Sampling | None, manner: Manner, *, is_rollout: bool) -> Iterator[str]:
    """What nobody can foretell of sampled nodes."""
    if sampled is not None and sampled.start is not None:
        yield (
            "sampling: kube-scheduler's parallel workers look at some nodes more than it needs, so that the next "
            "search begins a little further on"
        )
    if manner.sample and is_rollout:
        yield "sampling: rollouts are played with all nodes that fit scored"


def sampling_notes(sampled: Sampling | None, manner: Manner, listed: int) -> Iterator[str]:
    """Where there is nothing to sample among the nodes that are ``listed``."""
    if manner.sample and sampled is None and listed:
        nodes = "the only node" if listed == 1 else f"all {listed} nodes"
        yield f"sampling: kube-scheduler looks at {nodes}, so there is nothing to sample"


def runs_report(ways: Sequence[Way], outcomes: Sequence[Outcome]) -> Runs:
    each = tuple(map(_run, ways, outcomes))
    constraints = list(zip(*(outcome.after for outcome in outcomes), strict=True))
    distribution = tuple(
        tuple(
            DomainRange(value=domains[0].value, after=_range([domain.matching for domain in domains]))
            for domains in zip(*(constraint.domains for constraint in runs), strict=True)
        )
        for runs in constraints
    )
    return Runs(
        count=len(outcomes),
        placed=_range([run.placed for run in each]),
        distribution=distribution,
        skew=tuple(_range([run.skew[place] for run in each]) for place in range(len(constraints))),
        each=each,
    )


def _run(way: Way, outcome: Outcome) -> Run:
    return Run(
        seed=way.seed,
        start=way.start,
        placed=len(outcome.choices),
        skew=tuple(map(skew_now, outcome.after)),
        domains=tuple(tuple(domain.matching for domain in constraint.domains) for constraint in outcome.after),
    )


def _range(figures: Sequence[int]) -> Range:
    return Range(minimum=min(figures), median=median_low(figures), maximum=max(figures))
