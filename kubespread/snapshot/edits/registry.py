"""The edits, and the text of each: its verb, also the name of its option if it has one, and its argument.

    cordon NODES                    uncordon NODES                  delete-node NODES
    fail NODES                      fail-hard NODES
    drain NODES [--ignore-daemonsets] [--delete-emptydir-data] [--force]
    taint NODE=KEY[=VALUE]:EFFECT   taint NODES KEY[=VALUE]:EFFECT  to remove: KEY:EFFECT- or KEY-
    label NODE=KEY=VALUE            label NODES KEY=VALUE           to remove: KEY-
    add-node LIKE-NODE[:COUNT][@CPUxGI][@KEY=VALUE[,KEY=VALUE]...]
    delete-pods [NAMESPACE/]LABELS  evict [NAMESPACE/]POD           scale [NAMESPACE/]KIND/NAME=N
    budget [NAMESPACE/][KIND/]NAME:maxUnavailable=VALUE             :minAvailable=VALUE, or to remove: :none
    spread [[NAMESPACE/]KIND/NAME=]KEY:SKEW[:soft]

NODES is a node's name, or labels as kubectl's -l has them (``zone=a``, ``'pool in (a,b)'``). NODE before an equals sign
is always a name: for nodes with certain labels, the change follows a blank. LIKE-NODE is a file if it ends
in .yaml, .yml or .json or has a slash in it, else a node's name. NAMESPACE has no dot; where the key of a label has a
prefix without one, the namespace has to be given too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from kubespread.errors import UsageError
from kubespread.kube.api.unknown_fields import did_you_mean, near_miss
from kubespread.snapshot.edits.new_nodes import AddNode
from kubespread.snapshot.edits.nodes import Cordon, DeleteNode, Drain, Fail, FailHard, NodeLabel, NodeTaint, Uncordon
from kubespread.snapshot.edits.pods import DeletePods, EvictPod, Scale, SetBudget, Spread
from kubespread.snapshot.edits.verb import Edit

_EDITS: tuple[type[Edit], ...] = (
    Cordon,
    Uncordon,
    Drain,
    DeleteNode,
    Fail,
    FailHard,
    NodeTaint,
    NodeLabel,
    AddNode,
    DeletePods,
    EvictPod,
    Scale,
    SetBudget,
    Spread,
)
EDITS: Mapping[str, type[Edit]] = {edit.form.verb: edit for edit in _EDITS}
"""Edits by their verbs, in the order of ``--help``."""


def parse(text: str, directory: str | None = "") -> Edit:
    """Parse an edit, with a blank or an equals sign after its verb.

    Files are relative to ``directory``, and refused if it is None. Raises UsageError, and ManifestError for a template
    that the API server would refuse.
    """
    verb, *rest = re.split(r"\s+|=", text.strip(), maxsplit=1)
    if verb not in EDITS:
        suggestion = did_you_mean(near_miss(verb, EDITS)) or f"; the edits are {', '.join(EDITS)}"
        raise UsageError(f"unknown edit {verb!r}{suggestion}")
    return EDITS[verb].read("".join(rest), directory)
