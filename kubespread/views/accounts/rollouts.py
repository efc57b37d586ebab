"""A rollout as frames: what the nodes hold after each of its passes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from kubespread.planner.reports.rollout import RolloutPass, RolloutReport
from kubespread.views.view import Frame
from kubespread.wording import short_key


def pods_at_start(rollout: RolloutReport) -> Mapping[str, int]:
    """Of each node, before the first pass."""
    return {node.name: node.old + node.new for node in rollout.start}


def pass_frames(whose: str, rollout: RolloutReport, now: Counter[str], *, tells_old: bool) -> Iterator[Frame]:
    """Each pass of what ``whose`` names, with the nodes where it changed something. ``now`` is how many pods are drawn
    on each node before, and is kept up to date.
    """
    held = {**pods_at_start(rollout)}
    for each in rollout.passes:
        for node in each.nodes:
            now[node.name] += node.old + node.new - held.get(node.name, 0)
            held[node.name] = node.old + node.new
        pods = {node.name: now[node.name] for node in each.nodes}
        old = {node.name: node.old for node in each.nodes} if tells_old else {}
        yield Frame(f"{whose} pass {each.number}", _said(each), pods, old=old)


def _said(each: RolloutPass) -> str:
    running, ready = each.running, each.ready.old + each.ready.new
    skews = "".join(f"; {short_key(key.topology_key)} skew {key.skew}" for key in each.constraints)
    return f"{running.old} old and {running.new} new pods running, {ready} ready{skews}"
