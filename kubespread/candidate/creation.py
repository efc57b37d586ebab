"""How many of a workload's pods come into being, before any of them is scheduled: controllers adopt, quotas refuse."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from kubespread.candidate.candidate import Candidate
from kubespread.kube.admission.quota import allowance
from kubespread.kube.api.cluster_objects import ResourceQuota
from kubespread.kube.api.core import Pod
from kubespread.kube.owners import controller_of

Quotas = Sequence[ResourceQuota]


@dataclass(frozen=True, slots=True)
class Creation:
    """What becomes of the further pods that a workload asks for."""

    copies: int | None
    """How many are created at most, None for no limit."""
    refusal: str = ""
    """What the API server says to the first one that is not."""
    notes: tuple[str, ...] = ()


def creation(candidate: Candidate, quotas: Quotas, wanted: int | None, present: Iterable[Pod]) -> Creation:
    """What the quotas leave of the ``wanted`` further pods; None: as many as fit. ``present`` are there already."""
    notes = list(_adopted(present))
    allowed = allowance(candidate.pod, quotas) if not candidate.is_stored else None
    if allowed is None or allowed.copies is None:
        return Creation(None, notes=tuple(notes))
    refusal = f'pods "{candidate.pod.metadata.name}" is forbidden: {allowed.refusal}'
    if candidate.is_daemon:
        notes.append(
            f"quotas allow {allowed.copies} more pods of it; which nodes would go without is not evaluated "
            f"({allowed.refusal})"
        )
        return Creation(None, notes=tuple(notes))
    if wanted is not None and wanted > allowed.copies:
        notes.append(f"{allowed.copies} of {wanted} further pods are created: {allowed.refusal}")
    return Creation(allowed.copies, refusal, tuple(notes))


def _adopted(present: Iterable[Pod]) -> Iterator[str]:
    if names := sorted(pod.metadata.name for pod in present if controller_of(pod) is None):
        yield f"its controller adopts pods that match its selector and have no controller: {', '.join(names)}"
