"""What comes of losing each domain of a key, in one sentence a key."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubespread.escaping import escaped
from kubespread.planner.reports.survive import DomainLoss, SurviveReport
from kubespread.render.aligned import EMPTY
from kubespread.render.arithmetic import short_key
from kubespread.render.phrases import count_of, some_of

_MAX_NAMED = 3


def conclusion(report: SurviveReport) -> Iterator[str]:
    """One line a topology key: which of its domains can be lost without a pod that stays pending or is never made."""
    if report.pending_before:
        yield f"{count_of(report.pending_before, 'pod')} pending already, before anything is lost"
    for key, losses in report.by_key():
        yield _of_key(short_key(key), losses)


def _of_key(key: str, losses: Sequence[DomainLoss]) -> str:
    bad = [loss for loss in losses if loss.pending or loss.not_made_again]
    if not bad:
        return f"any one of {count_of(len(losses), key)} can be lost: no pod stays pending"
    for_good = all(loss.pending_after_removal for loss in bad if loss.pending)
    parts = []
    if any(loss.pending for loss in bad):
        parts.append("leaves pods pending" if for_good else "leaves pods pending while the Node objects are there")
    if any(loss.not_made_again for loss in bad):
        parts.append("takes pods that nothing makes again")
    others = f"; {len(losses) - len(bad)} of {count_of(len(losses), key)} can be lost" if len(bad) < len(losses) else ""
    return f"losing {some_of(list(map(domain_name, bad)), _MAX_NAMED)} {' and '.join(parts)}{others}"


def domain_name(loss: DomainLoss) -> str:
    """The domain's value, which may be empty."""
    return escaped(loss.domain) or EMPTY
