"""A small cluster, manifests and a value for each option of every command, chosen so that each option shows."""

from __future__ import annotations

import shutil
from pathlib import Path

import yaml

from tests.cli.support import FIXTURES

OPTIONS = FIXTURES / "options"
_READ = yaml.load((OPTIONS / "samples.yaml").read_bytes(), Loader=yaml.CSafeLoader)
SAMPLES: dict[str, dict[str, str]] = _READ["commands"]
SHARED: dict[str, str] = _READ["groups"]["shared"]


def written(directory: Path) -> None:
    """The cluster and all files that `SAMPLES` name, in ``directory``."""
    shutil.copytree(OPTIONS / "files", directory, dirs_exist_ok=True)
