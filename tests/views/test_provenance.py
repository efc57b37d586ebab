"""Where an answer names the release that it is of."""

from __future__ import annotations

import pytest

from kubespread.reports.parts import ClusterReference, scheduler_phrase

NAMED: dict[str, tuple[str | None, str, str]] = {
    "the cluster's own goes without saying": ("v1.34.2", "1.34.2", ""),
    "so does the newest where the cluster does not say": (None, "1.37", ""),
    "an older one where it does not say": (None, "1.34", "kube-scheduler v1.34"),
    "another than the cluster's": ("v1.34.2", "1.37", "kube-scheduler v1.37"),
    "another patch of it": ("v1.34.2", "1.34", "kube-scheduler v1.34"),
    "the newest for a cluster that is not modeled": ("v1.45.0", "1.37", "kube-scheduler v1.37"),
    "the newest for one that says nothing sensible": ("latest", "1.37", "kube-scheduler v1.37"),
    "one that is not released, also where the cluster runs it": (
        "v1.38.0-alpha.2",
        "1.38.0",
        "kube-scheduler v1.38.0 (not released)",
    ),
}


@pytest.mark.parametrize("case", NAMED)
def test_the_release_is_named_where_it_does_not_go_without_saying(case: str) -> None:
    server, release, phrase = NAMED[case]
    assert scheduler_phrase(release, ClusterReference(server_version=server)) == phrase
    assert server is not None or scheduler_phrase(release, None) == phrase
