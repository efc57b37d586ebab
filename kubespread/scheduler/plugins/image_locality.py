"""ImageLocality: nodes that already hold the pod's images score higher, the more so the more nodes hold them.

Source of the rules: kube-scheduler 1.36, imagelocality/image_locality.go.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kubespread.kube.images import normalized_image
from kubespread.kube.objects import Pod
from kubespread.scheduler.cluster import Cluster, Counts, Mask
from kubespread.scheduler.plugin import MAX_NODE_SCORE, State

_MIB = 1024 * 1024
MIN_THRESHOLD = 23 * _MIB
MAX_CONTAINER_THRESHOLD = 1000 * _MIB


@dataclass(frozen=True)
class ImageLocality:
    name: ClassVar[str] = "ImageLocality"

    counts_image_volumes: bool = True
    """Since 1.36."""

    def prepare(self, cluster: Cluster, pod: Pod) -> State:
        containers = [*pod.spec.init_containers, *pod.spec.containers]
        images = [container.image for container in containers]
        if self.counts_image_volumes:
            images += [volume.image.reference for volume in pod.spec.volumes if volume.image is not None]
        return _State(cluster, [normalized_image(image) for image in images], len(containers))


@dataclass
class _State(State):
    cluster: Cluster
    images: list[str]
    containers: int

    def score(self, feasible: Mask) -> Counts:
        total = np.zeros(len(self.cluster), dtype=np.int64)
        for holders, size in self._held():
            spread = float(len(holders)) / float(len(self.cluster))
            total[holders] += int(float(size) * spread)
        highest = self.containers * MAX_CONTAINER_THRESHOLD
        if highest <= MIN_THRESHOLD:
            return np.zeros(len(self.cluster), dtype=np.int64)
        return MAX_NODE_SCORE * (np.clip(total, MIN_THRESHOLD, highest) - MIN_THRESHOLD) // (highest - MIN_THRESHOLD)

    def _held(self) -> Iterator[tuple[list[int], int]]:
        """The nodes that hold each image of the pod, and its size as the first node of the cluster reports it."""
        for image in self.images:
            if image in self.cluster.images:
                yield self.cluster.images[image]
