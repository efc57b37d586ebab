"""Plain data as YAML that means the same to kubectl: every string its parser would retype is quoted."""

from __future__ import annotations

from typing import Any

import yaml

from kubespread.escaping import json_escaped
from kubespread.manifest.scalars import resolve_plain

_Dumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class _KubectlDumper(_Dumper):  # type: ignore[misc]  # the C dumper has no type when libyaml is absent
    """Quotes ``6e10``, ``y``, ``0o7`` and the like, which PyYAML would write plain."""


def _string(dumper: Any, text: str) -> Any:
    if not text.isprintable():
        # In double quotes every character can be escaped, except what no YAML text holds: half a surrogate pair.
        text = text.encode(errors="backslashreplace").decode()
        return dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"')
    plain = bool(text) and isinstance(resolve_plain(text), str)
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=None if plain else '"')


_KubectlDumper.add_representer(str, _string)


def to_yaml(data: Any, *, in_line: bool = False) -> str:
    """One YAML document, keys in the order given, every character printable; ``in_line`` as a value within another."""
    text = yaml.dump(
        data, Dumper=_KubectlDumper, sort_keys=False, allow_unicode=True, width=10_000, default_flow_style=in_line
    )
    assert isinstance(text, str)
    # A scalar by itself ends with what ends a document.
    text = text.removesuffix("\n...\n").rstrip("\n") if in_line else text
    # libyaml does not escape characters that reverse text. What it writes beyond 16 bits is printable.
    return json_escaped(text)
