"""Recorded answers of the real code, replayed through the library and compared to the last unit.

`make replay` asks all of them. `make test` asks one turn of eight, and all turns of the files that a change to the package
bears on. The package itself draws the turn: a commit is asked the same cases wherever it is tested, the next one others.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Mapping
from hashlib import sha256

import pytest

from tests.cli.support import ROOT
from tools.replay.cases import FIXTURES, recorded, release_of
from tools.replay.families import differences

XFAIL: dict[str, str] = {}
ELSEWHERE = ("live/placements", "running")
"""They have tests of their own, which know what chance decides."""
FILES = sorted(
    file for path in FIXTURES.rglob("*.jsonl.gz") if not (file := str(path.relative_to(FIXTURES))).startswith(ELSEWHERE)
)

TURNS = 8
SMALL, FEW = 20_000, ("large", "third/large", "live")
"""Files of fewer bytes, or of a few large cases, are asked at every turn."""
ASKED_OF: Mapping[str, str] = {
    "scheduler/plugins/podtopologyspread/": "spread|soft|score|defaults|realdef",
    "scheduler/plugins/inter_pod_affinity": "interpod|affreal|labels",
    "scheduler/plugins/node_affinity": "nodeaffinity",
    "scheduler/plugins/node_properties": "ports|images|declared|tol|gttol",
    "scheduler/plugins/noderesources/": "res|score4|podres|quant",
    "scheduler/plugins/volumes/": "vol|simvol|migrate|storage|capacity|simulate-volumes",
    "scheduler/plugins/dynamicresources/": "dra",
    "scheduler/plugins/default_preemption": "preempt|stored-?pre|nom|drapre|volpre|kitchenpre",
    "scheduler/profile/": "config",
    "kube/admission/": "admission",
    "kube/validation/": "valid|val5|nulls",
    "kube/versions": "gates",
    "controllers/daemonset": "daemonset",
    "controllers/deployment": "deploystep|rollout",
    "controllers/disruption": "pdb|drain",
    "controllers/job": "job",
    "controllers/replicaset": "scale",
    "controllers/statefulset": "statefulset",
    "questions/rebalance/descheduler": "descheduler",
}
"""By how a path in the package begins: how the names of the files begin that ask most of what is there."""


def turn() -> int:
    """The turn that the sources of the package draw."""
    sources = sorted((ROOT / "kubespread").rglob("*.py"))
    digest = sha256(b"".join(sha256(path.read_bytes()).digest() for path in sources))
    return int(digest.hexdigest(), 16) % TURNS


def changed() -> Iterator[str]:
    """The paths in the package that differ from where this branch began; none where that is unknown."""
    for branch in ("origin/HEAD", "main", "HEAD"):
        began = _git("merge-base", "HEAD", branch)
        if began is not None:
            yield from (_git("diff", "--name-only", "--relative=kubespread", began) or "").split()
            return


def _git(*arguments: str) -> str | None:
    """What git says; None where there is no git, no repository, or no such branch."""
    try:
        done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


def parts() -> Iterator[object]:
    """The turns of each file; `make test` leaves those out that are marked."""
    drawn, paths = turn(), [*changed()]
    beginnings = [names for place, names in ASKED_OF.items() if any(path.startswith(place) for path in paths)]
    for file in FILES:
        path = FIXTURES / file
        is_asked_whole = any(re.match(names, path.name) for names in beginnings)
        turns = 1 if path.stat().st_size < SMALL or file.startswith(FEW) else TURNS
        for part in range(turns):
            is_drawn = is_asked_whole or part == drawn % turns
            yield pytest.param(file, part, turns, marks=() if is_drawn else pytest.mark.replay, id=f"{file}-{part}")


@pytest.mark.parametrize(("file", "part", "turns"), [*parts()])
def test_every_case_of_a_file_gets_the_real_answer(file: str, part: int, turns: int) -> None:
    path = FIXTURES / file
    release = release_of(path)
    cases = [case for case in recorded(path, part, turns) if case.name not in XFAIL]
    assert cases
    assert [str(found) for case in cases for found in differences(path.name, case, release)] == []


def test_every_place_in_the_table_is_there_and_has_files() -> None:
    package = [path.relative_to(ROOT / "kubespread").as_posix() for path in (ROOT / "kubespread").rglob("*.py")]
    names = [file.rpartition("/")[2] for file in FILES]
    lost = [
        place
        for place, beginnings in ASKED_OF.items()
        if not any(path.startswith(place) for path in package)
        or not all(any(re.match(each, name) for name in names) for each in beginnings.split("|"))
    ]
    assert lost == []
