"""Completion scripts are what `make completions` writes, and the protocol behind them answers."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from kubespread.cli.completions import scripts
from tests.cli.support import PROGRAM, ROOT, environment, run, shell

COMPLETIONS = ROOT / "completions"


def test_every_script_is_the_generated_one() -> None:
    assert {path.name: path.read_text() for path in COMPLETIONS.iterdir()} == scripts()


@pytest.mark.parametrize(
    ("words", "candidates"),
    [
        ("kubespread ex", ["explain"]),
        ("kubespread explain --sn", ["--snapshot"]),
        ("kubespread explain --sort s", ["score", "skew"]),
    ],
)
def test_bash_gets_candidates(words: str, candidates: list[str]) -> None:
    env = {"_KUBESPREAD_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    assert run(env=env).out.split() == candidates


def test_kubectl_gets_candidates() -> None:
    env = environment(PATH=f"{PROGRAM.parent}{os.pathsep}{os.environ['PATH']}")
    script = COMPLETIONS / "kubectl_complete-kubespread"
    done = subprocess.run([str(script), "explain", "-o", ""], capture_output=True, env=env, text=True, check=True)
    assert done.stdout.split() == ["table", "wide", "plain", "json", "yaml", "markdown", "name", "csv"]


def test_bash_accepts_its_script() -> None:
    assert shell(f"source {COMPLETIONS / 'kubespread.bash'} && complete -p kubespread").out.split()[-1] == "kubespread"


def test_as_a_kubectl_plugin_it_calls_itself_so(tmp_path: Path) -> None:
    plugin = PROGRAM.with_name("kubectl-kubespread")
    done = subprocess.run(
        [str(plugin), "explain", "--foo"], capture_output=True, env=environment(), text=True, check=False, cwd=tmp_path
    )
    assert (done.returncode, done.stderr.endswith("(see 'kubectl kubespread explain --help')\n")) == (2, True)
