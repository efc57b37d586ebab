"""Admission that is not evaluated is named where it would look at the pod."""

from __future__ import annotations

from typing import Any

import pytest

import kubespread
from tests.builders import Data, node, pod


def namespace(*, labels: Data | None = None, annotations: Data | None = None) -> Data:
    metadata = {"name": "default", "labels": labels or {}, "annotations": annotations or {}}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}


def rule(operation: str = "CREATE", group: str = "", resource: str = "pods") -> Data:
    return {"operations": [operation], "apiGroups": [group], "resources": [resource]}


def registered(kind: str, **more: Any) -> Data:
    return {"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": {"name": "guard"}, **more}


def webhook(rules: list[Data], **more: Any) -> Data:
    return registered("MutatingWebhookConfiguration", webhooks=[{"name": "pods.guard.example", "rules": rules, **more}])


def policy(kind: str, rules: list[Data]) -> Data:
    return registered(kind, spec={"matchConstraints": {"resourceRules": rules}})


SELECTED = {"scheduler.alpha.kubernetes.io/node-selector": "env=prod"}
CASES: dict[str, tuple[list[Data], list[str]]] = {
    "nothing of the kind": ([namespace()], []),
    "a level that lets all pass": ([namespace(labels={"pod-security.kubernetes.io/enforce": "privileged"})], []),
    "a namespace's node selector": (
        [namespace(annotations=SELECTED)],
        ["PodNodeSelector: namespace default asks for env=prod; it is applied only where podNodeSelector is set"],
    ),
    "a webhook for pods": (
        [webhook([rule()])],
        ["MutatingWebhookConfiguration guard (pods.guard.example): what it would change or refuse"],
    ),
    "a webhook for everything": (
        [webhook([rule("*", "*", "*/*")])],
        ["MutatingWebhookConfiguration guard (pods.guard.example): what it would change or refuse"],
    ),
    "webhooks for other things": ([webhook([rule("DELETE"), rule(group="apps"), rule(resource="services")])], []),
    "a webhook of other namespaces": (
        [namespace(), webhook([rule()], namespaceSelector={"matchLabels": {"guarded": "yes"}})],
        [],
    ),
    "policies": (
        [policy("ValidatingAdmissionPolicy", [rule()]), policy("MutatingAdmissionPolicy", [rule()])],
        [
            "MutatingAdmissionPolicy guard: what it would change or refuse",
            "ValidatingAdmissionPolicy guard: what it would change or refuse",
        ],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_named(case: str) -> None:
    objects, named = CASES[case]
    assert (
        list(kubespread.explain(kubespread.Snapshot.from_objects([node("n"), *objects]), pod()).not_modelled) == named
    )


def test_a_node_selector_that_is_applied_is_not_named() -> None:
    cluster = kubespread.Snapshot.from_objects([node("n", env="prod"), namespace(annotations=SELECTED)])
    report = kubespread.explain(cluster, pod(), kubespread.Scheduler(pod_node_selector=True))
    assert (report.not_modelled, report.feasible) == ((), ("n",))


def test_a_pod_that_is_there_already_went_through_it() -> None:
    stored = pod()
    stored["metadata"]["uid"] = "u"
    assert (
        kubespread.explain(kubespread.Snapshot.from_objects([node("n"), webhook([rule()])]), stored).not_modelled == ()
    )
