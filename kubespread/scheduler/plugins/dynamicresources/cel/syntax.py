"""The text of an expression read into a tree, and what the parser says of a text that is none.

The grammar is that of the CEL language definition (github.com/google/cel-spec, doc/langdef.md). The errors are those of
cel-go, whose parser ANTLR generated: it drops a token or adds one where that alone helps. Behind the first error where
neither does, it may find more that are not told here.

Source: vendor/github.com/google/cel-go/parser/gen/CEL.g4
Source: vendor/github.com/google/cel-go/parser/parser.go, Parse
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from msgspec import Struct

from kubespread.scheduler.plugins.dynamicresources.cel.lexing import Faults, Token, tokens, unquoted
from kubespread.scheduler.plugins.dynamicresources.cel.types import Type
from kubespread.scheduler.plugins.dynamicresources.cel.values import Uint, Value

MAX_DEPTH = 250


class CompileError(Exception):
    """The expression is no selector; the text is Kubernetes'."""


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
        "as", "break", "const", "continue", "else", "false", "for", "function", "if", "import", "in", "let", "loop",
        "package", "namespace", "null", "return", "true", "var", "void", "while",
    }
)  # fmt: skip
_BINARY = {
    "'||'": (1, "_||_"), "'&&'": (2, "_&&_"), "'=='": (3, "_==_"), "'!='": (3, "_!=_"), "'<'": (3, "_<_"),
    "'<='": (3, "_<=_"), "'>'": (3, "_>_"), "'>='": (3, "_>=_"), "'in'": (3, "@in"), "'+'": (4, "_+_"),
    "'-'": (4, "_-_"), "'*'": (5, "_*_"), "'/'": (5, "_/_"), "'%'": (5, "_%_"),
}  # fmt: skip
"""The operators of two operands: how strongly they bind, and the function that each is."""
_RELATION = 3
_KINDS = [
    "'['", "']'", "'{'", "'}'", "'('", "')'", "'.'", "','", "'-'", "'!'", "'?'", "':'",
    "'true'", "'false'", "'null'", "NUM_FLOAT", "NUM_INT", "NUM_UINT", "STRING", "BYTES", "IDENTIFIER",
    "ESC_IDENTIFIER",
]  # fmt: skip
"""In the order in which errors list them."""
_START = frozenset(_KINDS) - {"']'", "'}'", "')'", "','", "'?'", "':'", "ESC_IDENTIFIER"}
"""What an expression begins with."""


class _GivenUpError(Exception):
    """The rest cannot be read."""


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

    def parsed(self) -> Node | None:
        """None where there are faults."""
        if not self._tokens or self._tokens[-1].kind != "<EOF>":
            return None
        try:
            node = self._expression()
            if self._token.kind != "<EOF>":
                self._unexpected(frozenset({"<EOF>"}), drop=True)
        except _GivenUpError:
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

    def _take(self, *kinds: str) -> Token | None:
        token = self._token
        if token.kind not in kinds:
            return None
        self._at += 1
        return token

    def _unexpected(self, expected: frozenset[str], *, drop: bool) -> None:
        """Drop the token where ``drop`` says that this helps, else give up."""
        listed = [kind for kind in (*_KINDS, "<EOF>") if kind in expected]
        wanted = listed[0] if len(listed) == 1 else f"{{{', '.join(listed)}}}"
        helps = drop and self._following.kind in expected
        how = "extraneous" if helps else "mismatched"
        self._faults.add(self._token.start, f"Syntax error: {how} input '{self._token.text}' expecting {wanted}")
        if not helps:
            raise _GivenUpError
        self._at += 1

    def _expect(self, kind: str, allowed_behind: frozenset[str]) -> None:
        """One token of this kind; it is made up where what is there may come behind it."""
        if self._take(kind):
            return
        if self._following.kind != kind and self._token.kind in allowed_behind:
            self._faults.add(self._token.start, f"Syntax error: missing {kind} at '{self._token.text}'")
            return
        self._unexpected(frozenset({kind}), drop=True)
        self._at += 1

    def _starts(self, also: frozenset[str] = frozenset()) -> None:
        """Make sure that an expression begins here, or something else that is allowed."""
        if self._token.kind not in _START | also:
            self._unexpected(_START | also, drop=True)

    def _expression(self, *closing: str) -> Node:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            self._faults.add(-1, f"expression recursion limit exceeded: {MAX_DEPTH}")
            raise _GivenUpError
        if closing:
            self._closing.append(frozenset(closing))
        node = self._binary(1)
        sign = self._token
        if self._take("'?'"):
            self._closing.append(frozenset({"':'"}))
            chosen = self._binary(1)
            self._closing.pop()
            self._expect("':'", _START)
            node = self._call(sign.start, "_?_:_", None, [node, chosen, self._expression()])
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
            position = self._token.start
            self._at += 1
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
        """With the signs before it and what is selected, indexed and called behind it."""
        self._starts()
        sign = self._take("'!'") or (
            self._take("'-'") if self._following.kind not in ("NUM_INT", "NUM_FLOAT") else None
        )
        if sign is None:
            return self._member()
        count = 1
        while self._take(sign.kind):
            count += 1
        is_number = self._token.kind == "'-'" and self._following.kind in ("NUM_INT", "NUM_FLOAT")
        if self._token.kind not in _START - {"'!'", "'-'"} and not is_number:
            if sign.kind == "'!'":
                message = f"extraneous input '{self._token.text}' expecting {self._list_of_starts()}"
                self._faults.add(self._token.start, f"Syntax error: {message}")
                raise _GivenUpError
            last = self._tokens[self._at - 1]
            seen = self._text[last.start : self._token.start + len(self._token.text)].rstrip()
            self._faults.add(self._token.start, f"Syntax error: no viable alternative at input '{seen}'")
            self._unexpected(_START, drop=False)
        operand = self._member()
        # As in cel-go's parser, double negations cancel out.
        if count % 2 == 0:
            return operand
        return self._call(sign.start, f"{sign.kind[1]}_", None, [operand], is_nested=False)

    @staticmethod
    def _list_of_starts() -> str:
        return f"{{{', '.join(kind for kind in _KINDS if kind in _START)}}}"

    def _member(self) -> Node:
        node = self._primary()
        while sign := self._take("'.'", "'['"):
            if sign.kind == "'['":
                is_optional = self._optional(frozenset())
                index = self._expression("']'")
                self._expect("']'", self._behind())
                function = "_[?_]" if is_optional else "_[_]"
                node = self._call(sign.start, function, None, [node, index])
                continue
            is_optional = self._take("'?'") is not None
            name = self._take("IDENTIFIER", "ESC_IDENTIFIER")
            if name is None:
                self._no_name(sign, is_optional=is_optional)
            elif name.kind == "ESC_IDENTIFIER":
                self._faults.add(name.start, "unsupported syntax: '`'")
            elif is_optional:
                field_name = Literal(name.start, name.text)
                node = self._call(sign.start, "_?._", None, [node, field_name], is_nested=False)
            elif opening := self._take("'('"):
                node = self._call(opening.start, name.text, node, self._arguments())
            else:
                node = Select(sign.start, node, name.text, depth=node.depth + 1)
        return node

    def _no_name(self, sign: Token, *, is_optional: bool) -> None:
        token = self._token
        if is_optional:
            message = f"mismatched input '{token.text}' expecting {{IDENTIFIER, ESC_IDENTIFIER}}"
            self._faults.add(token.start, f"Syntax error: {message}")
            self._faults.add(token.start, "unsupported ident kind")
        elif token.text in _WORDS:
            self._faults.add(token.start, f"Syntax error: mismatched input '{token.text}' expecting IDENTIFIER")
        else:
            seen = self._text[sign.start : token.start + len(token.text)].rstrip()
            self._faults.add(token.start, f"Syntax error: no viable alternative at input '{seen}'")
        raise _GivenUpError

    def _optional(self, also: frozenset[str]) -> bool:
        """Whether an item is written with ``?``."""
        self._starts(also | {"'?'"})
        return self._take("'?'") is not None

    def _behind(self) -> frozenset[str]:
        """What may come behind an operand."""
        closing = self._closing[-1]
        return closing | _BINARY.keys() | {"'.'", "'['"} | (set() if closing == {"':'"} else {"'?'"})

    def _arguments(self) -> list[Node]:
        """Those of a call, with its closing bracket."""
        self._starts(frozenset({"')'"}))
        arguments: list[Node] = []
        if self._token.kind != "')'":
            arguments.append(self._expression("','", "')'"))
            while self._take("','"):
                arguments.append(self._expression("','", "')'"))
        self._expect("')'", self._behind())
        return arguments

    def _primary(self) -> Node:
        self._starts()
        dot = self._take("'.'")
        token = self._token
        if dot is not None and token.kind != "IDENTIFIER":
            self._no_name(dot, is_optional=False)
        self._at += 1
        match token.kind:
            case "IDENTIFIER":
                return self._named(dot, token)
            case "'('":
                node = self._expression("')'")
                self._expect("')'", self._behind())
                return node
            case "'['":
                items = list(self._items("']'"))
                optional = frozenset(place for place, (is_optional, _) in enumerate(items) if is_optional)
                nodes = [item for _, item in items]
                return ListOf(token.start, nodes, optional, depth=_depth(nodes))
            case "'{'":
                entries: list[tuple[Node, Node, bool]] = []
                for is_optional, key in self._items("'}'"):
                    entries.append((key, self._value(), is_optional))
                return MapOf(token.start, entries, depth=_depth([part for entry in entries for part in entry[:2]]))
            case "'-'":
                number = self._tokens[self._at]
                self._at += 1
                return Literal(token.start, self._number(number, token.start, "-"))
        return Literal(token.start, self._constant(token))

    def _value(self) -> Node:
        self._expect("':'", _START)
        return self._expression("','", "'}'")

    def _items(self, closing: str) -> Iterator[tuple[bool, Node]]:
        """Those of a list or keys of a map, up to its closing bracket; each map takes its values in between."""
        behind = "':'" if closing == "'}'" else "','"
        if self._token.kind not in (closing, "','") and self._optional(frozenset({closing, "','"})):
            yield True, self._expression(behind, "','", closing)
        elif self._token.kind not in (closing, "','"):
            yield False, self._expression(behind, "','", closing)
        while self._token.kind not in (closing, "<EOF>"):
            if self._token.kind != "','":
                self._unexpected(frozenset({closing, "','"}), drop=True)
                continue
            self._at += 1
            if self._token.kind not in _START | {"'?'"}:
                self._expect(closing, self._behind())
                return
            yield self._take("'?'") is not None, self._expression(behind, "','", closing)
        if not self._take(closing):
            self._unexpected(frozenset({closing, "','"}), drop=False)

    def _named(self, dot: Token | None, token: Token) -> Node:
        """A variable, a call or a message."""
        if brace := self._message_brace():
            names = "".join(part.text for part in self._tokens[self._at - 1 : brace])
            self._at = brace + 1
            fields = list(self._fields())
            position = self._tokens[brace].start
            return Message(
                position, ("." if dot else "") + names, fields, depth=_depth([value for *_, value in fields])
            )
        if token.text in _RESERVED:
            self._faults.add((dot or token).start, f"reserved identifier: {token.text}")
        name = ("." if dot else "") + token.text
        if opening := self._take("'('"):
            return self._call(opening.start, name, None, self._arguments(), is_nested=False)
        return Name(token.start, name)

    def _message_brace(self) -> int | None:
        """Where the fields of a message begin, if the name is one of a message."""
        at = self._at
        while self._tokens[at].kind == "'.'" and self._tokens[at + 1].kind == "IDENTIFIER":
            at += 2
        return at if self._tokens[at].kind == "'{'" else None

    def _fields(self) -> Iterator[tuple[int, str, Node]]:
        while True:
            self._take("'?'")
            name = self._take("IDENTIFIER", "ESC_IDENTIFIER")
            if name is not None:
                colon = self._token.start
                yield colon, name.text, self._value()
            if self._take("','"):
                continue
            if self._take("'}'"):
                return
            expected = {"'}'", "','"} if name else {"'}'", "','", "'?'", "IDENTIFIER", "ESC_IDENTIFIER"}
            self._unexpected(frozenset(expected), drop=True)

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
        return self._number(token, token.start, "")

    def _number(self, token: Token, position: int, sign: str) -> Value:
        if token.kind == "NUM_FLOAT":
            double = float(sign + token.text)
            if abs(double) == float("inf"):
                self._faults.add(position, "invalid double literal")
            return double
        is_unsigned = token.kind == "NUM_UINT"
        digits = token.text.rstrip("uU")
        number = int(digits, 16 if digits.startswith("0x") else 10) if len(digits.lstrip("0x")) < 21 else 2**65
        number = -number if sign else number
        if not (0 <= number < 2**64 if is_unsigned else -(2**63) <= number < 2**63):
            self._faults.add(position, f"invalid {'u' if is_unsigned else ''}int literal")
        return Uint(number) if is_unsigned else number


def _depth(nodes: Sequence[Node]) -> int:
    return max((node.depth for node in nodes), default=0)
