"""``python -m tests.fuzz --runs N --seed S``: a long run with a count at its end; ``make fuzz`` is that."""

from __future__ import annotations

import argparse
import gc
import resource
import sys
import tempfile
from collections import Counter
from pathlib import Path
from time import monotonic

from tests.cli.support import run
from tools.fuzz.running import Failure, Fuzzing

_EVERY = 500


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0, help="of the first run; each run has the next")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="end after so long")
    asked = parser.parse_args()
    began, found = monotonic(), list[Failure]()
    slowest = (0.0, 0)
    with tempfile.TemporaryDirectory() as directory:
        fuzzing = Fuzzing(Path(directory), run)
        # What is there already lives as long as the process: the collector need not look at it again.
        gc.freeze()
        done = 0
        for seed in range(asked.seed, asked.seed + asked.runs):
            started = monotonic()
            if (failure := fuzzing.one(seed)) is not None:
                found.append(failure)
                print(f"seed {failure.seed}: {failure.asked}\n{failure.said}\n", flush=True)
            done += 1
            slowest = max(slowest, (monotonic() - started, seed))
            if done % _EVERY == 0:
                print(f"{done} runs, {len(found)} failures, {monotonic() - began:.0f}s", file=sys.stderr, flush=True)
            if monotonic() - began > asked.seconds:
                break
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{done} runs with seeds {asked.seed} to {asked.seed + done - 1} in {monotonic() - began:.0f}s, {memory:.0f} MiB at most"
    )
    print(f"slowest: {slowest[0]:.1f}s (seed {slowest[1]})")
    print(", ".join(f"{name}: {count}" for name, count in sorted(fuzzing.ended.items())))
    print(f"failures: {len(found)}")
    for last, count in Counter(map(_last, found)).items():
        print(f"  {count} {last}")
    return 1 if found else 0


def _last(failure: Failure) -> str:
    return (failure.said.strip().splitlines() or [""])[-1][:200]


if __name__ == "__main__":
    sys.exit(main())
