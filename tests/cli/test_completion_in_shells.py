"""The completion scripts in the shells they are for."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator

import pytest

from kubespread.cli.setup import script
from tests.cli.completing_shells import Terminal, missing
from tests.cli.support import ROOT

pytestmark = pytest.mark.slow

CLUSTER = "fixtures/clusters/shop.yaml"
KUBECONFIG = {
    "apiVersion": "v1",
    "kind": "Config",
    "contexts": [{"name": "arn:aws:eks:cluster/stage", "context": {"cluster": "c", "user": "u"}}],
}


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(shell, marks=pytest.mark.skipif(bool(missing(shell)), reason=missing(shell) or "is installed"))
        for shell in ("bash", "zsh", "fish")
    ],
)
def terminal(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminal]:
    folder = tmp_path_factory.mktemp(request.param)
    shutil.copy(ROOT / CLUSTER, folder / "cluster one.yaml")
    (folder / "kubeconfig").write_text(json.dumps(KUBECONFIG))
    opened = Terminal(request.param, script(request.param), folder, KUBECONFIG=str(folder / "kubeconfig"))
    yield opened
    opened.close()


LINES = {
    "kubespread expl": ["kubespread", "explain"],
    "kubespread report los": ["kubespread", "report", "losses"],
    f"kubespread report losses -S {CLUSTER} drai": ["kubespread", "report", "losses", "-S", CLUSTER, "drains"],
    "kubespread explain --context=arn:aws:e": ["kubespread", "explain", "--context=arn:aws:eks:cluster/stage"],
    "kubespread explain --snapshot=fixtures/clusters/sho": ["kubespread", "explain", f"--snapshot={CLUSTER}"],
    "kubespread explain --context 'arn:aws:e": ["kubespread", "explain", "--context", "arn:aws:eks:cluster/stage"],
    "kubespread explain -S ~/clu": ["kubespread", "explain", "-S", "{home}/cluster one.yaml"],
    "kubespread report -S ~/cluster\\ one.yaml los": [
        "kubespread",
        "report",
        "-S",
        "{home}/cluster one.yaml",
        "losses",
    ],
    "ks expl": ["ks", "explain"],
    "kubespread explain fixtures/manifests/two-constraints-": [
        "kubespread",
        "explain",
        "fixtures/manifests/two-constraints-skew-2.yaml",
    ],
}


def test_a_word_becomes_the_only_one_it_can(terminal: Terminal) -> None:
    home = str(terminal.home)
    assert {line: terminal.completed(line) for line in LINES} == {
        line: [word.replace("{home}", home) for word in words] for line, words in LINES.items()
    }


def test_of_several_all_are_shown(terminal: Terminal) -> None:
    terminal.listed("kubespread simulate --autoscaler ", "ca", "karpenter")
