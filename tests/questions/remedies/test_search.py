"""How many changes are tried: fewer on large clusters, for many pods and for pods larger than any that people write."""

from __future__ import annotations

import pytest

from kubespread.kube.api.core import Container, Pod, PodSpec
from kubespread.kube.versions import LATEST
from kubespread.questions.remedies.change import Answer, Change
from kubespread.questions.remedies.families import FAMILIES, StuckPod
from kubespread.questions.remedies.search import advice, most_trials
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.evaluation import evaluate
from kubespread.scheduler.profile.profile import Profile, framework
from kubespread.snapshot.snapshot import Snapshot
from tests.builders import node, pod, pods_on

CASES = {
    "one pod on ten nodes": (10, 1, 1, 600),
    "one pod on a thousand nodes": (1_000, 1, 1, 150),
    "one pod on the largest cluster": (10_000, 1, 1, 24),
    "a hundred replicas on a hundred nodes": (100, 100, 1, 136),
    "a pod of ten thousand containers": (10, 1, 10_000, 22),
}


@pytest.mark.parametrize("case", CASES)
def test_as_many_changes_are_tried_as_an_answer_can_wait_for(case: str) -> None:
    nodes, pods, containers, most = CASES[case]
    pod = Pod(spec=PodSpec(containers=[Container(name=f"c{at}", image="x") for at in range(containers)]))
    snapshot = Snapshot.from_objects([node(f"n{number}") for number in range(nodes)])
    evaluation = evaluate(framework(Profile()), Cluster.build(snapshot.nodes, []), pod)
    assert most_trials(StuckPod(evaluation, LATEST, lacking=pods)) == most


class NothingHelps:
    def ask(self, change: Change) -> Answer:
        return Answer(0)


COMBINED: dict[str, tuple[int, bool, int]] = {
    "one pod": (1, False, 480),
    "nine replicas": (9, False, 480),
    "ninety replicas": (90, False, 90),
    "nine replicas, each with claims of its own": (9, True, 90),
    "ninety replicas, each with claims of its own": (90, True, 9),
}
"""Replicas, whether they are told apart, and the combinations tried."""


@pytest.mark.parametrize("case", COMBINED)
def test_fewer_combinations_are_tried_of_more_pods_that_are_judged_one_by_one(case: str) -> None:
    lacking, are_distinct, tried = COMBINED[case]
    nodes = [node(f"n{number}", unschedulable=True, cpu="1") for number in range(9)]
    stuck_pod = pod(requests={"cpu": "2", "memory": "1Gi"}, nodeSelector={"pool": "x"})
    snapshot = Snapshot.from_objects([*nodes, *pods_on({f"n{number}": 1 for number in range(9)}), stuck_pod])
    evaluation = evaluate(framework(Profile()), Cluster.build(snapshot.nodes, snapshot.pods[:-1]), snapshot.pods[-1])
    stuck = StuckPod(evaluation, LATEST, lacking, are_distinct=are_distinct)
    found, _ = advice(stuck, FAMILIES, NothingHelps())
    alone, _ = advice(stuck, FAMILIES, NothingHelps(), combines=False)
    assert (found.enough, found.tried - alone.tried) == ((), tried)
    # Pairs and triples of 28 changes: what is not tried is counted.
    assert found.untried["combination"] + tried == 378 + 3276
