"""Which workload is meant of what is given: keywords that several questions have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from kubespread.candidate.sources import Choosing, PodGiven


class ChoosingKeywords(TypedDict, total=False):
    """Which workload is meant, and how manifests are read."""

    name: str | None
    """Choose among several workloads: NAME, Kind/NAME or NAMESPACE/Kind/NAME."""
    namespace: str | None
    """Where the manifest names none."""
    recursive: bool
    """Read directories to their depths."""
    template_path: str
    """Where kinds that are not known have their pod template."""


class WorkloadKeywords(ChoosingKeywords, total=False):
    """Which workload is meant, and what is changed in it."""

    set: Sequence[str]
    """Fields to change in the pod or its workload before it is admitted: ``maxSkew[zone]=2``, ``cpu=500m``."""


def choosing_of(options: ChoosingKeywords, *, selector: str = "", one_only: bool = False) -> Choosing:
    """What the keywords say, with what `Choosing` takes for those that are not given."""
    return Choosing(
        options.get("name"),
        options.get("namespace"),
        selector,
        recursive=options.get("recursive", False),
        template_path=options.get("template_path", ""),
        one_only=one_only,
    )


def given_pods(pod: PodGiven | Sequence[PodGiven]) -> Sequence[PodGiven]:
    """What a question is asked about, one or several, as a sequence."""
    return pod if isinstance(pod, Sequence) and not isinstance(pod, str) else [pod]
