"""What a question is asked about: one or several."""

from __future__ import annotations

from collections.abc import Sequence

from kubespread.candidate.input.sources import PodGiven


def given_pods(pod: PodGiven | Sequence[PodGiven]) -> Sequence[PodGiven]:
    """What a question is asked about, one or several, as a sequence."""
    return pod if isinstance(pod, Sequence) and not isinstance(pod, str) else [pod]
