"""Every rule there is, by code.

KS0xx: what keeps a manifest from being read or taken. KS1xx: the constraint itself. KS2xx: the constraint against the
cluster. KS3xx: with other objects. KS4xx: over time. KS5xx: groups of workloads, and defaults.
"""

from __future__ import annotations

from kubespread.lint.rule import AnyRule
from kubespread.lint.rules import (
    closed_domains,
    ghost_pods,
    no_selector,
    refused,
    retyped_scalar,
    unreadable,
)

RULES: tuple[AnyRule, ...] = (
    unreadable.RULE,
    refused.RULE,
    retyped_scalar.RULE,
    ghost_pods.RULE,
    no_selector.RULE,
    closed_domains.RULE,
)
