"""InterPodAffinity: affinity, anti-affinity, namespaces, and the scores of preferences."""

from __future__ import annotations

from typing import Any

import pytest

from tests.builders import hosts, node, pod
from tests.scheduler.asking import ask, reasons, scores

Data = dict[str, Any]

NEAR = "node(s) didn't match pod affinity rules"
AWAY = "node(s) didn't match pod anti-affinity rules"
EXISTING = "node(s) didn't satisfy existing pods anti-affinity rules"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
A = {"app": "a"}
ZONES = [node("n1", zone="z1"), node("n2", zone="z2"), node("n3")]


def term(key: str = "zone", match: Data | None = None, **more: Any) -> Data:
    return {"topologyKey": key, "labelSelector": {"matchLabels": A if match is None else match}, **more}


def near(*terms: Data) -> Data:
    return {"podAffinity": {REQUIRED: list(terms)}}


def away(*terms: Data) -> Data:
    return {"podAntiAffinity": {REQUIRED: list(terms)}}


def prefers(*weighted: tuple[int, Data], anti: bool = False) -> Data:
    kind = "podAntiAffinity" if anti else "podAffinity"
    return {kind: {PREFERRED: [{"weight": weight, "podAffinityTerm": given} for weight, given in weighted]}}


def namespace(name: str, **labels: str) -> Data:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}


def running(
    on: str, affinity: Data | None = None, *, name: str = "p", labels: Data | None = None, ns: str = "default"
) -> Data:
    return pod(name, on, labels=A if labels is None else labels, namespace=ns, affinity=affinity or {})


def asking(affinity: Data | None = None, **labels: str) -> Data:
    return pod(labels=labels or A, affinity=affinity or {})


FILTERS: dict[str, tuple[list[Data], Data, dict[str, str]]] = {
    "near a pod's zone": ([*ZONES, running("n1")], asking(near(term()), x="y"), {"n2": NEAR, "n3": NEAR}),
    "nobody there and no self-match": (ZONES, asking(near(term()), x="y"), dict.fromkeys(("n1", "n2", "n3"), NEAR)),
    "the first of a group goes where the key exists": (ZONES, asking(near(term())), {"n3": NEAR}),
    "a pod on a node without the key does not count": ([*ZONES, running("n3")], asking(near(term())), {"n3": NEAR}),
    "the first must match all of its terms": (
        ZONES,
        asking(near(term(), term(match={"tier": "b"}))),
        dict.fromkeys(("n1", "n2", "n3"), NEAR),
    ),
    "one pod has to match all terms": (
        [*ZONES, running("n1", labels=A), running("n1", name="q", labels={"app": "b"})],
        asking(near(term(), term(match={"app": "b"})), x="y"),
        dict.fromkeys(("n1", "n2", "n3"), NEAR),
    ),
    "but the domains may come from different pods": (
        [
            node("n1", zone="z1", rack="r1"),
            node("n2", zone="z2", rack="r2"),
            node("n3", zone="z1", rack="r2"),
            node("n4", zone="z3", rack="r1"),
            running("n1"),
            running("n2", name="q"),
        ],
        asking(near(term(), term("rack")), x="y"),
        {"n4": NEAR},
    ),
    "away from a pod's zone": ([*ZONES, running("n1")], asking(away(term()), x="y"), {"n1": AWAY}),
    "existing pods keep others away": ([*ZONES, running("n1", away(term()))], asking(), {"n1": EXISTING}),
    "own anti-affinity is reported before theirs": (
        [node("a", zone="z1", host="a"), node("b", zone="z1", host="b"), running("a", away(term()))],
        asking(away(term("host"))),
        {"a": AWAY, "b": EXISTING},
    ),
    "a null selector matches nobody": ([*ZONES, running("n1")], asking(away({"topologyKey": "zone"})), {}),
    "other namespaces are not looked at": ([*ZONES, running("n1", ns="x")], asking(away(term())), {}),
    "unless they are named": ([*ZONES, running("n1", ns="x")], asking(away(term(namespaces=["x"]))), {"n1": AWAY}),
    "or selected": (
        [*ZONES, running("n1", ns="x"), namespace("x", env="prod")],
        asking(away(term(namespaceSelector={"matchLabels": {"env": "prod"}}))),
        {"n1": AWAY},
    ),
    "a negative namespaceSelector of the candidate reaches everywhere": (
        [*ZONES, running("n1", ns="x"), namespace("x", env="prod")],
        asking(away(term(namespaceSelector={"matchExpressions": [{"key": "env", "operator": "DoesNotExist"}]}))),
        {"n1": AWAY},
    ),
    "one of an existing pod does not": (
        [
            *ZONES,
            running(
                "n1", away(term(namespaceSelector={"matchExpressions": [{"key": "env", "operator": "DoesNotExist"}]}))
            ),
            namespace("default", env="dev"),
        ],
        asking(),
        {},
    ),
    "a malformed term of an existing pod drops its list": (
        [
            *ZONES,
            running(
                "n1",
                away(
                    {"topologyKey": "zone", "labelSelector": {"matchExpressions": [{"key": "a", "operator": "Foo"}]}},
                    term(),
                ),
            ),
        ],
        asking(),
        {},
    ),
    "terminating pods count": (
        [
            *ZONES,
            {**running("n1"), "metadata": {**running("n1")["metadata"], "deletionTimestamp": "2026-01-01T00:00:00Z"}},
        ],
        asking(away(term())),
        {"n1": AWAY},
    ),
    "matchLabelKeys narrow the candidate's own term": (
        [*ZONES, running("n1", labels={"app": "a", "hash": "1"})],
        asking(away(term(matchLabelKeys=["hash"])), app="a", hash="2"),
        {},
    ),
    "mismatchLabelKeys exclude the pod's own": (
        [
            *ZONES,
            running("n1", labels={"app": "a", "hash": "1"}),
            running("n2", name="q", labels={"app": "a", "hash": "2"}),
        ],
        asking(away(term(mismatchLabelKeys=["hash"])), app="a", hash="2"),
        {"n1": AWAY},
    ),
}


@pytest.mark.parametrize("case", FILTERS)
def test_filter(case: str) -> None:
    objects, candidate, expected = FILTERS[case]
    assert reasons(ask(objects, candidate)) == expected


GRID = [
    node("n1", zone="z1", rack="r1"),
    node("n2", zone="z1", rack="r2"),
    node("n3", zone="z2", rack="r1"),
    node("n4"),
]
SCORES: dict[str, tuple[list[Data], Data, dict[str, int]]] = {
    "nobody matches: no score": (GRID, asking(prefers((10, term()))), {}),
    "several keys add up": (
        [*GRID, running("n1")],
        asking(prefers((10, term()), (4, term("rack")))),
        {"n1": 200, "n2": 142, "n3": 56, "n4": 0},
    ),
    "anti-affinity alone": (
        [*GRID, running("n1")],
        asking(prefers((10, term()), anti=True)),
        {"n1": 0, "n2": 0, "n3": 200, "n4": 200},
    ),
    "weights that cancel out are a score of 0": (
        [*GRID, running("n1")],
        asking({**prefers((5, term())), **prefers((5, term()), anti=True)}),
        dict.fromkeys(("n1", "n2", "n3", "n4"), 0),
    ),
    "required affinity of existing pods weighs 1": (
        [*GRID, running("n1", near(term(), term(match={"app": "q"})))],
        asking(),
        {"n1": 200, "n2": 200, "n3": 0, "n4": 0},
    ),
    "their preferences count too": (
        [*GRID, running("n3", prefers((7, term()), anti=True))],
        asking(),
        {"n1": 200, "n2": 200, "n3": 0, "n4": 200},
    ),
}


@pytest.mark.parametrize("case", SCORES)
def test_score(case: str) -> None:
    objects, candidate, expected = SCORES[case]
    assert scores(ask(objects, candidate), "InterPodAffinity") == expected


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
