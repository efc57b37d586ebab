"""What a manifest names and the cluster does not have, in the API server's words, with what was probably meant."""

from __future__ import annotations

from typing import Any

import pytest

import kubespread
from kubespread import Snapshot
from tests.builders import Data, hosts
from tests.lint.test_engine import web

CLUSTER: list[Data] = [
    *hosts("a", "b"),
    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}},
    {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 1000},
    {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "gvisor"}, "handler": "runsc"},
]
NAMED: dict[str, tuple[dict[str, str], str, tuple[str, str, str] | None]] = {
    "all are there": ({"priorityClassName": "high", "runtimeClassName": "gvisor"}, "shop", None),
    "a namespace": (
        {},
        "shopp",
        (
            "KS306",
            'namespaces "shopp" not found, did you mean "shop"?',
            "name the namespace that was meant, or apply a manifest of the Namespace too",
        ),
    ),
    "a priority class": (
        {"priorityClassName": "hihg"},
        "shop",
        ("KS002", "no PriorityClass with name hihg was found", 'change priorityClassName, did you mean "high"?'),
    ),
    "a runtime class": (
        {"runtimeClassName": "gvisr"},
        "shop",
        ("KS002", 'RuntimeClass "gvisr" not found', 'change runtimeClassName, did you mean "gvisor"?'),
    ),
}


@pytest.mark.parametrize("case", NAMED)
def test_a_name_that_is_mistyped(case: str) -> None:
    fields, namespace, expected = NAMED[case]
    manifest = web(namespace=namespace)
    manifest["spec"]["template"]["spec"] |= fields
    findings = kubespread.check(Snapshot.from_objects(CLUSTER), manifest, ignore=["KS2"]).findings
    found: Any = [
        (each.code, each.text.partition(" is forbidden: ")[2] or each.text, each.remedy.text) for each in findings
    ]
    assert [(code, message.removeprefix("pod rejected: "), text) for code, message, text in found] == (
        [] if expected is None else [expected]
    )


def test_a_namespace_that_is_in_the_files_is_there() -> None:
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shopp"}}
    manifest = {"apiVersion": "v1", "kind": "List", "items": [namespace, web(namespace="shopp")]}
    assert kubespread.check(Snapshot.from_objects(CLUSTER), manifest).findings == ()
