"""What a command writes is never what it reads, and a write that fails has one exit code everywhere."""

from __future__ import annotations

import json
import os
import shlex
import shutil
from pathlib import Path

import pytest

from tests.cli.support import CLUSTER, FIXTURES, POD, run

SCENARIO = FIXTURES / "cases" / "adversarial" / "2" / "play.yaml"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Copies of everything that a command may read, a hard link and a symbolic one to the cluster, and a directory."""
    shutil.copy(CLUSTER, tmp_path / "cluster.yaml")
    shutil.copy(POD, tmp_path / "pod.yaml")
    shutil.copy(SCENARIO, tmp_path / "play.yaml")
    os.link(tmp_path / "cluster.yaml", tmp_path / "hard.yaml")
    (tmp_path / "soft.yaml").symlink_to("cluster.yaml")
    (tmp_path / "node.json").write_text(json.dumps({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}))
    (tmp_path / "dir" / "in").mkdir(parents=True)
    shutil.copy(CLUSTER, tmp_path / "dir" / "in" / "cluster.yaml")
    return tmp_path


REFUSED = {
    "snapshot -S cluster.yaml -o cluster.yaml": ("-o/--output", "cluster.yaml"),
    "snapshot -S cluster.yaml -o ./dir/../cluster.yaml": ("-o/--output", "cluster.yaml"),
    "snapshot -S cluster.yaml -o hard.yaml": ("-o/--output", "cluster.yaml"),
    "snapshot -S cluster.yaml -o soft.yaml": ("-o/--output", "cluster.yaml"),
    "snapshot -S soft.yaml -o cluster.yaml": ("-o/--output", "soft.yaml"),
    "snapshot -S dir -o dir/in/cluster.yaml": ("-o/--output", "dir/in/cluster.yaml"),
    "snapshot -S cluster.yaml --add-node node.json:2 -o node.json": ("-o/--output", "node.json"),
}


@pytest.mark.parametrize("command", REFUSED)
def test_an_output_that_is_an_input_is_refused_before_anything_is_read(command: str, folder: Path) -> None:
    option, read = REFUSED[command]
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    code, out, err = run(*shlex.split(command), cwd=folder)
    assert (code, out) == (2, "")
    assert err.startswith(f"error: {option} ")
    said = err.replace(f"{folder}/", "")
    assert said.endswith(f" would overwrite {read}, which is read: name another file\n")
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_a_kubeconfig_is_not_overwritten(folder: Path) -> None:
    (folder / "config").write_text("mine")
    code, _, err = run("snapshot", "--kubeconfig", "config", "-o", "config", cwd=folder)
    assert (code, (folder / "config").read_text()) == (2, "mine")
    assert "-o/--output config would overwrite config, which is read" in err


def test_other_files_are_written(folder: Path) -> None:
    assert run(*shlex.split("snapshot -S dir -o dir/new.json"), cwd=folder).code == 0


def test_a_write_that_fails(folder: Path) -> None:
    code, _, err = run(*shlex.split("snapshot -S cluster.yaml -o nowhere/new.json"), cwd=folder)
    assert code == 2
    assert err.splitlines()[-1].startswith("error: ")
    assert not (folder / "new.json").exists()
