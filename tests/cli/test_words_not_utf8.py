"""Words of a command line and names of files that are not UTF-8."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.builders import hosts, pod
from tests.cli.support import FIXTURES, run

CASES = FIXTURES / "cases" / "adversarial"
WORD = os.fsdecode(b"\xff")
WORDS = {
    "explain POD --label": ["explain", "POD", "--label", f"n0 a={WORD}"],
    "explain POD --taint": ["explain", "POD", "--taint", f"n0 a={WORD}:NoSchedule"],
    "explain POD --evict": ["explain", "POD", "--evict", WORD],
    "explain POD --set": ["explain", "POD", "--set", f"cpu={WORD}"],
    "explain a pod by name": ["explain", f"pod/{WORD}"],
    "audit -l": ["audit", "-l", WORD],
    "audit -n": ["audit", "-n", WORD],
    "audit a workload": ["audit", f"deploy/{WORD}"],
    "survive --key": ["survive", "--key", WORD],
    "capacity --request": ["capacity", "--request", f"{WORD}=1"],
    "removable NODES": ["removable", WORD],
}


@pytest.mark.parametrize("case", WORDS)
def test_a_word_that_is_not_utf_8(case: str) -> None:
    words = [{"POD": "base/pod.yaml"}.get(word, word) for word in WORDS[case]]
    for form in ("table", "json"):
        code, out, err = run(*words, "-S", "base/cluster.json", "-o", form, cwd=CASES)
        assert (code, out) == (2, "")
        assert "is not UTF-8" in err


def test_a_file_may_be_called_what_is_not_utf_8(tmp_path: Path) -> None:
    for name, objects in {"cluster": hosts("a"), "pod": [pod()]}.items():
        (tmp_path / f"{name}{WORD}.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    for form in ("table", "json", "yaml", "markdown", "html"):
        answer = run("explain", f"pod{WORD}.json", "-S", f"cluster{WORD}.json", "-o", form, cwd=tmp_path)
        assert answer.code == 0, answer.err
