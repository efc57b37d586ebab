"""Write the shells' completion scripts into a directory: ``python -m kubespread.cli.completions DIRECTORY``."""

from __future__ import annotations

import sys
from pathlib import Path

from typer.completion import get_completion_script  # type: ignore[attr-defined]  # typer has no other way to its scripts

from kubespread.cli.main import COMPLETE_VARIABLE

PROGRAM = "kubespread"
_FILES = {"bash": "kubespread.bash", "zsh": "_kubespread", "fish": "kubespread.fish", "powershell": "kubespread.ps1"}
# kubectl runs this with the words after the plugin's name, the one being typed last.
_KUBECTL_SCRIPT = f"""#!/bin/sh
COMP_WORDS="{PROGRAM} $*" COMP_CWORD=$# {COMPLETE_VARIABLE}=complete_bash exec {PROGRAM}
"""


def scripts() -> dict[str, str]:
    """Every completion script by file name."""
    made = {
        name: get_completion_script(prog_name=PROGRAM, complete_var=COMPLETE_VARIABLE, shell=shell) + "\n"
        for shell, name in _FILES.items()
    }
    return made | {f"kubectl_complete-{PROGRAM}": _KUBECTL_SCRIPT}


def main(directory: str) -> None:
    for name, text in scripts().items():
        path = Path(directory) / name
        path.write_text(text)
        path.chmod(0o755 if text.startswith("#!") else 0o644)


if __name__ == "__main__":
    main(sys.argv[1])
