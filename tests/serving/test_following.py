"""A cluster that is followed: questions are about what is there now."""

from __future__ import annotations

import msgspec
import pytest

from kubespread.questions.calls import Reading
from kubespread.questions.scheduler import Scheduler
from kubespread.serving.server import App, Guard, page_state
from kubespread.snapshot.snapshot import Snapshot
from tests.builders import Data, hosts, node
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


def test_whoever_looks_again_is_told_and_asks_about_what_is_there_now(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kubespread.questions.calls._PAUSE", 0)
    readings = iter([snapshot(), snapshot(), *([snapshot(node("n9", zone="c"))] * 2)])
    app = App(Reading(lambda: next(readings), 0.0), Scheduler(), Guard(PORT, TOKEN))
    looks = [call(app, "/cluster", KNOWN).data for _ in range(3)]
    assert [(each["number"], each["nodes"], each["isLive"]) for each in looks] == [
        (1, 2, True),
        (1, 2, True),
        (2, 3, True),
    ]
    assert len(call(app, "/ask/explain", ASKING, {"workload": "deploy/web"}).data["nodes"]) == 3


def test_it_is_not_read_more_often_than_a_tenth_of_the_time() -> None:
    reads: list[int] = []

    def read() -> Snapshot:
        reads.append(1)
        return snapshot()

    reading = Reading(read, 60.0)
    assert msgspec.to_builtins(page_state(reading)) == msgspec.to_builtins(page_state(reading))
    assert len(reads) == 1
