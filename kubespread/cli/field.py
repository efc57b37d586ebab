"""A field of a question on the command line: the options that it is, and what it is once they are typed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kubespread.cli.options.answer import SpeakingOptions
    from kubespread.cli.options.edits import EditedClusterOptions
    from kubespread.cli.options.scheduler import SchedulerOptions
    from kubespread.snapshot.snapshot import Snapshot


Late = Callable[[Any, "Snapshot"], Any]
"""What a value is, given the question so far and the cluster; it can be sent to another process."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """What typer makes of a field: what it is called there, its type with its option, and its default."""

    name: str
    annotation: Any
    default: Any


@dataclass(frozen=True, slots=True)
class Typed:
    """All that was typed: the question's own options by their names, and the groups that all questions have."""

    own: Mapping[str, Any]
    source: EditedClusterOptions
    scheduling: SchedulerOptions
    speaking: SpeakingOptions

    def __getitem__(self, name: str) -> Any:
        return self.own[name]


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a question."""

    parameters: tuple[Parameter, ...]
    value: Callable[[Typed], Any]
    """What it is, before a cluster is read."""
    late: Callable[[Typed], Late] | None = None
    """The same for a value that depends on the cluster."""
