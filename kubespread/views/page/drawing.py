"""Where everything is in the picture of a topology: boxes within boxes, and the cells of nodes in the innermost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct, field

from kubespread.questions.map.report import MapNode, TopologyMap
from kubespread.wording import EMPTY, short_key

WIDTH = 1200
_PAD, _HEAD, _GAP = 8, 22, 8


class CellSize(Struct, frozen=True):
    """How large the cell of a node is, and how much it says."""

    width: int
    height: int
    gap: int
    letters: int
    """How many letters of the name it has room for; 0 for none."""
    marks: int
    """How many pods get a mark each; more are a number."""
    least_box: int
    """How narrow a box may be."""


_SIZES = ((60, CellSize(140, 46, 6, 17, 9, 156)), (800, CellSize(30, 30, 4, 0, 0, 120)))
_SMALLEST = CellSize(15, 15, 2, 0, 0, 90)


def cell_size(nodes: int) -> CellSize:
    """For a cluster of this many nodes."""
    return next((size for most, size in _SIZES if nodes <= most), _SMALLEST)


class Placed(Struct, frozen=True):
    """The cell of a node."""

    node: str
    x: int
    y: int


class Box(Struct):
    """A domain, from the upper left corner of the box that it is in."""

    title: str
    width: int = 0
    height: int = 0
    x: int = 0
    y: int = 0
    boxes: list[Box] = field(default_factory=list)
    cells: list[Placed] = field(default_factory=list)


def drawn(report: TopologyMap, others: Sequence[str] = ()) -> tuple[Box, CellSize]:
    """The whole picture; ``others`` are nodes that join later and whose domain is not known."""
    size = cell_size(len(report.nodes) + len(others))
    tree = _tree(report.nodes, 0, len(report.keys))
    root = Box("")
    children = [_laid_out(report, child, 0, value, WIDTH, size) for value, child in tree.items()] if report.keys else []
    if not report.keys:
        children = [_leaf("all nodes", [node.name for node in report.nodes], WIDTH, size)]
    if others:
        children.append(_leaf("joined later", others, WIDTH, size))
    _shelve(root, _fitted(report, tree, children, size, others), WIDTH)
    # Nothing stands above the outermost boxes.
    for box in root.boxes:
        box.y -= _HEAD
    root.height -= _HEAD
    return root, size


def _fitted(
    report: TopologyMap, tree: Mapping[str | None, Sequence[MapNode]], wide: list[Box], size: CellSize,
    others: Sequence[str],
) -> list[Box]:  # fmt: skip
    """The outermost boxes, narrow enough to stand side by side where that is possible."""
    room = _share(len(wide), WIDTH, size)
    if not report.keys or room == WIDTH:
        return wide
    narrow = [_laid_out(report, nodes, 0, value, room, size) for value, nodes in tree.items()]
    return [*narrow, *([_leaf("joined later", others, room, size)] if others else [])]


def _tree(nodes: Sequence[MapNode], depth: int, depths: int) -> Mapping[str | None, Sequence[MapNode]]:
    """The nodes by their value of the key at ``depth``."""
    by_value: dict[str | None, list[MapNode]] = {}
    for node in nodes:
        by_value.setdefault(node.path[depth] if depth < depths else None, []).append(node)
    return by_value


def _laid_out(
    report: TopologyMap, nodes: Sequence[MapNode], depth: int, value: str | None, room: int, size: CellSize
) -> Box:
    key = short_key(report.keys[depth])
    title = f"no {key}" if value is None else _titled(key, value)
    if depth + 1 == len(report.keys):
        return _leaf(title, [node.name for node in nodes], room, size)
    box, inner = Box(title), room - 2 * _PAD
    children = _tree(nodes, depth + 1, len(report.keys))
    share = _share(len(children), inner, size)
    boxes = [_laid_out(report, some, depth + 1, within, share, size) for within, some in children.items()]
    _shelve(box, boxes, inner)
    return box


def _titled(key: str, value: str) -> str:
    """``zone a``; just ``zone-a`` where the value already says what it is."""
    return value if value.startswith(key) else f"{key} {value or EMPTY}"


def _share(boxes: int, room: int, size: CellSize) -> int:
    """How wide each box may be so that as many as possible fit side by side."""
    columns = max(1, min(boxes, (room + _GAP) // (size.least_box + _GAP)))
    return (room - _GAP * (columns - 1)) // columns


def _leaf(title: str, names: Sequence[str], room: int, size: CellSize) -> Box:
    step_x, step_y = size.width + size.gap, size.height + size.gap
    columns = max(1, min(len(names), (room - 2 * _PAD + size.gap) // step_x))
    rows = -(-len(names) // columns)
    cells = [
        Placed(name, _PAD + place % columns * step_x, _HEAD + _PAD + place // columns * step_y)
        for place, name in enumerate(names)
    ]
    width = max(2 * _PAD + columns * step_x - size.gap, min(room, size.least_box))
    return Box(title, width, _HEAD + 2 * _PAD + rows * step_y - size.gap, cells=cells)


def _shelve(box: Box, boxes: list[Box], room: int) -> None:
    """Put ``boxes`` into ``box`` from left to right, wrapping to a new row when there is no room."""
    x = y = high = wide = 0
    for shelved in boxes:
        if x and x + shelved.width > room:
            x, y, high = 0, y + high + _GAP, 0
        shelved.x, shelved.y = _PAD + x, _HEAD + _PAD + y
        x, high = x + shelved.width + _GAP, max(high, shelved.height)
        wide = max(wide, x - _GAP)
    box.boxes, box.width, box.height = boxes, wide + 2 * _PAD, _HEAD + 2 * _PAD + y + high


def cells(box: Box) -> Iterator[Placed]:
    """All of a picture, in the order they are read."""
    yield from box.cells
    for inner in box.boxes:
        yield from cells(inner)
