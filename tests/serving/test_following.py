"""A cluster that is followed: what changed since it was last looked at is said, and questions are about what is there now."""

from __future__ import annotations

import msgspec
import pytest

from kubespread.questions.scheduler import Scheduler
from kubespread.serving.following import Followed, differences
from kubespread.serving.server import App, Guard
from kubespread.snapshot.snapshot import Snapshot
from tests.builders import Data, hosts, node, pod
from tests.serving.asgi import ASKING, KNOWN, PORT, TOKEN, call
from tests.world.clusters import deployment

BEFORE: list[Data] = [*hosts("a", "b"), *deployment("web", ("n0", "n1", None))]


def snapshot(*changed: Data, without: tuple[str, ...] = ()) -> Snapshot:
    """The cluster, some of its objects replaced by others of their name and kind, or gone."""
    names = {(each["kind"], each["metadata"]["name"]) for each in changed}
    kept = [
        each
        for each in BEFORE
        if (each["kind"], each["metadata"]["name"]) not in names and each["metadata"]["name"] not in without
    ]
    return Snapshot.from_objects([*kept, *changed])


PENDING = next(each for each in BEFORE if each["kind"] == "Pod" and not each["spec"].get("nodeName"))
BOUND: Data = {**PENDING, "spec": {**PENDING["spec"], "nodeName": "n0"}}
CHANGES: dict[str, tuple[Snapshot, list[str]]] = {
    "nothing": (snapshot(), []),
    "a node joined": (snapshot(node("n9", zone="a")), ["1 node joined: n9"]),
    "a node left": (snapshot(without=("n1",)), ["1 node left: n1"]),
    "a node was cordoned": (snapshot(node("n0", zone="a", unschedulable=True)), ["n0 was cordoned"]),
    "a node was tainted": (
        snapshot(node("n0", zone="a", taints=[{"key": "k", "effect": "NoSchedule"}])),
        ["n0 changed"],
    ),
    "a pod came": (snapshot(pod("solo", "n0")), ["default/solo: 1 came"]),
    "a pod got a node": (snapshot(BOUND), ["default/ReplicaSet/web-5d6: 1 got a node"]),
    "an object": (
        snapshot({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "new"}}),
        ["objects other than nodes and pods changed"],
    ),
    "many": (
        snapshot(*(pod(f"p{number}", "n0") for number in range(10))),
        [*(f"default/p{number}: 1 came" for number in range(8)), "2 more changes"],
    ),
}


@pytest.mark.parametrize("case", CHANGES)
def test_what_changed_is_said(case: str) -> None:
    now, said = CHANGES[case]
    assert [*differences(snapshot(), now)] == said


def test_whoever_looks_again_is_told_and_asks_about_what_is_there_now(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kubespread.serving.following._PAUSE", 0)
    readings = iter([snapshot(), snapshot(), snapshot(node("n9", zone="c"))])
    app = App(Followed(lambda: next(readings), 0.0), Scheduler(), Guard(PORT, TOKEN))
    looks = [call(app, "/cluster", KNOWN).data for _ in range(3)]
    assert [(each["number"], each["nodes"], each["isLive"], each["changes"]) for each in looks] == [
        (1, 2, True, []),
        (1, 2, True, []),
        (2, 3, True, ["1 node joined: n9"]),
    ]
    assert len(call(app, "/ask/explain", ASKING, {"workload": "deploy/web"}).data["nodes"]) == 3


def test_it_is_not_read_more_often_than_a_tenth_of_the_time() -> None:
    reads: list[int] = []

    def read() -> Snapshot:
        reads.append(1)
        return snapshot()

    followed = Followed(read, 60.0)
    assert msgspec.to_builtins(followed.look()) == msgspec.to_builtins(followed.look())
    assert len(reads) == 1
