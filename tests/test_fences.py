"""The rooms keep their walls: who may import whom, and which third-party package lives where."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from kubespread.questions.registry import QUESTIONS

PACKAGE = Path(__file__).parents[1] / "kubespread"

# room -> rooms it may import; every room may import deadline, errors, escaping, regex and wording.
ROOMS: dict[str, set[str]] = {
    "deadline": set(),
    "errors": set(),
    "escaping": set(),
    "wording": set(),
    "redaction": set(),
    "kube": set(),
    "manifest": set(),
    "snapshot": {"manifest", "kube", "redaction", "__version__"},
    "scheduler": {"kube"},
    "node_groups": {"manifest", "kube", "snapshot.edits"},
    # What is behind a reason is said by whoever rejects a node.
    "reports": {"kube", "scheduler"},
    "world": {"controllers", "scheduler", "kube", "reports", "snapshot.edits", "snapshot.topology_keys", "node_groups"},
    "scenario": {"manifest", "kube", "snapshot.edits", "candidate.settings", "node_groups"},
    # A page draws every answer on a map.
    "views": {"reports", "manifest.writer", "questions.map.report"},
    "controllers": {"kube"},
    "candidate": {"controllers", "manifest", "kube", "snapshot.snapshot", "snapshot.topology_keys"},
    "questions": {
        "candidate",
        "controllers",
        "kube",
        "manifest",
        "node_groups",
        # A command to type next shows no credential that was typed.
        "redaction",
        "reports",
        "scenario",
        "scheduler",
        "snapshot",
        "views",
        "world",
        # What a worker elsewhere has to have too.
        "__version__",
    },
    "assistants": {"questions", "redaction", "reports", "__version__"},
    "serving": {
        "kube.api.core",
        "kube.api.kinds",
        "kube.owners",
        "questions",
        "redaction",
        "reports.parts",
        "snapshot.snapshot",
        "views",
    },
    "cli": {
        "assistants",
        "serving",
        "redaction",
        "candidate.sources",
        # What a mistyped name was to be.
        "kube.api.kinds",
        "kube.api.unknown_fields",
        "kube.feature_gates",
        "kube.owners.WorkloadReference",
        # What a ClusterRole has to list.
        "kube.api.core.Pod",
        "kube.owners.SELECTING_CONTROLLERS",
        "kube.versions",
        "node_groups",
        "views",
        "reports",
        "questions",
        "scenario",
        "snapshot",
        "__version__",
        "Scheduler",
        "Side",
        "",
    },
    "__init__": {"questions", "reports", "scenario.reading", "snapshot.snapshot"},
    "__main__": {"cli"},
}
FENCES: dict[str, set[str]] = {
    "typer": {"cli"},
    "rich": {"views"},
    "re2": {"scheduler"},
    "yaml": {"manifest"},
    "kubernetes": {"snapshot"},
    "mcp": {"assistants"},
    "anyio": {"assistants", "serving"},
    "starlette": {"serving"},
    "uvicorn": {"serving"},
    "joblib": {"questions"},
    "numpy": {"scheduler", "world", "reports", "questions"},
}
# Inside these rooms each floor may import those before it.
FLOORS = {
    "scheduler": ("causes", "cluster", "plugin", "framework", "evaluation", "placing", "plugins", "profile"),
    "world": ("store", "events", "reporting"),
}
# Questions of which another is made, or that are answered in its place.
PARTS = {
    ("compare", "explain"),
    ("compare", "simulate"),
    ("explain", "simulate"),
    ("plan", "map"),
    ("plan", "report"),
    ("report", "audit"),
    ("report", "pending"),
    ("report", "removable"),
    ("report", "survive"),
    ("upgrade", "plan"),
    ("verify", "audit"),
    ("verify", "capacity"),
    ("verify", "plan"),
    ("verify", "removable"),
    ("verify", "simulate"),
    ("verify", "survive"),
}
DRAWING_MAPS = {"views/outcomes.py", "views/page/topology.py", "views/page/writing.py", "views/view.py"}
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
    return any(
        inside == other or inside.startswith(f"{other}.")
        for other in {*ROOMS[room], room, "deadline", "errors", "escaping", "regex", "wording"}
    )


def trespasses(path: Path) -> Iterator[str]:
    room = room_of(path)
    for module in imports(path):
        top = module.partition(".")[0]
        if (top == "kubespread" and not allowed(module, room)) or room not in FENCES.get(top, {room}):
            yield f"{path.relative_to(PACKAGE)} imports {module}"


def test_imports_stay_inside_the_fences() -> None:
    assert [found for path in FILES for found in trespasses(path)] == []


@pytest.mark.parametrize("room", FLOORS)
def test_a_room_is_built_floor_upon_floor(room: str) -> None:
    inside, floors = PACKAGE / room, FLOORS[room]
    above = [
        f"{path.relative_to(inside)} imports {module}"
        for path in sorted(inside.rglob("*.py"))
        if (floor := path.relative_to(inside).parts[0].removesuffix(".py")) != "__init__"
        for module in imports(path)
        if module.startswith(f"kubespread.{room}.") and floors.index(module.split(".")[2]) > floors.index(floor)
    ]
    assert above == []
    assert {path.stem for path in inside.iterdir()} - {"__init__", "__pycache__"} == set(floors)


def test_a_question_is_named_in_its_folder_and_the_registry_alone() -> None:
    """Among questions too it is imported only where one is part of another, or is asked in its place."""
    named = {
        (path.relative_to(PACKAGE).as_posix(), name)
        for path in FILES
        for module in imports(path)
        if (name := (module.split(".") + ["", "", ""])[2]) in QUESTIONS and module.startswith("kubespread.questions.")
        if path.relative_to(PACKAGE).parts[:2] != ("questions", name)
    }
    parts = {(Path(path).parts[1], name) for path, name in named if path.startswith("questions/")}
    assert parts == PARTS
    assert {path for path, _ in named if not path.startswith("questions/")} - DRAWING_MAPS == set()


def test_no_modules_import_each_other_in_a_circle() -> None:
    """What is imported for its types counts like the rest, and inside functions: a circle is one that somebody has to
    understand.
    """
    modules = {".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts): path for path in FILES}
    imported = {
        module: [name for found in imports(path) for name in (found, found.rpartition(".")[0]) if name in modules]
        for module, path in modules.items()
    }
    while free := [module for module, others in imported.items() if not others]:
        imported = {
            module: [other for other in others if other not in free]
            for module, others in imported.items()
            if module not in free
        }
    assert imported == {}


def test_only_the_scene_lets_an_autoscaler_act() -> None:
    """To a question it is an event like any other."""
    room = PACKAGE / "questions" / "autoscaling"
    outside = [path for path in FILES if room not in path.parents]
    importers = [path for path in outside if any("questions.autoscaling" in found for found in imports(path))]
    assert importers == [PACKAGE / "questions" / "scene.py"]


RULES = PACKAGE / "kube" / "validation" / "rules.toml"
CALLED_BY_OTHERS = {
    "from_objects": "the library: a snapshot of plain objects",
    "list_commands": "click",
    "format_commands": "click",
    "format_options": "click",
    "value_from_envvar": "click",
}
"""What nothing in the package calls, and who does."""


def test_nothing_is_there_for_tests_alone() -> None:
    """Formats, commands and the checks of rules are found by their names, as texts; columns by their annotation."""
    trees = [ast.parse(path.read_text()) for path in FILES]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    loaded = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    loaded |= {node.attr for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)}
    loaded |= {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    loaded |= {name.replace("-", "_") for name in re.findall(r"[-a-z]+", RULES.read_text())}
    defined = {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)}
    columns = {
        node.name
        for node in nodes
        if isinstance(node, ast.FunctionDef) and node.returns and "Col(" in ast.unparse(node.returns)
    }
    unused = {name for name in defined - loaded - columns if not name.startswith("__")}
    assert unused == CALLED_BY_OTHERS.keys()


def test_no_block_is_empty() -> None:
    empty = [
        f"{path.relative_to(PACKAGE)}:{node.lineno}"
        for path in FILES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.If) and all(isinstance(each, ast.Pass) for each in node.body)
    ]
    assert empty == []


def test_concepts_stay_whole() -> None:
    """Many small files, and lines that only say where names come from, are a sign that the rooms are too small."""
    code, imported = 0, 0
    for path in FILES:
        tree = ast.parse(path.read_text())
        nodes = [node for node in ast.walk(tree) if isinstance(node, ast.stmt)]
        texts = {id(node) for node in nodes if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)}
        code += len({line for node in nodes if id(node) not in texts for line in _lines_of(node)})
        imported += sum(len(_lines_of(node)) for node in nodes if isinstance(node, ast.Import | ast.ImportFrom))
    assert len(FILES) <= 560
    assert imported / code <= 0.11


def _lines_of(node: ast.stmt) -> range:
    """Those of a simple statement, the head of another."""
    last = node.end_lineno or node.lineno
    body: list[ast.stmt] = getattr(node, "body", [])
    return range(node.lineno, min(last, body[0].lineno - 1 if body else last) + 1)


def test_links_that_lead_in_a_circle_are_met_by_no_resolve() -> None:
    """Path.resolve raises RuntimeError for them before Python 3.13, os.path.realpath never."""
    assert [path.name for path in FILES if ".resolve(" in path.read_text()] == []
