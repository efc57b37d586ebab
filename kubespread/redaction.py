"""Redaction of credentials, which no message may show, wherever they turn up.

Every credential that is read is remembered here, and removed from messages of servers and plugins and from tracebacks.
A long-lived process reads ever new ones: those not seen for longest are forgotten.
"""

from __future__ import annotations

import re

from kubespread.regex import regex

REDACTED = "[redacted]"
_SHORTEST = 4
_MOST = 1000
_remembered: dict[str, None] = {}
"""Credentials, the latest last."""

_USER_INFO = regex(r"(?<=://)[^\s\"'<>]*@")
_SCHEME = regex(r"(?i)\b(bearer|basic)\s+(?!realm\b)\S+")
_NAMED = regex(
    r"(?i)([\w-]*(?:token|secret|passw|passphrase|credential|api[-_]?key|access[-_]?key|signature)[\w-]*[\"']?\s*[:=]\s*)\S+"
)
_FLAG = regex(r"(?i)(--?[\w-]*(?:token|secret|password|key)[\w-]*\s+)\S+")
_WORD = regex(r"[^\s\"'`,;()\[\]{}<>]+")
_SEGMENT = regex(r"[A-Za-z0-9_+=~-]+")
_TIME = regex(r"\d{4}-\d\d-\d\dT\d\d")
_TOKEN_LENGTH, _LETTERS_ALONE = 10, 24


def remember_secret(*values: str) -> None:
    """Never show ``values`` again, nor their pieces between spaces. Very short ones could be part of any word."""
    for value in values:
        for piece in (*value.split(), value):
            if len(piece) >= _SHORTEST:
                _remembered.pop(piece, None)
                _remembered[piece] = None
    for oldest in [*_remembered][: max(0, len(_remembered) - _MOST)]:
        _remembered.pop(oldest, None)


def without_secrets(text: str) -> str:
    """``text`` without any credential that was read."""
    for secret in sorted([*_remembered], key=len, reverse=True):
        text = text.replace(secret, REDACTED)
    return text


def mask(text: str) -> str:
    """``text`` without anything that looks like a credential, as it may hold unknown ones."""
    text = without_secrets(text)
    text = _USER_INFO.sub("", text)
    text = _SCHEME.sub(rf"\1 {REDACTED}", text)
    text = _FLAG.sub(rf"\1{REDACTED}", _NAMED.sub(rf"\1{REDACTED}", text))
    return _WORD.sub(lambda word: REDACTED if any(map(_looks_random, _SEGMENT.findall(word[0]))) else word[0], text)


def shown_url(url: str) -> str:
    """A URL without user info, query and fragment, which no message needs."""
    scheme, separator, rest = url.rpartition("://")
    return re.split(r"[?#]", f"{scheme}{separator}{rest.rpartition('@')[2]}", maxsplit=1)[0]


def _looks_random(segment: str) -> bool:
    """Letters and digits mixed, as in no word; or longer than words are."""
    if len(segment) < _TOKEN_LENGTH or _TIME.match(segment):
        return False
    has_digit, has_letter = any(map(str.isdigit, segment)), any(map(str.isalpha, segment))
    return (has_digit and has_letter) or (segment.isalpha() and len(segment) >= _LETTERS_ALONE)
