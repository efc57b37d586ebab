"""docs/topology-spread.md: what Kubernetes' documents state of topology spread, and the commands that show it."""

from __future__ import annotations

from pathlib import Path

import msgspec
from msgspec import Struct

_KEPS = "https://github.com/kubernetes/enhancements/tree/master/keps/sig-scheduling"
_SOURCES = {
    "page": "https://kubernetes.io/docs/concepts/scheduling-eviction/topology-spread-constraints/",
    "KEP-895": f"{_KEPS}/895-pod-topology-spread",
    "KEP-3022": f"{_KEPS}/3022-min-domains-in-pod-topology-spread",
    "KEP-3094": f"{_KEPS}/3094-pod-topology-spread-considering-taints",
    "KEP-3243": f"{_KEPS}/3243-respect-pod-topology-spread-after-rolling-upgrades",
}
_HEAD = """# Topology spread, statement by statement

Made by `make docs` from `fixtures/topology-spread/statements.yaml`; `tests/test_topology_spread.py` runs each command.

What the documents of Kubernetes state of topology spread constraints, in other words, with a command and what its
answer has (columns of a pipe, with single spaces). *But* says where the code of Kubernetes does otherwise. Left out are
reasons, advice and plans, and what others do: labels that kubelets and clouds give nodes, an API server that is down.
"""


class Statement(Struct, forbid_unknown_fields=True):
    """What holds, and the command whose answer has all of ``says``."""

    holds: str
    command: str
    says: tuple[str, ...]
    code: int = 0
    differs: str = ""
    """Where the code of Kubernetes does otherwise than its document."""


class Section(Struct, forbid_unknown_fields=True):
    title: str
    sources: tuple[str, ...]
    statements: tuple[Statement, ...]


def sections() -> tuple[Section, ...]:
    file = Path(__file__).parents[2] / "fixtures" / "topology-spread" / "statements.yaml"
    return msgspec.yaml.decode(file.read_bytes(), type=tuple[Section, ...])


def page() -> str:
    return _HEAD + "".join(map(_section, sections()))


def _section(section: Section) -> str:
    sources = ", ".join(f"[{source}]({_SOURCES[source]})" for source in section.sources)
    rows = "".join(f"| {_held(each)} | `kubespread {each.command}` | {_said(each)} |\n" for each in section.statements)
    return f"\n## {section.title}\n\n{sources}\n\n| what holds | command | its answer has |\n|---|---|---|\n{rows}"


def _held(statement: Statement) -> str:
    return f"{statement.holds} *But* {statement.differs}." if statement.differs else statement.holds


def _said(statement: Statement) -> str:
    return "<br>".join(f"`{line}`" for line in statement.says)
