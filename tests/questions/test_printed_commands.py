"""Every command that an answer prints is one that runs: it ends with an answer, yes or no."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.support import FIXTURES, run
from tests.questions.clouds import CLOUDS, cluster

EVERYDAY = FIXTURES / "cases" / "everyday"
DUMPS = [
    "aws12.json.gz", "02-rollout-pods-are-missing/cluster.json", "06-limitrange-refuses/cluster.json",
    "16-report-names-commands-that-fail/cluster.json",
]  # fmt: skip
ASKED = ("report -A", "pending -A", "audit -A --why", "survive -A", "removable", "rebalance -A")


def _texts(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            yield from (text for key, each in value.items() if key != "provenance" for text in _texts(each))
        case list():
            yield from (text for each in value for text in _texts(each))


def _printed(snapshot: str) -> set[str]:
    answers = [run(*asked.split(), "-S", snapshot, "-o", "json") for asked in ASKED]
    assert {answer.code for answer in answers} <= {0, 1, 3}
    texts = {text for answer in answers for text in _texts(json.loads(answer.out))}
    return {text for text in texts if text.startswith("kubespread ")}


def _fail(snapshot: str) -> list[tuple[str, int, str]]:
    """The printed commands that end with no answer."""
    ends = [(command, run(*shlex.split(command)[1:], "-o", "json")) for command in sorted(_printed(snapshot))]
    return [(command, end.code, end.err) for command, end in ends if end.code not in (0, 1)]


@pytest.mark.parametrize("dump", DUMPS)
def test_what_is_printed_of_a_dump_runs(dump: str) -> None:
    assert _fail(str(EVERYDAY / dump)) == []


@pytest.mark.parametrize("cloud", CLOUDS)
def test_what_is_printed_of_a_cloud_s_cluster_runs(cloud: str, tmp_path: Path) -> None:
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": cluster(cloud)}))
    assert _printed(str(path)), "there is something to run"
    assert _fail(str(path)) == []
