"""Which cluster an answer is about, and how old what is known of it is."""

from __future__ import annotations

import datetime

from kubespread.escaping import escaped
from kubespread.reports.parts import ClusterReference
from kubespread.snapshot.snapshot import Snapshot

_CONTEXT = "context "


def cluster_reference(snapshot: Snapshot) -> ClusterReference:
    """What the snapshot's origin says of itself, its age as of now."""
    origin = snapshot.origin
    return ClusterReference(
        context=origin.source.removeprefix(_CONTEXT) if origin.source.startswith(_CONTEXT) else None,
        server=origin.server or None,
        snapshot=", ".join(map(escaped, snapshot.files)) or None,
        time=origin.time or None,
        age_seconds=_age(origin.time),
        server_version=origin.server_version or None,
    )


def _age(time: str) -> int | None:
    """Seconds since ``time``; a snapshot of the future, by another clock, is as old as it can be: 0."""
    try:
        then = datetime.datetime.fromisoformat(time)
    except ValueError:
        return None
    now = datetime.datetime.now(then.tzinfo)
    return max(0, int((now - then).total_seconds()))
