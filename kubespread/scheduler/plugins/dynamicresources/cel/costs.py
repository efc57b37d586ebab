"""What calls cost: what kube-scheduler counts when they run, and what the API server expects of them at most.

Source: vendor/github.com/google/cel-go/checker/cost.go, functionCost
Source: vendor/github.com/google/cel-go/interpreter/runtimecost.go, costCall
Source: staging/src/k8s.io/apiserver/pkg/cel/library/cost.go, CallCost, EstimateCallCost
Source: vendor/github.com/google/cel-go/ext/lists.go, estimateAllocatingListCall, trackAllocatingListCall
Source: vendor/github.com/google/cel-go/ext/sets.go, estimateSetsCost, trackSetsCost
Source: staging/src/k8s.io/dynamic-resource-allocation/cel/compile.go, draCostEstimator
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from kubespread.scheduler.plugins.dynamicresources.cel.syntax import Literal, Node
from kubespread.scheduler.plugins.dynamicresources.cel.types import Type
from kubespread.scheduler.plugins.dynamicresources.cel.values import Format, Value, size

COST_LIMIT = 1_000_000
"""resourceapi.CELSelectorExpressionMaxCost"""
COST_EXCEEDED = "operation cancelled: actual cost limit exceeded"
MOST = 2**64 - 1
TRAVERSAL, PATTERN = 0.1, 0.25
"""For each character of a text that is gone through, and of a pattern for each of those."""
LIST, MAP, MESSAGE = 10, 30, 40
"""To make one."""

Size = tuple[int, int]
"""At least and at most."""
UNKNOWN: Size = (0, MOST)


class Operand(NamedTuple):
    """What is known of a target or an argument before it is evaluated."""

    node: Node | None
    type: Type
    size: Size
    item: Operand | None = None
    """What it holds, where it is a list."""


class Estimate(NamedTuple):
    cost: int
    size: Size | None = None
    """Of the result, where more is known than its type says."""


Operands = Sequence[Operand]


class Cost(NamedTuple):
    estimate: Callable[[Operands], Estimate]
    """Of the target, if there is one, and the arguments."""
    actual: Callable[..., int]
    """Of their values."""


def plus(left: int, right: int) -> int:
    return min(left + right, MOST)


def times(left: int, right: int) -> int:
    return min(left * right, MOST)


def scaled(amount: int, factor: float) -> int:
    # 2^64 in one division less than Go's would be a float that is too large.
    product = float(amount) * factor
    return MOST if product >= 2**64 else math.ceil(product)


def both(left: Size, right: Size, combine: Callable[[int, int], int]) -> Size:
    return combine(left[0], right[0]), combine(left[1], right[1])


def either(left: Size, right: Size) -> Size:
    return min(left[0], right[0]), max(left[1], right[1])


def fixed(cost: int) -> Cost:
    return Cost(lambda operands: Estimate(cost), lambda *values: cost)


ONE = fixed(1)


def traversal(factor: float = TRAVERSAL, *, of: int = 0, keeps_size: bool = False) -> Cost:
    """In proportion to one operand, which may be what the result is as large as."""
    return Cost(
        lambda operands: Estimate(scaled(operands[of].size[1], factor), operands[of].size if keeps_size else None),
        lambda *values: math.ceil(size(values[of]) * factor),
    )


def _pattern_estimate(operands: Operands) -> Estimate:
    text, pattern = operands[0].size, operands[1].size
    cost = times(scaled(plus(text[1], 1), TRAVERSAL), scaled(pattern[1], PATTERN))
    return Estimate(cost, (0, text[1]))


def _pattern_actual(text: Value, pattern: Value, *_limit: Value) -> int:
    return math.ceil((1.0 + size(text)) * TRAVERSAL) * math.ceil(size(pattern) * PATTERN)


SEARCH = Cost(_pattern_estimate, _pattern_actual)
MATCH = Cost(lambda operands: Estimate(_pattern_estimate(operands).cost), _pattern_actual)
SUBSTRING = Cost(
    lambda operands: Estimate(times(scaled(operands[0].size[1], TRAVERSAL), scaled(operands[1].size[1], TRAVERSAL))),
    lambda text, part: math.ceil(size(text) * TRAVERSAL) * math.ceil(size(part) * TRAVERSAL),
)
CONCATENATION = Cost(
    lambda operands: Estimate(scaled((total := both(operands[0].size, operands[1].size, plus))[1], TRAVERSAL), total),
    lambda left, right: math.ceil((size(left) + size(right)) * TRAVERSAL),
)
LIST_CONCATENATION = Cost(lambda operands: Estimate(1, both(operands[0].size, operands[1].size, plus)), ONE.actual)
COMPARISON = Cost(
    lambda operands: Estimate(scaled(min(operands[0].size[1], operands[1].size[1]), TRAVERSAL)),
    lambda left, right: math.ceil(min(size(left), size(right)) * TRAVERSAL),
)
TO_BYTES = Cost(
    lambda operands: Estimate(scaled((text := operands[0].size)[1], TRAVERSAL), (text[0], text[1] * 4 % 2**64)),
    traversal().actual,
)
FROM_BYTES = Cost(
    lambda operands: Estimate(scaled((held := operands[0].size)[1], TRAVERSAL), (held[0] // 4, held[1])),
    traversal().actual,
)
QUOTE = Cost(
    lambda operands: Estimate(
        scaled((text := operands[0].size)[1], TRAVERSAL), (text[0] + 2, (text[1] * 2 + 2) % 2**64)
    ),
    traversal().actual,
)
IN_LIST = Cost(lambda operands: Estimate(scaled(operands[1].size[1], 1)), lambda item, holder: size(holder))
INCLUDES = Cost(lambda operands: Estimate(48), ONE.actual)


def _replacement(operands: Operands) -> Estimate:
    text, old, new = (operand.size for operand in operands[:3])
    least_count = most_count = least_kept = most_kept = 0
    if old[0] == 0:
        most_count, most_kept = plus(text[1], 1), text[1]
    elif new[1] <= old[0]:
        most_kept = text[1]
    else:
        most_count = math.ceil(float(text[1]) / old[0])
    if old[1] == 0:
        least_count, least_kept = plus(text[0], 1), text[0]
    elif old[1] <= new[0]:
        least_kept = text[0]
    else:
        least_count = math.ceil(float(text[0]) / old[1])
    result = plus(times(least_count, new[0]), least_kept), plus(times(most_count, new[1]), most_kept)
    return Estimate(scaled(text[1], 2 * TRAVERSAL), result)


REPLACEMENT = Cost(_replacement, traversal(2 * TRAVERSAL).actual)


def _parts(operands: Operands) -> Estimate:
    text = operands[0].size
    limit = operands[2].node if len(operands) > 2 else None
    most = limit.value % 2**64 if isinstance(limit, Literal) and type(limit.value) is int else text[1]
    return Estimate(scaled(text[1], 2 * TRAVERSAL), (0, most))


SPLIT = Cost(_parts, traversal(2 * TRAVERSAL).actual)


def _joined(operands: Operands) -> Estimate:
    total: Size = (0, 0)
    parts, item = operands[0].size, operands[0].item
    if item is not None:
        total = both(parts, item.size, times)
    if len(operands) > 1:
        separators = max(parts[0] - 1, 0), max(parts[1] - 1, 0)
        total = both(total, both(operands[1].size, separators, times), plus)
    return Estimate(scaled(total[1], TRAVERSAL), total)


def joined_size(parts: Value, separator: Value = "") -> int:
    return sum(map(size, parts)) + len(separator) * max(len(parts) - 1, 0)


JOIN = Cost(_joined, lambda *values: math.ceil(joined_size(*values) * 2 * TRAVERSAL))


def _scan(operands: Operands) -> Estimate:
    item, count = operands[0].item, operands[0].size[1]
    if item is None:
        return Estimate(scaled(count, TRAVERSAL))
    each = plus(1, scaled(item.size[1], TRAVERSAL)) if item.type.name in ("string", "bytes") else 1
    return Estimate(times(count, each))


def _traversed(value: Value) -> int:
    if isinstance(value, str | bytes):
        return int(len(value.encode() if isinstance(value, str) else value) * TRAVERSAL)
    if isinstance(value, list):
        return sum(map(_traversed, value))
    if isinstance(value, dict):
        return sum(_traversed(key) + _traversed(held) for key, held in value.items())
    return 1


SCAN = Cost(_scan, lambda values, *_items: _traversed(values))


def _contained(base: float, *, parses: bool, plus_own: int) -> Cost:
    """Comparing addresses by their bytes, of which there are 4 to 16, and reading the other where it is a text."""

    def estimate(operands: Operands) -> Estimate:
        cost = plus(scaled(32, TRAVERSAL), plus_own and scaled(16, TRAVERSAL) + 1)
        return Estimate(plus(cost, scaled(operands[1].size[1], base)) if parses else cost)

    def actual(network: Value, other: Value) -> int:
        cost = math.ceil(2 * size(network) * TRAVERSAL)
        cost += math.ceil(size(network) * TRAVERSAL) + 1 if plus_own else 0
        return cost + (math.ceil(size(other) * TRAVERSAL) if parses else 0)

    return Cost(estimate, actual)


CONTAINS_IP = _contained(TRAVERSAL, parses=False, plus_own=0)
CONTAINS_IP_TEXT = _contained(TRAVERSAL, parses=True, plus_own=0)
CONTAINS_CIDR = _contained(TRAVERSAL, parses=False, plus_own=1)
CONTAINS_CIDR_TEXT = _contained(TRAVERSAL, parses=True, plus_own=1)
VALIDATION = Cost(
    lambda operands: Estimate(scaled(scaled(operands[1].size[1], TRAVERSAL), 128 * PATTERN)),
    lambda format_, text: (
        math.ceil((1.0 + size(text)) * TRAVERSAL) * math.ceil(format_.pattern_size * PATTERN)
        if isinstance(format_, Format)
        else 1
    ),
)


def _allocating(factor: float, result: Size) -> Estimate:
    return Estimate(plus(plus(scaled(result[1], factor), 1), LIST), result)


def _literal(operand: Operand, default: int) -> int:
    node = operand.node
    return max(node.value, 0) if isinstance(node, Literal) and type(node.value) is int else default


def _slice(operands: Operands) -> Estimate:
    length = (_literal(operands[2], operands[0].size[1]) - _literal(operands[1], 0)) % 2**64
    return _allocating(1, (length, length))


def _allocated(count: int, factor: float = 1) -> int:
    return int(count * factor) + 1 + LIST


SLICE = Cost(_slice, lambda values, start, end: _allocated(end - start if 0 <= start <= end <= len(values) else 1))
RANGE = Cost(
    lambda operands: _allocating(1, (count := _literal(operands[0], MOST), count)),
    lambda count: _allocated(max(count, 0)),
)
REVERSE = Cost(lambda operands: _allocating(1, operands[0].size), lambda values: _allocated(len(values)))
FLATTEN = Cost(
    lambda operands: _allocating(float(_literal(operands[1], MOST) if len(operands) > 1 else 1), operands[0].size),
    lambda values, depth=1: _allocated(size(values), float(depth)),
)


def self_comparing(factor: float, *, of: int = 0) -> Cost:
    """Sorting and the like, for which each item is compared with each other."""

    def actual(*operands: Value) -> int:
        values = operands[of]
        is_text = bool(values) and isinstance(values[0], str | bytes)
        return _allocated(len(values) ** 2, 2 + TRAVERSAL if is_text else 2)

    return Cost(lambda operands: _allocating(factor, both(operands[of].size, operands[of].size, times)), actual)


DISTINCT = self_comparing(2)


def set_comparison(factor: int) -> Cost:
    return Cost(
        lambda operands: Estimate(plus(scaled(times(operands[0].size[1], operands[1].size[1]), factor), 1)),
        lambda left, right: 1 + size(left) * size(right) * factor,
    )


def _requirements(operands: Operands) -> Estimate:
    text = operands[1].size[1]
    return Estimate(plus(plus(LIST, scaled(text, TRAVERSAL)), scaled(scaled(text, 0.5), LIST + MESSAGE)))


REQUIREMENTS = Cost(_requirements, ONE.actual)
"""Of a selector; it can be called in other places than selectors of devices alone."""
AFFIX = Cost(lambda operands: Estimate(scaled(operands[1].size[1], TRAVERSAL)), traversal().actual)
"""The API server takes the length of what is looked for, kube-scheduler that of the text."""
