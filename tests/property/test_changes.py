"""Whatever happens to a cluster: what follows it equals what is prepared anew on a cluster built from the objects that result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from kubespread.kube.api.core import Pod
from kubespread.scheduler.cluster.cluster import Cluster, ClusterChange
from kubespread.scheduler.cluster.running import Moves
from kubespread.scheduler.evaluation import evaluated
from kubespread.scheduler.framework import Framework, Prepared
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
        before = everything(evaluated(prepared))
        change = data.draw(changes(world, others, step))
        moves = cluster.moves(change)
        after = cluster.after(change)
        followed = prepared.after(after, moves)
        assert everything(evaluated(prepared)) == before
        rebuilt = Prepared(plugins, world.anew(), candidate)
        assert everything(evaluated(followed)) == everything(evaluated(rebuilt))
        latest[0] = after
        placing = following(placing, plugins, candidate, latest, change, moves)
        assert everything(placing.evaluation()) == everything(evaluated(rebuilt))
        fresh = Placing(plugins.prepare(world.anew(), candidate))
        assert outcome(placing) == outcome(fresh)
        if (choice := outcome(placing)) is not None and not isinstance(choice, str) and data.draw(st.booleans()):
            placing.place(choice.node)
            world.place(candidate, choice.node)
            own = ClusterChange(come=[(candidate, choice.node)])
            followed = followed.after(after.after(own), after.moves(own))
            after = latest[0] = after.after(own)
            assert everything(placing.evaluation()) == everything(evaluated(Prepared(plugins, world.anew(), candidate)))
        cluster, prepared = after, followed


def following(
    placing: Placing, plugins: Framework, candidate: Pod, latest: Sequence[Cluster], change: ClusterChange, moves: Moves
) -> Placing:
    """``latest`` holds the cluster as it is at any time."""
    if touches_nodes(change):
        return Placing(plugins.prepare(latest[0], candidate), now=lambda: latest[0])
    placing.answers.follow(lambda: latest[0], latest[0].running.taken, moves.node)
    placing.follow(moves)
    return placing


def outcome(placing: Placing) -> Any:
    try:
        return placing.choose(first_in_heap)
    except SchedulingError as error:
        return str(error)
