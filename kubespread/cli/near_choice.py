"""Which of an option's values was meant, behind what the parser says of a mistyped one."""

from __future__ import annotations

import re

from kubespread.kube.api.unknown_fields import did_you_mean, near_miss

_NOT_ONE = re.compile(r"'(?P<word>[^']*)' is not one of (?P<choices>'.*')\.$")


def with_near_choice(message: str) -> str:
    """``'jsn' is not one of 'json', 'yaml', did you mean "json"?``; other messages as they are."""
    match = _NOT_ONE.search(message)
    if match is None:
        return message
    meant = near_miss(match["word"], re.findall("'([^']*)'", match["choices"]))
    return f"{message.removesuffix('.')}{did_you_mean(meant)}" if meant else message
