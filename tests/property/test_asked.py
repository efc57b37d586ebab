"""Whatever is typed, no remedy on a random cluster changes it back: what an edit has changed in the nodes, and what is
set in the pod, is the same with the remedy.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import pytest

import kubespread
from kubespread import Snapshot
from kubespread.errors import KubespreadError
from kubespread.snapshot.edits.registry import parse
from tests.builders import Data
from tests.property.test_remedies import cluster, parts, snapshot_of, waiting

SETTINGS = (
    "maxSkew[zone]=1",
    "maxSkew[rack]=2",
    "minDomains[zone]=3",
    "nodeTaintsPolicy[zone]=Ignore",
    "nodeAffinityPolicy[rack]=Honor",
    "whenUnsatisfiable[zone]=DoNotSchedule",
    "nodeSelector[pool]=ssd",
    "cpu=3",
)
EDITS = (
    "cordon {}",
    "cordon zone=a",
    "drain {} --force",
    "uncordon {}",
    "taint {}=gpu:NoSchedule",
    "taint zone=b x=y:NoSchedule",
    "label {}=pool=gen",
    "label {} pool-",
    "spread zone:1",
    "spread deploy/web=rack:1",
    "spread deploy/api=host:1",
)


def facts(snapshot: Snapshot, edits: Sequence[str]) -> dict[object, object]:
    """What edits of nodes may change, of each node by its name."""
    nodes = {node.metadata.name: node for node in snapshot.nodes}
    for edit in (parse(text) for text in edits):
        nodes |= edit.change(list(nodes.values())).replaced
    found: dict[object, object] = {}
    for name, node in nodes.items():
        found |= {(name, label): value for label, value in node.metadata.labels.items()}
        found |= {(name, taint.key, taint.effect): taint.value for taint in node.spec.taints}
        found[name] = node.spec.unschedulable
    return found


def changed(before: dict[object, object], after: dict[object, object]) -> set[object]:
    return {each for each in before.keys() | after.keys() if before.get(each) != after.get(each)}


def check(objects: list[Data], pod: str, edits: list[str], settings: list[str], options: Sequence[str]) -> None:
    snapshot = snapshot_of(objects)
    set_too, edited_too = parts(tuple(options))
    before, asked = facts(snapshot, ()), facts(snapshot, edits)
    of_nodes = [edit for edit in edited_too if edit.partition(" ")[0] in ("uncordon", "taint", "label")]
    assert changed(before, asked).isdisjoint(changed(asked, facts(snapshot, [*edits, *of_nodes]))), options
    app = pod.removeprefix("pod/").partition("-")[0]
    spread = [text.partition(" ")[2].removeprefix(f"deploy/{app}=") for text in edits if text.startswith("spread ")]
    keys = [text.partition(":")[0] for text in spread if "=" not in text]
    fields = {text.partition("=")[0] for text in settings} | {f"maxSkew[{key}]" for key in keys}
    assert {text.partition("=")[0] for text in set_too}.isdisjoint(fields), options


def typed(chance: random.Random, objects: list[Data], pod: str) -> tuple[list[str], list[str]]:
    """Edits that this cluster takes together, and settings that the pod takes then."""
    nodes = [each["metadata"]["name"] for each in objects if each["kind"] == "Node"]
    edits = [each.format(chance.choice(nodes)) for each in chance.sample(EDITS, 6)]
    taken: list[str] = []
    for each in edits:
        taken += [each] if len(taken) < 2 and takes(objects, pod, [*taken, each], []) else []
    return taken, [each for each in chance.sample(SETTINGS, 6) if takes(objects, pod, taken, [each])][:2]


def takes(objects: list[Data], pod: str, edits: list[str], settings: list[str]) -> bool:
    try:
        kubespread.explain(snapshot_of(objects, *edits), pod, set=settings)
    except KubespreadError:
        return False
    return True


def suggested(objects: list[Data], pod: str, edits: list[str], settings: list[str]) -> Iterator[Sequence[str]]:
    """The options of each suggestion of `explain`, with --fix and without, and of `pending`, which sets nothing."""
    snapshot = snapshot_of(objects, *edits)
    for fix in (True, False):
        advice = kubespread.explain(snapshot, pod, set=settings, fix=fix).advice
        for each in advice.enough if advice is not None else ():
            yield each.options
            yield from ((option,) for option in each.alternatives)
    if not settings:
        own = f"default/{pod.removeprefix('pod/')}"
        groups = (group for group in kubespread.pending(snapshot).groups if own in group.pods)
        yield from (group.change.options for group in groups if group.change is not None)


STUCK = [seed for seed in range(1, 41) if waiting(cluster(seed))]


@pytest.mark.parametrize("seed", STUCK)
def test_what_is_typed_is_never_changed_back(seed: int) -> None:
    chance, objects = random.Random(seed), cluster(seed)
    pod = f"pod/{waiting(objects)[0]['metadata']['name']}"
    edits, settings = typed(chance, objects, pod)
    assert edits or settings
    for some in (settings, []):
        for options in suggested(objects, pod, edits, some):
            check(objects, pod, edits, some, options)
