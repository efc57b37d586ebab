"""How options are declared that several groups have; what one means there, each group says."""

from __future__ import annotations

from typing import Any

import typer


def valued(*names: str, metavar: str, help: str) -> Any:
    """An option that takes a value and has no default to show."""
    return typer.Option(*names, metavar=metavar, show_default=False, help=help)


def filename(text: str) -> Any:
    """kubectl's -f."""
    return valued("-f", "--filename", metavar="FILE", help=text)


def namespace(text: str) -> Any:
    """kubectl's -n."""
    return valued("-n", "--namespace", metavar="NAME", help=text)


def selector(text: str) -> Any:
    """kubectl's -l."""
    return valued("-l", "--selector", metavar="LABELS", help=text)


def all_namespaces(text: str) -> Any:
    """kubectl's -A."""
    return typer.Option("-A", "--all-namespaces", help=text)


def fail_on(text: str) -> Any:
    """What makes an answer a no."""
    return typer.Option("--fail-on", case_sensitive=False, show_default=False, help=text)
