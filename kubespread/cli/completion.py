"""``kubespread completion``: the script that makes a shell complete the program's words."""

from __future__ import annotations

from enum import StrEnum
from importlib.resources import files
from typing import Annotated

import typer

from kubespread.cli.exitcodes import ExitCode
from kubespread.cli.streams import emit


class Shell(StrEnum):
    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"
    POWERSHELL = "powershell"
    KUBECTL = "kubectl"


_SCRIPTS = {
    Shell.BASH: "kubespread.bash",
    Shell.ZSH: "kubespread.zsh",
    Shell.FISH: "kubespread.fish",
    Shell.POWERSHELL: "kubespread.ps1",
    Shell.KUBECTL: "kubectl_complete-kubespread",
}


def completion(
    shell: Annotated[
        Shell,
        typer.Argument(
            case_sensitive=False, metavar="SHELL", help="bash, zsh, fish or powershell; kubectl for its plugins."
        ),
    ],
) -> int:
    """Print the script that completes commands, options and names, including names in a snapshot.

    Names come from the snapshots given with -S and from the kubeconfig; running clusters are never contacted. A file's
    names are cached in $XDG_CACHE_HOME/kubespread.

    \b
    Examples:
      source <(kubespread completion bash)
      kubespread completion zsh > "${fpath[1]}/_kubespread"
      kubespread completion fish > ~/.config/fish/completions/kubespread.fish
      kubespread completion powershell | Out-String | Invoke-Expression
      kubespread completion kubectl > ~/.local/bin/kubectl_complete-kubespread
    """
    emit(script(shell))
    return ExitCode.YES


def script(shell: Shell) -> str:
    """The text of one script."""
    return (files("kubespread") / "cli" / "completing" / "scripts" / _SCRIPTS[shell]).read_text("utf-8")
