"""A running cluster that is read again and again: what may be watched is listed once."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kubespread.kube.api.core import Service
from kubespread.snapshot.live.connection import RESOURCES
from kubespread.snapshot.live.kubeconfig import Access
from kubespread.snapshot.live.watching import Watching
from kubespread.snapshot.snapshot import Snapshot
from tests.api.server import Answer, FakeApi, Request, always, serving, status
from tests.builders import Data, hosts, pod

pytestmark = pytest.mark.usefixtures("outside_any_cluster")

PODS = "/api/v1/pods"
OBJECTS: list[Data] = [*hosts("a", "b"), pod("p0", "n0"), pod("p1")]


@pytest.fixture
def server() -> Iterator[FakeApi]:
    with serving(FakeApi(objects=OBJECTS)) as api:
        yield api


@pytest.fixture
def reader(server: FakeApi, tmp_path: Path) -> Iterator[Reader]:
    reading = Reader(server, tmp_path)
    yield reading
    reading.close()


class Reader:
    """Reads one cluster again and again, and counts what it asks for."""

    def __init__(self, server: FakeApi, tmp_path: Path) -> None:
        self._server = server
        self._access = Access(str(server.kubeconfig(tmp_path)))
        self.told: list[str] = []
        self._watching = Watching(self.told.append)

    def read(self) -> Snapshot:
        return self._watching.connect(self._access)

    def close(self) -> None:
        self._watching.close()

    def until(self, expected: object, *, lists: int) -> None:
        """The nodes of the pods by name are ``expected`` at last, by that many lists."""
        self.watched()
        self._server.requests.clear()
        for _ in range(1000):
            found = {each.metadata.name: each.spec.node_name for each in self.read().pods}
            if found == expected:
                assert len(self.lists()) == lists
                return
            self._server.requests.clear()
            time.sleep(0.05)
        raise AssertionError(found)

    def watched(self) -> None:
        """Wait until every kind is watched, or refused to be."""
        while sum("watch" in each.query for each in self._server.requests) < len(RESOURCES):
            time.sleep(0.01)

    def lists(self) -> list[Request]:
        return [
            each for each in self._server.requests if "resourceVersion" not in each.query and each.path != "/version"
        ]


def test_changes_are_told_and_nothing_is_listed_again(server: FakeApi, reader: Reader) -> None:
    assert len(reader.read().pods) == 2
    server.happen("MODIFIED", pod("p1", "n1"))
    server.happen("ADDED", pod("p2", "n2"))
    server.happen("DELETED", pod("p0", "n0"))
    reader.until({"p1": "n1", "p2": "n2"}, lists=0)
    assert reader.told == []
    assert reader.read().origin.resource_version == "257"


def test_what_may_not_be_watched_is_listed_each_time_and_named_once(server: FakeApi, reader: Reader) -> None:
    def fault(request: Request) -> Answer | None:
        return status(403, "no") if request.path == PODS and "watch" in request.query else None

    server.faults.append(fault)
    reader.read()
    server.happen("MODIFIED", pod("p1", "n1"))
    reader.until({"p0": "n0", "p1": "n1"}, lists=1)
    reader.read()
    assert reader.told == ["not allowed to watch pods: listed each time"]


def test_what_may_be_listed_since_is_read_once_the_cluster_is_listed_anew(
    server: FakeApi, reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    fault = always("/api/v1/services", status(403, "no"))
    server.faults.append(fault)
    assert not reader.read().objects.knows(Service)
    server.faults.remove(fault)
    assert not reader.read().objects.knows(Service)
    monkeypatch.setattr("kubespread.snapshot.live.watching.monotonic", lambda: float("inf"))
    assert reader.read().objects.knows(Service)


def test_a_watch_that_expires_is_mended_by_listing_all_again(server: FakeApi, reader: Reader) -> None:
    reader.read()
    reader.watched()
    server.objects = [*OBJECTS[:-1], pod("p1", "n1")]
    server.events.append(("ERROR", {}))
    reader.until({"p0": "n0", "p1": "n1"}, lists=len(RESOURCES) + 4)
