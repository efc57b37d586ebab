"""Budgets that are changed, made and removed: what they let go then, and what is said of those that are not there."""

from __future__ import annotations

import pytest

from kubespread.controllers.disruption import SEVERAL_BUDGETS
from kubespread.errors import UsageError
from kubespread.kube.api.cluster_objects import PodDisruptionBudget
from kubespread.snapshot.edits.registry import parse
from kubespread.world.events.editing import apply
from tests.builders import Data, node
from tests.world.clusters import budget, deployment, play, stateful_set, world

NODES = [node("n0"), node("n1")]
WEB = [*NODES, *deployment("web", ("n0",))]
HELD = "! web-a The disruption budget web needs 1 healthy pods and has 1 currently"
GONE = ["- web-a n0 evicted", "+ web-5d6-1 n1"]
EVERYTHING = {**budget("all"), "spec": {"selector": {}, "maxUnavailable": 1}}
CASES: dict[str, tuple[list[Data], list[str], list[str]]] = {
    "none may go": ([*WEB, budget("web", maxUnavailable=0)], ["drain n0"], [HELD]),
    "one may": ([*WEB, budget("web", maxUnavailable=0)], ["budget web:maxUnavailable=1", "drain n0"], GONE),
    "it has only the new limit": (
        [*WEB, budget("web", minAvailable=1)],
        ["budget web:maxUnavailable=1", "drain n0"],
        GONE,
    ),
    "all may": ([*WEB, budget("web", maxUnavailable=0)], ["budget default/web:maxUnavailable=100%", "drain n0"], GONE),
    "it is removed": ([*WEB, budget("web", maxUnavailable=0)], ["budget web:none", "drain n0"], GONE),
    "that of the workload": ([*WEB, budget("web", maxUnavailable=0)], ["budget deploy/web:none", "drain n0"], GONE),
    "of several one is set": (
        [*WEB, budget("web", maxUnavailable=0), EVERYTHING],
        ["budget web:maxUnavailable=1", "drain n0"],
        [f"! web-a {SEVERAL_BUDGETS}"],
    ),
    "of several the others are removed": (
        [*WEB, budget("web", maxUnavailable=0), EVERYTHING],
        ["budget web:maxUnavailable=1", "budget all:none", "drain n0"],
        GONE,
    ),
    "all of the workload": (
        [*WEB, budget("web", maxUnavailable=0), EVERYTHING],
        ["budget deploy/web:none", "drain n0"],
        GONE,
    ),
    "a new one of a Deployment": (WEB, ["budget deploy/web:minAvailable=1", "drain n0"], [HELD]),
    "a new one of a StatefulSet, in another namespace than the question's": (
        [*NODES, *stateful_set("web", ("n0",))],
        ["budget default/sts/web:minAvailable=100%", "drain n0"],
        [HELD.replace("web-a", "web-0")],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_a_budget_lets_go(case: str) -> None:
    objects, edits, expected = CASES[case]
    assert play(world(objects), *edits) == expected


@pytest.mark.parametrize(
    ("edit", "message"),
    {
        "budget wb:none": 'poddisruptionbudgets.policy "wb" not found in namespace default, did you mean "web"?',
        "budget deploy/web:maxUnavailable=1": "budgets all, web protect the pods of Deployment/web: name one of them, and "
        "remove the others (NAME:none), as a pod of several is not evicted",
        "budget deploy/db:none": 'deployments.apps "db" not found in namespace default; there is web',
    }.items(),
)
def test_what_is_not_there(edit: str, message: str) -> None:
    with pytest.raises(UsageError) as raised:
        apply(world([*WEB, budget("web", maxUnavailable=0), EVERYTHING]), parse(edit), "default")
    assert str(raised.value) == message


def test_a_new_budget_selects_as_its_workload_does() -> None:
    edited = world(WEB)
    apply(edited, parse("budget deploy/web:minAvailable=1"), "default")
    (made,) = edited.objects.of(PodDisruptionBudget)
    assert made.spec.selector is not None
    assert (made.metadata.name, made.spec.selector.match_labels, made.status.expected_pods) == (
        "web",
        {"app": "web"},
        1,
    )


@pytest.mark.parametrize(
    "text", ["web", "web:maxUnavailable", "web:maxUnavailable=-1", "web:minAvailable=1%%", "web:x=1"]
)
def test_what_is_no_budget(text: str) -> None:
    with pytest.raises(UsageError, match="^invalid edit 'budget .*: expected budget"):
        parse(f"budget {text}")
