"""Record answers of Kubernetes' own code, replay them at once, and make small what differs.

``python -m tools.recorder record --kubernetes PATH`` and ``python -m tools.recorder shrink FILE:CASE``; the
README beside this says more.
"""

from __future__ import annotations

import argparse
import json
import re
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from kubespread.errors import UsageError
from kubespread.kube.versions import KubeVersion
from tools.recorder.building import DESCHEDULER, KUBERNETES, UNKNOWN, Checkout, CheckoutError, built, checkout
from tools.recorder.cases.controllers import CONTROLLERS
from tools.recorder.cases.descheduling import DESCHEDULING
from tools.recorder.cases.families import FAMILIES, cases
from tools.recorder.recording import BUILD, Tally, program_of, record
from tools.recorder.running import families as running
from tools.recorder.running.kubelet import Kubelet
from tools.recorder.running.plane import PROGRAMS, ControlPlane, PlaneError
from tools.recorder.running.recording import carried_out
from tools.recorder.running.recording import record as record_running
from tools.recorder.running.shrinking import shrunk as shrunk_plan
from tools.recorder.shrinking import shrunk
from tools.replay.cases import Data, Difference, Recorded, recorded, release_of
from tools.replay.families import FAMILIES as REPLAYED

SHOWN = 3
"""Of the differences of a family; the file has all cases."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.recorder")
    commands = parser.add_subparsers(required=True)
    recording = commands.add_parser("record", help="build, draw cases, record answers, compare them with ours")
    checkouts = recording.add_mutually_exclusive_group(required=True)
    checkouts.add_argument("--kubernetes", type=Path, help="a checkout of Kubernetes with vendor/")
    checkouts.add_argument("--descheduler", type=Path, help="one of the descheduler")
    recording.add_argument("--release", help="which one it is, where its tags do not say; kubespread plays it")
    recording.add_argument("--commit", help="of the checkout, where git does not say")
    recording.add_argument("--families", help="some of them, separated by commas")
    recording.add_argument("--again", type=Path, nargs="+", help="instead, the cases of recorded files")
    recording.add_argument("--seed", type=int, default=0, help="another one draws other cases")
    recording.add_argument("--cases", type=int, default=200, help="of each family")
    recording.set_defaults(run=_record)
    shrinking = commands.add_parser("shrink", help="the smallest case that still differs in the same way")
    shrinking.add_argument("case", help="FILE:NAME, of a file that was recorded")
    shrinking.set_defaults(run=_shrink)
    asked = parser.parse_args()
    # Whoever ends it ends the programs that it has started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        code: int = asked.run(asked)
    except (CheckoutError, PlaneError) as error:
        parser.exit(2, f"{error}\n")
    except KeyboardInterrupt:
        parser.exit(130)
    return code


class Series(NamedTuple):
    """What is recorded into one file."""

    source: str
    """Where its cases are from."""
    programs: Sequence[str]
    """To be built."""
    record: Callable[[Path, Checkout], Tally]
    """With the folder of the programs."""


def _record(asked: argparse.Namespace) -> int:
    project, path = (KUBERNETES, asked.kubernetes) if asked.kubernetes else (DESCHEDULER, asked.descheduler)
    own = [family for family in FAMILIES if (family in DESCHEDULING) is (project is DESCHEDULER)]
    families = asked.families.split(",") if asked.families else own
    series = dict(_again(asked.again) if asked.again else drawn(families, asked.seed, asked.cases))
    of = checkout(project, path, asked.release, asked.commit)
    if project is KUBERNETES:
        try:
            KubeVersion.parse(of.release)
        except UsageError as error:
            raise CheckoutError(f"{error}; CONTRIBUTING.md says how a new release is taken up") from None
    for name, each in series.items():
        if ("record-descheduler" in each.programs) is not (project is DESCHEDULER):
            raise CheckoutError(f"{name}: {project.name} does not answer its cases")
    needed = dict.fromkeys(program for each in series.values() for program in each.programs)
    print(f"Go builds {', '.join(needed)}: 10 to 20 minutes the first time, then seconds", flush=True)
    programs = built(of, BUILD.absolute(), needed)
    print(f"{project.name} {of.release} ({'commit unknown: COMMIT= says it' if of.commit == UNKNOWN else of.commit})")
    total = differing = 0
    begin = time.monotonic()
    for name, each in series.items():
        tally = each.record(programs, of)
        names = list(dict.fromkeys(difference.case for difference in tally.found))
        total, differing = total + len(tally.recorded), differing + len(names)
        left_out = f", {len(tally.chance)} left to chance" if tally.chance else ""
        left_out += f", {len(tally.lost)} without an answer" if tally.lost else ""
        print(f"{name}, {each.source}: {len(tally.recorded)} cases, {len(names)} differ{left_out}", flush=True)
        for case in names[:SHOWN]:
            print(f"  {next(str(found) for found in tally.found if found.case == case)[:500]}")
            print(f"  make shrink CASE={BUILD / name}.jsonl.gz:{case}")
        for line in (*tally.lost, *tally.chance)[:SHOWN]:
            print(f"  {line}")
    hours = (time.monotonic() - begin) / 3600
    print(f"{total} cases, {differing} differ; {total / hours:.0f} cases an hour")
    return 1 if differing else 0


def drawn(families: Iterable[str], seed: int, count: int) -> Iterator[tuple[str, Series]]:
    """``running`` are all families of running clusters."""
    for family in families:
        if family == "running":
            yield from drawn(running.FAMILIES, seed, count)
        elif family in running.FAMILIES:
            yield family, _running(family, seed, count)
        elif family in FAMILIES:
            yield family, _answered(family, f"seed {seed}", cases(family, seed, count))
        else:
            raise CheckoutError(f"no such family: {family}; there are {', '.join([*FAMILIES, *running.FAMILIES])}")


def _again(files: Iterable[Path]) -> Iterator[tuple[str, Series]]:
    for path in files:
        if not path.is_file():
            raise CheckoutError(f"{path}: no such file")
        if path.name.startswith(tuple(REPLAYED.keys() - CONTROLLERS.keys() - DESCHEDULING.keys())):
            raise CheckoutError(f"{path}: no program here answers its cases")
        # The name begins as the file's does, which tells what answers and what compares it.
        name = f"{path.name.removesuffix('.jsonl.gz')}-{path.resolve().parent.name}"
        yield name, _answered(name, f"those of {path}", (found.case for found in recorded(path)))


def _answered(name: str, source: str, asked: Iterable[Data]) -> Series:
    program = program_of(name)
    return Series(source, [program], lambda programs, of: record(programs / program, of, name, source, asked))


def _running(family: str, seed: int, count: int) -> Series:
    return Series(f"seed {seed}", PROGRAMS, lambda programs, of: record_running(programs, of, family, seed, count))


def _shrink(asked: argparse.Namespace) -> int:
    file, _, name = asked.case.rpartition(":")
    path = Path(file)
    if not path.is_file():
        raise CheckoutError(f"{file or asked.case}: no such file")
    found = next((each for each in recorded(path) if each.name == name), None)
    if found is None:
        raise CheckoutError(f"{file}: it has no case {name}")
    release = release_of(path)
    programs = BUILD.absolute()
    needed = PROGRAMS if "scenario" in found.case else [program_of(path.name)]
    if missing := [program for program in needed if not (programs / program).is_file()]:
        raise CheckoutError(f"{BUILD / missing[0]} is not built: `make record` does it")
    small, left = (
        _shrunk_plan(programs, found.case, release)
        if "scenario" in found.case
        else _shrunk_case(programs / needed[0], path.name, found, release)
    )
    print(json.dumps(small, indent=1))
    print("\n".join(map(str, left)) or "Nothing differs.")
    return 1 if left else 0


def _shrunk_case(program: Path, file: str, found: Recorded, release: str) -> tuple[Data, list[Difference]]:
    small, left = shrunk(program, file, found.case, release)
    return {"name": found.name, "release": release, "case": small.case, "expect": small.expect}, left


def _shrunk_plan(programs: Path, case: Data, release: str) -> tuple[Data, list[Difference]]:
    """The plan of a case on a running cluster, which its name draws anew."""
    family = case["family"]
    planned = re.fullmatch(rf"{family.rpartition('/')[2]}-(\d+)-(\d{{4}})(-\d+)?", case["name"])
    if planned is None:
        raise CheckoutError(f"{case['name']}: no plan is drawn by such a name")
    plan = running.plan(family, int(planned[1]), int(planned[2]))
    with ControlPlane(programs) as plane, Kubelet(plane) as kubelet:
        carry_out = partial(carried_out, plane, kubelet, case["name"], family)
        small, left = shrunk_plan(carry_out, plan, case, release)
    return {"name": case["name"], "release": release, "plan": small._asdict()}, left


if __name__ == "__main__":
    sys.exit(main())
