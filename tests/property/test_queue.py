"""A queue whose pods share what plugins say places each where kube-scheduler would on a cluster built anew for it."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from kubespread.candidate.sources import Surroundings
from kubespread.kube.api.core import Pod
from kubespread.kube.owners import priority_of
from kubespread.questions.queue import Entry, run
from kubespread.scheduler.cluster.nodes import SearchResult
from kubespread.scheduler.evaluation import evaluate
from kubespread.scheduler.framework import Framework
from kubespread.scheduler.placing import first_in_heap
from kubespread.scheduler.plugin import SchedulingError
from kubespread.snapshot.snapshot import Snapshot
from tests.candidate.objects import from_object
from tests.scheduler.random_clusters import Question, World, plain_candidates, profiles, questions


def one_by_one(profile: Framework, world: World, pods: Sequence[Pod], counts: Sequence[int]) -> list[list[int]]:
    """The nodes of each pod's copies; every copy is judged on a cluster that is built for it alone."""
    nodes = [list[int]() for _ in pods]
    waiting = sorted(range(len(pods)), key=lambda number: -priority_of(pods[number]))
    progress = True
    while progress:
        progress = False
        for number in waiting:
            while len(nodes[number]) < counts[number] and (node := best(profile, world, pods[number])) is not None:
                nodes[number].append(node)
                world.place(pods[number], node)
                progress = True
    return nodes


def best(profile: Framework, world: World, pod: Pod) -> int | None:
    cluster = world.anew()
    try:
        evaluation = evaluate(profile, cluster, pod)
    except SchedulingError:
        return None
    if evaluation.error is not None or not evaluation.feasible.any():
        return None
    total = evaluation.total
    highest = total[evaluation.feasible].max()
    equals = (evaluation.feasible & (total == highest)).nonzero()[0]
    return first_in_heap(cluster, SearchResult(evaluation.feasible), equals)


@given(profiles(), questions(), st.data())
@settings(max_examples=35, deadline=None)
def test_a_queue_places_what_one_evaluation_after_another_would(
    profile: Framework, question: Question, data: st.DataObject
) -> None:
    surroundings = Surroundings(Snapshot(objects=question.objects))
    made = [from_object(data.draw(plain_candidates()), surroundings).pod for _ in range(data.draw(st.integers(1, 2)))]
    # Twice the same: they share everything.
    pods = [question.candidate, *made, msgspec.structs.replace(made[0])]
    counts = [data.draw(st.integers(1, 4)) for _ in pods]
    outcomes, full = run(
        question.cluster, [Entry(pod, profile, count) for pod, count in zip(pods, counts, strict=True)], first_in_heap
    )
    placed = [[choice.node for choice in outcome.choices] for outcome in outcomes]
    assert placed == one_by_one(profile, World(question), pods, counts)
    assert len(full.running) == len(question.cluster.running) + sum(map(len, placed))
