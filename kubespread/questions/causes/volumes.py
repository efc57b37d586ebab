"""Volumes of a pod that keep it from nodes, and where they are."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from msgspec import Struct

from kubespread.kube.well_known import HOSTNAME
from kubespread.reports.reason_words import words_of
from kubespread.scheduler.causes import VolumeNodeDetail, VolumeZoneDetail
from kubespread.scheduler.evaluation import Evaluation
from kubespread.scheduler.plugins.volumes.binding import NODE_CONFLICT, VolumeBinding
from kubespread.scheduler.plugins.volumes.filters import NO_ZONE, VolumeZone

OF_VOLUMES = (words_of(NODE_CONFLICT), words_of(NO_ZONE.reasons[0]))
"""The reasons of nodes that do not reach a volume."""


class PlacedVolume(Struct, frozen=True):
    """A bound volume that only some nodes reach: those with one of the values of a label."""

    claim: str
    """The claim's name."""
    key: str
    values: tuple[str, ...]

    def __str__(self) -> str:
        """``volume data-kafka-0 is in us-east-2a``."""
        return f"volume {self.claim} is {'on' if self.key == HOSTNAME else 'in'} {' or '.join(self.values)}"


def placed_volumes(evaluation: Evaluation) -> Iterator[PlacedVolume]:
    """Find the volumes that keep the pod from some node, each once."""
    found = dict[PlacedVolume, None]()
    for plugin in (VolumeBinding.name, VolumeZone.name):
        verdicts, state = evaluation.verdicts.get(plugin), evaluation.states.get(plugin)
        if verdicts is None or state is None:
            continue
        for causes in state.causes(evaluation.cluster, np.flatnonzero(~verdicts.passes)):
            for cause in causes:
                if isinstance(cause, VolumeZoneDetail) or (
                    isinstance(cause, VolumeNodeDetail) and cause.operator == "In"
                ):
                    found[PlacedVolume(cause.claim.partition("/")[2], cause.key, cause.values)] = None
    yield from found
