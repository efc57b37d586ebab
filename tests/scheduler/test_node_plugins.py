"""NodeAffinity, TaintToleration, NodeUnschedulable, NodeName and NodeResourcesFit, and the messages they lead to."""

from __future__ import annotations

from typing import Any

import pytest

from tests.builders import node, pod
from tests.scheduler.asking import ask, fits, reasons, scores

Data = dict[str, Any]

ABC = [node("a", z="1"), node("b", z="2"), node("c")]


def required(*terms: Data) -> Data:
    return {
        "affinity": {
            "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": list(terms)}}
        }
    }


def preferred(*weighted: tuple[int, Data]) -> Data:
    terms = [{"weight": weight, "preference": preference} for weight, preference in weighted]
    return {"affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": terms}}}


def label(key: str, operator: str, *values: str) -> Data:
    expression: Data = {"key": key, "operator": operator}
    if values:
        expression["values"] = list(values)
    return {"matchExpressions": [expression]}


def test_a_malformed_preference_fails_scoring_as_soon_as_two_nodes_fit() -> None:
    spec = preferred((5, label("n", "Gt", "x")))
    text = "[0].matchExpressions[0].values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an integer"
    failed = ask(ABC, pod(**spec))
    assert (failed.schedulable, failed.message, failed.feasible) == (
        False,
        f'running PreScore plugin "NodeAffinity": {text}',
        (),
    )
    assert [entry.scores for entry in failed.nodes] == [{}, {}, {}]
    single = ask(ABC[:1], pod(**spec))
    assert (single.schedulable, single.message, scores(single, "NodeAffinity")) == (True, None, {})


def test_a_pod_that_names_its_node_fits_only_there() -> None:
    other = "node(s) didn't match the requested node name"
    assert reasons(ask(ABC, pod(nodeName="b"))) == {"a": other, "c": other}
    nodes = [node("n1", unschedulable=True), node("n2", unschedulable=True), node("n3"), node("n4")]
    assert (
        ask(nodes, pod(nodeName="zz")).message == f"0/4 nodes are available: 2 {other}, 2 node(s) were unschedulable."
    )


def sized(name: str, **allocatable: str) -> Data:
    return {
        **node(name),
        "status": {"allocatable": {key.replace("_", "-"): value for key, value in allocatable.items()}},
    }


def sidecars(*containers: tuple[str, bool]) -> list[Data]:
    return [
        {"name": f"i{at}", "image": "x", "resources": {"requests": {"cpu": cpu}}}
        | ({"restartPolicy": "Always"} if sidecar else {})
        for at, (cpu, sidecar) in enumerate(containers)
    ]


@pytest.mark.parametrize(
    ("init", "needed"),
    [([("1", True), ("2", False)], 3), ([("2", False), ("1", True)], 2)],
    ids=["sidecar first", "sidecar last"],
)
def test_a_sidecar_counts_beside_what_follows_it(init: list[tuple[str, bool]], needed: int) -> None:
    candidate = pod(requests={"cpu": "1"}, initContainers=sidecars(*init))
    nodes = [sized(f"n{cpu}", cpu=str(cpu), pods="9") for cpu in (1, 2, 3)]
    assert fits(ask(nodes, candidate)) == [f"n{cpu}" for cpu in (1, 2, 3) if cpu >= needed]


def test_feasible_nodes_are_ordered_by_total_then_name() -> None:
    nodes = [node("b"), node("a"), node("c", z="1")]
    assert ask(nodes, pod(**preferred((1, label("z", "In", "1"))))).feasible == ("c", "a", "b")
