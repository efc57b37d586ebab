"""The files that an answer depends on, for -w to look at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from kubespread.cli.options.pairs import READERS, texts_of
from kubespread.cli.pod import DEFAULT_POD


def files_read(parameters: Mapping[str, Any]) -> Iterator[Path]:
    """Those that a command with these ``parameters`` reads, a directory for all in it; some may not be there.

    Raises UsageError and ManifestError for edits and steps that are none.
    """
    named = [text for name in READERS for text in texts_of(parameters.get(name))]
    yield from map(Path, (*named, DEFAULT_POD))
    for directory in texts_of(parameters.get("kustomize")):
        yield from _of_kustomization(directory)
    yield from map(Path, _new_nodes(texts_of(parameters.get("add_node"))))
    yield from map(Path, _of_steps(texts_of(parameters.get("then"))))
    if not parameters.get("no_config"):
        yield from _of_configuration()


def last_written(paths: Iterable[Path]) -> set[tuple[str, int, int]]:
    """When each file was last written, and its size, those below directories too; what is not there has neither."""
    status = set()
    for path in paths:
        for file in [*path.rglob("*")] if path.is_dir() else [path]:
            try:
                status.add((str(file), file.stat().st_mtime_ns, file.stat().st_size))
            except OSError:
                continue
    return status


def _of_kustomization(directory: str) -> Iterator[Path]:
    from kubespread.candidate.input.kustomization import Kustomization

    return Kustomization(directory).paths()


def _new_nodes(edits: Iterable[str]) -> Iterator[str]:
    """The manifests of nodes that are added."""
    from kubespread.snapshot.edits.new_nodes import AddNode

    for edit in map(AddNode.read, edits):
        if isinstance(edit, AddNode) and edit.manifest is not None:
            yield edit.template


def _of_steps(steps: Iterable[str]) -> Iterator[str]:
    """The manifests that steps after a workload roll out or apply."""
    from kubespread.scenario.text import parse_then
    from kubespread.scenario.types import Named
    from kubespread.scenario.verbs import Apply, Rollout

    for step in (parse_then(text, Named("Deployment", "any")) for text in steps):
        if isinstance(step.action, Rollout) and step.action.manifest is not None:
            yield step.action.manifest
        elif isinstance(step.action, Apply):
            yield from (given for given in step.action.given if isinstance(given, str))


def _of_configuration() -> Iterator[Path]:
    import os

    from kubespread.config.layers import candidates

    return candidates(os.environ)
