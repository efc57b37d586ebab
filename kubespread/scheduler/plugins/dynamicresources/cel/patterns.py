"""Patterns, which are RE2's in CEL: any takes time proportional to the text.

Where RE2 is not installed, as in a browser, Python's own take the place of those that both read alike.

Source: staging/src/k8s.io/apiserver/pkg/cel/library/regex.go
"""

from __future__ import annotations

import re
from contextlib import suppress
from functools import lru_cache
from types import ModuleType
from typing import Any

from kubespread.regex import regex
from kubespread.scheduler.plugins.dynamicresources.cel.types import UnsupportedExpressionError
from kubespread.scheduler.plugins.dynamicresources.cel.values import EvaluationError

_RE2_SAYS = {
    "missing )": "missing closing )",
    "missing ]": "missing closing ]",
    "unexpected )": "unexpected )",
    "no argument for repetition operator": "missing argument to repetition operator",
    "bad repetition operator": "invalid nested repetition operator",
    "invalid repetition size": "invalid repeat count",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "invalid named capture group": "invalid named capture",
}
_COMMON = regex(
    r"\^? (?: \( (?!\?) | \) (?![*+?]) | \| | (?: [\w\ /:@%&,;=<>!~\#'\"-] | \\[dw.+*?()|\[\]{}^$/-] | \."
    r" | \[ \^? (?: \w-\w | [\w\ ./:] )+ -? \] ) [*+?]? )* \$?",
    re.ASCII | re.VERBOSE,
)
"""Characters, sets of them and groups that are not repeated, between the ends of the text."""
_MOST_REPEATED = 2
"""Repetitions in a pattern: Python tries every way to divide a text among them."""


def re2() -> ModuleType | None:
    """Module re2; None if it is not installed."""
    # Few clusters have a selector with a pattern.
    try:
        import re2 as installed
    except ModuleNotFoundError:
        return None
    module: ModuleType = installed
    return module


@lru_cache(maxsize=1024)
def pattern(text: str) -> Any:
    """Raises EvaluationError with Go's words, and UnsupportedExpressionError if it takes RE2, which is missing."""
    engine = re2()
    if engine is None:
        return python_pattern(text)
    options = engine.Options()
    options.log_errors = False
    try:
        return engine.compile(text, options)
    except engine.error as error:
        message = error.args[0].decode() if isinstance(error.args[0], bytes) else str(error.args[0])
        problem, _, fragment = message.rpartition(": ")
        raise EvaluationError(f"error parsing regexp: {_RE2_SAYS.get(problem, problem)}: `{fragment}`") from error


def python_pattern(text: str) -> re.Pattern[str]:
    """Python pattern for a text that RE2 reads alike. Raises UnsupportedExpressionError."""
    if _COMMON.fullmatch(text) and len(re.findall(r"(?<!\\)[*+]", text)) <= _MOST_REPEATED:
        with suppress(re.error):
            # For Python `$` is also before a last line break.
            compiled = re.compile(re.sub(r"(?<!\\)\$$", r"\\Z", text), re.ASCII)
            # Behind an empty text that is found Python goes on in a way of its own.
            if compiled.match("") is None:
                return compiled
    raise UnsupportedExpressionError(f"the pattern {text}, which takes the package google-re2")
