"""How much of the cluster a simulation looked at, and what several runs of it came to."""

from __future__ import annotations

from collections.abc import Sequence

from kubespread.planner.reports.parts import ConstraintReport, Report, letter
from kubespread.wording import short_key


class Sampling(Report, frozen=True):
    """A large cluster: kube-scheduler looks for nodes that fit only until it has found enough of them."""

    nodes: int
    """How many it would have to look at to see all."""
    enough: int
    """How many nodes that fit end the search."""
    start: int | None
    """Where in its list of nodes the search for the first pod began; each goes on where the last one ended. Null: all
    nodes that fit were scored.
    """


class Range(Report, frozen=True):
    """What a figure came to over several runs."""

    minimum: int
    """The least."""
    median: int
    """The one in the middle, the lower of two."""
    maximum: int
    """The most."""


class DomainRange(Report, frozen=True):
    value: str
    """What its nodes have as the label's value."""
    after: Range
    """Matching pods after the last placement."""


class Run(Report, frozen=True):
    """One run; its lists are in the order of ``constraints``, and of their domains."""

    seed: int | None
    """What ties were broken with at random; null when they went as ``ties`` says."""
    start: int | None
    """Where in kube-scheduler's list of nodes the search for the first pod began; null when all were scored."""
    placed: int
    """How many replicas found a node."""
    skew: tuple[int, ...]
    """Per constraint, after the last placement."""
    domains: tuple[tuple[int, ...], ...]
    """Per constraint and domain, the matching pods after the last placement."""


class Runs(Report, frozen=True):
    """Outcomes of several runs, which break ties at random or begin to look for nodes elsewhere."""

    count: int
    """How many runs."""
    placed: Range
    """How many replicas found a node."""
    distribution: tuple[tuple[DomainRange, ...], ...]
    """Per constraint, in the order of ``constraints``."""
    skew: tuple[Range, ...] = ()
    """Per constraint, in the order of ``constraints``."""
    each: tuple[Run, ...] = ()
    """Every run, in order."""


def runs_sentence(constraints: Sequence[ConstraintReport], runs: Runs) -> str:
    """What the runs come to: how many are placed, and the skew of every constraint."""
    are_seeded, are_sampled = (
        any(value is not None for value in values)
        for values in ([run.seed for run in runs.each], [run.start for run in runs.each])
    )
    how = [
        *(["ties broken at random"] if are_seeded else []),
        *(["sampling begun elsewhere" if are_seeded else "sampling begun evenly apart"] if are_sampled else []),
    ]
    skews = [
        f"{letter(place)} {short_key(constraint.topology_key)} skew {ranged(skew)}"
        for place, (constraint, skew) in enumerate(zip(constraints, runs.skew, strict=True))
    ]
    return "; ".join([f"{runs.count:,} runs, {', '.join(how)}: {ranged(runs.placed)} placed", *skews])


def ranged(figure: Range) -> str:
    """``1 to 4, median 2``; one number where all runs came to the same."""
    if figure.minimum == figure.maximum:
        return f"{figure.minimum:,}"
    return f"{figure.minimum:,} to {figure.maximum:,}, median {figure.median:,}"
