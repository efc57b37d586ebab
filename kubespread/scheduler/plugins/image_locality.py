"""ImageLocality: nodes that already hold the pod's images score higher, the more so the more nodes hold them.

The rules are those of 1.37.

Source: pkg/scheduler/framework/plugins/imagelocality/image_locality.go, Score, calculatePriority, sumImageScores,
    normalizedImageName
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kubespread.kube.api.core import Container, Pod
from kubespread.kube.name_rules import normalized_image
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.cluster.columns import Counts
from kubespread.scheduler.cluster.nodes import Nodes
from kubespread.scheduler.plugin import MAX_NODE_SCORE, SCORE, Fixed, Plugin, Specification

_MIB = 1024 * 1024
MIN_THRESHOLD = 23 * _MIB
MAX_IMAGE_THRESHOLD = 1000 * _MIB


@dataclass(frozen=True)
class ImageLocality(Plugin):
    name: ClassVar[str] = "ImageLocality"

    counts_init_containers: bool = True
    """Since 1.30."""
    counts_image_volumes: bool = True
    """Since 1.36."""
    expects_image_volumes: bool = True
    """Since 1.37 an image volume also raises what the images have to sum up to for the highest score."""

    def signature(self, pod: Pod) -> Hashable:
        return tuple(self._images(pod)), self._expected(pod)

    def prepare(self, cluster: Cluster, pod: Pod) -> ImageLocalityState:
        return ImageLocalityState(cluster.nodes, self._images(pod), self._expected(pod))

    def _containers(self, pod: Pod) -> list[Container]:
        return [*(pod.spec.init_containers if self.counts_init_containers else ()), *pod.spec.containers]

    def _images(self, pod: Pod) -> list[str]:
        images = [container.image for container in self._containers(pod)]
        if self.counts_image_volumes:
            images += _image_volumes(pod)
        return [normalized_image(image) for image in images]

    def _expected(self, pod: Pod) -> int:
        """How many images may sum up to their threshold."""
        return len(self._containers(pod)) + (len(_image_volumes(pod)) if self.expects_image_volumes else 0)


def _image_volumes(pod: Pod) -> list[str]:
    return [volume.image.reference for volume in pod.spec.volumes if volume.image is not None]


@dataclass
class ImageLocalityState(Fixed):
    nodes: Nodes
    images: list[str]
    expected: int

    def score(self) -> Counts:
        total = np.zeros(len(self.nodes), dtype=np.int64)
        for holders, size in self._held():
            spread = float(len(holders)) / float(len(self.nodes))
            total[holders] += int(float(size) * spread)
        highest = self.expected * MAX_IMAGE_THRESHOLD
        if highest <= MIN_THRESHOLD:
            return np.zeros(len(self.nodes), dtype=np.int64)
        return MAX_NODE_SCORE * (np.clip(total, MIN_THRESHOLD, highest) - MIN_THRESHOLD) // (highest - MIN_THRESHOLD)

    def _held(self) -> Iterator[tuple[list[int], int]]:
        """The nodes that hold each image of the pod, and its size as the first node of the cluster reports it."""
        for image in self.images:
            if image in self.nodes.images:
                yield self.nodes.images[image]


SPECIFICATION = Specification(
    name=ImageLocality.name,
    points=frozenset({SCORE}),
    make=lambda setting: ImageLocality(
        counts_init_containers=setting.version.since(30),
        counts_image_volumes=setting.version.since(36),
        expects_image_volumes=setting.version.since(37),
    ),
    weight=1,
)
