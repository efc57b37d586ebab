"""All rules by code: which of them run, and which findings an annotation silences, by code, its beginning, or name.

KS0xx: what keeps a manifest from being read or accepted. KS1xx: the constraint itself. KS2xx: the constraint against
the cluster. KS3xx: with other objects. KS4xx: over time. KS5xx: groups of workloads, and defaults.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from kubespread.errors import UsageError
from kubespread.kube.api.unknown_fields import did_you_mean, near_miss
from kubespread.kube.well_known import CHECK_IGNORE
from kubespread.questions.check.rule import AnyRule
from kubespread.questions.check.rules import disruption, domains, manifests, replicas, selectors

_BY_SUBJECT = (manifests, selectors, domains, replicas, disruption)
RULES: tuple[AnyRule, ...] = tuple(
    sorted((rule for subject in _BY_SUBJECT for rule in subject.RULES), key=lambda rule: rule.code)
)
"""All rules; a fault belongs to the last rule that accepts it, the most specific one."""


def select_rules(select: Sequence[str], ignore: Sequence[str]) -> tuple[AnyRule, ...]:
    """Rules in ``select``, by default all, except rules in ``ignore``. Raises UsageError if a text begins no code."""
    chosen, left_out = _codes(select) or ("",), _codes(ignore)
    return tuple(rule for rule in RULES if begins(rule.code, chosen) and not begins(rule.code, left_out))


def rule_called(text: str) -> AnyRule:
    """Rule with this code or name. Raises UsageError."""
    for rule in RULES:
        if text.upper() in (rule.code, rule.name.upper()):
            return rule
    raise UsageError(f"no rule {text!r}{_nearest(text)}")


def silenced_codes(*annotations: Mapping[str, str]) -> tuple[str, ...]:
    """Codes in the annotation ``kubespread.dev/ignore`` of the workload or its pod template."""
    return tuple(code for annotation in annotations for code in _split([annotation.get(CHECK_IGNORE, "")]))


def unknown_codes(codes: Iterable[str]) -> Iterator[str]:
    """Yield texts that no rule's code begins with."""
    return (code for code in codes if not any(rule.code.startswith(code) for rule in RULES))


def _codes(texts: Sequence[str]) -> tuple[str, ...]:
    codes = tuple(_split(texts))
    for unknown in unknown_codes(codes):
        raise UsageError(f"no rule {unknown!r}{_nearest(unknown)}")
    return codes


def _split(texts: Iterable[str]) -> Iterator[str]:
    """Codes that are listed, separated by commas; the name of a rule is as good as its code."""
    codes = {rule.name.upper(): rule.code for rule in RULES}
    listed = (word.strip().upper() for text in texts for word in text.split(",") if word.strip())
    return (codes.get(word, word) for word in listed)


def begins(code: str, beginnings: Iterable[str]) -> bool:
    return any(code.startswith(beginning) for beginning in beginnings)


def _nearest(text: str) -> str:
    near = near_miss(text, (name for rule in RULES for name in (rule.code, rule.name)))
    return did_you_mean(near) or "; docs/codes.md has them all"
