"""How many changes are tried: fewer on large clusters, for many pods and for pods larger than any that people write."""

from __future__ import annotations

import pytest

from kubespread.kube.api.core import Container, Pod, PodSpec
from kubespread.kube.versions import LATEST
from kubespread.questions.remedies.families import Stuck
from kubespread.questions.remedies.search import most_trials
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.evaluation import evaluate
from kubespread.scheduler.profile.profile import Profile, framework
from kubespread.snapshot.snapshot import Snapshot
from tests.builders import node

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
    evaluation = evaluate(framework(Profile()), Cluster.of(snapshot.nodes, []), pod)
    assert most_trials(Stuck(evaluation, LATEST, lacking=pods)) == most
