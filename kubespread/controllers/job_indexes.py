"""Completion indexes of Indexed Jobs, as ranges: a Job may have a hundred thousand of them.

Source of the rules: indexed_job_utils of k8s.io/kubernetes/pkg/controller/job.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kubespread.kube.api.annotations import JOB_COMPLETION_INDEX
from kubespread.kube.api.core import Pod
from kubespread.kube.selector import parse_int64


def completion_index(pod: Pod, completions: int) -> int | None:
    """The index of ``pod``, None where it has none of the Job's."""
    index = parse_int64(pod.metadata.annotations.get(JOB_COMPLETION_INDEX, ""))
    return index if index is not None and 0 <= index < completions else None


def completed_indexes(text: str, completions: int) -> list[range]:
    """The indexes that status.completedIndexes names, ``0-3,7``. What is no number is passed over."""
    ranges = []
    for part in text.split(",") if text else ():
        first, _, last = part.partition("-")
        start, end = parse_int64(first), parse_int64(last or first)
        if start is not None and end is not None:
            ranges.append(range(start, min(end + 1, completions)))
    return merged(ranges)


def merged(ranges: Iterable[range], indexes: Iterable[int] = ()) -> list[range]:
    """All of them in order, none of them twice."""
    apart: list[range] = []
    for each in sorted((*ranges, *(range(index, index + 1) for index in indexes)), key=lambda each: each.start):
        if apart and each.start <= apart[-1].stop:
            apart[-1] = range(apart[-1].start, max(apart[-1].stop, each.stop))
        elif each:
            apart.append(each)
    return apart


def first_pending(taken: Sequence[range], count: int, completions: int) -> tuple[int, ...]:
    """The ``count`` smallest indexes that are in none of the merged ranges, as far as there are so many."""
    pending: list[int] = []
    start = 0
    for each in (*taken, range(completions, completions)):
        pending += range(start, min(each.start, start + count - len(pending)))
        start = each.stop
    return tuple(pending)
