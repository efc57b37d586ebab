"""A CEL expression as a function of a device.

Source: staging/src/k8s.io/dynamic-resource-allocation/cel/compile.go, CompileCELExpression, DeviceMatches
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache

from kubespread.scheduler.plugins.dynamicresources.cel import types
from kubespread.scheduler.plugins.dynamicresources.cel.evaluating import Evaluate, Planner, Run
from kubespread.scheduler.plugins.dynamicresources.cel.macros import expand
from kubespread.scheduler.plugins.dynamicresources.cel.syntax import MAX_DEPTH, Parser
from kubespread.scheduler.plugins.dynamicresources.cel.types import CompileError, Type, UnsupportedExpressionError
from kubespread.scheduler.plugins.dynamicresources.cel.values import EvaluationError, Optional, Value, type_of

Selector = Callable[[Mapping[str, Value]], bool]
_CALLS = 40 * MAX_DEPTH


def compile_selector(expression: str) -> Selector:
    """Compile a selector of devices, given as the fields of CEL's variable ``device``.

    Raises CompileError and UnsupportedExpressionError at once; the selector raises EvaluationError.
    """
    outcome = _compile(expression)
    if isinstance(outcome, Exception):
        raise outcome
    return outcome


@contextmanager
def _deeply() -> Iterator[None]:
    """Raise Python's recursion limit: Kubernetes allows expressions to be nested deeply."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _CALLS))
    try:
        yield
    except RecursionError:
        raise UnsupportedExpressionError("an expression nested too deeply") from None
    finally:
        sys.setrecursionlimit(before)


@lru_cache(maxsize=1024)
def _compile(expression: str) -> Selector | CompileError | UnsupportedExpressionError:
    planner = Planner()
    try:
        evaluate = _plan(expression, planner)
    except (CompileError, UnsupportedExpressionError) as error:
        return error

    def selects(device: Mapping[str, Value]) -> bool:
        run = Run([device, *([None] * planner.count)])
        with _deeply():
            return _as_bool(evaluate(run))

    return selects


@lru_cache(maxsize=1024)
def has_patterns(expression: str) -> bool:
    """True if it matches text against a pattern. Raises CompileError and UnsupportedExpressionError."""
    planner = Planner()
    _plan(expression, planner)
    return planner.has_patterns


def _plan(expression: str, planner: Planner) -> Evaluate:
    try:
        with _deeply():
            return planner.plan(Parser(expression, expand).parse()).evaluate
    except CompileError as error:
        where = ""
        if error.position is not None:
            before = expression[: error.position]
            where = f" in line {before.count(chr(10)) + 1}, column {len(before) - before.rfind(chr(10))}"
        raise CompileError(f"compilation failed: {error}{where}") from error


_NATIVE = {
    types.INT: "unsupported type conversion from 'int' to bool",
    types.UINT: "unsupported type conversion from 'uint' to bool",
    types.STRING: "unsupported native conversion from string to 'bool'",
    types.DOUBLE: "type conversion error from Double to 'bool'",
    types.BYTES: "type conversion error from Bytes to 'bool'",
    Type("list"): "type conversion error from list to 'bool'",
    Type("map"): "type conversion error from map to 'bool'",
    Type("type"): "type conversion not supported for 'type'",
}


def _as_bool(result: Value) -> bool:
    if isinstance(result, Optional) and result.is_set:
        return _as_bool(result.value)
    if type(result) is bool:
        return result
    kind = type_of(result)
    reason = _NATIVE.get(kind, f"type conversion error from '{kind.name.rpartition('.')[2]}' to 'bool'")
    if isinstance(result, Optional):
        reason = "optional.none() dereference"
    raise EvaluationError(f"CEL result of type {kind.name} could not be converted to bool: {reason}")
