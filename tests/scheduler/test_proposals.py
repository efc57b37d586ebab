"""Proposed semantics: off unless asked for by name, and named in the report when they are on."""

from __future__ import annotations

from typing import Any

import pytest

import kubespread
from tests.builders import hard, node, pod, pods_on, taint
from tests.cli.support import run
from tests.scheduler.asking import SKEWED, reasons

Data = dict[str, Any]


def ask(proposed: str, objects: list[Data], candidate: Data) -> kubespread.ExplainReport:
    scheduler = kubespread.Scheduler(proposed=proposed)
    return kubespread.explain(kubespread.Snapshot.from_objects(objects), candidate, scheduler, preemption=True)


THREE_ZONES = [node("n1", zone="z1"), node("n2", zone="z2"), node("n3", zone="z3", taints=[taint("gone")])]
TAINTED = "node(s) had untolerated taint(s)"
HONORING = hard(nodeTaintsPolicy="Honor", minDomains=3)

# The cluster and the pod, and why nodes fail without and with the proposal.
VERDICTS: dict[str, tuple[str, list[Data], Data, dict[str, str], dict[str, str]]] = {
    "the selector {} counts all pods": (
        "empty-selector",
        [*THREE_ZONES[:2], *pods_on({"n1": 1})],
        pod(constraints=[hard(labelSelector={})]),
        {},
        {"n1": SKEWED},
    ),
    "no selector counts none all the same": (
        "empty-selector",
        [*THREE_ZONES[:2], *pods_on({"n1": 1})],
        pod(constraints=[hard(labelSelector=None)]),
        {},
        {},
    ),
    "a domain with only tainted nodes makes up the minimum of domains": (
        "fully-tainted-domains",
        [*THREE_ZONES, *pods_on({"n1": 1, "n2": 1})],
        pod(constraints=[HONORING]),
        {"n1": SKEWED, "n2": SKEWED, "n3": TAINTED},
        {"n3": TAINTED},
    ),
    "and is not compared with": (
        "fully-tainted-domains",
        [*THREE_ZONES, *pods_on({"n1": 2, "n2": 1})],
        pod(constraints=[HONORING]),
        {"n1": SKEWED, "n2": SKEWED, "n3": TAINTED},
        {"n1": SKEWED, "n3": TAINTED},
    ),
    "a domain that a node selector leaves out is none": (
        "fully-tainted-domains",
        [
            node("n1", zone="z1", disk="ssd"),
            node("n2", zone="z2", disk="ssd"),
            *THREE_ZONES[2:],
            *pods_on({"n1": 1, "n2": 1}),
        ],
        pod(nodeSelector={"disk": "ssd"}, constraints=[HONORING]),
        {"n1": SKEWED, "n2": SKEWED, "n3": TAINTED},
        {"n1": SKEWED, "n2": SKEWED, "n3": TAINTED},
    ),
}


@pytest.mark.parametrize("case", VERDICTS)
def test_verdicts_without_and_with_a_proposal(case: str) -> None:
    name, objects, candidate, without, proposed = VERDICTS[case]
    assert [reasons(ask(asked, objects, candidate)) for asked in ("", name)] == [without, proposed]


def test_preemption_spares_pods_of_budgets_with_the_selector_for_all() -> None:
    objects = [
        node("n1", cpu="1"),
        pod("a", "n1", labels={}, namespace="kept", requests={"cpu": "1"}),
        node("n2", cpu="1"),
        pod("b", "n2", labels={}, requests={"cpu": "1"}),
        {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": "all", "namespace": "kept"},
            "spec": {"selector": {}, "minAvailable": 1},
            "status": {"disruptionsAllowed": 0},
        },
    ]
    found = [
        ask(asked, objects, pod(requests={"cpu": "1"}, priority=9)).preemption
        for asked in ("", "empty-budget-selector")
    ]
    assert [(each.node, each.victims) for each in found if each is not None] == [
        ("n1", ("kept/a",)),
        ("n2", ("default/b",)),
    ]


def test_a_report_names_the_proposals_it_goes_by() -> None:
    note = (
        "proposed semantics empty-selector (kubernetes#141340): a spread constraint with the selector {} counts all pods "
        "of the namespace, not none"
    )
    assert [ask(asked, THREE_ZONES, pod()).notes for asked in ("", "empty-selector")] == [(), (note,)]
    snapshot = kubespread.Snapshot.from_objects(THREE_ZONES)
    scheduler = kubespread.Scheduler(proposed="empty-selector")
    assert kubespread.simulate(snapshot, pod(), 1, scheduler).notes == (note,)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("emtpy-selector", 'no proposed semantics "emtpy-selector"; did you mean "empty-selector"?'),
        (
            "gangs",
            'no proposed semantics "gangs"; there are empty-selector, empty-budget-selector, fully-tainted-domains',
        ),
    ],
)
def test_a_name_that_nobody_proposed_is_refused(name: str, said: str) -> None:
    with pytest.raises(kubespread.UsageError) as refused:
        ask(name, THREE_ZONES, pod())
    assert str(refused.value) == said


def test_several_are_asked_for_on_the_command_line() -> None:
    files = ("fixtures/manifests/two-constraints.yaml", "-S", "fixtures/clusters/docs-4-nodes.yaml")
    report = run("explain", *files, "--proposed", "empty-selector, fully-tainted-domains", "-o", "json").report
    assert [note.split()[2] for note in report["notes"]] == ["empty-selector", "fully-tainted-domains"]
    assert run("explain", *files, "--proposed", "nope").code == 2
