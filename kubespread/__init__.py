"""kubespread: a what-if planner for Kubernetes Pod Topology Spread Constraints.

snapshot = kubespread.load("cluster.yaml")
report = kubespread.explain(snapshot, "pod.yaml")
report.to_dict()
"""

from __future__ import annotations

from typing import Any

from kubespread.questions.registry import QUESTIONS

__version__ = "0.4.0"

_NAMES = {
    "candidate.sources": "ClusterWorkloads",
    "errors": "KubespreadError ManifestError SnapshotError UnansweredError UsageError",
    "questions.audit": "AuditReport",
    "questions.capacity": "CapacityReport",
    "questions.check.answer": "rule rules",
    "questions.check": "CheckFinding CheckReport",
    "questions.compare": "CompareReport",
    "questions.editing": "after_edits connect load",
    "questions.explain.report": "ExplainReport",
    "questions.fleet": "FleetReport fleet",
    "questions.map.report": "TopologyMap",
    "questions.pending": "PendingReport",
    "questions.plan": "PlanReport",
    "questions.plan.playing": "after_steps",
    "questions.rebalance": "RebalanceReport",
    "questions.removable": "RemovableReport",
    "questions.report": "Scorecard",
    "questions.scene": "Side ask",
    "questions.scheduler": "Scheduler",
    "questions.simulate": "SimulateReport",
    "questions.survive": "SurviveReport",
    "questions.tasks": "Workers",
    "questions.verify": "VerifyReport",
    "reports.parts": "Finding RuleReport",
    "scenario.reading": "Scenario",
    "snapshot.snapshot": "Snapshot",
}
"""By the module that defines them."""
_HOMES = {name: f"kubespread.{module}" for module, names in _NAMES.items() for name in names.split()}
_FUNCTIONS = {"topology_map" if name == "map" else name: name for name in QUESTIONS}
"""The functions that ask a question, with its name; the file of stubs beside this one has their types."""
__all__ = sorted(("__version__", *_HOMES, *_FUNCTIONS))


def __getattr__(name: str) -> Any:
    """Import on first use: ``kubespread --version`` must not wait for numpy."""
    from importlib import import_module

    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name not in _FUNCTIONS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from kubespread.questions.library import library_function
    from kubespread.questions.registry import question

    return library_function(name, question(_FUNCTIONS[name]))
