"""What the API server refuses a pod for, beside ours: every text, as often as it stands there and where."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import kubespread
from kubespread.errors import ManifestError
from tools.replay.cases import Difference, Recorded


def differences(recorded: Recorded, kube_version: str | None = None) -> Iterator[Difference]:
    """What becomes of a pod that is not refused is not compared: the claims that it names were not recorded."""
    case, expect = recorded
    wanted, ours = expect.get("validation", []), []
    scheduler = kubespread.Scheduler(
        kube_version=kube_version,
        feature_gates=case.get("gates"),
        admission=False,
        default_toleration_seconds=False,
        pod_node_selector=True,
    )
    try:
        kubespread.explain(kubespread.Snapshot.from_objects(case["nodes"]), case["pod"], scheduler)
    except ManifestError as error:
        ours = [f"{fault.field}: {fault.message}" for fault in error.faults]
    if sorted(ours) != sorted(wanted):
        yield Difference(recorded.name, "texts", wanted, ours)
    elif _ordered(ours) != _ordered(wanted):
        yield Difference(recorded.name, "order", wanted, ours)


def _ordered(texts: Sequence[str]) -> list[str]:
    """Limits and requests are maps, which Go walks in an order of chance."""
    return [text for text in texts if ".resources." not in text]
