"""The licenses of what an installation brings: ``python -m tools.licenses docs/licenses.md`` lists them."""

from __future__ import annotations

import re
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "licenses.md"
EXTRAS = ("mcp", "serve")
_SPDX = {
    "License :: OSI Approved :: BSD License": "BSD-3-Clause",
    "License :: OSI Approved :: MIT License": "MIT",
    "Apache 2.0": "Apache-2.0",
    "ISC License": "ISC",
}
_ELSEWHERE = {"colorama": "BSD-3-Clause", "pywin32": "PSF-2.0", "importlib-metadata": "Apache-2.0", "zipp": "MIT"}
"""Of what only other systems and Pythons install."""
_HEAD = """\
# Licenses

kubespread is under the Apache License 2.0. It contains no code of others; an installation brings these packages, \
each under its own license, and the single file and the
container image contain them with their license texts.

| package | license | comes with |
|---|---|---|
"""


def shipped() -> dict[str, list[str]]:
    """Every package that `uv.lock` has for users, and what it comes with: nothing but kubespread, or which extras."""
    packages = {each["name"]: each for each in tomllib.loads((ROOT / "uv.lock").read_text())["package"]}
    own = packages["kubespread"]
    found: dict[str, list[str]] = {}
    for extra, roots in {
        "": own["dependencies"],
        **{name: own["optional-dependencies"][name] for name in EXTRAS},
    }.items():
        waiting = [each["name"] for each in roots]
        seen: set[str] = set()
        while waiting:
            name = waiting.pop()
            if name in seen:
                continue
            seen.add(name)
            package = packages[name]
            needed = [*package.get("dependencies", ())]
            # Which extras of a package are asked for matters little: what they add is listed too.
            needed += [each for extras in package.get("optional-dependencies", {}).values() for each in extras]
            waiting += [each["name"] for each in needed if "== 'emscripten'" not in each.get("marker", "")]
        for name in seen:
            if not extra or "" not in found.get(name, ()):
                found.setdefault(name, []).append(extra)
    return found


def license_of(name: str) -> str:
    """As an SPDX expression, from what the package says of itself."""
    try:
        said = distribution(name).metadata
    except PackageNotFoundError:
        return _ELSEWHERE[name]
    classifiers = [each for each in said.get_all("Classifier") or () if each.startswith("License")]
    text = next(iter((*(said.get_all("License-Expression") or ()), *(said.get_all("License") or ()), *classifiers)), "")
    return _SPDX.get(text, text)


def page() -> str:
    rows = (
        f"| [{name}](https://pypi.org/project/{name}/) | {license_of(name)} | {', '.join(extras) or 'kubespread'} |\n"
        for name, extras in sorted((name, [each for each in extras if each]) for name, extras in shipped().items())
    )
    return _HEAD + "".join(rows)


def named(text: str) -> dict[str, str]:
    """The packages that a page lists, and their licenses."""
    return dict(re.findall(r"^\| \[([^\]]+)\]\([^)]*\) \| ([^|]+) \|", text, re.MULTILINE))


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page())
