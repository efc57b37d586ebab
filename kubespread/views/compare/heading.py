"""What stands above the differences: the question, and what is not the same in it."""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.planner.reports.compare import CompareReport, SideReport
from kubespread.views.compare.node_names import NodeNames
from kubespread.views.flow import flowed
from kubespread.views.layout import DIM, HEAD, Line, cell
from kubespread.views.look import Look
from kubespread.views.phrases import cluster_phrase

_ARROW = " → "
_NONE = "none"
_DEFAULT_PROFILE = "profile default-scheduler"


def heading(report: CompareReport, names: NodeNames, look: Look) -> Iterator[Line]:
    """The headline, and a line for everything that was asked otherwise."""
    before, after = report.before, report.after
    subject = _both(before.subject, after.subject)
    namespace = _both(before.pod.namespace, after.pod.namespace)
    shared = [said for said, other in zip(_provenance(before), _provenance(after), strict=True) if said == other]
    phrases = [
        " · ".join(said for said in (*shared, report.manner) if said not in ("", _DEFAULT_PROFILE)),
        f"nodes {names.left_out}" if names.left_out else "",
    ]
    headline = [cell(subject, HEAD), cell(f" in {namespace}, before → after")]
    yield from flowed([headline, *([cell(phrase, DIM)] for phrase in phrases if phrase)], look, indent="")
    for said in asked_otherwise(report):
        yield from flowed([[cell(said)]], look)


def asked_otherwise(report: CompareReport) -> Iterator[str]:
    """``snapshot monday.json → tuesday.json``, ``after: cordon node-7``: what the two sides do not have in common."""
    before, after = report.before, report.after
    pairs = zip(_provenance(before), _provenance(after), strict=True)
    yield from (_changed(old, new) for old, new in pairs if old != new)
    for what, old, new in (
        ("manifest", before.asked.manifest, after.asked.manifest),
        ("scheduler config", before.asked.scheduler_config, after.asked.scheduler_config),
        ("feature gates", before.asked.feature_gates, after.asked.feature_gates),
    ):
        if old != new:
            yield f"{what} {old or _NONE}{_ARROW}{new or _NONE}"
    for side, when in ((before, "before"), (after, "after")):
        settings = [f"set {setting}" for setting in side.asked.settings]
        other = after if side is before else before
        if (side.asked.edits, side.asked.settings) != (other.asked.edits, other.asked.settings):
            yield from (f"{when}: {said}" for said in (*side.asked.edits, *settings))


def _changed(before: str, after: str) -> str:
    """``kube-scheduler v1.30 → v1.36``, the first word once."""
    word, _, rest = after.partition(" ")
    is_shared = bool(before) and before.partition(" ")[0] == word
    return f"{before or _NONE}{_ARROW}{rest if is_shared else after or _NONE}"


def _both(before: str, after: str) -> str:
    return before if before == after else f"{before}{_ARROW}{after}"


def _provenance(side: SideReport) -> tuple[str, str, str]:
    """The cluster, the release and the profile."""
    cluster, snapshot = cluster_phrase(side.cluster), side.cluster and side.cluster.snapshot
    return (
        cluster or (f"snapshot {snapshot}" if snapshot else ""),
        f"kube-scheduler v{side.kube_version}",
        f"profile {side.scheduler_name}",
    )
