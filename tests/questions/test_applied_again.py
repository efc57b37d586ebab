"""Manifests applied to objects that are there: what is changed of them, and what the API server refuses to change."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

import kubespread
from kubespread.errors import UsageError
from tests.builders import Data, hosts, pod
from tests.questions.test_play import scenario, write
from tests.world.clusters import budget, deployment, job, stateful_set

HOSTS = hosts("a", "a", "b", "b")
IMMUTABLE = "field is immutable"
OF_STATEFUL_SET = (
    "StatefulSet.apps \"db\" is invalid: spec: Forbidden: updates to statefulset spec for fields other than 'replicas', "
    "'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and "
    "'minReadySeconds' are forbidden"
)
OF_POD = (
    'Pod "bare" is invalid: spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`,'
    "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing "
    "tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)


def spec_of(**changes: Any) -> Callable[[Data], None]:
    """Sets fields of the object's spec."""
    return lambda data: data["spec"].update(changes)


def pod_spec(**changes: Any) -> Callable[[Data], None]:
    """Sets fields of the spec in the object's template."""
    return lambda data: data["spec"]["template"]["spec"].update(changes)


def nothing(_data: Data) -> None:
    """The manifest says what is there."""


def claim(size: str) -> Data:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}}
    return {"metadata": {"name": "data"}, "spec": spec}


def applied(objects: list[Data], change: Callable[[Data], None], folder: Path) -> str:
    """``2 created, 1 gone``, or the API server's refusal, once the first of some objects is applied with a change."""
    given = deepcopy(objects[0])
    change(given)
    given.pop("status", None)
    given["spec"].pop("nodeName", None)
    try:
        report = kubespread.plan(
            kubespread.Snapshot.from_objects([*HOSTS, *objects]),
            scenario(f"apply {write(folder / 'given.json', given)}"),
        )
    except UsageError as error:
        return str(error).removeprefix(f"step 1 (apply {folder / 'given.json'}): ")
    (step,) = report.steps
    assert step.failed is None
    return f"{sum(each.created for each in step.workloads)} created, {step.gone} gone"


WEB = deployment("web", ("n0", "n1"))
DB = stateful_set("db", ("n0", "n1"))
RUN = job("run", ("n0", "n1"), completions=6)
SUSPENDED = job("run", (), parallelism=2, completions=2, suspend=True)
BARE = [pod("bare", "n0", requests={"cpu": "1"})]

CASES: dict[str, tuple[list[Data], Callable[[Data], None], str]] = {
    "what is there already is left alone": (WEB, nothing, "0 created, 0 gone"),
    "a Deployment's replicas": (WEB, spec_of(replicas=3), "1 created, 0 gone"),
    "a Deployment's template": (WEB, pod_spec(priority=1), "2 created, 2 gone"),
    "a Deployment's selector": (
        WEB,
        spec_of(
            selector={"matchLabels": {"app": "x"}},
            template={"metadata": {"labels": {"app": "x"}}, "spec": pod()["spec"]},
        ),
        f'Deployment.apps "web" is invalid: spec.selector: Invalid value: {{"matchLabels":{{"app":"x"}}}}: {IMMUTABLE}',
    ),
    "a StatefulSet's replicas": (DB, spec_of(replicas=1), "0 created, 1 gone"),
    "a StatefulSet's update strategy": (DB, spec_of(updateStrategy={"type": "OnDelete"}), "0 created, 0 gone"),
    "a StatefulSet's pod management policy": (DB, spec_of(podManagementPolicy="Parallel"), OF_STATEFUL_SET),
    "a StatefulSet's claims": (DB, spec_of(volumeClaimTemplates=[claim("1Gi")]), OF_STATEFUL_SET),
    "more of a Job's pods at once": (RUN, spec_of(parallelism=4), "2 created, 0 gone"),
    "fewer of a Job's pods at once": (RUN, spec_of(parallelism=1), "0 created, 1 gone"),
    "a Job that is suspended": (RUN, spec_of(suspend=True), "0 created, 2 gone"),
    "a Job that is resumed": (SUSPENDED, spec_of(suspend=False), "2 created, 0 gone"),
    "a Job's completions": (
        RUN,
        spec_of(completions=7),
        f'Job.batch "run" is invalid: spec.completions: Invalid value: 7: {IMMUTABLE}',
    ),
    "a Job's completion mode": (
        RUN,
        spec_of(completionMode="Indexed"),
        f'Job.batch "run" is invalid: spec.completionMode: Invalid value: "Indexed": {IMMUTABLE}',
    ),
    "a Job's template": (
        RUN,
        pod_spec(nodeSelector={"a": "b"}),
        f'Job.batch "run" is invalid: spec.template: Invalid value: {IMMUTABLE}',
    ),
    "where the pods of a suspended Job that never started may go": (
        SUSPENDED,
        pod_spec(nodeSelector={"topology.kubernetes.io/zone": "a"}, tolerations=[{"key": "x", "operator": "Exists"}]),
        "0 created, 0 gone",
    ),
    "what the pods of a suspended Job ask for": (
        SUSPENDED,
        pod_spec(containers=[{"name": "x", "image": "x"}]),
        f'Job.batch "run" is invalid: spec.template: Invalid value: {IMMUTABLE}',
    ),
    "a pod as it is": (BARE, nothing, "0 created, 0 gone"),
    "a pod's node selector": (BARE, spec_of(nodeSelector={"a": "b"}), OF_POD),
}


@pytest.mark.parametrize("case", CASES)
def test_what_applying_a_manifest_changes(case: str, tmp_path: Path) -> None:
    objects, change, expected = CASES[case]
    assert applied(objects, change, tmp_path) == expected


def test_a_budget_that_is_applied_again_counts_as_it_is_now(tmp_path: Path) -> None:
    tight, loose = budget("web", maxUnavailable=0), budget("web", maxUnavailable=1)
    steps = ["drain n0", f"apply {write(tmp_path / 'loose.json', loose)}", "drain n0"]
    report = kubespread.plan(kubespread.Snapshot.from_objects([*HOSTS, *WEB, tight]), scenario(*steps))
    assert [len(step.get("blocked")) for step in report.steps] == [1, 0, 0]
    assert [step.gone for step in report.steps] == [0, 0, 1]
