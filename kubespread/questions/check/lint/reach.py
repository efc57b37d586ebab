"""Which nodes a pod can go to at all, empty or full: by its node affinity, its tolerations, and cordons."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from kubespread.questions.check.lint.trial import Trial
from kubespread.scheduler.cluster.labels import Mask
from kubespread.scheduler.plugins.podtopologyspread.filtering import HardConstraint

TAINTED, CORDONED, EXCLUDED = "TaintToleration", "NodeUnschedulable", "NodeAffinity"
_WORDS = {TAINTED: "tainted", CORDONED: "cordoned", EXCLUDED: "excluded by its node affinity"}


def barred(trial: Trial) -> Mapping[str, Mask]:
    """Per plugin the nodes that it keeps the pod from; nothing where nodes are not judged."""
    if trial.evaluation is None:
        return {}
    verdicts = trial.evaluation.verdicts
    return {plugin: ~verdicts[plugin].passes for plugin in _WORDS if plugin in verdicts}


def reachable(trial: Trial) -> Mask:
    """Nodes that all of them let the pod use."""
    open_nodes = np.ones(len(trial.cluster), dtype=np.bool_)
    for mask in barred(trial).values():
        open_nodes &= ~mask
    return open_nodes


def words(plugins: Iterable[str]) -> str:
    """``tainted or cordoned``."""
    return " or ".join(_WORDS[plugin] for plugin in plugins)


def domains(hard: HardConstraint) -> Sequence[str]:
    """The domains that count, by name."""
    return sorted(value for value, is_domain in zip(hard.column.values, hard.is_domain, strict=True) if is_domain)


def domains_of(hard: HardConstraint, nodes: Mask) -> Sequence[str]:
    """The domains, counted or not, that some of ``nodes`` are in, by name."""
    inside = np.zeros(len(hard.column.values), dtype=np.bool_)
    inside[hard.column.codes[nodes & hard.column.present]] = True
    return sorted(value for value, is_in in zip(hard.column.values, inside, strict=True) if is_in)
