"""What an expression costs at most, whatever the device: the API server refuses those that cost too much.

Source: vendor/github.com/google/cel-go/checker/cost.go, Cost
Source: staging/src/k8s.io/dynamic-resource-allocation/cel/compile.go, sizeEstimator
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kubespread.scheduler.plugins.dynamicresources.cel.checking import FUNCTIONS
from kubespread.scheduler.plugins.dynamicresources.cel.costs import (
    LIST,
    MAP,
    MESSAGE,
    MOST,
    ONE,
    TRAVERSAL,
    UNKNOWN,
    Estimate,
    Operand,
    Size,
    either,
    plus,
    scaled,
    times,
)
from kubespread.scheduler.plugins.dynamicresources.cel.macros import RESULT
from kubespread.scheduler.plugins.dynamicresources.cel.syntax import (
    Call,
    Fold,
    ListOf,
    Literal,
    MapOf,
    Message,
    Name,
    Node,
    Select,
)
from kubespread.scheduler.plugins.dynamicresources.cel.types import DYN, Type

Path = tuple[str, ...]


class _Items(NamedTuple):
    """How large the keys and the values of a list or map are."""

    is_list: bool
    keys: Size
    values: Size


class _Variable(NamedTuple):
    path: Path
    size: Size | None
    items: _Items | None


class _Declared(NamedTuple):
    """What a device's parts may hold at most."""

    most: int
    keys: int = 0
    values: _Declared | None = None
    names_any: bool = False
    """Whether a name selects one of the values."""


_ATTRIBUTE = _Declared(64)
_DEVICE: dict[str, _Declared] = {
    "driver": _Declared(63),
    "allowMultipleAllocations": _Declared(1),
    "attributes": _Declared(32, 63, _Declared(32, 32, _ATTRIBUTE, names_any=True)),
    "capacity": _Declared(32, 63, _Declared(32, 32, _Declared(0))),
}


def _declared_size(path: Path) -> Size | None:
    if not path or path[0] != "device":
        return None
    if len(path) == 1:
        return 0, 0
    declared = _DEVICE.get(path[1])
    for place, name in enumerate(path[2:], start=3):
        if declared is None:
            return None
        if name == "@keys" and declared.values is not None:
            return (0, declared.keys) if place == len(path) else None
        is_value = name in ("@values", "@items") or declared.names_any
        declared = declared.values if is_value else None
    return None if declared is None else (0, declared.most)


_SCALARS = ("bool", "double", "int", "uint", "google.protobuf.Duration", "google.protobuf.Timestamp")


def _type_size(type_: Type) -> Size | None:
    if type_.name == "optional_type":
        return _type_size(type_.parameters[0])
    return (1, 1) if type_.name in _SCALARS else None


_HOLDERS = {"list": "@items", "map": "@values"}


class Estimator:
    """Of one expression, whose types have been checked."""

    def __init__(self) -> None:
        self._paths: dict[int, Path] = {}
        self._sizes: dict[int, Size] = {}
        self._items: dict[int, _Items] = {}
        self._costs: dict[int, int] = {}
        self._variables: dict[str, list[_Variable]] = {}

    def cost(self, node: Node) -> int:
        # What stands in two places is looked at once.
        if id(node) not in self._costs:
            self._costs[id(node)] = self._cost(node)
        return self._costs[id(node)]

    def _cost(self, node: Node) -> int:
        match node:
            case Name():
                variable = self._variable(node.name)
                self._paths[id(node)] = (node.name.removeprefix("."),) if variable is None else variable.path
                return 1
            case Select():
                return self._select(node)
            case Call():
                return self._call(node)
            case ListOf():
                cost = self._sum(node.items)
                sizes = [self._size_or_unknown(item) for item in node.items]
                self._items[id(node)] = _Items(True, (1, 1), _union(sizes))
                return plus(cost, LIST)
            case MapOf():
                keys, values = [key for key, *_ in node.entries], [value for _, value, _ in node.entries]
                cost = plus(self._sum(keys), self._sum(values))
                sizes = [_union([self._size_or_unknown(part) for part in parts]) for parts in (keys, values)]
                self._items[id(node)] = _Items(False, sizes[0], sizes[1])
                return plus(cost, MAP)
            case Message():
                return plus(self._sum([value for *_, value in node.fields]), MESSAGE)
            case Fold() if node.variables == ("#unused",):
                return self._bind(node)
            case Fold():
                return self._fold(node)
        return 0

    def _sum(self, nodes: Sequence[Node]) -> int:
        total = 0
        for node in nodes:
            total = plus(total, self.cost(node))
        return total

    def _select(self, node: Select) -> int:
        cost = self.cost(node.operand)
        if node.is_test:
            return cost
        type_ = node.operand.type or DYN
        self._paths[id(node)] = (*self._path(node.operand), node.name)
        return plus(cost, int(type_.name == "map" or type_.name.startswith("kubernetes.")))

    def _call(self, node: Call) -> int:
        if node.function == "dyn":
            (argument,) = node.arguments
            cost = plus(1, self.cost(argument))
            self._copy(node, argument)
            return cost
        if node.function in ("_&&_", "_||_"):
            return self._sum(node.arguments)
        cost = self._sum(node.arguments)
        described = [self._operand(argument) for argument in node.arguments]
        if node.target is not None:
            cost = plus(cost, self.cost(node.target))
            described.insert(0, self._operand(node.target))
        if node.function == "_?_:_":
            return self._choice(node, described)
        most, size = (1, None) if node.function == "_?._" else self._overloaded(node, described)
        size = self._size(node) if size is None else size
        if node.function == "_+_":
            left, right = map(self._items_of, node.arguments)
            if left is not None and right is not None:
                self._items[id(node)] = _both_items(left, right)
        if size is not None:
            self._sizes[id(node)] = size
        return plus(cost, most)

    def _overloaded(self, node: Call, described: list[Operand]) -> tuple[int, Size | None]:
        """What each of the overloads may cost, and how large the result may be."""
        function = FUNCTIONS[node.function]
        most = 0
        result: Size | None = None
        for overload in node.overloads:
            estimate = (overload.cost or function.cost or ONE).estimate(described)
            if node.function == "_==_":
                estimate = _equality(described) or estimate
            most = max(most, estimate.cost)
            if estimate.size is not None:
                result = estimate.size if result is None else either(result, estimate.size)
            holder = _HOLDERS.get(overload.arguments[0].name) if node.function == "_[_]" else None
            if holder is not None:
                items = self._items_of(node.arguments[0])
                result = None if items is None else items.values
                self._paths[id(node)] = (*self._path(node.arguments[0]), holder)
            result = self._size(node) if result is None else result
        return most, result

    def _choice(self, node: Call, described: list[Operand]) -> int:
        condition, chosen, other = node.arguments
        self._sizes[id(node)] = either(described[1].size, described[2].size)
        items, others = self._items_of(chosen), self._items_of(other)
        if items is not None and others is not None:
            self._items[id(node)] = _both_items(items, others)
        return plus(self.cost(condition), max(self.cost(chosen), self.cost(other)))

    def _fold(self, node: Fold) -> int:
        cost = plus(self.cost(node.range), self.cost(node.start))
        self._push(node.accumulator, self._path(node.start), self._size(node.start), self._items_of(node.start))
        items = self._items_of(node.range)
        is_list = (node.range.type or DYN).name == "list" if items is None else items.is_list
        parts = [("@indices" if is_list else "@keys", 0), ("@items" if is_list else "@values", 1)]
        if len(node.variables) == 1:
            parts = [parts[1] if is_list else parts[0]]
        for name, (part, place) in zip(node.variables, parts, strict=True):
            size = None if items is None else (items.keys, items.values)[place]
            self._push(name, (*self._path(node.range), part), size, None)
        each = plus(self.cost(node.condition), self.cost(node.step))
        for name in node.variables:
            self._variables[name].pop()
        cost = plus(cost, self.cost(node.result))
        self._variables[node.accumulator].pop()
        count = self._size_or_unknown(node.range)
        if isinstance(node.start, Literal):
            self._sizes.update({id(node): size} if (size := self._size(node.start)) is not None else {})
        elif isinstance(node.start, ListOf | MapOf):
            self._sizes[id(node)] = count
            if (held := self._items_of(node.step)) is not None:
                self._items[id(node)] = held
        return plus(cost, times(count[1], each))

    def _bind(self, node: Fold) -> int:
        cost = plus(self.cost(node.range), self.cost(node.start))
        self._push(node.accumulator, self._path(node.start), self._size(node.start), self._items_of(node.start))
        cost = plus(cost, self.cost(node.result))
        self._variables[node.accumulator].pop()
        self._copy(node, node.result)
        return cost

    def _push(self, name: str, path: Path, size: Size | None, items: _Items | None) -> None:
        self._variables.setdefault(name, []).append(_Variable(path, size, items))

    def _variable(self, name: str) -> _Variable | None:
        found = self._variables.get(name.removeprefix("."))
        return found[-1] if found else None

    def _path(self, node: Node) -> Path:
        if isinstance(node, Name) and (variable := self._variable(node.name)) is not None:
            return variable.path
        return self._paths.get(id(node), ())

    def _size(self, node: Node) -> Size | None:
        known = self._sizes.get(id(node))
        if known is not None:
            return known
        match node:
            case Literal(value=str() | bytes() as text):
                return len(text), len(text)
            case Literal():
                return 1, 1
            case ListOf():
                return len(node.items), len(node.items)
            case MapOf():
                return len(node.entries), len(node.entries)
        declared = _declared_size(self._path(node))
        if declared is not None:
            self._sizes[id(node)] = declared
            return declared
        size = _type_size(node.type or DYN)
        if size is None and isinstance(node, Name) and (variable := self._variable(node.name)) is not None:
            return variable.size
        return size

    def _size_or_unknown(self, node: Node) -> Size:
        return self._size(node) or UNKNOWN

    def _items_of(self, node: Node) -> _Items | None:
        known = self._items.get(id(node))
        if known is None and isinstance(node, Name) and (variable := self._variable(node.name)) is not None:
            return variable.items
        return known

    def _copy(self, node: Node, source: Node) -> None:
        if (size := self._size(source)) is not None:
            self._sizes[id(node)] = size
        if (items := self._items_of(source)) is not None:
            self._items[id(node)] = items

    def _operand(self, node: Node) -> Operand:
        type_ = node.type or DYN
        path = self._path(node)
        item = None
        if type_.parameters:
            is_known = bool(path) and path[0] not in (RESULT, "__result__")
            size = _declared_size((*path, "@items")) if is_known else None
            item = Operand(None, type_.parameters[0], size or UNKNOWN)
        return Operand(node, type_, self._size_or_unknown(node), item)


def _union(sizes: Sequence[Size]) -> Size:
    total: Size = (MOST, 0) if sizes else (0, 0)
    for size in sizes:
        total = either(total, size)
    return total


def _both_items(left: _Items, right: _Items) -> _Items:
    return _Items(left.is_list, either(left.keys, right.keys), either(left.values, right.values))


def _equality(operands: Sequence[Operand]) -> Estimate | None:
    """Of Kubernetes' own values, which are compared at once, or as the texts that they are."""
    left, right = operands
    if left.type != right.type:
        return None
    match left.type.name:
        case "net.IP" | "net.CIDR" | "kubernetes.Quantity" | "kubernetes.Semver":
            return Estimate(1)
        case "kubernetes.NamedFormat":
            return Estimate(scaled(64, TRAVERSAL))
        case "kubernetes.URL":
            return Estimate(scaled(1 if right.size == UNKNOWN else right.size[1], TRAVERSAL))
    return None
