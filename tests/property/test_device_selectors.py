"""A CEL expression comes to the same value as in an independent implementation of the language, or to an error in both.

That one is cel-cpp, which is not what kube-scheduler runs: unlike cel-go it converts booleans to numbers and reads
numbers with blanks around them, and it knows no doubles as keys, so that none of these is asked of both. All values are dyn.
"""

from __future__ import annotations

from typing import Any

from cel_expr_python import cel
from hypothesis import given, settings
from hypothesis import strategies as st

from kubespread.scheduler.plugins.dynamicresources.cel.compiling import compile_selector
from kubespread.scheduler.plugins.dynamicresources.cel.types import CompileError
from kubespread.scheduler.plugins.dynamicresources.cel.values import EvaluationError

ENVIRONMENT = cel.NewEnv()
ERROR = "an error"

numbers = st.one_of(
    st.integers(-5, 5).map(str),
    st.sampled_from(["9223372036854775807", "-9223372036854775808", "0.5", "-2.0", "1e3", "3.0", "1e300"]),
)
texts = st.sampled_from(['"a"', '"ab"', '"1"', '" 1 "', '"1_0"', '"0x1p4"', '"true"', '""', '"a+b"', "'A.b'", '"1e5"'])
trimmed = texts.filter(lambda text: " " not in text)
booleans = st.sampled_from(["true", "false"])
literals = st.builds("dyn({})".format, st.one_of(numbers, texts, booleans))
keys = st.builds("dyn({})".format, st.one_of(st.integers(-5, 5).map(str), texts, booleans))
patterns = st.sampled_from(['"^a+$"', '"a|b"', '"[[:alpha:]]"', '"(?i)A"', '"^(a+)+$"', r'"\\d"'])


def grown(smaller: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    binary = st.sampled_from(["+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "&&", "||", "in"])
    functions = st.sampled_from(["size", "dyn"])
    methods = st.sampled_from(["startsWith", "endsWith", "contains"])
    return st.builds(
        "dyn({})".format,
        st.one_of(
            st.builds("({} {} {})".format, smaller, binary, smaller),
            st.builds("({} ? {} : {})".format, smaller, smaller, smaller),
            st.builds("!{}".format, smaller),
            st.builds("(-({}))".format, smaller),
            st.builds("{}({})".format, functions, smaller),
            # A constant that does not convert is a fault of the expression where it is not evaluated either.
            st.builds("{}({})".format, st.sampled_from(["int", "double"]), st.one_of(numbers, trimmed)),
            st.builds("bool({})".format, st.sampled_from(["true", "false", '"true"'])),
            st.builds("[{}, {}]".format, smaller, smaller),
            st.builds("{{{}: {}}}[{}]".format, keys, smaller, keys),
            st.builds("({}).{}({})".format, smaller, methods, smaller),
            st.builds("({}).matches({})".format, smaller, patterns),
            st.builds("[{}, {}].{}(x, x == {})".format, smaller, smaller, st.sampled_from(["all", "exists"]), smaller),
        ),
    )


expressions = st.recursive(literals, grown, max_leaves=6)


def ours(expression: str) -> bool | str:
    try:
        return compile_selector(expression)({})
    except (CompileError, EvaluationError) as error:
        # What is constant is evaluated when it is compiled.
        cause = error if isinstance(error, EvaluationError) else error.__cause__ and error.__cause__.__cause__
        is_evaluated = isinstance(cause, EvaluationError)
        return ERROR if is_evaluated else str(error)


def theirs(expression: str) -> Any:
    try:
        found = ENVIRONMENT.compile(expression, disable_check=True).eval(data={})
    except Exception:  # noqa: BLE001 - it raises whatever its C++ code throws
        return ERROR
    value = found.plain_value()
    return value if isinstance(value, bool) else ERROR


@given(expressions, st.sampled_from(["==", "!=", "<"]), expressions)
@settings(max_examples=300, deadline=None)
def test_an_expression_comes_to_the_same(left: str, comparison: str, right: str) -> None:
    expression = f"({left}) {comparison} ({right})"
    assert ours(expression) == theirs(expression), expression
