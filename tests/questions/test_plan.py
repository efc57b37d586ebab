"""Everything that is planned, before and after."""

from __future__ import annotations

import pytest

import kubespread
from kubespread.candidate.input.kustomization import Kustomization
from kubespread.errors import UsageError
from kubespread.scenario.text import parse_step
from kubespread.scenario.verbs import Apply
from tests.builders import hosts
from tests.cli.support import FIXTURES, run
from tests.world.clusters import budget, deployment

SHOP = FIXTURES / "clusters" / "shop.yaml"


def small(*edits: str) -> kubespread.Snapshot:
    return kubespread.Snapshot.from_objects([*hosts("a", "b"), *deployment("web", ("n0", "n1"), cpu="1")]).edited(
        *edits
    )


@pytest.mark.parametrize(
    ("edits", "verdict", "headline", "changes"),
    [
        pytest.param(["scale deploy/web=3"], "yes", "everything fits; none of 1 workload is worse", ["different"], id="room"),
        pytest.param(
            ["fail-hard n1", "scale deploy/web=9"], "no",
            "not everything fits: 1 more pod pending; 1 of 1 workload is worse: Deployment/web", ["worse"],
            id="no room",
        ),
        pytest.param(["scale deploy/web=2"], "yes", "everything fits; none of 1 workload is worse", [], id="nothing changes"),
        pytest.param(
            ["fail-hard n1"], "no", "everything fits; 1 of 1 workload is worse: Deployment/web", ["worse"],
            id="all in one zone",
        ),
    ],
)  # fmt: skip
def test_the_headline_says_what_fits_and_who_is_worse(
    edits: list[str], verdict: str, headline: str, changes: list[str]
) -> None:
    report = kubespread.plan(small(*edits))
    assert (report.verdict, report.answer[0]) == (verdict, headline)
    assert [row.change for row in report.workloads] == changes


def test_nothing_planned_is_no_plan() -> None:
    with pytest.raises(UsageError, match="nothing is planned: give manifests"):
        kubespread.plan(small())


def test_another_release_alone_is_a_plan() -> None:
    report = kubespread.plan(small(), scheduler=kubespread.Scheduler(kube_version="1.30"))
    assert (report.before.kube_version, report.after.kube_version, report.workloads) == ("1.37", "1.30", ())


def test_what_waited_before_is_not_blamed_on_the_plan() -> None:
    report = kubespread.plan(
        kubespread.Snapshot.from_objects(
            [*hosts("a", "b"), *deployment("web", ("n0", "n1", None), cpu="5")]
        ).edited("cordon n0")
    )  # fmt: skip
    assert (report.verdict, report.answer[0]) == (
        "yes",
        "1 pod pending as before, everything else fits; none of 1 workload is worse",
    )


def test_the_scenario_plays_to_what_the_plan_ends_with() -> None:
    edits = ("add-node a1:2", "scale deploy/web=12", "fail-hard zone=c")
    shop = kubespread.load(SHOP)
    report = kubespread.plan(shop.edited(*edits))
    assert report.after == kubespread.plan(kubespread.after_steps(shop, report.scenario).edited("label a1 x=y")).before
    played = kubespread.play(shop, report.scenario)
    assert (played.steps, played.start) == (report.played.steps, report.played.start)


def test_a_fleet_is_planned_for_and_a_pipe_gets_the_scenario() -> None:
    fleet = run("fleet", "-S", str(SHOP), "plan", "--fail-hard", "zone=c", "-q", "-o", "plain")
    assert (fleet.code, "everything fits; none of 2 workloads is worse" in fleet.out) == (0, True)
    scenario = run("plan", "-S", SHOP, "--fail-hard", "zone=c", "-q", "-o", "scenario")
    assert scenario.out.endswith("spec:\n  steps:\n  - fail-hard zone=c\n")


def test_manifests_are_steps_too() -> None:
    """Once nodes are there that come first, and before anything else."""
    web = deployment("web", replicas=2, cpu="2")[0]
    new = deployment("new", replicas=3, cpu="1")[0]
    report = kubespread.plan(small("add-node n0", "cordon n1"), [web, new, budget("new", minAvailable=2)])
    assert [step.text.split(" ")[0] for step in report.played.steps] == ["add-node", "apply", "cordon"]
    assert report.played.steps[1].rollouts[0].complete
    assert [(row.workload.name, row.change, row.after and row.after.ready) for row in report.workloads] == [
        # Both of its pods are in one zone now.
        ("web", "worse", 2),
        ("new", "new", 3),
    ]
    assert report.gone["scaled down"] == 2


def test_kustomizations_are_steps_of_scenarios() -> None:
    step = parse_step("apply a.yaml --kustomize overlays/prod", "k8s")
    assert step.action == Apply(("k8s/a.yaml", Kustomization("k8s/overlays/prod")))
    assert Apply.line({"files": ["a.yaml"], "kustomize": ["overlays/prod"]}) == "apply a.yaml --kustomize overlays/prod"
    with pytest.raises(UsageError, match="apply: expected the manifests to apply"):
        parse_step("apply --replicas 3")
