"""What a running control plane did with a manifest, beside what `simulate` says of it."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

import kubespread
from kubespread.kube.api.kinds import KIND_OF
from kubespread.kube.well_known import ZONE
from tools.replay.cases import Data, Difference, Recorded

_NO_ZONE = "-"


class Outcome(NamedTuple):
    """Pods by where they ended up."""

    placed: int
    pending: int
    per_zone: dict[str, int]


def ours(case: Data) -> Outcome:
    """What we say of a recorded manifest; every kind was listed, though only what matters was kept."""
    snapshot = kubespread.Snapshot.from_objects(case["before"])
    objects = replace(snapshot.objects, listed=frozenset(row.kind for row in KIND_OF.values()))
    snapshot = replace(snapshot, objects=objects)
    with tempfile.TemporaryDirectory() as folder:
        manifest = Path(folder) / "manifest.yaml"
        manifest.write_text(case["manifest"])
        reports = kubespread.simulate(snapshot, [manifest])
    zones = {node.metadata.name: node.metadata.labels.get(ZONE, _NO_ZONE) for node in snapshot.nodes}
    return Outcome(
        placed=sum(report.placed for report in reports),
        pending=sum((report.created or 0) - report.present - report.placed for report in reports),
        per_zone=dict(Counter(zones[placement.node] for report in reports for placement in report.placements)),
    )


def real(case: Data) -> Outcome:
    recorded = case["real"]
    return Outcome(
        recorded["placed"], recorded["pending"], {zone: count for zone, count in recorded["perZone"].items() if count}
    )


def differences(recorded: Recorded, _kube_version: str | None = None) -> Iterator[Difference]:
    """How many pods are placed and how many wait; where equal nodes go to is not compared here."""
    said, happened = ours(recorded.case), real(recorded.case)
    if said[:2] != happened[:2]:
        yield Difference(recorded.name, "placed, pending", happened[:2], said[:2])
