"""Budgets that are changed, made and removed: what is made, and what is said of those that are not there."""

from __future__ import annotations

import pytest

from kubespread.errors import UsageError
from kubespread.kube.api.cluster_objects import PodDisruptionBudget
from kubespread.snapshot.edits.registry import parse
from kubespread.world.events.editing import apply
from tests.builders import node
from tests.world.clusters import budget, deployment, world

NODES = [node("n0"), node("n1")]
WEB = [*NODES, *deployment("web", ("n0",))]
EVERYTHING = {**budget("all"), "spec": {"selector": {}, "maxUnavailable": 1}}


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
    (made,) = edited.objects.get(PodDisruptionBudget)
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
