"""Whatever happens to a cluster: what follows it equals what is prepared anew on a cluster built from the objects that result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from kubespread.kube.api.core import Pod
from kubespread.scheduler.cluster.cluster import Cluster, ClusterChange
from kubespread.scheduler.cluster.running import Moves
from kubespread.scheduler.evaluation import evaluate_prepared
from kubespread.scheduler.framework import Framework, PreparedPod
from kubespread.scheduler.placing import Placing, first_in_heap
from kubespread.scheduler.plugin import SchedulingError
from tests.property.test_placing import everything
from tests.scheduler.random_clusters import Question, World, changes, profiles, questions, touches_nodes, visitors


@given(profiles(), questions(), st.data())
@settings(max_examples=50, deadline=None)
def test_states_that_follow_changes_equal_states_prepared_anew(
    plugins: Framework, question: Question, data: st.DataObject
) -> None:
    candidate, others = question.candidate, visitors(question)
    world, cluster = World(question), question.cluster
    latest = [cluster]
    try:
        prepared = plugins.prepare(cluster, candidate)
        placing = Placing(plugins.prepare(cluster, candidate), now=lambda: latest[0])
    except SchedulingError:
        return
    for step in range(data.draw(st.integers(1, 5))):
        before = everything(evaluate_prepared(prepared))
        change = data.draw(changes(world, others, step))
        moves = cluster.moves(change)
        after = cluster.apply(change)
        followed = prepared.carry_over(after, moves)
        assert everything(evaluate_prepared(prepared)) == before
        rebuilt = PreparedPod(plugins, world.anew(), candidate)
        assert everything(evaluate_prepared(followed)) == everything(evaluate_prepared(rebuilt))
        latest[0] = after
        placing = following(placing, plugins, candidate, latest, change, moves)
        assert everything(placing.evaluation()) == everything(evaluate_prepared(rebuilt))
        fresh = Placing(plugins.prepare(world.anew(), candidate))
        assert outcome(placing) == outcome(fresh)
        if (choice := outcome(placing)) is not None and not isinstance(choice, str) and data.draw(st.booleans()):
            placing.place(choice.node)
            world.place(candidate, choice.node)
            own = ClusterChange(added_pods=[(candidate, choice.node)])
            followed = followed.carry_over(after.apply(own), after.moves(own))
            after = latest[0] = after.apply(own)
            assert everything(placing.evaluation()) == everything(
                evaluate_prepared(PreparedPod(plugins, world.anew(), candidate))
            )
        cluster, prepared = after, followed


def following(
    placing: Placing, plugins: Framework, candidate: Pod, latest: Sequence[Cluster], change: ClusterChange, moves: Moves
) -> Placing:
    """``latest`` holds the cluster as it is at any time."""
    if touches_nodes(change):
        return Placing(plugins.prepare(latest[0], candidate), now=lambda: latest[0])
    placing.answers.follow(lambda: latest[0], latest[0].running.usage, moves.node)
    placing.follow(moves)
    return placing


def outcome(placing: Placing) -> Any:
    try:
        return placing.choose(first_in_heap)
    except SchedulingError as error:
        return str(error)
