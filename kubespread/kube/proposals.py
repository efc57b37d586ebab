"""Proposed semantics that no release has yet, selected by name; the first two are merged for 1.38, which has them too.

Source of each: the pull request or enhancement named beside it. They may change before a release has them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches

from msgspec import Struct

from kubespread.errors import UsageError


class Proposal(Struct, frozen=True):
    """One change of behavior."""

    name: str
    source: str
    says: str
    """What is different with it."""


EMPTY_SELECTOR = Proposal(
    "empty-selector",
    "kubernetes#141340",
    "a spread constraint with the selector {} counts all pods of the namespace, not none",
)
EMPTY_BUDGET_SELECTOR = Proposal(
    "empty-budget-selector",
    "kubernetes#141785",
    "preemption honors disruption budgets with the selector {}, for pods without labels too",
)
FULLY_TAINTED_DOMAINS = Proposal(
    "fully-tainted-domains",
    "KEP-5980",
    "with nodeTaintsPolicy Honor a domain whose nodes are all tainted counts towards minDomains, not for the skew",
)
PROPOSALS: Mapping[str, Proposal] = {
    proposal.name: proposal for proposal in (EMPTY_SELECTOR, EMPTY_BUDGET_SELECTOR, FULLY_TAINTED_DOMAINS)
}


def parse(text: str) -> tuple[str, ...]:
    """``empty-selector,fully-tainted-domains`` as names, each once. Raises UsageError for one that is no proposal's."""
    chosen = tuple(dict.fromkeys(name for part in text.split(",") if (name := part.strip())))
    for name in chosen:
        if name not in PROPOSALS:
            meant = get_close_matches(name, PROPOSALS, 1)
            hint = f'; did you mean "{meant[0]}"?' if meant else f"; there are {', '.join(PROPOSALS)}"
            raise UsageError(f'no proposed semantics "{name}"{hint}')
    return chosen


def sentences_of(names: Iterable[str]) -> Iterator[str]:
    """The note in a report for each proposal it applies."""
    for name in names:
        proposal = PROPOSALS[name]
        yield f"proposed semantics {name} ({proposal.source}): {proposal.says}"
