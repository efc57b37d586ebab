"""Every rule there is, by code.

KS0xx: what keeps a manifest from being read or taken. KS1xx: the constraint itself. KS2xx: the constraint against the
cluster. KS3xx: with other objects. KS4xx: over time. KS5xx: groups of workloads, and defaults.
"""

from __future__ import annotations

from kubespread.lint.rule import AnyRule
from kubespread.lint.rules import (
    closed_domains,
    deadlock,
    empty_selector,
    fewer_domains,
    ghost_pods,
    key_on_no_node,
    key_on_some_nodes,
    no_node_cap,
    no_selector,
    refused,
    retyped_scalar,
    single_domain,
    soft_min_domains,
    too_few_domains,
    unknown_key,
    unreadable,
)

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
    key_on_no_node.RULE,
    key_on_some_nodes.RULE,
    closed_domains.RULE,
    too_few_domains.RULE,
    single_domain.RULE,
    fewer_domains.RULE,
    deadlock.RULE,
)
