"""The text of an expression read into a tree, and what the parser says of a text that is none.

The grammar is that of the CEL language definition (github.com/google/cel-spec, doc/langdef.md). The errors are
cel-go's, whose parser ANTLR generated: it drops a token or adds one where that alone helps, else it skips what cannot
come behind any of the rules that are being read. Until a token fits again, it tells no further errors.

Source: vendor/github.com/google/cel-go/parser/gen/CEL.g4
Source: vendor/github.com/google/cel-go/parser/parser.go, Parse
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, NoReturn

from msgspec import Struct

from kubespread.scheduler.plugins.dynamicresources.cel.lexing import Faults, Token, escaped, number, tokens, unquoted
from kubespread.scheduler.plugins.dynamicresources.cel.types import Type
from kubespread.scheduler.plugins.dynamicresources.cel.values import Value

MAX_DEPTH = 250
_MAX_RECOVERIES, _MAX_SKIPPED = 30, 256


class _Noted(Struct, eq=False, kw_only=True):
    depth: int = 0
    """How many operators, selections and calls it has one in the other."""
    type: Type | None = None
    """What the type checker finds."""


class Node(_Noted, eq=False):
    position: int


class Literal(Node, eq=False):
    value: Value


class Name(Node, eq=False):
    name: str


class Select(Node, eq=False):
    """``operand.name``, or ``has(operand.name)``."""

    operand: Node
    name: str
    is_test: bool = False


class Call(Node, eq=False):
    """A function, a method where there is a ``target``, or an operator by its name (``_+_``)."""

    function: str
    target: Node | None
    arguments: list[Node]
    overloads: Sequence[Any] = ()
    """Those that the types of the arguments allow."""


class ListOf(Node, eq=False):
    items: list[Node]
    optional: frozenset[int] = frozenset()
    """The places of those written with ``?``."""


class MapOf(Node, eq=False):
    entries: list[tuple[Node, Node, bool]]
    """Key, value, and whether it is written with ``?``."""


class Message(Node, eq=False):
    name: str
    fields: list[tuple[int, str, Node]]


class Fold(Node, eq=False):
    """A loop over ``range``, which all macros come to."""

    range: Node
    variables: tuple[str, ...]
    """One, or two: index or key, and value."""
    accumulator: str
    start: Node
    condition: Node
    step: Node
    result: Node


_WORDS: dict[str, Value] = {"true": True, "false": False, "null": None}
_RESERVED = frozenset(
    {
        "as",
        "break",
        "const",
        "continue",
        "else",
        "false",
        "for",
        "function",
        "if",
        "import",
        "in",
        "let",
        "loop",
        "package",
        "namespace",
        "null",
        "return",
        "true",
        "var",
        "void",
        "while",
    }
)
_BINARY = {
    "'||'": (1, "_||_"),
    "'&&'": (2, "_&&_"),
    "'=='": (3, "_==_"),
    "'!='": (3, "_!=_"),
    "'<'": (3, "_<_"),
    "'<='": (3, "_<=_"),
    "'>'": (3, "_>_"),
    "'>='": (3, "_>=_"),
    "'in'": (3, "@in"),
    "'+'": (4, "_+_"),
    "'-'": (4, "_-_"),
    "'*'": (5, "_*_"),
    "'/'": (5, "_/_"),
    "'%'": (5, "_%_"),
}
"""The operators of two operands: how strongly they bind, and the function that each is."""
_RELATION = 3
_KINDS = [
    "'['",
    "']'",
    "'{'",
    "'}'",
    "'('",
    "')'",
    "'.'",
    "','",
    "'-'",
    "'!'",
    "'?'",
    "':'",
    "'true'",
    "'false'",
    "'null'",
    "NUM_FLOAT",
    "NUM_INT",
    "NUM_UINT",
    "STRING",
    "BYTES",
    "IDENTIFIER",
    "ESC_IDENTIFIER",
]
"""In the order in which errors list them."""
_START = frozenset(_KINDS) - {"']'", "'}'", "')'", "','", "'?'", "':'", "ESC_IDENTIFIER"}
"""What an expression begins with."""
_NAMES = frozenset({"IDENTIFIER", "ESC_IDENTIFIER"})


class _GivenUpError(Exception):
    """The rest is not read."""


class _RuleError(Exception):
    """The rule that is being read ends here."""


Expand = Callable[[int, str, Node | None, list[Node], Faults], Node | None]


class Parser:
    """``expand`` makes a call of a macro its tree, and None of any other call."""

    def __init__(self, text: str, faults: Faults, expand: Expand) -> None:
        self._text, self._faults, self._expand = text, faults, expand
        self._tokens = list(tokens(text, faults))
        self._at = self._depth = 0
        self._closing: list[frozenset[str]] = [frozenset({"<EOF>"})]
        """What may come behind the expressions that are being read, innermost last."""
        self._nested = [0, 0]
        """How many relations and how many sums are being read, one in the other."""
        self._conditions = self._operands = self._primaries = 0
        """Of how many expressions what may be a condition is being read; how many operands, and their first parts."""
        self._is_recovering = False
        self._failed: tuple[int, set[str]] = (-1, set())
        """Where the last error was, and what was being read."""
        self._recoveries = 0

    def parsed(self) -> Node | None:
        """None where there are faults."""
        if not self._tokens or self._tokens[-1].kind != "<EOF>":
            return None
        try:
            node = self._expression()
            self._expect("<EOF>", frozenset())
        except (_GivenUpError, _RuleError):
            return None
        if node.depth > MAX_DEPTH:
            self._faults.add(-1, "max recursion depth exceeded")
        return None if self._faults else node

    @property
    def _token(self) -> Token:
        return self._tokens[self._at]

    @property
    def _following(self) -> Token:
        return self._tokens[min(self._at + 1, len(self._tokens) - 1)]

    def _next(self) -> Token:
        token = self._token
        self._at = min(self._at + 1, len(self._tokens) - 1)
        self._is_recovering, self._failed = False, (-1, set())
        return token

    def _take(self, *kinds: str) -> Token | None:
        return self._next() if self._token.kind in kinds else None

    def _fault(self, message: str, token: Token | None = None) -> None:
        if not self._is_recovering:
            self._is_recovering = True
            self._faults.add((token or self._token).start, f"Syntax error: {message}")

    def _unexpected(self, expected: Collection[str]) -> None:
        """Drop the token where this helps, else end the rule."""
        helps = self._following.kind in expected
        how = "extraneous" if helps else "mismatched"
        self._fault(f"{how} input '{escaped(self._token.text)}' expecting {_listed(expected)}")
        if not helps:
            raise _RuleError
        self._next()

    def _no_way(self) -> NoReturn:
        """Neither this token nor the next one tells what is meant."""
        seen = self._token.text + self._following.before
        seen += "" if self._following.kind == "<EOF>" else self._following.text
        message = f"no viable alternative at input '{escaped(seen)}'"
        if seen in (".true", ".false", ".null"):
            message = f"mismatched input '{self._following.text}' expecting IDENTIFIER"
        self._fault(message, self._following)
        raise _RuleError

    def _expect(self, kind: str, allowed_behind: frozenset[str]) -> None:
        """One token of this kind; it is made up where what is there may come behind it."""
        if self._take(kind):
            return
        self._count()
        if self._following.kind != kind and self._token.kind in allowed_behind:
            self._fault(f"missing {kind} at '{escaped(self._token.text)}'")
            return
        self._unexpected(frozenset({kind}))
        self._next()

    def _count(self) -> None:
        if self._recoveries == _MAX_RECOVERIES:
            self._is_recovering = False
            self._fault(f"error recovery attempt limit exceeded: {_MAX_RECOVERIES}")
            raise _GivenUpError
        self._recoveries += 1

    def _recover(self, rule: str, also: frozenset[str] = frozenset()) -> None:
        """Skip what cannot come behind any of the rules that are being read; ``also`` may come behind this one."""
        self._count()
        at, failed = self._failed
        if at == self._at and rule in failed:
            self._at = min(self._at + 1, len(self._tokens) - 1)
        self._failed = (self._at, failed | {rule})
        self._skip(also)

    def _skip(self, also: frozenset[str]) -> None:
        wanted = also.union({"<EOF>"}, *self._closing)
        wanted |= _BINARY.keys() if self._operands else set()
        wanted |= {"'?'"} if self._conditions else set()
        wanted |= {"'.'", "'['"} if self._primaries else set()
        end = self._at + _MAX_SKIPPED
        while self._token.kind not in wanted:
            if self._at == end:
                self._faults.add(-1, f"error recovery token lookahead limit exceeded: {_MAX_SKIPPED}")
                raise _GivenUpError
            self._at += 1

    def _starts(self, also: frozenset[str] = frozenset()) -> None:
        """Make sure that an expression begins here, or something else that is allowed."""
        if self._token.kind in _START | also:
            return
        if self._is_recovering:
            raise _RuleError
        self._unexpected(_START | also)

    def _expression(self, *closing: str) -> Node:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            self._faults.add(-1, f"expression recursion limit exceeded: {MAX_DEPTH}")
            raise _GivenUpError
        if closing:
            self._closing.append(frozenset(closing))
        self._conditions += 1
        node = self._binary(1)
        self._conditions -= 1
        sign = self._token
        if self._take("'?'"):
            self._closing.append(frozenset({"':'"}))
            chosen = self._binary(1)
            self._closing.pop()
            otherwise = Node(sign.start)
            try:
                self._expect("':'", _START)
                otherwise = self._expression()
            except _RuleError:
                self._recover("?:")
            node = self._call(sign.start, "_?_:_", None, [node, chosen, otherwise])
        if closing:
            self._closing.pop()
        self._depth -= 1
        return node

    def _binary(self, least: int) -> Node:
        levels = [kind for kind in range(2) if least <= _RELATION + kind]
        for kind in levels:
            self._nested[kind] += 1
            if self._nested[kind] > MAX_DEPTH:
                self._faults.add(-1, f"expression recursion limit exceeded: {MAX_DEPTH}")
                raise _GivenUpError
        left = self._operand()
        signs: list[int] = []
        while (binary := _BINARY.get(self._token.kind)) is not None and binary[0] >= least:
            rank, function = binary
            position = self._next().start
            right = self._binary(rank + 1)
            if rank < _RELATION and signs and isinstance(left, Call) and left.function == function:
                # cel-go pairs them; the sign in the middle joins both halves.
                signs.append(position)
                left.arguments.append(right)
                left.position, left.depth = signs[len(signs) // 2], max(left.depth, right.depth)
            else:
                signs = [position]
                left = self._call(position, function, None, [left, right], is_nested=rank >= _RELATION)
        for kind in levels:
            self._nested[kind] -= 1
        return left

    def _operand(self) -> Node:
        start = self._token.start
        self._operands += 1
        try:
            return self._unary()
        except _RuleError:
            self._recover("unary")
            return Node(start)
        finally:
            self._operands -= 1

    def _unary(self) -> Node:
        """With the signs before it and what is selected, indexed and called behind it."""
        self._starts()
        sign, count = self._token, 0
        if sign.kind == "'!'":
            while self._take("'!'"):
                count += 1
                if self._token.kind not in _START:
                    self._fault(f"extraneous input '{escaped(self._token.text)}' expecting {_listed(_START)}")
                    self._skip(_START)
        elif self._following.kind not in ("NUM_INT", "NUM_FLOAT"):
            while self._token.kind == "'-'":
                if self._following.kind not in _START - {"'!'"}:
                    self._no_way()
                self._next()
                count += 1
        operand = self._member()
        # As in cel-go's parser, double negations cancel out.
        if count % 2 == 0:
            return operand
        return self._call(sign.start, f"{sign.kind[1]}_", None, [operand], is_nested=False)

    def _member(self) -> Node:
        node = self._primary()
        goes_on = True
        try:
            while goes_on and self._token.kind in ("'.'", "'['"):
                node, goes_on = self._indexed(node) if self._token.kind == "'['" else self._selected(node)
        except _RuleError:
            self._recover("member")
        return node

    def _indexed(self, node: Node) -> tuple[Node, bool]:
        """And whether more may come behind it."""
        sign = self._next()
        index, is_optional, goes_on = Node(sign.start), False, True
        try:
            self._starts(frozenset({"'?'"}))
            is_optional = self._take("'?'") is not None
            index = self._expression("']'")
            self._expect("']'", self._behind())
        except _RuleError:
            self._recover("index")
            goes_on = False
        return self._call(sign.start, "_[?_]" if is_optional else "_[_]", None, [node, index]), goes_on

    def _selected(self, node: Node) -> tuple[Node, bool]:
        if self._following.kind not in ("'?'", "IDENTIFIER", "ESC_IDENTIFIER"):
            self._no_way()
        sign = self._next()
        is_optional = self._take("'?'") is not None
        start = self._token.start
        name = self._name(frozenset({"'.'", "'['"}))
        if name is None:
            self._faults.add(start, "unsupported ident kind")
            return node, True
        if name.kind == "ESC_IDENTIFIER":
            self._faults.add(name.start, "unsupported syntax: '`'")
            return node, True
        if is_optional:
            field_name = Literal(name.start, name.text)
            return self._call(sign.start, "_?._", None, [node, field_name], is_nested=False), True
        if opening := self._take("'('"):
            arguments, goes_on = self._arguments("method")
            return self._call(opening.start, name.text, node, arguments), goes_on
        return Select(sign.start, node, name.text, depth=node.depth + 1), True

    def _behind(self) -> frozenset[str]:
        """What may come behind an operand."""
        closing = self._closing[-1]
        return closing | _BINARY.keys() | {"'.'", "'['"} | (set() if closing == {"':'"} else {"'?'"})

    def _name(self, behind: frozenset[str]) -> Token | None:
        try:
            if self._token.kind not in _NAMES:
                self._unexpected(_NAMES)
            return self._next()
        except _RuleError:
            self._recover("name", behind)
            return None

    def _arguments(self, rule: str) -> tuple[list[Node], bool]:
        """Those of a call, and whether its closing bracket is there."""
        arguments: list[Node] = []
        try:
            self._starts(frozenset({"')'"}))
            if self._token.kind != "')'":
                arguments.append(self._expression("','", "')'"))
                while self._take("','"):
                    arguments.append(self._expression("','", "')'"))
            self._expect("')'", self._behind())
        except _RuleError:
            self._recover(rule)
            return arguments, False
        return arguments, True

    def _primary(self) -> Node:
        start = self._token.start
        self._primaries += 1
        try:
            return self._first_part()
        except _RuleError:
            self._recover("primary")
            return Node(start)
        finally:
            self._primaries -= 1

    def _first_part(self) -> Node:
        self._starts()
        is_number = self._following.kind in ("NUM_INT", "NUM_FLOAT")
        if self._token.kind == "'.'" and self._following.kind != "IDENTIFIER":
            self._no_way()
        if self._token.kind == "'-'" and not is_number:
            self._no_way()
        dot = self._take("'.'")
        token = self._next()
        match token.kind:
            case "IDENTIFIER":
                return self._named(dot, token)
            case "'('":
                node = self._expression("')'")
                self._expect("')'", self._behind())
                return node
            case "'['":
                items = self._items("']'")
                nodes = [item for item, *_ in items]
                optional = frozenset(place for place, (*_, is_optional) in enumerate(items) if is_optional)
                return ListOf(token.start, nodes, optional, depth=_depth(nodes))
            case "'{'":
                entries = self._items("'}'")
                return MapOf(token.start, entries, depth=_depth([part for entry in entries for part in entry[:2]]))
            case "'-'":
                return Literal(token.start, number(self._next(), token.start, "-", self._faults))
        return Literal(token.start, self._constant(token))

    def _value(self) -> Node:
        self._expect("':'", _START)
        return self._expression("','", "'}'")

    def _items(self, closing: str) -> list[tuple[Node, Node, bool]]:
        """Those of a list (each twice) or a map, with the closing bracket, and whether they are written with ``?``."""
        items: list[tuple[Node, Node, bool]] = []
        is_map = closing == "'}'"
        behind = frozenset({"','", closing})
        self._starts(behind | {"'?'"})
        goes_on = self._token.kind not in behind
        while goes_on:
            is_optional = self._take("'?'") is not None
            item = self._expression("':'" if is_map else "','", *behind)
            try:
                items.append((item, self._value() if is_map else item, is_optional))
            except _RuleError:
                self._recover("entries", behind)
                break
            goes_on = self._token.kind == "','" and self._following.kind in _START | {"'?'"}
            if goes_on:
                self._next()
        if self._token.kind not in behind and not self._is_recovering:
            self._unexpected(behind)
        self._take("','")
        self._expect(closing, self._behind())
        return items

    def _named(self, dot: Token | None, token: Token) -> Node:
        """A variable, a call or a message."""
        if brace := self._message_brace():
            names = "".join(part.text for part in self._tokens[self._at - 1 : brace])
            self._at = brace
            self._next()
            fields = self._fields()
            position = self._tokens[brace].start
            return Message(
                position, ("." if dot else "") + names, fields, depth=_depth([value for *_, value in fields])
            )
        if token.text in _RESERVED:
            self._faults.add((dot or token).start, f"reserved identifier: {token.text}")
        name = ("." if dot else "") + token.text
        if opening := self._take("'('"):
            return self._call(opening.start, name, None, self._arguments("function")[0], is_nested=False)
        return Name(token.start, name)

    def _message_brace(self) -> int | None:
        """Where the fields of a message begin, if the name is one of a message."""
        at = self._at
        while self._tokens[at].kind == "'.'" and self._tokens[at + 1].kind == "IDENTIFIER":
            at += 2
        return at if self._tokens[at].kind == "'{'" else None

    def _fields(self) -> list[tuple[int, str, Node]]:
        """Those of a message, with its closing bracket."""
        fields: list[tuple[int, str, Node]] = []
        behind, names = frozenset({"','", "'}'"}), _NAMES | {"'?'"}
        try:
            if self._token.kind not in behind | names:
                self._unexpected(behind | names)
            goes_on = self._token.kind in names
            while goes_on:
                self._take("'?'")
                name, colon = self._name(behind | {"':'"}), self._token.start
                try:
                    fields.append((colon, name.text if name else "", self._value()))
                except _RuleError:
                    self._recover("fields", behind)
                    break
                goes_on = self._token.kind == "','" and self._following.kind in names
                if goes_on:
                    self._next()
            if self._token.kind not in behind and not self._is_recovering:
                self._unexpected(behind)
            self._take("','")
            self._expect("'}'", self._behind())
        except _RuleError:
            self._recover("message")
        return fields

    def _call(
        self, position: int, function: str, target: Node | None, arguments: list[Node], *, is_nested: bool = True
    ) -> Node:
        expanded = self._expand(position, function, target, arguments, self._faults)
        node = Call(position, function, target, arguments) if expanded is None else expanded
        node.depth = _depth([*arguments, *([] if target is None else [target])]) + is_nested
        return node

    def _constant(self, token: Token) -> Value:
        if token.kind in ("STRING", "BYTES"):
            value = unquoted(token.text.lstrip("bB"), is_bytes=token.kind == "BYTES")
            if value is None:
                self._faults.add(token.start, "invalid unicode code point")
            return value
        if token.text in _WORDS:
            return _WORDS[token.text]
        return number(token, token.start, "", self._faults)


def _listed(kinds: Collection[str]) -> str:
    listed = [kind for kind in (*_KINDS, "<EOF>") if kind in kinds]
    return listed[0] if len(listed) == 1 else f"{{{', '.join(listed)}}}"


def _depth(nodes: Sequence[Node]) -> int:
    return max((node.depth for node in nodes), default=0)
