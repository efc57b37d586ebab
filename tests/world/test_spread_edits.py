"""A constraint that an edit gives workloads: what it makes of those they have, and that it is the cluster with other
manifests.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kubespread
from kubespread import Snapshot, UsageError
from kubespread.kube.api.core import TopologySpreadConstraint
from kubespread.questions.editing import after_edits
from kubespread.snapshot.edits.registry import parse
from tests.builders import Data, hard, hosts, pod, remade, soft
from tests.world.clusters import daemon_set, deployment, job, stateful_set

ZONE, HOSTNAME = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
WEB = {"app": "web"}


def constraints(objects: list[Data], edit: str) -> dict[str, list[TopologySpreadConstraint]]:
    """Those of each pod and template after an edit, by the name of the object."""
    after, _ = after_edits(Snapshot.from_objects([*hosts("a", "b"), *objects]).edited(edit))
    templates: list[Any] = [obj for group in after.objects.by_type.values() for obj in group]
    specs = {each.metadata.name: each.spec.template.spec for each in templates} | {
        each.metadata.name: each.spec for each in after.pods
    }
    return {name: spec.topology_spread_constraints for name, spec in specs.items()}


def web(*has: Data) -> list[Data]:
    return deployment("web", ("n0",), spec={"constraints": [*has]})


EVERY_DOMAIN: Data = {"minDomains": 2}
CASES: dict[str, tuple[list[Data], str, dict[str, list[Data]]]] = {
    "the Deployment, its ReplicaSet and its pods": (
        web(),
        "zone:1",
        dict.fromkeys(("web", "web-5d6", "web-a"), [hard(ZONE, match=WEB)]),
    ),
    "soft": (web(), "hostname:2:soft", dict.fromkeys(("web", "web-5d6", "web-a"), [soft(HOSTNAME, 2, match=WEB)])),
    "beside one over another key": (
        web(hard(HOSTNAME)),
        "zone:1",
        dict.fromkeys(("web", "web-5d6", "web-a"), [hard(HOSTNAME), hard(ZONE, match=WEB)]),
    ),
    "one of that key and action gets the maxSkew and stays else": (
        web(hard(ZONE, **EVERY_DOMAIN), hard(HOSTNAME)),
        "zone:3",
        dict.fromkeys(("web", "web-5d6", "web-a"), [hard(ZONE, 3, **EVERY_DOMAIN), hard(HOSTNAME)]),
    ),
    "one of that key and another action stays": (
        web(soft(ZONE)),
        "zone:1",
        dict.fromkeys(("web", "web-5d6", "web-a"), [soft(ZONE), hard(ZONE, match=WEB)]),
    ),
    "a bare pod selects its own labels": ([pod("solo", "n0")], "zone:1", {"solo": [hard(ZONE)]}),
    "a pod without labels gets none": ([pod("solo", "n0", labels={})], "zone:1", {"solo": []}),
    "pods of a Job select their labels": (
        job("load", ("n0",)),
        "zone:1",
        dict.fromkeys(("load", "load-a"), [hard(ZONE, match={"job-name": "load"})]),
    ),
    "DaemonSets are spared": (daemon_set("agent", ("n0",)), "zone:1", {"agent": [], "agent-n0": []}),
    "unless they are named": (
        daemon_set("agent", ("n0",)),
        "ds/agent=zone:1",
        dict.fromkeys(("agent", "agent-n0"), [hard(ZONE, match={"app": "agent"})]),
    ),
    "one alone": (
        [*web(), *stateful_set("db", ("n0",))],
        "default/sts/db=zone:1",
        {
            **dict.fromkeys(("web", "web-5d6", "web-a"), []),
            **dict.fromkeys(("db", "db-0"), [hard(ZONE, match={"app": "db"})]),
        },
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_which_constraints_there_are_then(case: str) -> None:
    objects, edit, expected = CASES[case]
    typed = msgspec.convert(expected, dict[str, list[TopologySpreadConstraint]])
    assert constraints(objects, f"spread {edit}") == typed


NOTES: dict[str, tuple[list[Data], str, list[str]]] = {
    "how many workloads get it": ([*web(), *stateful_set("db", ("n0",))], "zone:1", ["given to 2 workloads"]),
    "that all have it": (web(hard(ZONE)), "zone:1", ["changes nothing"]),
    "that one lacks labels": (
        [*web(), pod("solo", "n0", labels={})],
        "zone:1",
        ["given to 1 workload", "no constraint for Pod/solo: no labels to select its pods by"],
    ),
}


@pytest.mark.parametrize("case", NOTES)
def test_what_is_noted(case: str) -> None:
    objects, edit, expected = NOTES[case]
    _, notes = after_edits(Snapshot.from_objects([*hosts("a", "b"), *objects]).edited(f"spread {edit}"))
    of_edit = f"spread {edit}: "
    assert [note.removeprefix(of_edit) for note in notes if note.startswith(of_edit)] == expected


MANIFEST = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "new"},
    "spec": {
        "replicas": 3,
        "selector": {"matchLabels": WEB},
        "template": {"metadata": {"labels": {**WEB, "v": "1"}}, "spec": pod()["spec"]},
    },
}


def test_a_manifest_of_the_question_gets_it_too() -> None:
    cluster = Snapshot.from_objects([*hosts("a", "b"), *web()])
    by_hand: Data = deepcopy(MANIFEST)
    by_hand["spec"]["template"]["spec"]["topologySpreadConstraints"] = [hard(ZONE, match=WEB)]
    for ask in (kubespread.explain, kubespread.simulate):
        one, other = (
            ask(cluster.edited("spread zone:1"), MANIFEST),
            ask(cluster.edited("spread deploy/web=zone:1"), by_hand),
        )
        one, other = (remade(each, cluster=None, notes=()) for each in (one, other))
        assert one == other


ERRORS = {
    "spread zne:1": f"no node has the topology key 'zne'; did you mean {ZONE}?",
    "spread zone:0": "invalid edit 'spread zone:0': spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be "
    "greater than zero",
    "spread deploy/wb=zone:1": 'deployments.apps "wb" not found in namespace default, did you mean "web"?',
    "spread zone": "invalid edit 'spread zone': expected spread [[NAMESPACE/]KIND/NAME=]KEY:SKEW[:soft]",
    "spread zone:-1": "invalid edit 'spread zone:-1': expected spread [[NAMESPACE/]KIND/NAME=]KEY:SKEW[:soft]",
}


@pytest.mark.parametrize("edit", ERRORS)
def test_what_is_refused(edit: str) -> None:
    with pytest.raises(UsageError) as raised:
        after_edits(Snapshot.from_objects([*hosts("a", "b"), *web()]).edited(parse(edit)))
    assert str(raised.value) == ERRORS[edit]


PLACES = st.lists(st.sampled_from(["n0", "n1", "n2", None]), max_size=3).map(tuple)


@settings(max_examples=8, deadline=None)
@given(
    web=PLACES.filter(len),
    db=PLACES,
    key=st.sampled_from([ZONE, HOSTNAME]),
    skew=st.integers(1, 2),
    is_soft=st.booleans(),
)
def test_the_same_by_hand_in_the_manifests_gives_the_same_reports(
    web: tuple[str | None, ...], db: tuple[str | None, ...], key: str, skew: int, is_soft: bool
) -> None:
    def cluster(*, by_hand: bool) -> Snapshot:
        def spec(name: str) -> Data:
            return {"constraints": [(soft if is_soft else hard)(key, skew, match={"app": name})]} if by_hand else {}

        made = [*deployment("web", web, cpu="2", spec=spec("web")), *stateful_set("db", db, spec=spec("db"))]
        return Snapshot.from_objects([*hosts("a", "b", "b"), *made, *daemon_set("agent", ("n0", "n1", "n2"))])

    # What has the constraint stays as it is.
    edited, hand = (
        cluster(by_hand=by_hand).edited(f"spread {key}:{skew}{':soft' if is_soft else ''}") for by_hand in (False, True)
    )
    for ask in (
        kubespread.removable,
        kubespread.audit,
        lambda asked: kubespread.survive(asked, ["zone"]),
        lambda asked: kubespread.explain(asked, "deploy/web"),
        lambda asked: kubespread.simulate(asked, "sts/db", replicas=5),
    ):
        one, other = (msgspec.structs.replace(ask(side), cluster=None, notes=()) for side in (edited, hand))
        assert one == other
