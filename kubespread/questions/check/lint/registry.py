"""All rules by code.

KS0xx: what keeps a manifest from being read or accepted. KS1xx: the constraint itself. KS2xx: the constraint against
the cluster. KS3xx: with other objects. KS4xx: over time. KS5xx: groups of workloads, and defaults. Which rules are
asked, and which findings an annotation silences: by code, what codes begin with, or name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from kubespread.errors import UsageError
from kubespread.kube.api.unknown_fields import did_you_mean, near_miss
from kubespread.kube.well_known import CHECK_IGNORE
from kubespread.questions.check.lint.rule import AnyRule
from kubespread.questions.check.lint.rules import (
    absent_match_label_key,
    anti_affinity,
    autoscaled_beyond,
    closed_domains,
    deadlock,
    dropped_defaults,
    empty_selector,
    fewer_domains,
    ghost_pods,
    inconsistent_group,
    key_on_no_node,
    key_on_some_nodes,
    merged_twice,
    no_defaults,
    no_node_cap,
    no_selector,
    outweighed,
    pending_replicas,
    pinned_revision,
    quota_refuses,
    refused,
    retyped_scalar,
    rollout_counts_old,
    scaled_to_zero,
    shared_selector,
    single_domain,
    soft_min_domains,
    stalled_drain,
    stuck_rollout,
    too_few_domains,
    unique_match_label_key,
    unknown_key,
    unreadable,
    volume_pins,
)


def selected(select: Sequence[str], ignore: Sequence[str]) -> tuple[AnyRule, ...]:
    """The rules that ``select`` names, all without it, but for those that ``ignore`` names. Raises UsageError for what
    no code begins with.
    """
    chosen, silenced = _codes(select), _codes(ignore)
    return tuple(
        rule for rule in RULES if (not chosen or _begins(rule.code, chosen)) and not _begins(rule.code, silenced)
    )


def rule_called(text: str) -> AnyRule:
    """The rule with this code or name. Raises UsageError."""
    for rule in RULES:
        if text.upper() in (rule.code, rule.name.upper()):
            return rule
    raise UsageError(f"no rule {text!r}{_meant(text)}")


def silenced_codes(*annotations: Mapping[str, str]) -> tuple[str, ...]:
    """What the annotation ``kubespread.dev/ignore`` names, on the workload or on its pod template."""
    return tuple(code for annotation in annotations for code in _split([annotation.get(CHECK_IGNORE, "")]))


def is_silenced(code: str, by: Iterable[str]) -> bool:
    return _begins(code, by)


def unknown_codes(codes: Iterable[str]) -> Iterator[str]:
    """Those that no code begins with."""
    return (code for code in codes if not any(rule.code.startswith(code) for rule in RULES))


def _codes(texts: Sequence[str]) -> tuple[str, ...]:
    codes = tuple(_split(texts))
    for unknown in unknown_codes(codes):
        raise UsageError(f"no rule {unknown!r}{_meant(unknown)}")
    return codes


def _split(texts: Iterable[str]) -> Iterator[str]:
    """What is listed, separated by commas; the name of a rule is as good as its code."""
    codes = {rule.name.upper(): rule.code for rule in RULES}
    listed = (word.strip().upper() for text in texts for word in text.split(",") if word.strip())
    return (codes.get(word, word) for word in listed)


def _begins(code: str, beginnings: Iterable[str]) -> bool:
    return any(code.startswith(beginning) for beginning in beginnings)


def _meant(text: str) -> str:
    near = near_miss(text, (name for rule in RULES for name in (rule.code, rule.name)))
    return did_you_mean(near) or "; --list-rules lists them"


# A fault is of the last rule that knows it, which is the most specific one.
RULES: tuple[AnyRule, ...] = (
    unreadable.RULE,
    refused.RULE,
    retyped_scalar.RULE,
    ghost_pods.RULE,
    no_selector.RULE,
    empty_selector.RULE,
    soft_min_domains.RULE,
    unknown_key.RULE,
    no_node_cap.RULE,
    merged_twice.RULE,
    key_on_no_node.RULE,
    key_on_some_nodes.RULE,
    closed_domains.RULE,
    too_few_domains.RULE,
    single_domain.RULE,
    fewer_domains.RULE,
    deadlock.RULE,
    scaled_to_zero.RULE,
    pending_replicas.RULE,
    volume_pins.RULE,
    stalled_drain.RULE,
    anti_affinity.RULE,
    autoscaled_beyond.RULE,
    quota_refuses.RULE,
    rollout_counts_old.RULE,
    shared_selector.RULE,
    absent_match_label_key.RULE,
    unique_match_label_key.RULE,
    pinned_revision.RULE,
    stuck_rollout.RULE,
    dropped_defaults.RULE,
    no_defaults.RULE,
    outweighed.RULE,
    inconsistent_group.RULE,
)
