"""Workloads of kinds whose controllers are not known here, through time: their pods are kept as a ReplicaSet's are."""

from __future__ import annotations

from pathlib import Path

import pytest

import kubespread
from kubespread.errors import UsageError
from tests.builders import Data, hard, hosts, pod
from tests.questions.test_play import scenario, told, write

ZONE = "topology.kubernetes.io/zone"


def foreign(api_version: str, kind: str, replicas: int = 4) -> Data:
    """A workload ``roll`` over the zones."""
    labels = {"app": "roll"}
    template = {"metadata": {"labels": labels}, "spec": pod(constraints=[hard(ZONE, match=labels)])["spec"]}
    own = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template}
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "roll", "namespace": "default"}, "spec": own}


ROLLOUT = foreign("argoproj.io/v1alpha1", "Rollout")
THING = foreign("example.com/v1", "Thing")
SAID = "{}/roll is not a controller that is modeled: its pods are kept as those of a ReplicaSet are"
HOSTS = hosts("a", "a", "b", "b")

CASES: dict[str, tuple[Data, list[str], list[str]]] = {
    "an Argo Rollout's pods are made again where a node is drained": (
        ROLLOUT,
        ["drain n0"],
        ["4/0/0/0 0->0", "1/1/0/0 0->0"],
    ),
    "so are those of a kind that nobody knows": (THING, ["drain n0"], ["4/0/0/0 0->0", "1/1/0/0 0->0"]),
    "and where a zone is lost, as far as the constraint lets them": (
        THING,
        ["fail zone=a"],
        ["4/0/0/0 0->0", "0/2/0/2 0->2"],
    ),
    "a deleted pod comes back": (THING, ["delete-pods app=roll"], ["4/0/0/0 0->0", "4/4/0/0 0->0"]),
    "it is scaled up": (ROLLOUT, ["scale Rollout/roll=6"], ["4/0/0/0 0->0", "2/0/0/0 0->0"]),
    "and down": (ROLLOUT, ["scale Rollout/roll=2"], ["4/0/0/0 0->0", "0/2/0/0 0->0"]),
    "pods may stay unready": (THING, ["stuck Thing/roll", "drain n0"], ["4/0/0/0 0->0", "0/0/0/0", "1/1/0/0 0->0"]),
}


@pytest.mark.parametrize("case", CASES)
def test_what_becomes_of_them(case: str) -> None:
    workload, steps, expected = CASES[case]
    report = kubespread.plan(kubespread.Snapshot.from_objects(HOSTS), steps, manifests=[workload])
    assert [told(step) for step in report.steps] == expected
    assert SAID.format(workload["kind"]) in report.steps[0].notes


@pytest.mark.parametrize("step", ["rollout Rollout/roll", "rollback Rollout/roll", "rollout Rollout/roll cpu=1"])
def test_how_their_controllers_replace_pods_is_not_known(step: str) -> None:
    with pytest.raises(UsageError, match="how the controller of a Rollout replaces pods is not modeled"):
        kubespread.plan(kubespread.Snapshot.from_objects(HOSTS), step, manifests=[ROLLOUT])


def test_applied_again_they_have_another_number_of_pods(tmp_path: Path) -> None:
    steps = [
        f"apply {write(tmp_path / f'{replicas}.json', foreign('example.com/v1', 'Thing', replicas))}"
        for replicas in (4, 2)
    ]
    report = kubespread.plan(kubespread.Snapshot.from_objects(HOSTS), scenario(*steps))
    assert [told(step) for step in report.steps] == ["4/0/0/0 0->0", "0/2/0/0 0->0"]
