"""What comes of losing each domain of a key, in one sentence a key."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubespread.escaping import escaped
from kubespread.planner.reports.survive import DomainLoss, SurviveReport
from kubespread.render.aligned import EMPTY
from kubespread.render.arithmetic import short_key

_MAX_NAMED = 3


def conclusion(report: SurviveReport) -> Iterator[str]:
    """One line a topology key: which of its domains can be lost without a pod that stays pending or is never made."""
    if report.pending_before:
        yield f"{counted(report.pending_before, 'pod')} pending already, before anything is lost"
    for key, losses in report.by_key():
        yield _of_key(short_key(key), losses)


def _of_key(key: str, losses: Sequence[DomainLoss]) -> str:
    bad = [loss for loss in losses if loss.pending or loss.not_made_again]
    if not bad:
        return f"any one of {counted(len(losses), key)} can be lost: no pod stays pending"
    named = ", ".join(domain_name(loss) for loss in bad[:_MAX_NAMED])
    more = f" and {len(bad) - _MAX_NAMED} more" if len(bad) > _MAX_NAMED else ""
    for_good = all(loss.pending_after_removal for loss in bad if loss.pending)
    parts = []
    if any(loss.pending for loss in bad):
        parts.append("leaves pods pending" if for_good else "leaves pods pending while the Node objects are there")
    if any(loss.not_made_again for loss in bad):
        parts.append("takes pods that nothing makes again")
    others = f"; {len(losses) - len(bad)} of {counted(len(losses), key)} can be lost" if len(bad) < len(losses) else ""
    return f"losing {named}{more} {' and '.join(parts)}{others}"


def counted(number: int, noun: str) -> str:
    """``1 zone``, ``3 zones``; a word that is the end of a label key gets its s too."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def domain_name(loss: DomainLoss) -> str:
    """The domain's value, which may be empty."""
    return escaped(loss.domain) or EMPTY
