"""Replay files of recorded answers: ``python -m tests.golden [--kube-version V] FILE...``.

One line a difference (case, what, recorded, ours), then ``N cases, M differences``; exit 1 when there are any.
``python -m tests.golden --counts`` writes the tables of docs/exactness.md instead.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.golden.cases import recorded, release_of
from tests.golden.counting import DOCUMENT, with_counts
from tests.golden.replay import differences


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.golden", description="Replay files of recorded answers.")
    parser.add_argument(
        "--kube-version",
        help="the release to behave like; without it the one that the file's folder names, else 1.36.2",
    )
    parser.add_argument("--counts", action="store_true", help="write how many cases there are into docs/exactness.md")
    parser.add_argument("files", nargs="*", type=Path)
    asked = parser.parse_args()
    if asked.counts:
        DOCUMENT.write_text(with_counts(DOCUMENT.read_text()))
        return 0
    if not asked.files:
        parser.error("name at least one file of recorded answers")
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
