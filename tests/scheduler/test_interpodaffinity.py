"""InterPodAffinity: affinity, anti-affinity, namespaces, and the scores of preferences."""

from __future__ import annotations

from typing import Any

import pytest

from tests.builders import hosts, node, pod
from tests.scheduler.asking import ask, reasons, scores

Data = dict[str, Any]

AWAY = "node(s) didn't match pod anti-affinity rules"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
A = {"app": "a"}


def term(key: str = "zone", match: Data | None = None, **more: Any) -> Data:
    return {"topologyKey": key, "labelSelector": {"matchLabels": A if match is None else match}, **more}


def near(*terms: Data) -> Data:
    return {"podAffinity": {REQUIRED: list(terms)}}


def away(*terms: Data) -> Data:
    return {"podAntiAffinity": {REQUIRED: list(terms)}}


def prefers(*weighted: tuple[int, Data], anti: bool = False) -> Data:
    kind = "podAntiAffinity" if anti else "podAffinity"
    return {kind: {PREFERRED: [{"weight": weight, "podAffinityTerm": given} for weight, given in weighted]}}


def running(
    on: str, affinity: Data | None = None, *, name: str = "p", labels: Data | None = None, ns: str = "default"
) -> Data:
    return pod(name, on, labels=A if labels is None else labels, namespace=ns, affinity=affinity or {})


def asking(affinity: Data | None = None, **labels: str) -> Data:
    return pod(labels=labels or A, affinity=affinity or {})


GRID = [
    node("n1", zone="z1", rack="r1"),
    node("n2", zone="z1", rack="r2"),
    node("n3", zone="z2", rack="r1"),
    node("n4"),
]


def test_scores_are_divided_before_they_are_multiplied() -> None:
    nodes = [node(f"n{at}", host=f"h{at}") for at in range(3)]
    placed = [running("n1", labels={"t": "29"}), running("n2", name="q", labels={"t": "100"})]
    wanted = prefers((29, term("host", {"t": "29"})), (100, term("host", {"t": "100"})))
    assert scores(ask([*nodes, *placed], asking(wanted)), "InterPodAffinity") == {"n0": 0, "n1": 56, "n2": 200}


def config(**args: Any) -> str:
    profile = {"pluginConfig": [{"name": "InterPodAffinity", "args": args}]}
    return str(
        {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "profiles": [profile]}
    ).replace("True", "true")


def test_arguments() -> None:
    objects = [*GRID, running("n1", near(term())), running("n3", prefers((7, term())), name="q")]
    assert scores(ask(objects, asking(), config(hardPodAffinityWeight=0)), "InterPodAffinity") == {
        "n1": 0,
        "n2": 0,
        "n3": 200,
        "n4": 0,
    }
    assert scores(ask(objects, asking(), config(ignorePreferredTermsOfExistingPods=True)), "InterPodAffinity") == {}


def test_a_malformed_term_rejects_the_pod_with_the_first_fault_of_each_list() -> None:
    # The API server accepts none of this; a stored pod may still be asked about through the library of a plugin.
    from kubespread.scheduler.cluster.kinds import MalformedTermsError, candidate_terms
    from tests.kube.decoding import decode_pod

    bad = {"topologyKey": "zone", "labelSelector": {"matchExpressions": [{"key": "a", "operator": "Foo"}]}}
    empty = {"topologyKey": "zone", "labelSelector": {"matchExpressions": [{"key": "a", "operator": "In"}]}}
    with pytest.raises(MalformedTermsError) as refused:
        candidate_terms(decode_pod(asking({**near(bad, empty), **prefers((1, empty), anti=True)})))
    assert str(refused.value) == (
        '[requiredAffinityTerms: "Foo" is not a valid label selector operator, '
        "preferredAntiAffinityTerms: values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty]"
    )


def test_hostnames_are_a_topology_like_any_other() -> None:
    nodes = hosts("a", "a")
    assert reasons(ask([*nodes, running("n0")], asking(away(term("kubernetes.io/hostname"))))) == {"n0": AWAY}
