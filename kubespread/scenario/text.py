"""Steps as text: those that a verb of `verbs` reads, and also ``stuck`` and ``ready`` with workloads.

``--then STEP`` is the short form of a scenario: its steps are about a workload that need not be named.
"""

from __future__ import annotations

import re
import shlex

from kubespread.errors import UsageError
from kubespread.kube.api.kinds import POD_CREATORS, kind_called
from kubespread.kube.api.unknown_fields import did_you_mean, near_miss
from kubespread.kube.owners import Named, named
from kubespread.scenario.types import READINESS, Step
from kubespread.scenario.verbs import VERBS, Rollback, Rollout, words_in
from kubespread.snapshot.edits.pods import Scale, check_scalable

_WORDS = (*VERBS, *READINESS)
_THEN = re.compile(r"(?P<verb>[a-z-]+)(?:(?P<by>[=\s])\s*(?P<rest>.*))?", re.DOTALL)
_NUMBER = re.compile(r"[0-9]{1,9}")


def parse_step(text: str, directory: str | None = "") -> Step:
    """The step written as ``text``; paths in it are relative to ``directory``, and not allowed if it is None.

    Raises UsageError, and ManifestError for the manifest of a new node that the API server would refuse.
    """
    verb, _, rest = text.strip().partition(" ")
    if verb not in _WORDS:
        meant = did_you_mean(near_miss(verb, _WORDS)) or f"; the steps are {', '.join(_WORDS)}"
        raise UsageError(f"unknown step {verb!r}{meant}")
    return step_of(verb, rest, directory)


def step_of(verb: str, rest: str, directory: str | None = "") -> Step:
    """The step of a verb followed by its text. Raises the same."""
    text = f"{verb} {rest}".rstrip()
    if verb in VERBS:
        return Step(text, VERBS[verb].read(rest, directory))
    words = words_in(verb, rest)
    if not words:
        raise UsageError(f"invalid step {verb!r}: expected {verb} [NAMESPACE/]KIND/NAME...")
    return _readiness(text, verb, *map(named, words))


def _readiness(text: str, verb: str, *workloads: Named) -> Step:
    return Step(text, stuck=workloads) if verb == "stuck" else Step(text, ready=workloads)


def parse_then(text: str, workload: Named) -> Step:
    """The step written as ``text``: ``scale=2``, ``rollout``, ``rollout=web-v2.yaml``, ``fail=zone=a``.

    The first blank or equals sign is between the verb and what it is about. Raises UsageError and ManifestError.
    """
    match = _THEN.fullmatch(text.strip())
    verb, rest = (match["verb"], (match["rest"] or "").strip()) if match is not None else ("", "")
    if verb not in _WORDS:
        meant = did_you_mean(near_miss(verb or text, _WORDS)) or f"; the steps are {', '.join(_WORDS)}"
        raise UsageError(f"invalid --then {text!r}: unknown step {verb or text!r}{meant}")
    return _about(workload, verb, rest) or step_of(verb, rest)


def _about(workload: Named, verb: str, rest: str) -> Step | None:
    """The step where it is about ``workload`` without naming any, else None."""
    row = POD_CREATORS.get(workload.kind)
    if verb == "scale" and _NUMBER.fullmatch(rest):
        if row is not None:
            check_scalable(row)
        scale = Scale(workload.kind, workload.name, int(rest), workload.namespace)
        return Step(f"scale {workload}={rest}", scale)
    if verb not in ("rollout", "rollback", *READINESS) or _names_workload(rest):
        return None
    if row is None and verb not in READINESS:
        raise UsageError(f"{verb}: how the controller of a {workload.kind} replaces pods is not modeled")
    words, text = words_in(f"{verb} {workload}", rest), f"{verb} {workload} {rest}".rstrip()
    if verb in READINESS:
        return _readiness(text, verb, workload, *map(named, words))
    changes: type[Rollout | Rollback] = Rollout if verb == "rollout" else Rollback
    return Step(text, changes.of({**changes.parsed([str(workload), *words]), "workload": workload}))


def _names_workload(rest: str) -> bool:
    """Whether the first word is KIND/NAME, and no path."""
    try:
        words = shlex.split(rest)
    except ValueError:
        return False
    parts = words[0].split("/") if words else []
    return len(parts) in (2, 3) and kind_called(parts[-2]) is not None and "=" not in words[0]
