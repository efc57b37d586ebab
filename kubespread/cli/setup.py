"""Commands about the program: ``completion``, ``config``, ``rbac`` and ``demo``; each imports what it alone needs."""

from __future__ import annotations

import os
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


class Action(StrEnum):
    VIEW = "view"


class Output(StrEnum):
    PLAIN = "plain"
    JSON = "json"
    YAML = "yaml"


def config(
    _action: Annotated[Action, typer.Argument(metavar="view", help="Show every setting and where it comes from.")],
    *,
    output: Annotated[
        Output, typer.Option("-o", "--output", case_sensitive=False, help="Output format; ignores the configured one.")
    ] = Output.PLAIN,
    no_config: Annotated[bool, typer.Option("--no-config", help="Read no configuration files.")] = False,
) -> int:
    """Show what the environment and configuration files set: the snapshot, the release, the output and more.

    Options override the environment, which overrides .kubespread.yaml in this directory or the nearest parent that has
    one, which overrides $XDG_CONFIG_HOME/kubespread/config.yaml. With --no-config, which every question accepts, or
    KUBESPREAD_NO_CONFIG=1, no file is read.

    \b
    Examples:
      kubespread config view
      KUBESPREAD_KUBE_VERSION=1.34 kubespread config view
      kubespread config view -o json | jq -r '.keys[] | select(.key == "snapshot").values[]'
    """
    from kubespread.config.layers import KEYS, settings
    from kubespread.reports.parts import Configuration, ConfiguredKey
    from kubespread.views import documents
    from kubespread.views.look import Look
    from kubespread.views.plain import columns
    from kubespread.views.sheet import NONE

    decided = settings(os.environ, files=not no_config)
    keys = [
        ConfiguredKey(
            key=name,
            variable=key.variable,
            values=decided[name].values if name in decided else (),
            origin=decided[name].origin if name in decided else None,
        )
        for name, key in KEYS.items()
    ]
    if output is not Output.PLAIN:
        write = documents.json if output is Output.JSON else documents.yaml
        emit(write(Configuration(keys=tuple(keys)), Look()))
        return ExitCode.YES
    rows = [
        [key.key, NONE, f"({key.variable})"] if key.origin is None else [key.key, ", ".join(key.values), key.origin]
        for key in keys
    ]
    emit(columns(("KEY", "VALUE", "FROM"), rows, headers=True))
    return ExitCode.YES


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
