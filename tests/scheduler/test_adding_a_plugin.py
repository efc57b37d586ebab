"""Adding a plugin is one folder and one line: this is the folder, and the registry gets the line for one test."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import kubespread
from kubespread.kube.api.core import Pod
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.cluster.columns import Counts
from kubespread.scheduler.cluster.nodes import Nodes
from kubespread.scheduler.plugin import (
    Code,
    FixedState,
    Plugin,
    PluginSetting,
    Point,
    ScaledToHighest,
    Specification,
    Status,
    Verdicts,
)
from kubespread.scheduler.plugins import registry
from tests.builders import node, pod
from tests.scheduler.asking import ask, reasons, scores

UNNAMED = Status(Code.UNSCHEDULABLE, ("node(s) had a short name",))


class LongNames(Plugin, frozen=True):
    """Wants nodes with names of some length, the longer the better."""

    name: ClassVar[str] = "LongNames"

    least: int = 3

    def prepare(self, cluster: Cluster, pod: Pod) -> LongNamesState:
        return LongNamesState(cluster.nodes, self.least)

    def gaps(self, cluster: Cluster, pod: Pod) -> Iterator[str]:
        yield "nicknames are not listed"


@dataclass
class LongNamesState(ScaledToHighest, FixedState):
    nodes: Nodes
    least: int

    def _lengths(self) -> Counts:
        return np.array([len(name) for name in self.nodes.names], dtype=np.int64)

    def filter(self) -> Verdicts:
        return Verdicts.rejecting(self._lengths() < self.least, UNNAMED)

    def score(self) -> Counts:
        return self._lengths()


def long_names(setting: PluginSetting) -> LongNames:
    return LongNames(least=2 if setting.version.reaches(36) else 3)


SPECIFICATION = Specification(
    name=LongNames.name, points=frozenset({Point.FILTER, Point.SCORE}), make=long_names, weight=5
)
NODES = [node("a"), node("bb"), node("cccc")]


@pytest.fixture(autouse=True)
def one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "REGISTRY", (*registry.REGISTRY, SPECIFICATION))


def test_it_filters_scores_normalizes_and_confesses() -> None:
    report = ask(NODES, pod())
    assert (report.feasible, reasons(report), scores(report, "LongNames"), report.gaps[-1]) == (
        ("cccc", "bb"),
        {"a": "node(s) had a short name"},
        {"bb": 5 * 50, "cccc": 5 * 100},
        "nicknames are not listed",
    )


def test_it_places() -> None:
    report = kubespread.simulate(kubespread.Snapshot.from_objects(NODES), pod(), 3)
    assert {placement.node for placement in report.placements} == {"cccc"}


def test_it_follows_the_release() -> None:
    report = kubespread.explain(
        kubespread.Snapshot.from_objects(NODES), pod(), kubespread.Scheduler(kube_version="1.35")
    )
    assert reasons(report) == {"a": "node(s) had a short name", "bb": "node(s) had a short name"}


def test_a_configuration_can_switch_it_off_and_weigh_it() -> None:
    head = "{apiVersion: kubescheduler.config.k8s.io/v1, kind: KubeSchedulerConfiguration, profiles: [{plugins: "
    off = ask(NODES, pod(), head + "{multiPoint: {disabled: [{name: LongNames}]}}}]}")
    heavy = ask(NODES, pod(), head + "{score: {enabled: [{name: LongNames, weight: 9}]}}}]}")
    assert (len(off.feasible), scores(off, "LongNames"), scores(heavy, "LongNames")) == (
        3,
        {},
        {"bb": 9 * 50, "cccc": 9 * 100},
    )
