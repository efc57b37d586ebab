"""The formula, as every renderer writes it: matching + self - minimum = skew, against maxSkew."""

from __future__ import annotations

from msgspec import Struct

from kubespread.reports.judged_nodes import NodeConstraint, ScoreDetail
from kubespread.reports.parts import letter as letter


class Spelling(Struct, frozen=True):
    """How the formula is spelled."""

    minus: str
    equals: str
    exceeds: str
    missing: str
    skew_only: bool = False


PRETTY = Spelling(minus="−", equals=" = ", exceeds=" > ", missing="no label")
# For narrow terminals, the second for very narrow ones: count and minimum stand above the rows.
TIGHT = Spelling(minus="−", equals="=", exceeds=">", missing="no label")
SKEW = Spelling(minus="", equals="", exceeds=">", missing="none", skew_only=True)
# No blanks: a column in a pipe is one word.
ASCII = Spelling(minus="-", equals="=", exceeds=">", missing="<none>")


def formula(constraint: NodeConstraint, spelling: Spelling, *, rejects: bool) -> str:
    """``1+1−0 = 2 > 1``; the comparison only where it ``rejects`` the node."""
    if constraint.matching is None:
        return spelling.missing
    minimum = 0 if constraint.global_minimum is None else constraint.global_minimum
    text = f"{constraint.matching}+{constraint.self_match}{spelling.minus}{minimum}{spelling.equals}"
    text = f"{'' if spelling.skew_only else text}{constraint.skew}"
    return f"{text}{spelling.exceeds}{constraint.max_skew}" if rejects else text


def score_steps(detail: ScoreDetail) -> str:
    """``2>67*3=201``: the raw score, the same brought to 0..100, times the plugin's weight."""
    return f"{detail.raw}>{detail.normalized}*{detail.weight}={detail.weighted}"
