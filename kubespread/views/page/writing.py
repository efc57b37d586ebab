"""A report as one page without network or inline handlers, and with a policy that allows its own style and script."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from string import Template
from typing import Any

from msgspec.structs import asdict

from kubespread.questions.map.report import TopologyMap
from kubespread.reports.parts import ClusterReference, Provenance, release_phrase
from kubespread.views.documents import Answer, document
from kubespread.views.page import bars, legend, parts
from kubespread.views.page.markup import data, shown, text
from kubespread.views.page.node_table import STATE, NodeTable
from kubespread.views.page.picture import joining_nodes, pods_before, topology
from kubespread.views.registry import view_of
from kubespread.views.view import View, tables_of, with_nodes
from kubespread.wording import age

_COMMAND = "Question"


def write_page(answer: Answer, drawn: TopologyMap | None) -> str:
    """``answer`` drawn on the cluster of ``drawn``, which is None only for an answer without a cluster. The page holds
    the answer's JSON, as ``-o json`` has it.
    """
    account = with_nodes(view_of(answer, drawn))
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
    frames = account.frames if drawn is not None else ()
    every, origin = tables_of(account), _origin(answer)
    return Template(_resource("page.html")).substitute(
        policy=text(policy),
        title=text(account.title),
        provenance=text(account.provenance),
        css=css,
        script=script,
        question="" if _COMMAND not in origin else f"<p>{parts.command(origin[_COMMAND])}</p>",
        answer=parts.answer(account),
        first=parts.tables(every, first=True),
        listings=parts.listings(account.listings),
        sides=bars.sides(account.bars),
        picture="" if drawn is None else _topology(account, drawn),
        bars=bars.bars(account.bars),
        tables=parts.tables(every, first=False),
        answers=parts.answers(account.tiles),
        nodes="" if drawn is None else NodeTable(drawn, account, joining_nodes(account, drawn)).html(),
        beside=parts.beside(account.beside),
        origin=parts.facts({name: value for name, value in origin.items() if name != _COMMAND}),
        report=data(document(answer)),
        frames=data(shown([asdict(frame) for frame in frames])),
        map=data(shown({} if drawn is None else _start(account, drawn))),
    )


def _start(account: View, drawn: TopologyMap) -> dict[str, Any]:
    """What steps begin with, and which columns of the table of nodes they change."""
    table = NodeTable(drawn, account, joining_nodes(account, drawn))
    return {
        "pods": {name: count for name, count in pods_before(drawn, account).items() if count},
        "states": {node.name: node.closed for node in drawn.nodes if node.closed},
        "joined": [node.name for node in drawn.nodes if node.joined],
        "isRollout": account.is_rollout,
        "dot": account.dot or "pod",
        "columns": {"pods": table.counted, "state": STATE},
    }


def _topology(account: View, drawn: TopologyMap) -> str:
    """The picture, with what moves it and what it means."""
    return Template(_resource("topology.html")).substitute(
        legend=legend.of_picture(account, drawn),
        slider="".join(
            parts.slider(len(account.frames), len(account.frames) if account.opens_at is None else account.opens_at)
        ),
        picture=topology(drawn, account, joining_nodes(account, drawn)),
    )


def _origin(answer: Answer) -> Mapping[str, str]:
    """What made the answer: which question, of which cluster, as which release, by which kubespread, when."""
    report: Any = answer[0] if isinstance(answer, Sequence) else answer
    made: Provenance | None = getattr(report, "provenance", None)
    is_pair = hasattr(report, "before") and hasattr(report, "after") and not hasattr(report, "cluster")
    sides = {"Before: ": report.before, "After: ": report.after} if is_pair else {"": report}
    return {
        **({} if made is None else {_COMMAND: made.command, "Answered": made.time, "kubespread": made.version}),
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
    """As a Content-Security-Policy names an inline element by what is in it."""
    return f"sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}"
