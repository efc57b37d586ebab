"""Replay files of recorded answers: ``python -m tools.replay [--kube-version V] FILE...``.

One line a difference (case, what, recorded, ours), then ``N cases, M differences``; exit 1 when there are any.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tools.replay.cases import recorded, release_of
from tools.replay.families import differences


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.replay", description="Replay files of recorded answers.")
    parser.add_argument(
        "--kube-version",
        help="the release to behave like; without it the one that the file's folder names, else 1.36.2",
    )
    parser.add_argument("files", nargs="+", type=Path)
    asked = parser.parse_args()
    cases = found = 0
    for path in asked.files:
        release = asked.kube_version or release_of(path)
        for case in recorded(path):
            cases += 1
            for difference in differences(path.name, case, release):
                found += 1
                print(difference)
    print(f"{cases} cases, {found} differences")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
