"""Facts that go with an answer wherever it is given: what made it, what a page draws with it, and the exit code."""

from __future__ import annotations

import datetime
import os
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from kubespread import __version__
from kubespread.escaping import escaped
from kubespread.questions.registry import question
from kubespread.questions.scene import ask
from kubespread.questions.scheduler import Scheduler
from kubespread.redaction import without_secrets
from kubespread.reports.parts import Judgment, Provenance
from kubespread.snapshot.snapshot import Snapshot

CODES: Mapping[Judgment, int] = {"yes": 0, "no": 1, "unknown": 3}
"""Exit codes."""
_MOST_DIGITS = 10
"""Maximum number of digits of a time in seconds: until the year 2286."""


def drawn_for(answer: Any, cluster: Snapshot, scheduler: Scheduler) -> Any:
    """Map of the cluster, with the pods that ``answer`` is about marked, for its page."""
    map_of = question("map")
    if isinstance(answer, map_of.report()):
        return answer
    # The pods that matter to the answer, where it is about some alone.
    selector, namespace = getattr(answer, "marks", None) or ("", None)
    return ask(cluster, map_of(selector=selector, namespace=namespace), scheduler)


def with_provenance(answer: Any, words: Sequence[str]) -> Any:
    """Add the command line of these ``words`` and the time to ``answer``, or to each of several."""
    if isinstance(answer, Sequence):
        return [with_provenance(one, words) for one in answer]
    fixed = os.environ.get("SOURCE_DATE_EPOCH", "")
    now = datetime.datetime.now(datetime.UTC)
    if fixed.isdecimal() and len(fixed) <= _MOST_DIGITS:
        now = datetime.datetime.fromtimestamp(int(fixed), datetime.UTC)
    typed = escaped(without_secrets(shlex.join(["kubespread", *words])))
    made = Provenance(version=__version__, command=typed, time=now.strftime("%Y-%m-%dT%H:%M:%SZ"))
    return replace(answer, provenance=made)
