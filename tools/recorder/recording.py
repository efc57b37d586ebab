"""Cases, the answers of Kubernetes' own code to them, and where ours are others."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import msgspec

from tools.recorder.building import Checkout
from tools.recorder.cases.controllers import CONTROLLERS
from tools.recorder.cases.descheduling import DESCHEDULING
from tools.replay.cases import Data, Difference, Recorded
from tools.replay.families import differences

BUILD = Path("build/record")
BATCH = 100
"""How many cases are in memory at once."""
TIMES = 8
"""How often a case is asked again whose answer is not ours: what varies is chance in Kubernetes itself."""


def program_of(name: str) -> str:
    """What answers the cases of a family, or of a file."""
    if name.startswith(tuple(DESCHEDULING)):
        return "record-descheduler"
    return "record-controllers" if name.startswith(tuple(CONTROLLERS)) else "recorder"


class Tally(NamedTuple):
    """What came of a family."""

    recorded: list[str]
    """The cases that are in the file."""
    found: list[Difference]
    chance: list[str]
    """Cases that may end in several ways."""
    lost: list[str]
    """Cases without an answer, and why there is none."""


def answers(program: Path, asked: Sequence[Data]) -> list[Data | None]:
    """The program's answer to each case; None where it crashes or refuses the gates. Raises RuntimeError for a fault of
    the recorder.
    """
    found: dict[int, Data | None] = {}
    for gates in dict.fromkeys(case.get("gates", "") for case in asked):
        group = [i for i, case in enumerate(asked) if case.get("gates", "") == gates]
        found |= zip(group, _answers(program, gates, [asked[i] for i in group]), strict=True)
    return [found[i] for i in range(len(asked))]


def _answers(program: Path, gates: str, asked: Sequence[Data]) -> list[Data | None]:
    command = [str(program), "-feature-gates", gates, "-workers", str(os.cpu_count() or 1)]
    lines = b"\n".join(map(msgspec.json.encode, asked))
    done = subprocess.run(command, input=lines, capture_output=True, check=False)
    if done.returncode == 0:
        return [_answer(line) for line in done.stdout.splitlines()]
    if len(asked) == 1:
        # Kubernetes does not start with a gate of an older release that is locked since.
        if b"panic" not in done.stderr and b"cannot set feature gate" not in done.stderr:
            raise RuntimeError(f"{asked[0]['name']}: {done.stderr.decode()[-500:]}")
        return [None]
    middle = len(asked) // 2
    return _answers(program, gates, asked[:middle]) + _answers(program, gates, asked[middle:])


def _answer(line: bytes) -> Data | None:
    found: Data = msgspec.json.decode(line)
    if (fault := found.get("fault", "")).startswith("panic:"):
        return None
    if fault:
        raise RuntimeError(f"{found['name']}: {fault}")
    answer: Data = found["answer"]
    return answer


def canonical(answer: Data | None) -> Data | None:
    """The answer without what has no order: reasons, faults, which member of a gang is where."""
    if answer is None:
        return None
    found: Data = msgspec.json.decode(msgspec.json.encode(answer))
    for node in found.get("nodes", {}).values():
        for verdict in (node["filter"], *node.get("plugins", {}).values()):
            verdict["reasons"] = sorted(verdict.get("reasons", ()))
    if "validation" in found:
        found["validation"] = sorted(found["validation"])
    if "gang" in found:
        found["gang"] = sorted(found["gang"]["placed"].values())
    return found


def _is_chance(program: Path, case: Data, answer: Data) -> bool:
    """Whether the program, asked again, says anything else."""
    return any(canonical(each) != canonical(answer) for each in answers(program, [case] * TIMES))


def record(program: Path, of: Checkout, name: str, source: str, asked: Iterable[Data]) -> Tally:
    """Writes ``build/record/NAME.jsonl.gz``, and compares it with our answers as ``python -m tools.replay`` does.

    Each case is answered twice; one that differs from ours, or from itself, ``TIMES`` times more. ``source`` says where
    the cases are from.
    """
    tally = Tally([], [], [], [])
    with written(name, of, source) as write:
        for case, answer, again in _answered(program, asked):
            if answer is None:
                tally.lost.append(f"{case['name']}: {program.name} crashes, or refuses its gates")
                continue
            found = list(differences(f"{name}.jsonl.gz", Recorded(case, answer), of.release))
            if canonical(answer) != canonical(again) or (found and _is_chance(program, case, answer)):
                tally.chance.append(f"{case['name']}: {program.name} answers in several ways")
                continue
            tally.recorded.append(case["name"])
            tally.found.extend(found)
            write({"case": case, "expect": answer})
    return tally


@contextmanager
def written(name: str, of: Checkout, source: str) -> Iterator[Callable[[Data], None]]:
    """``build/record/NAME.jsonl.gz``, which says where it is from; what is yielded adds a line."""
    path = BUILD / f"{name}.jsonl.gz"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as raw, gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as file:

        def write(found: Data) -> None:
            file.write(json.dumps(found, separators=(",", ":"), sort_keys=True).encode() + b"\n")

        write({"recorded": {of.project.name: of.release, "commit": of.commit, "cases": source}})
        yield write


def _answered(program: Path, asked: Iterable[Data]) -> Iterator[tuple[Data, Data | None, Data | None]]:
    cases = iter(asked)
    while batch := list(islice(cases, BATCH)):
        yield from zip(batch, answers(program, batch), answers(program, batch), strict=True)
