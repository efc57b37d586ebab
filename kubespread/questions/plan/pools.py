"""The nodes of a pool replaced by others, as steps of a scenario: new ones join, then old ones are drained and go."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import cycle, islice

from msgspec import Struct

from kubespread.controllers.outage import is_silent
from kubespread.errors import UsageError
from kubespread.kube.api.core import Node
from kubespread.kube.api.unknown_fields import alternatives
from kubespread.kube.taint import DrainFlags
from kubespread.kube.well_known import HOSTNAME, POOLS, ZONE
from kubespread.scenario.types import Step
from kubespread.snapshot.edits.new_nodes import AddNode, in_place_of
from kubespread.snapshot.edits.nodes import Cordon, DeleteNode, Drain
from kubespread.snapshot.edits.registry import parse
from kubespread.snapshot.edits.verb import Edit, nodes_of_target, parse_target

_POOL = re.compile(
    r"(?P<pool>[^@]+)=(?P<by>[^@=:]+)(?::(?P<count>[1-9][0-9]{0,4}))?(?P<labels>(?:@.*)?)", re.DOTALL
)  # fmt: skip
_EXPECTED = "expected POOL=CPUxGI, as in web=8x16, or POOL=TEMPLATE, each with :COUNT and @KEY=VALUE if needed"


class Replacement(Struct, frozen=True):
    """A pool, and the steps that replace its nodes."""

    nodes: Sequence[Node]
    joining: Sequence[Step]
    leaving: Sequence[Step]


def replacement(text: str, nodes: Sequence[Node], flags: DrainFlags) -> Replacement:
    """The steps of ``--replace-pool TEXT``. Raises UsageError, and ManifestError for a template's file."""
    match = _POOL.fullmatch(text)
    if match is None:
        raise UsageError(f"invalid --replace-pool {text!r}: {_EXPECTED}")
    pool = nodes_of(match["pool"], nodes)
    number = int(match["count"] or len(pool))
    return Replacement(
        pool, tuple(_joining(pool, number, match["by"], match["labels"])), tuple(_leaving(pool, flags))
    )  # fmt: skip


def refuse_shared(texts: Sequence[str], pools: Sequence[Replacement]) -> None:
    """Raises UsageError where a node would be replaced twice."""
    whose: dict[str, str] = {}
    for text, pool in zip(texts, pools, strict=True):
        for name in (node.metadata.name for node in pool.nodes):
            if name in whose:
                raise UsageError(
                    f"node {name} is replaced by --replace-pool {whose[name]} and by --replace-pool {text}"
                )
        whose |= dict.fromkeys((node.metadata.name for node in pool.nodes), text)


def nodes_of(pool: str, nodes: Sequence[Node]) -> list[Node]:
    """The nodes of a pool: by labels, KEY=VALUE, or by the value of a label that says of which pool nodes are.
    Raises UsageError.
    """
    if "=" in pool:
        return nodes_of_target(parse_target(pool), nodes)
    found = [node for node in nodes if pool in (node.metadata.labels.get(key) for key in POOLS)]
    if not found:
        known = {node.metadata.labels[key] for node in nodes for key in POOLS if key in node.metadata.labels}
        hint = alternatives(pool, known) if known else ": no node says of which it is, give its labels: KEY=VALUE"
        raise UsageError(f"no node is of a pool {pool!r}{hint}")
    return found


def _joining(pool: Sequence[Node], number: int, by: str, labels: str) -> Iterator[Step]:
    """New nodes in the zones of the old ones, as many in each; of more or fewer one after another."""
    by_zone: dict[str | None, list[Node]] = {}
    for node in pool:
        by_zone.setdefault(node.metadata.labels.get(ZONE), []).append(node)
    order = [zone for node in pool for zone in [node.metadata.labels.get(ZONE)]]
    zones = list(islice(cycle(order if number == len(pool) else sorted(by_zone, key=str)), number))
    for zone, olds in by_zone.items():
        if not (count := zones.count(zone)):
            continue
        # A copy of one that failed or is cordoned would be cordoned too.
        template = next((node for node in olds if not (is_silent(node) or node.spec.unschedulable)), olds[0])
        yield _step(AddNode, in_place_of(template, by, labels, count))


def _leaving(pool: Sequence[Node], flags: DrainFlags) -> Iterator[Step]:
    """All are cordoned, so that no pod moves twice; then one after another goes."""
    names = [node.metadata.name for node in pool]
    if all(node.metadata.labels.get(HOSTNAME) == node.metadata.name for node in pool):
        yield _step(Cordon, f"{HOSTNAME} in ({','.join(names)})")
    else:
        yield from (_step(Cordon, name) for name in names)
    for name in names:
        drain = Drain(parse_target(name), flags)
        yield Step(str(drain), drain)
        yield _step(DeleteNode, name)


def _step(verb: type[Edit], text: str) -> Step:
    edit = parse(f"{verb.form.verb} {text}")
    return Step(str(edit), edit)
