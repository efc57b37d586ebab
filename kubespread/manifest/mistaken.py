"""Texts that are no manifests, recognized once they could not be read."""

from __future__ import annotations

import re

from kubespread.errors import Fault

# What is looked for, and what to say of it; the line is that of the last character found.
_MISTAKES = (
    (re.compile(rb"\{\{"), "a Helm template, not a manifest: pipe `helm template` into kubespread"),
    (
        re.compile(rb"\A\s*^(?:NAMESPACE\s+)?NAME\s+[A-Z][A-Z -]*$", re.MULTILINE),
        "the table that `kubectl get` prints: add -o yaml to it",
    ),
    (re.compile(rb"^<{7} ", re.MULTILINE), "a merge conflict that is not resolved"),
    (re.compile(rb"^ *\t\s*\S", re.MULTILINE), "indented with a tab: YAML takes spaces only"),
)


def mistaken_text(text: bytes) -> Fault | None:
    """What a text is that cannot be read as objects; None where nothing is known of it."""
    for pattern, message in _MISTAKES:
        if match := pattern.search(text):
            return Fault(message, line=text.count(b"\n", 0, match.end()) + 1)
    return None
