"""Losses and upgrades as they look on clusters from twelve nodes to a thousand: ``python -m tests.views.test_survive_screens``
rewrites the screens that are kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import pytest

import kubespread
from kubespread import PlanReport, Snapshot, SurviveReport
from kubespread.views import plain, terminal
from kubespread.views.look import Look
from tests.builders import Data, hard, node, soft
from tests.views.clusters import HOSTNAME, NAMES, ZONE, ZONES
from tests.views.kept import Screen, check, keep
from tests.world.clusters import budget, deployment

_REPLICAS = 9


def cluster(nodes: int, cloud: str) -> Snapshot:
    """Three zones; web may not be spread unevenly over them, api had rather not, and a budget keeps all of web."""
    objects: list[Data] = []
    names = [NAMES[cloud](number) for number in range(nodes)]
    for number, name in enumerate(names):
        made = node(name, cpu="4")
        made["metadata"]["labels"] = {ZONE: ZONES[cloud][number % 3], HOSTNAME: name, "pool": f"pool-{number % 3}"}
        objects.append(made)
    on = tuple(names[:_REPLICAS])
    web = {"topologySpreadConstraints": [hard(ZONE, match={"app": "web"})]}
    api = {"topologySpreadConstraints": [soft(ZONE, match={"app": "api"})]}
    objects += deployment("web", on, spec=web, cpu="500m")
    objects += deployment("api", on, spec=api, cpu="1")
    return Snapshot.from_objects([*objects, budget("web", minAvailable=_REPLICAS)])


@cache
def lost(nodes: int, cloud: str, keys: Sequence[str]) -> SurviveReport:
    return kubespread.survive(cluster(nodes, cloud), keys)


@cache
def upgraded(nodes: int, cloud: str, edit: str) -> PlanReport:
    snapshot = cluster(nodes, cloud)
    return kubespread.upgrade(snapshot.edited(edit) if edit else snapshot, "pool=pool-0", remedies=nodes < 100)


SCALED = f"scale deploy/web={_REPLICAS + 1}"


def screens() -> list[Screen]:
    found = []
    for nodes, cloud in ((12, "aws"), (12, "gke"), (1000, "aws")):
        for width in (80, 120):
            look = Look(width=width)
            both = terminal.table(lost(nodes, cloud, ("zone", "hostname") if nodes < 100 else ("zone",)), look)
            found.append(Screen(f"survive-{nodes}-{cloud}-{width}", width, both))
            for name, edit in (("blocked", ""), ("done", SCALED)):
                text = terminal.table(upgraded(nodes, cloud, edit), look)
                found.append(Screen(f"upgrade-{nodes}-{cloud}-{name}-{width}", width, text))
    look = Look()
    found += [
        Screen("survive-plain", 0, plain.plain(lost(12, "gke", ("zone",)), look)),
        Screen("survive-csv", 0, plain.csv(lost(12, "gke", ("zone",)), look)),
        Screen("upgrade-plain", 0, plain.plain(upgraded(12, "gke", ""), look)),
        Screen("upgrade-csv", 0, plain.csv(upgraded(12, "gke", SCALED), look)),
    ]
    return found


def test_the_screens_are_those_that_were_looked_at() -> None:
    check(screens())


@pytest.mark.parametrize("in_full", [False, True])
def test_many_domains_are_cut_to_the_worst_unless_all_are_wanted(in_full: bool) -> None:
    report = lost(12, "aws", ("hostname",))
    many = kubespread.survive(cluster(60, "aws"), ("hostname",)) if not in_full else report
    text = terminal.table(many, Look(width=120, in_full=in_full))
    assert ("… and 40 more hostnames" in text) is not in_full


if __name__ == "__main__":
    keep(screens())
