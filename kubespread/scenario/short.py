"""The short form of a scenario, ``--then STEP``: steps about one workload that need not be named."""

from __future__ import annotations

import re
import shlex

from kubespread.errors import UsageError
from kubespread.kube.api.kinds import POD_CREATORS, kind_called
from kubespread.kube.api.unknown_fields import did_you_mean, near_miss
from kubespread.scenario.text import VERBS, parse_step
from kubespread.scenario.types import Named, Step
from kubespread.snapshot.edits.types import Scale

_VERB = re.compile(r"(?P<verb>[a-z-]+)(?:(?P<by>[=\s])\s*(?P<rest>.*))?", re.DOTALL)
_NUMBER = re.compile(r"[0-9]+")
_ABOUT_WORKLOAD = ("rollout", "rollback", "stuck", "ready")
"""The steps that are about the workload where they name none."""


def parse_then(text: str, workload: Named) -> Step:
    """The step that ``text`` stands for: ``scale=2``, ``rollout``, ``rollout=web-v2.yaml``, ``fail=zone=a``.

    The first blank or equals sign is between the verb and what it is about. Raises UsageError and ManifestError.
    """
    match = _VERB.fullmatch(text.strip())
    verb, rest = (match["verb"], (match["rest"] or "").strip()) if match is not None else ("", "")
    if verb not in VERBS:
        meant = did_you_mean(near_miss(verb or text, VERBS)) or f"; the steps are {', '.join(VERBS)}"
        raise UsageError(f"invalid --then {text!r}: unknown step {verb or text!r}{meant}")
    is_number = verb == "scale" and _NUMBER.fullmatch(rest)
    if is_number or (verb in _ABOUT_WORKLOAD and not _names_workload(rest)):
        if workload.kind not in POD_CREATORS:
            return _of_foreign(verb, rest, workload)
        rest = f"{workload}={rest}" if is_number else f"{workload} {rest}".rstrip()
    return parse_step(f"{verb} {rest}".rstrip())


def _of_foreign(verb: str, rest: str, workload: Named) -> Step:
    """A step about a workload of a kind that cannot be named in text."""
    match verb:
        case "scale":
            scale = Scale(workload.kind, workload.name, int(rest), workload.namespace)
            return Step(f"scale {workload}={rest}", scale)
        case "stuck":
            return Step(f"stuck {workload}", stuck=(workload,))
        case "ready":
            return Step(f"ready {workload}", ready=(workload,))
    raise UsageError(f"{verb}: how the controller of a {workload.kind} replaces pods is not modeled")


def _names_workload(rest: str) -> bool:
    """Whether the first word is KIND/NAME, and no path."""
    try:
        words = shlex.split(rest)
    except ValueError:
        return False
    parts = words[0].split("/") if words else []
    return len(parts) in (2, 3) and kind_called(parts[-2]) is not None and "=" not in words[0]
