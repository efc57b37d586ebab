"""What becomes of pods as a cluster is edited: tables, one file of ``fixtures/world`` each.

A case is a sentence, the objects, the edits, and what is expected, each by the name of its reader.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from kubespread.world.events.world import World
from tests.builders import node, pod
from tests.kube.test_quota import quota
from tests.tables import FIXTURES, Builders, built, table_of
from tests.world.clusters import budget, daemon_set, deployment, job, lacking, on_nodes, play, stateful_set, world

BUILDERS: Builders = {
    each.__name__: each for each in (node, pod, deployment, stateful_set, daemon_set, job, budget, quota)
}
READERS: Mapping[str, Callable[[World, list[str]], Any]] = {
    "happened": lambda _, happened: happened,
    "nodes": lambda living, _: on_nodes(living),
    "lacking": lambda living, _: lacking(living),
}


@pytest.mark.parametrize("path", sorted((FIXTURES / "world").glob("*.yaml")), ids=lambda path: path.stem)
def test_what_becomes_of_pods(path: Path) -> None:
    differ = {}
    for row in table_of(path)["cases"]:
        living = world(built(row["objects"], BUILDERS))
        happened = play(living, *row["edits"])
        found = {name: READERS[name](living, happened) for name in row["expect"]}
        if found != row["expect"]:
            differ[row["case"]] = (found, row["expect"])
    assert differ == {}
