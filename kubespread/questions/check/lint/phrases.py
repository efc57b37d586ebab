"""What findings say in the same words."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from kubespread.kube.api.meta import LabelSelector
from kubespread.questions.check.lint.trial import Placed
from kubespread.wording import verb_of

_FEW = 4
_EMPTY = '""'
# Everything else is quoted: numbers, what is empty, and the words that YAML takes for booleans.
_PLAIN = re.compile(r"[A-Za-z][-A-Za-z0-9_.]*")
_BOOLEANS = frozenset({"y", "yes", "n", "no", "true", "false", "on", "off", "null"})


def counted(number: int, what: str) -> str:
    """``1 replica``, ``2 replicas``."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def landing(replicas: int) -> str:
    """``1 replica lands``, ``2 replicas land``."""
    return f"{counted(replicas, 'replica')} {verb_of(replicas, 'land')}"


def listed(names: Sequence[str]) -> str:
    """The names, the first few of very many."""
    names = [name or _EMPTY for name in names]
    more = len(names) - _FEW
    return ", ".join(names) if more <= 1 else f"{', '.join(names[:_FEW])} and {more} more"


def by_domain(counts: Mapping[str, int]) -> str:
    """``a 2 · b 2 · c 0``; of many domains the extremes."""
    if len(counts) <= _FEW + 2:
        return " · ".join(f"{domain or _EMPTY} {count}" for domain, count in counts.items())
    most, least = max(counts.values()), min(counts.values())
    at_most = [domain for domain, count in counts.items() if count == most]
    at_least = [domain for domain, count in counts.items() if count == least]
    if most == least:
        return f"{most} in each of {len(counts)} domains"
    return f"{most} in {listed(at_most)}, {least} in {_of(at_least)}"


def _of(domains: Sequence[str]) -> str:
    return listed(domains) if len(domains) <= _FEW else f"{len(domains)} domains"


def outcome(placed: Placed, topology_key: str) -> str:
    """``6 of 6 replicas fit: a 2 · b 2 · c 2``."""
    counts = placed.by_domain(topology_key)
    return f"{placed.text}: {by_domain(counts)}" if counts else placed.text


def selector_text(selector: LabelSelector) -> str:
    """The field as YAML in one line: ``labelSelector: {matchLabels: {app: web}}``."""
    labels = ", ".join(f"{key}: {_yaml(value)}" for key, value in selector.match_labels.items())
    return f"labelSelector: {{matchLabels: {{{labels}}}}}"


def _yaml(value: str) -> str:
    return value if _PLAIN.fullmatch(value) and value.lower() not in _BOOLEANS else f'"{value}"'
