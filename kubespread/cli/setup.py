"""Commands about the program: ``completion``, ``rbac`` and ``demo``; each imports what it alone needs."""

from __future__ import annotations

from contextlib import chdir
from enum import StrEnum
from importlib.resources import as_file, files
from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from kubespread.cli.streams import ExitCode, emit, say


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
    """The text of one script: a wheel has them inside of the package, a checkout beside it."""
    package = files("kubespread")
    folder = package / "completions"
    if not folder.is_dir():
        folder = Path(str(package)).parent / "completions"
    return (folder / _SCRIPTS[shell]).read_text("utf-8")


def rbac() -> int:
    """Print the ClusterRole needed to read a running cluster, with a binding for you to adapt.

    It allows only listing. Only nodes and pods are required; any other kind that may not be read becomes a gap named in
    the answer.

    \b
    Examples:
      kubespread rbac > rbac.yaml
      kubespread rbac | kubectl apply --dry-run=server -f -
    """
    from kubespread.snapshot.live.connection import cluster_role

    emit(cluster_role())
    return ExitCode.YES


_MANIFEST, _CLUSTER = "web.yaml", "cluster.yaml"


def demo() -> int:
    """Explain and simulate a deployment on a small cluster that comes with kubespread, and report on that cluster."""
    from kubespread.cli.asking import command_of
    from kubespread.questions.registry import question

    with as_file(files("kubespread") / "demo") as data, chdir(data):
        say(f"$ cd {quote(str(data))}")
        say(f"$ kubespread explain {_MANIFEST} -S {_CLUSTER}")
        command_of(question("explain"))(pod=[_MANIFEST], snapshot=[_CLUSTER], output="table")
        say("")
        say(f"$ kubespread simulate {_MANIFEST} -S {_CLUSTER} --replicas 9")
        code = command_of(question("simulate"))(pod=[_MANIFEST], snapshot=[_CLUSTER], output="table", replicas="9")
        say("")
        say(f"$ kubespread report -A -S {_CLUSTER}")
        command_of(question("report"))(all_namespaces=True, snapshot=[_CLUSTER], output="table")
    say("")
    say("Both files come with kubespread. With yours: kubespread explain MANIFEST -S CLUSTER; more: kubespread --help")
    return code
