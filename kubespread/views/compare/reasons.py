"""What is said of a node that differs, in the words of every format."""

from __future__ import annotations

from kubespread.planner.reports.compare import NodeChange, NodeDifference, NodeSide
from kubespread.planner.reports.judged_nodes import NodeConstraint
from kubespread.views.reasons import SPREAD_PLUGIN, short_names, without_taint_of_cordon
from kubespread.wording import short_key

_SEPARATOR = " · "
_ARROW = " → "
_MINUS = "−"


def why_not(side: NodeSide | None) -> str:
    """Every reason in kube-scheduler's words, constraints by their keys with the skew; empty for a node that fits."""
    if side is None or side.feasible:
        return ""
    violated = [f"{short_key(each.topology_key)}: {each.reason}" for each in side.violated]
    others = [reason for each in side.rejections if each.plugin != SPREAD_PLUGIN for reason in each.reasons]
    return "; ".join([*violated, *others] or side.verdict.reasons)


def said_of(node: NodeDifference, *, numbers: bool) -> str:
    """How the node differs, beside its `NodeChange`; with ``numbers`` in its own figures, else as nodes share it."""
    change = node.change
    if change is NodeChange.SCORE:
        return _scores(node, numbers=numbers)
    before, after = (_few_words(side, numbers=numbers) for side in (node.before, node.after))
    if change is NodeChange.REASONS:
        return f"{before}{_ARROW}{after}"
    if change is NodeChange.GONE:
        return f"did not fit: {before}" if before else "did fit"
    if change is NodeChange.NEW:
        return f"does not fit: {after}" if after else "fits"
    return after if change is NodeChange.STOPS else f"was: {before}"


def signed(number: int) -> str:
    """``+4``, ``−3``."""
    return f"{_MINUS if number < 0 else '+'}{abs(number)}"


def _scores(node: NodeDifference, *, numbers: bool) -> str:
    changes = node.score_changes
    plugins = ", ".join(f"{plugin} {signed(change)}" for plugin, change in changes.items())
    if not numbers or node.before is None or node.after is None:
        return f"{signed(sum(changes.values()))}: {plugins}"
    return f"{node.before.total}{_ARROW}{node.after.total}: {plugins}"


def _few_words(side: NodeSide | None, *, numbers: bool) -> str:
    """``zone skew 2 > 1 · cpu needs 1, free 0.2 of 7.9``, or ``zone · cpu``; empty for a node that fits."""
    if side is None or side.feasible:
        return ""
    words = [_violated(each) if numbers else f"{short_key(each.topology_key)} skew" for each in side.violated]
    for rejection in without_taint_of_cordon(side.rejections):
        if rejection.plugin == SPREAD_PLUGIN:
            continue
        if numbers and rejection.details:
            words += [detail.short for detail in rejection.details]
        else:
            words += short_names(rejection.reasons)
    return _SEPARATOR.join(words or short_names(side.verdict.reasons))


def _violated(constraint: NodeConstraint) -> str:
    key = short_key(constraint.topology_key)
    return f"no {key} label" if constraint.skew is None else f"{key} skew {constraint.skew} > {constraint.max_skew}"
