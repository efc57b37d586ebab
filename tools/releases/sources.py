"""Where the rules were read: ``python -m tools.releases.sources path/to/kubernetes`` lists what a checkout has no more,
and default plugins that it has otherwise.

A docstring names it as ``Source: FILE, NAME, NAME`` with a file of Kubernetes and functions, methods, types, variables
or constants that it defines, as of 1.36.2, or as a whole file or folder; lines that continue it are indented. The name
and release of another project stand before the file.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kubespread.kube.versions import LATEST
from kubespread.scheduler.plugins.registry import default_plugins

PACKAGE = Path(__file__).parents[2] / "kubespread"
_LINE = re.compile(r"^Source: .*(?:\n    .*)*", re.MULTILINE)
_SHAPE = re.compile(
    r"Source: (?:(?P<project>[\w-]+ v?[\d.]+): )?(?P<file>[\w.-]+(?:/[\w.-]+)+)(?:, (?P<names>\w+(?:, \w+)*))?"
)
_PLUGINS = "pkg/scheduler/apis/config/v1/default_plugins.go"
_PLUGIN = re.compile(r"\{Name: names\.(\w+)(?:, Weight: ptr\.To\[int32\]\((\d+)\))?\}")


@dataclass(frozen=True)
class Source:
    """A file and what of it was read."""

    file: str
    names: tuple[str, ...]
    project: str = ""
    """The project and its release; empty for Kubernetes."""


def modules() -> Iterator[str]:
    """The modules of the package, as paths in it."""
    for file in sorted(PACKAGE.rglob("*.py")):
        yield str(file.relative_to(PACKAGE))


def sources_of(module: str) -> Iterator[Source]:
    """What a module's docstring names, and those of its functions and classes. Raises ValueError for another shape."""
    for node in ast.walk(ast.parse((PACKAGE / module).read_text())):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            continue
        for line in _LINE.findall(ast.get_docstring(node) or ""):
            match = _SHAPE.fullmatch(" ".join(line.split()))
            if match is None:
                raise ValueError(f"{module}: {line}")
            yield Source(
                match["file"], tuple(match["names"].split(", ") if match["names"] else ()), match["project"] or ""
            )


def missing(checkout: Path) -> Iterator[str]:
    """What modules name of Kubernetes and the checkout does not have."""
    for module in modules():
        for source in sources_of(module):
            if source.project:
                continue
            file = checkout / source.file
            if not file.exists():
                yield f"{module}: there is no {source.file}"
                continue
            code = file.read_text() if source.names else ""
            for name in source.names:
                if not re.search(
                    rf"^(?:(?:func (?:\([^)]*\) )?|type |var |const ){name}\b|\t{name}(?: [\w.]+)? += )",
                    code,
                    re.MULTILINE,
                ):
                    yield f"{module}: {source.file} has no {name}"


def other_plugins(checkout: Path) -> Iterator[str]:
    """Plugins of the default profile that no gate switches, where the checkout has others, or other weights."""
    body = (checkout / _PLUGINS).read_text().partition("func getDefaultPlugins() ")[2].partition("\n}\n")[0]
    theirs = [(name, int(weight or 0)) for name, weight in _PLUGIN.findall(body)]
    ours = [(plugin.name, plugin.weight) for plugin in default_plugins(LATEST).values() if not plugin.gate]
    if ours != theirs:
        yield f"default plugins and their weights: {_PLUGINS} has {_listed(theirs)}; here are {_listed(ours)}"


def _listed(plugins: list[tuple[str, int]]) -> str:
    return ", ".join(f"{name} {weight}" if weight else name for name, weight in plugins)


if __name__ == "__main__":
    if not (Path(sys.argv[1]) / _PLUGINS).exists():
        sys.exit(f"{sys.argv[1]} is no checkout of Kubernetes: it has no {_PLUGINS}")
    gone = [*missing(Path(sys.argv[1])), *other_plugins(Path(sys.argv[1]))]
    print("\n".join(gone) or "every file, name and default plugin is there")
    sys.exit(bool(gone))
