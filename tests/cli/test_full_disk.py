"""A disk that is really full: a file system of a few pages in memory, which only the processes on it can see."""

from __future__ import annotations

import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

from tests.cli.support import CLUSTER, POD, PROGRAM, environment

pytestmark = pytest.mark.slow

FULL = "head -c 1M /dev/zero >$DISK/filling 2>/dev/null || true"


def on_a_disk(kib: int, script: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """A shell script, as root of its own namespaces, to whom $DISK is ``kib`` KiB large and empty."""
    mounted = f"set -e; mount -t tmpfs -o size={kib}k none $DISK; {script}"
    disk = cwd / "disk"
    disk.mkdir(exist_ok=True)
    return subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", "bash", "-c", mounted],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        env=environment(PATH=f"{PROGRAM.parent}{os.pathsep}{os.environ['PATH']}", DISK=str(disk)),
        cwd=cwd,
        timeout=60,
        check=False,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    if not _mounts():
        pytest.skip("mounting is not permitted here; test_save.py limits the size of files instead")
    shutil.copy(POD, tmp_path / "pod.yaml")
    shutil.copy(CLUSTER, tmp_path / "cluster.yaml")
    return tmp_path


@cache
def _mounts() -> bool:
    asked = ["unshare", "--user", "--map-root-user", "--mount", "mount", "-t", "tmpfs", "none", "/mnt"]
    return (
        shutil.which("unshare") is not None and subprocess.run(asked, capture_output=True, check=False).returncode == 0
    )


WRITING = {
    "a snapshot": ("snapshot -S cluster.yaml -o $DISK/old.json", "$DISK/old.json"),
    "a zipped one": ("snapshot -S cluster.yaml -o $DISK/old.json.gz", "$DISK/old.json.gz"),
}


@pytest.mark.parametrize("case", WRITING)
def test_what_is_written_keeps_the_old_file_and_leaves_no_other(case: str, folder: Path) -> None:
    command, target = WRITING[case]
    asked = f"echo old >{target}; {FULL}; kubespread {command} >/dev/null || echo $?; cat {target}; ls -A $DISK"
    done = on_a_disk(64, asked, folder)
    written = target.replace("$DISK", str(folder / "disk"))
    assert done.stderr.splitlines()[-1] == f"error: {written}: No space left on device"
    assert done.stdout.splitlines() == ["2", "old", "filling", Path(written).name]


def test_an_answer_on_a_full_disk_is_not_taken_for_one(folder: Path) -> None:
    done = on_a_disk(64, f"{FULL}; kubespread explain pod.yaml -S cluster.yaml -q >$DISK/filling2 || echo $?", folder)
    assert (done.stdout, done.stderr) == ("2\n", "error: standard output: No space left on device\n")
