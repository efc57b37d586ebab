"""The data behind rejections: each kind of reason by example, and that its numbers are those the filter used."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kubespread.kube.quantity import parse, shorten
from kubespread.scheduler.causes import Cause, Causes, PodCountDetail, ResourceDetail
from kubespread.scheduler.evaluation import evaluate, evaluate_prepared
from kubespread.scheduler.framework import Framework
from kubespread.scheduler.plugin import SchedulingError
from tests.scheduler.random_clusters import Question, World, changes, profiles, questions, visitors

Data = dict[str, Any]


@pytest.mark.parametrize(
    ("quantity", "down", "up"),
    [
        ("0", "0", "0"),
        ("1", "1", "1"),
        ("250m", "0.25", "0.25"),
        ("-500m", "-0.5", "-0.5"),
        ("12k", "12000", "12000"),
        ("1023", "1023", "1023"),
        ("1Ki", "1Ki", "1Ki"),
        ("1025Ki", "1Mi", "1.1Mi"),
        ("1535Mi", "1.4Gi", "1.5Gi"),
        ("-42380Ki", "-41.4Mi", "-41.3Mi"),
        ("1234567890", "1.2G", "1.3G"),
        ("2Ti", "2Ti", "2Ti"),
    ],
)
def test_amounts_for_people_never_flatter(quantity: str, down: str, up: str) -> None:
    assert (shorten(quantity), shorten(quantity, up=True)) == (down, up)


WITHOUT_DETAILS = {"PodTopologySpread"}


@given(profiles(), questions())
@settings(max_examples=150, deadline=None)
def test_details_say_what_the_reasons_say(plugins: Framework, question: Question) -> None:
    try:
        evaluation = evaluate(plugins, question.cluster, question.candidate)
    except SchedulingError:
        return
    told, cluster = evaluation.causes(), evaluation.cluster
    for place in range(len(cluster)):
        for status in evaluation.rejections(place):
            state = evaluation.states.get(status.plugin)
            behind = told[status.plugin].get(place, ())
            if state is None or status.plugin in WITHOUT_DETAILS or place in evaluation.prepared.nominated_kinds:
                assert behind == ()
                continue
            assert behind
            assert [msgspec.convert(msgspec.to_builtins(each), type=Cause) for each in behind] == list(behind)
            if status.plugin == "NodeResourcesFit":
                assert reasons_of(behind) == set(status.reasons)
    for name, of_nodes in told.items():
        rejecting = {
            place for place in range(len(cluster)) for each in evaluation.rejections(place) if each.plugin == name
        }
        assert set(of_nodes) <= rejecting


@given(profiles(), questions(), st.data())
@settings(max_examples=80, deadline=None)
def test_causes_follow_changes_and_do_not_depend_on_which_nodes_are_asked_about(
    plugins: Framework, question: Question, data: st.DataObject
) -> None:
    world, cluster = World(question), question.cluster
    change = data.draw(changes(world, visitors(question), 0))
    after = cluster.apply(change)
    try:
        followed = plugins.prepare(cluster, question.candidate).carry_over(after, cluster.moves(change))
        evaluation = evaluate(plugins, after, question.candidate)
    except SchedulingError:
        return
    assert evaluate_prepared(followed).causes() == evaluation.causes()
    for name, by_node in evaluation.causes().items():
        some = data.draw(st.permutations(sorted(by_node)))[:2]
        if some:
            asked = evaluation.states[name].causes(after, np.array(some, dtype=np.intp))
            assert list(asked) == [by_node[node] for node in some]


def reasons_of(shortages: Causes) -> set[str]:
    """kube-scheduler's reasons for what is short, each of which has to be short by its own numbers."""
    reasons = set()
    for each in shortages:
        match each:
            case ResourceDetail(resource=resource, requested=requested, free=free, allocatable=allocatable):
                assert parse(free).nano < parse(requested).nano
                assert parse(free).nano <= parse(allocatable).nano
                reasons.add(f"Insufficient {resource}")
            case PodCountDetail(running=running, allowed=allowed):
                assert running >= allowed
                reasons.add("Too many pods")
    return reasons
