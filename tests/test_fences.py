"""The rooms keep their walls: who may import whom, and which third-party package lives where."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "kubespread"

# room -> rooms it may import; every room may import errors and escaping.
ROOMS: dict[str, set[str]] = {
    "errors": set(),
    "escaping": set(),
    "kube": set(),
    "manifest": set(),
    "snapshot": {"manifest", "kube"},
    "scheduler": {"kube"},
    "planner": {"scheduler", "kube"},
    "render": {"planner.report", "planner.simulation_report", "manifest.writer"},
    "candidate": {"manifest", "kube", "snapshot.snapshot"},
    "library": {"candidate", "manifest", "kube", "snapshot", "scheduler", "planner"},
    "cli": {"candidate.inputs", "render", "planner.report", "planner.simulation_report", "snapshot", "__version__", ""},
    "__init__": {"errors", "library", "planner.report", "planner.simulation_report", "snapshot.snapshot"},
    "__main__": {"cli"},
}
FENCES: dict[str, set[str]] = {
    "typer": {"cli"},
    "rich": {"render"},
    "yaml": {"manifest"},
    "kubernetes": {"snapshot"},
    "numpy": {"scheduler", "planner"},
}
FILES = sorted(PACKAGE.rglob("*.py"))


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(path: Path) -> Iterator[str]:
    for found in ast.walk(ast.parse(path.read_text())):
        if isinstance(found, ast.Import):
            yield from (alias.name for alias in found.names)
        elif isinstance(found, ast.ImportFrom):
            assert found.level == 0, "relative import"
            yield from (f"{found.module}.{alias.name}" for alias in found.names)


def allowed(module: str, room: str) -> bool:
    inside = module.removeprefix("kubespread").removeprefix(".")
    return any(inside == other or inside.startswith(f"{other}.") for other in {*ROOMS[room], room, "errors", "escaping"})


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_stay_inside_the_fences(path: Path) -> None:
    room = room_of(path)
    for module in imports(path):
        top = module.partition(".")[0]
        if top == "kubespread":
            assert allowed(module, room), f"{room} imports {module}"
        elif top in FENCES:
            assert room in FENCES[top], f"{room} imports {module}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_file_is_about_one_thing(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= 350
