"""The reasons of older releases, where they said the same in other words.

Source of the rules: the releases' own plugins, 1.18 to 1.36.
"""

from __future__ import annotations

from collections.abc import Mapping

from kubespread.kube.versions import KubeVersion

_NEAR = "node(s) didn't match pod affinity rules"
_AWAY = "node(s) didn't match pod anti-affinity rules"
_EXISTING = "node(s) didn't satisfy existing pods anti-affinity rules"
_EITHER = "node(s) didn't match pod affinity/anti-affinity"
_NODE_AFFINITY = "node(s) didn't match Pod's node affinity/selector"
_SPREAD = "node(s) didn't match pod topology spread constraints"

# Today's reason, the last minor that worded it otherwise, and how; of two rows for one reason the older comes last.
_OLDER: tuple[tuple[str, int, tuple[str, ...]], ...] = (
    (_NODE_AFFINITY, 20, ("node(s) didn't match Pod's node affinity",)),
    (_NODE_AFFINITY, 19, ("node(s) didn't match node selector",)),
    ("node(s) didn't match the requested node name", 20, ("node(s) didn't match the requested hostname",)),
    *((reason, 21, (f"{_EITHER} rules", reason)) for reason in (_NEAR, _AWAY, _EXISTING)),
    *((reason, 20, (_EITHER, reason)) for reason in (_NEAR, _AWAY, _EXISTING)),
    (f"{_SPREAD} (missing required label)", 18, (_SPREAD,)),
    ("node(s) didn't match PersistentVolume's node affinity", 32, ("node(s) had volume node affinity conflict",)),
    (
        "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by "
        "another pod",
        33,
        ("node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode",),
    ),
)


def wording(version: KubeVersion) -> Mapping[str, tuple[str, ...]]:
    """What a release says instead of today's reasons; reasons that are not there stay as they are."""
    return {reason: older for reason, last, older in _OLDER if version.minor <= last}
