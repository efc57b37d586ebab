"""A report as one page without network or inline handlers, and with a policy that allows its own style and script."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import asdict
from functools import cache
from importlib.resources import files
from string import Template

from kubespread.planner.reports.topology_map import TopologyMap
from kubespread.render.accounts.account import Account
from kubespread.render.accounts.registry import account_of
from kubespread.render.documents import Answer, document
from kubespread.render.page import parts
from kubespread.render.page.markup import data, shown, text
from kubespread.render.page.picture import is_judged, pods_before, svg


def write_page(answer: Answer, drawn: TopologyMap | None) -> str:
    """``answer`` drawn on the cluster of ``drawn``, which only an answer about no cluster does without. The page holds
    the answer's JSON, as ``-o json`` has it.
    """
    account = account_of(answer, drawn)
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
    pods = {} if drawn is None else pods_before(drawn, account)
    return Template(_resource("page.html")).substitute(
        policy=text(policy),
        title=text(account.title),
        provenance=text(account.provenance),
        css=css,
        script=script,
        answer=parts.answer(account),
        picture="" if drawn is None else _topology(account, drawn),
        bars=parts.bars(account.bars),
        tables=parts.tables(account.tables),
        nodes="" if drawn is None else parts.nodes(drawn, account.nodes, pods, _joined(account, drawn)),
        beside=parts.beside(account.beside),
        report=data(document(answer)),
        frames=data(shown([asdict(frame) for frame in frames])),
        map=data(shown({"pods": {name: count for name, count in pods.items() if count}})),
    )


def _topology(account: Account, drawn: TopologyMap) -> str:
    """The picture, with what moves it and what it means."""
    return Template(_resource("topology.html")).substitute(
        marked=text(_marked(account, drawn)),
        slider="".join(parts.slider(len(account.frames), len(account.frames) if account.opens_at_end else 0)),
        picture=svg(drawn, account, _joined(account, drawn)),
    )


def _joined(account: Account, drawn: TopologyMap) -> list[str]:
    """The nodes of frames that the map does not have."""
    known = {node.name for node in drawn.nodes}
    named = (name for frame in account.frames for name in (*frame.joined, *frame.pods))
    return [name for name in dict.fromkeys(named) if name not in known]


def _marked(account: Account, drawn: TopologyMap) -> str:
    """What a dot is, and what colors say."""
    if account.before is not None:
        whose = "a replica"
    elif drawn.selector is not None:
        whose = f"a pod matching {drawn.selector}"
    else:
        whose = f"a pod of {drawn.workload}" if drawn.workload is not None else "a pod"
    shades = "the more of its fullest resource is requested, the stronger"
    colored = account.nodes.colors if account.nodes is not None and is_judged(account) else shades
    return f"● {whose} · Color of a node: {colored}"


@cache
def _resource(name: str) -> str:
    return (files(__package__) / name).read_text(encoding="utf-8")


def _hash(content: str) -> str:
    """As a Content-Security-Policy names an inline element by what is in it."""
    return f"sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}"
