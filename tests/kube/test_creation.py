"""What the API server makes of a pod, in its order."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

import kubespread
from kubespread.kube.admission.plugins import AdmissionPlugins, AdmissionResult, admit
from kubespread.kube.versions import LATEST
from tests.builders import hard, pod
from tests.kube.decoding import decode_pod

Data = dict[str, Any]

LIMITS: Data = {
    "apiVersion": "v1",
    "kind": "LimitRange",
    "metadata": {"name": "lr", "namespace": "default"},
    "spec": {"limits": [{"type": "Container", "default": {"memory": "1Gi"}}, {"type": "Pod", "max": {"cpu": "2"}}]},
}
HASHED: Data = pod(labels={"foo": "bar", "rev": "2"}, constraints=[hard(matchLabelKeys=["rev"])], requests={"cpu": "1"})


def admitted(candidate: Data, *objects: Data, version: str = "") -> AdmissionResult:
    known = kubespread.Snapshot.from_objects(objects).objects
    release = LATEST.parse(version) if version else LATEST
    return admit(decode_pod(candidate), release, known, AdmissionPlugins())


def requests(answer: AdmissionResult) -> Data:
    return answer.pod.spec.containers[0].resources.requests


def test_the_pod_that_is_sent_stays_as_it_is() -> None:
    sent = decode_pod(HASHED)
    before = deepcopy(sent)
    stored = admit(sent, LATEST, kubespread.Snapshot.from_objects([LIMITS]).objects, AdmissionPlugins()).pod
    assert sent == before != stored


@pytest.mark.parametrize(("version", "as_a_whole"), [("1.36", {"cpu": "1"}), ("1.37", {"cpu": "1", "memory": "1Gi"})])
def test_limits_are_filled_in_between_the_two_ways_to_default_what_the_pod_asks_for_as_a_whole(
    version: str, as_a_whole: Data
) -> None:
    answer = admitted(pod(resources={"limits": {"cpu": "2"}}, requests={"cpu": "1"}), LIMITS, version=version)
    pod_level = answer.pod.spec.resources
    assert pod_level is not None
    assert (requests(answer), pod_level.requests) == ({"cpu": "1", "memory": "1Gi"}, as_a_whole)
    assert answer.changes == ["LimitRange lr: container main gets limits.memory 1Gi, requests.memory 1Gi"]


def test_a_field_that_is_dropped_is_not_merged() -> None:
    answer = admitted(HASHED, version="1.24")
    (constraint,) = answer.pod.spec.topology_spread_constraints
    assert constraint.label_selector is not None
    assert constraint.label_selector.match_expressions == []
    assert [line.partition(" ")[0] for line in answer.dropped] == ["spec.topologySpreadConstraints[0].matchLabelKeys"]


def test_a_pod_that_is_not_valid_is_not_asked_about_by_admission_plugins() -> None:
    answer = admitted({**pod(requests={"cpu": "3"}), "metadata": {"name": "Web"}}, LIMITS)
    assert ([fault.path for fault in answer.faults], answer.forbidden) == (["metadata.name"], "")
    assert admitted(pod(requests={"cpu": "3"}, labels={}), LIMITS).forbidden.startswith('pods "web" is forbidden: ')


def test_a_stored_pod_went_through_admission_before() -> None:
    stored = {**HASHED, "metadata": {**HASHED["metadata"], "uid": "u"}}
    answer = admitted(stored, LIMITS)
    (constraint,) = answer.pod.spec.topology_spread_constraints
    assert constraint.label_selector is not None
    assert (answer.changes, requests(answer), constraint.label_selector.match_expressions) == ((), {"cpu": "1"}, [])
