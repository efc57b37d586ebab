"""A report as one page without network or inline handlers, and with a policy that allows its own style and script."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, cached_property
from importlib.resources import files
from string import Template
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from kubespread.questions.map.report import MapNode, TopologyMap, states_in_full
from kubespread.reports.parts import ClusterReference, Provenance, release_phrase
from kubespread.views.documents import Answer, document
from kubespread.views.look import Look, Tone
from kubespread.views.page import parts
from kubespread.views.page.parts import embed, escape_data, foldable, text
from kubespread.views.page.topology import NOT_YET, SHADES, Picture
from kubespread.views.sheet import NONE, BarCell, Row, Table
from kubespread.views.view import Frame, tables_of, view_of, with_nodes
from kubespread.wording import EMPTY, age, short_key

# The table of nodes: the content of the picture and the question's facts about each node, as text.


class NodeTable(Struct, frozen=True, dict=True):
    """Columns of the table of nodes."""

    picture: Picture

    @property
    def header(self) -> list[str]:
        """Names of the columns; a column that steps change has a name of its own."""
        facts, report = self.picture.account.nodes, self.picture.report
        return [
            "Node",
            *(facts.header if facts is not None else ()),
            *([STATE] if self._has_states else []),
            *(short_key(report.keys[place]) for place in self._varying_places),
            *([self.counted_column] if self.counted_column else []),
            *([] if self._has_steps else self.holding[:1]),
            *self.holding[1:],
            *(["Marked pods"] if self._has_names else []),
        ]

    @property
    def counted_column(self) -> str:
        """Name of the column with the drawn pods; empty without steps if these are all pods of a node."""
        if self._has_steps:
            return "Pods at this step"
        is_marking = self.picture.account.replicas is not None or self.picture.is_marking
        return "Pods marked" if is_marking else ""

    @property
    def holding(self) -> Sequence[str]:
        """Names of the columns with a node's pods and requests; empty unless known at every step."""
        requested = [f"{resource} requested" for resource in self.picture.report.resources]
        return ["Pods", *requested] if self.picture.has_loads else []

    @cached_property
    def _varying_places(self) -> Sequence[int]:
        """Positions of the keys with more than one value."""
        every = zip(*(node.path for node in self.picture.report.nodes), strict=True)
        return [place for place, values in enumerate(every) if len(set(values)) > 1]

    @property
    def _has_steps(self) -> bool:
        return bool(self.picture.frames)

    @cached_property
    def _has_states(self) -> bool:
        is_changed = any(frame.states or frame.unavailable or frame.joined for frame in self.picture.frames)
        return is_changed or any(node.closed or node.joined for node in self.picture.report.nodes)

    @cached_property
    def _has_names(self) -> bool:
        return any(node.marked for node in self.picture.report.nodes)

    def html(self) -> str:
        """Rows of nodes; the cells of the picture link to these."""
        return foldable("nodes", Table("Nodes", self.header, [*self._rows()]), "n")

    def _rows(self) -> Iterator[Row]:
        facts = self.picture.account.nodes
        rows: Mapping[str, Row] = {} if facts is None else facts.rows
        blank = Row([""] * len(facts.header) if facts is not None else [])
        for node in self.picture.nodes:
            row = rows.get(node.name, blank)
            cells = [node.name, *row.cells, *self._cells(node, self.picture.pods.get(node.name, 0))]
            yield Row(cells, row.tone, self._bars(node, len(cells)))
        for name in self.picture.joined:
            cells = [name, *rows.get(name, blank).cells, NOT_YET]
            yield Row([*cells, *[""] * (len(self.header) - len(cells))])

    def _bars(self, node: MapNode, columns: int) -> Sequence[BarCell | None]:
        """A bar for how much of each resource is requested."""
        loads = [_bar(load.percent) for load in node.load] if self.holding else []
        after = [None] if self._has_names else []
        return [*[None] * (columns - len(loads) - len(after)), *loads, *after]

    def _cells(self, node: MapNode, drawn: int) -> Iterator[str]:
        if self._has_states:
            yield states_in_full(node)
        values = (node.path[place] for place in self._varying_places)
        yield from (NONE if value is None else value or EMPTY for value in values)
        if self.counted_column:
            yield str(drawn)
        if self.holding:
            if not self._has_steps:
                yield str(node.pods)
            yield from ("" if load.percent is None else f"{load.percent}%" for load in node.load)
        if self._has_names:
            yield ", ".join(node.marked)


def _bar(percent: int | None) -> BarCell | None:
    if percent is None:
        return None
    return BarCell(min(100, percent), Tone.WARN if percent >= FULL else Tone.PLAIN)


FULL = 90
"""Percentage from which the bar of a node has another tone, which is not that of a no."""


STATE = "State"

_COMMAND = "Question"


def html(answer: Answer, look: Look) -> str:
    """Page of the ``answer``, with its map."""
    return write_page(answer, look.drawn, look.next_command)


def write_page(answer: Answer, drawn: TopologyMap | None, next_command: str = "") -> str:
    """Page with ``answer`` on the map ``drawn``; an answer without a cluster has no map.

    It holds the answer's JSON, as printed by ``-o json``.
    """
    account = with_nodes(view_of(answer))
    css, script = _resource("page.css"), _resource("page.js")
    policy = "; ".join(
        (
            "default-src 'none'",
            f"style-src '{_hash(css)}'",
            f"script-src '{_hash(script)}'",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )
    picture = None if drawn is None else Picture(drawn, account)
    if picture is not None and not (picture.frames or account.nodes or isinstance(answer, TopologyMap)):
        picture = None
    nodes = None if picture is None else NodeTable(picture)
    return Template(_resource("page.html")).substitute(
        policy=text(policy),
        title=text(account.title),
        provenance=text(account.provenance),
        css=css,
        script=script,
        tone=account.tone,
        answer=parts.answer(account),
        picture="" if picture is None else _topology(picture),
        remarks=parts.remarks(account),
        bars=parts.bars(account.bars),
        tables=parts.tables(tables_of(account)),
        nodes="" if nodes is None else nodes.html(),
        next=f"<section><h2>Next</h2><p>{parts.command(next_command)}</p></section>" if next_command else "",
        beside=parts.side_notes(account.beside),
        origin=parts.facts(_origin(answer), {_COMMAND}),
        report=embed("report", document(answer)),
        frames=embed("frames", escape_data([] if picture is None else [*map(_frame, picture.frames)])),
        map=embed("map", escape_data({} if nodes is None else _start(nodes))),
    )


def _frame(frame: Frame) -> dict[str, Any]:
    """Fields of the frame that are not empty."""
    return {name: value for name, value in asdict(frame).items() if value}


def _start(table: NodeTable) -> dict[str, Any]:
    """Collect the state before the first step, and the columns of the table of nodes that steps change."""
    picture, drawn = table.picture, table.picture.report
    return {
        "pods": {name: count for name, count in picture.pods.items() if count},
        "states": {node.name: node.closed for node in drawn.nodes if node.closed},
        "joined": [node.name for node in drawn.nodes if node.joined],
        "later": picture.joined,
        "domains": picture.domains,
        "dot": picture.dot[0],
        "columns": {"pods": table.counted_column, "state": STATE, "loads": table.holding},
        "shades": [*SHADES, (0, "load-0")] if picture.has_loads and not picture.is_judged else (),
        "full": FULL,
    }


def _topology(picture: Picture) -> str:
    """The picture with its legend and its slider."""
    return Template(_resource("topology.html")).substitute(
        legend=picture.legend(), slider=picture.slider(), picture=picture.html
    )


def _origin(answer: Answer) -> Mapping[str, str]:
    """Origin of the answer: command, time, version of kubespread, cluster and emulated release, by name."""
    report: Any = answer[0] if isinstance(answer, Sequence) else answer
    origin: Provenance | None = getattr(report, "provenance", None)
    is_pair = hasattr(report, "before") and hasattr(report, "after") and not hasattr(report, "cluster")
    sides = {"Before: ": report.before, "After: ": report.after} if is_pair else {"": report}
    return {
        **({} if origin is None else {_COMMAND: origin.command, "Answered": origin.time, "kubespread": origin.version}),
        **{f"{which}{name}": value for which, side in sides.items() for name, value in _cluster(side).items()},
    }


def _cluster(report: Any) -> Mapping[str, str]:
    cluster: ClusterReference | None = getattr(report, "cluster", None)
    release: str = getattr(report, "kube_version", "")
    facts = {"Decided as": f"kube-scheduler {release_phrase(release)}" if release else ""}
    if cluster is None:
        return facts
    old = "" if cluster.age_seconds is None else f", {age(cluster.age_seconds)} before this answer"
    return {
        "Context": cluster.context or "",
        "API server": " ".join(filter(None, (cluster.server, cluster.server_version))),
        "Snapshot": cluster.snapshot or "",
        "Read": f"{cluster.time}{old}" if cluster.time else "",
        **facts,
    }


@cache
def _resource(name: str) -> str:
    return (files(__package__) / name).read_text(encoding="utf-8")


def _hash(content: str) -> str:
    """Hash the content of an inline element, as a Content-Security-Policy names it."""
    return f"sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}"
