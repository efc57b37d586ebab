"""What becomes of pods when nodes fail: who is lost, who stays terminating, who is replaced, and when nobody is evicted."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from kubespread.snapshot.edits.registry import parse
from kubespread.world.events.draining import MOST_STEPS
from kubespread.world.events.editing import apply
from kubespread.world.store.store import dealt
from tests.builders import Data, hard, node, pod
from tests.world.clusters import budget, daemon_set, deployment, job, on_nodes, play, stateful_set, world

ZONE = "topology.kubernetes.io/zone"
WEB = {"app": "web"}


def zoned(**sizes: int) -> list[Data]:
    """``a=2``: nodes a0 and a1 in zone a."""
    made = []
    for zone, size in sizes.items():
        for number in range(size):
            plain = node(f"{zone}{number}", cpu="4")
            plain["metadata"]["labels"] = {ZONE: zone, "kubernetes.io/hostname": f"{zone}{number}"}
            made.append(plain)
    return made


STAYS = "StatefulSet/db creates no replacement while the pod it lost is terminating"
PARTLY = "{} of the failed nodes are in zones that are partly down with at most 50 nodes: the node controller does not evict there"
ALL = "every zone is down: the node controller suspects itself, takes back its NoExecute taints and evicts nothing"
UNSPREAD = "0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 node(s) didn't match pod topology spread constraints."
SPREAD = hard(ZONE, match=WEB)

CASES: dict[str, tuple[list[Data], list[str], list[str], dict[str, list[str]]]] = {
    "lost pods stay terminating; a Deployment replaces them at once, a StatefulSet not; bare pods nobody, daemons stay": (
        [
            *zoned(a=1, b=1),
            *deployment("web", ("a0",)),
            *stateful_set("db", ("a0",)),
            *daemon_set("agent", ("a0", "b0")),
            pod("bare", "a0"),
        ],
        ["fail a0"],
        ["- bare a0 lost for good", "- db-0 a0 lost for good", "- web-a a0 lost", "+ web-5d6-1 b0", STAYS],
        {"a0": ["(bare)", "(db-0)", "(web-a)", "agent-a0"], "b0": ["agent-b0", "web-5d6-1"]},
    ),
    "without a grace period the API server removes lost pods at once, and a StatefulSet makes its own again": (
        [
            *zoned(a=1, b=1),
            *stateful_set("db", ("a0", "b0"), spec={"terminationGracePeriodSeconds": 0}),
            pod("bare", "a0", terminationGracePeriodSeconds=0),
        ],
        ["fail a0"],
        ["- bare a0 lost for good", "- db-0 a0 lost", "+ db-0 b0"],
        {"b0": ["db-0", "db-1"]},
    ),
    "who tolerates it for ever is not lost": (
        [*zoned(a=1, b=1), *deployment("web", ("a0",), spec={"tolerations": [{"operator": "Exists"}]})],
        ["fail a0"],
        [],
        {"a0": ["web-a"]},
    ),
    "what is terminating goes with its Node object, and the StatefulSet goes on": (
        [*zoned(a=1, b=1), *deployment("web", ("a0",)), *stateful_set("db", ("a0", "b0"))],
        ["fail-hard a0"],
        ["- db-0 a0 lost for good", "- web-a a0 lost", "+ web-5d6-1 b0", "+ db-0 b0", STAYS],
        {"b0": ["db-0", "db-1", "web-5d6-1"]},
    ),
    "in two steps it is the same": (
        [*zoned(a=1, b=1), *stateful_set("db", ("a0", "b0"))],
        ["fail a0", "delete-node a0"],
        ["- db-0 a0 lost for good", STAYS, "+ db-0 b0"],
        {"b0": ["db-0", "db-1"]},
    ),
    "terminating pods hold their room and are not counted when pods are spread": (
        [*zoned(a=1, b=1, c=1), *deployment("web", ("a0", "b0", "c0"), spec={"topologySpreadConstraints": [SPREAD]})],
        ["fail a0"],
        ["- web-a a0 lost", f"? web-5d6-1 {UNSPREAD}"],
        {"a0": ["(web-a)"], "b0": ["web-b"], "c0": ["web-c"]},
    ),
    "a zone is lost node by node: a successor is placed as long as pods on the other silent node count": (
        [
            *zoned(a=2, b=1, c=1),
            *deployment("web", ("a0", "a1", "b0", "b0", "c0"), spec={"topologySpreadConstraints": [SPREAD]}),
        ],
        ["fail zone=a"],
        [
            *("- web-a a0 lost", "- web-b a1 lost", "+ web-5d6-1 c0"),
            "? web-5d6-2 0/4 nodes are available: 2 node(s) didn't match pod topology spread constraints, "
            "2 node(s) had untolerated taint(s).",
        ],
        {"a0": ["(web-a)"], "a1": ["(web-b)"], "b0": ["web-c", "web-d"], "c0": ["web-5d6-1", "web-e"]},
    ),
    "with the Node objects gone the zone is no domain any more": (
        [*zoned(a=1, b=1, c=1), *deployment("web", ("a0", "b0", "c0"), spec={"topologySpreadConstraints": [SPREAD]})],
        ["fail-hard a0"],
        ["- web-a a0 lost", "+ web-5d6-1 b0"],
        {"b0": ["web-5d6-1", "web-b"], "c0": ["web-c"]},
    ),
    "one of three zones lost with minDomains 3: the minimum is 0 for ever": (
        [
            *zoned(a=1, b=1, c=1),
            *deployment("web", ("a0", "b0", "c0"), spec={"topologySpreadConstraints": [{**SPREAD, "minDomains": 3}]}),
        ],
        ["fail-hard a0"],
        [
            "- web-a a0 lost",
            "? web-5d6-1 0/2 nodes are available: 2 node(s) didn't match pod topology spread constraints.",
        ],
        {"b0": ["web-b"], "c0": ["web-c"]},
    ),
    "a zone that is partly down, and small: nothing is evicted there": (
        [*zoned(a=5, b=1), *deployment("web", ("a0", "a1", "a2", "a3"))],
        ["fail kubernetes.io/hostname in (a0,a1,a2)"],
        [PARTLY.format(3)],
        {"a0": ["web-a"], "a1": ["web-b"], "a2": ["web-c"], "a3": ["web-d"]},
    ),
    "two of three nodes are too few for that": (
        [*zoned(a=3, b=1), *deployment("web", ("a0", "a1"))],
        ["fail kubernetes.io/hostname in (a0,a1)"],
        ["- web-a a0 lost", "- web-b a1 lost", "+ web-5d6-1 b0", "+ web-5d6-2 a2"],
        {"a0": ["(web-a)"], "a1": ["(web-b)"], "a2": ["web-5d6-2"], "b0": ["web-5d6-1"]},
    ),
    "a whole zone down among others is evicted": (
        [*zoned(a=3, b=1), *deployment("web", ("a0", "a1", "a2"))],
        ["fail zone=a"],
        [
            *("- web-a a0 lost", "- web-b a1 lost", "- web-c a2 lost"),
            *("+ web-5d6-1 b0", "+ web-5d6-2 b0", "+ web-5d6-3 b0"),
        ],
        {"a0": ["(web-a)"], "a1": ["(web-b)"], "a2": ["(web-c)"], "b0": ["web-5d6-1", "web-5d6-2", "web-5d6-3"]},
    ),
    "all zones down: nobody is evicted": (
        [*zoned(a=1, b=1), *deployment("web", ("a0", "b0"))],
        ["fail zone in (a,b)"],
        [ALL],
        {"a0": ["web-a"], "b0": ["web-b"]},
    ),
    "pods of a node that failed count as unready and are the first to be scaled down, but stay": (
        [*zoned(a=5), *zoned(b=1), *deployment("web", ("a3", "a0", "a1", "a2"))],
        ["fail kubernetes.io/hostname in (a0,a1,a2)", "scale deploy/web=1"],
        [
            PARTLY.format(3),
            *("- web-b a0 scaled down for good", "- web-c a1 scaled down for good", "- web-d a2 scaled down for good"),
        ],
        {"a0": ["(web-b)"], "a1": ["(web-c)"], "a2": ["(web-d)"], "a3": ["web-a"]},
    ),
    "deleted by hand on a failed node they stay as well": (
        [*zoned(a=5), *zoned(b=1), *deployment("web", ("a0", "a3"))],
        ["fail kubernetes.io/hostname in (a0,a1,a2)", "drain a0"],
        [PARTLY.format(3), "- web-a a0 evicted", "+ web-5d6-1 b0"],
        {"a0": ["(web-a)"], "a3": ["web-b"], "b0": ["web-5d6-1"]},
    ),
    "pods on failed nodes are not healthy for a budget": (
        [*zoned(a=1, b=1, c=1), *deployment("web", ("a0", "b0")), budget("web", minAvailable=2)],
        ["cordon c0", "fail a0", "drain b0"],
        [
            "- web-a a0 lost",
            "+ web-5d6-1 b0",
            "! web-5d6-1 The disruption budget web needs 2 healthy pods and has 2 currently",
            "! web-b The disruption budget web needs 2 healthy pods and has 2 currently",
        ],
        {"a0": ["(web-a)"], "b0": ["web-5d6-1", "web-b"]},
    ),
    "a Job makes another pod at once, and with podReplacementPolicy Failed once the first is gone": (
        [*zoned(a=1, b=1), *job("now", ("a0",)), *job("later", ("a0",), podReplacementPolicy="Failed")],
        ["fail a0", "delete-node a0"],
        [
            "- later-a a0 lost for good",
            "- now-a a0 lost",
            "+ now-1 b0",
            "Job/later creates no replacement while the pod it lost is terminating",
            "+ later-1 b0",
        ],
        {"b0": ["later-1", "now-1"]},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_becomes_of_pods_when_nodes_fail(case: str) -> None:
    objects, edits, expected, left = CASES[case]
    living = world(objects)
    assert play(living, *edits) == expected
    assert on_nodes(living) == left


TOLERANT = {"tolerations": [{"key": "node.kubernetes.io/unreachable", "operator": "Exists", "tolerationSeconds": 300}]}

ORDERS: dict[str, tuple[list[Data], str, list[str]]] = {
    "a node each ten seconds, once its pods tolerate it no longer": (
        [*zoned(a=3, b=1), *deployment("web", ("a0", "a1", "a2", "a2"), spec=TOLERANT)],
        "fail zone=a",
        ["a0 300 s: 1", "a1 310 s: 1", "a2 320 s: 2"],
    ),
    "pods of one node go when each of them has to": (
        [*zoned(a=2, b=1), *deployment("web", ("a0",), spec=TOLERANT), *deployment("api", ("a0", "a1"))],
        "fail zone=a",
        ["a0 0 s: 1", "a1 10 s: 1", "a0 300 s: 1"],
    ),
    "every zone has a limit of its own": (
        [*zoned(a=2, b=2, c=1), *deployment("web", ("a0", "a1", "b0", "b1"))],
        "fail zone in (a,b)",
        ["a0 0 s: 1", "b0 0 s: 1", "a1 10 s: 1", "b1 10 s: 1"],
    ),
    "a large zone that is partly down loses a node each hundred seconds": (
        [*zoned(a=51, b=1), *deployment("web", ("a0", "a1"))],
        f"fail kubernetes.io/hostname in ({','.join(f'a{number}' for number in range(30))})",
        ["a0 0 s: 1", "a1 100 s: 1"],
    ),
    "a small one none": (
        [*zoned(a=50, b=1), *deployment("web", ("a0", "a1"))],
        f"fail kubernetes.io/hostname in ({','.join(f'a{number}' for number in range(30))})",
        [],
    ),
    "a node with nothing to evict takes its turn": (
        [*zoned(a=3, b=1), *deployment("web", ("a0", "a2"))],
        "fail zone=a",
        ["a0 0 s: 1", "a2 20 s: 1"],
    ),
}


@pytest.mark.parametrize("case", ORDERS)
def test_in_which_order_nodes_lose_their_pods(case: str) -> None:
    objects, edit, expected = ORDERS[case]
    living = world(objects)
    apply(living, parse(edit), "default")
    assert [f"{each.node} {each.seconds:g} s: {each.pods}" for each in living.happenings.evictions] == expected


def test_of_many_nodes_a_few_are_evicted_at_once_and_all_of_their_pods_go() -> None:
    names = tuple(f"a{number}" for number in range(MOST_STEPS + 5))
    living = world([*zoned(a=len(names), b=1), *deployment("web", names)])
    apply(living, parse("fail zone=a"), "default")
    assert {gone.pod.spec.node_name for gone in living.happenings.gone} == set(names)


CHANCE: dict[str, tuple[list[Data], bool]] = {
    "several nodes of a zone lose pods: which is first is chance": (deployment("web", ("a0", "a1")), True),
    "one node alone does": (deployment("web", ("a0",)), False),
    "one node does, at several times": (
        [*deployment("web", ("a0",), spec=TOLERANT), *deployment("api", ("a0",))],
        False,
    ),
    "none does": (deployment("web", ("b0",)), False),
}


@pytest.mark.parametrize("case", CHANCE)
def test_whether_the_order_is_chance(case: str) -> None:
    objects, expected = CHANCE[case]
    living = world([*zoned(a=2, b=1), *objects])
    apply(living, parse("fail zone=a"), "default")
    assert living.happenings.by_chance is expected


def test_another_deal_takes_the_nodes_in_another_order() -> None:
    orders = set()
    for seed in range(1, 6):
        living = world([*zoned(a=3, b=1), *deployment("web", ("a0", "a1", "a2"))])
        living.surroundings = replace(living.surroundings, chance=dealt(seed))
        apply(living, parse("fail zone=a"), "default")
        orders.add(tuple(each.node for each in living.happenings.evictions))
    assert len(orders) > 1
    assert {frozenset(order) for order in orders} == {frozenset({"a0", "a1", "a2"})}
