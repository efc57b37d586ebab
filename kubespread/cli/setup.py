"""Commands about the program: ``completion``, ``rbac`` and ``demo``; each imports what it alone needs."""

from __future__ import annotations

import json
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


_ROLE = """\
# The least that `kubespread` needs to read a cluster. Only nodes and pods are required: what else is refused
# becomes a gap that the answer names. The last rule is for asking about workloads by name (`kubespread explain \
deploy/web`). With the verb watch beside list, `-w` and `kubespread serve` are told of changes and list rarely.
# Say in the binding who may ask before you apply this.
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: kubespread
rules:
{rules}---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: kubespread
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: kubespread
subjects:
- kind: Group
  name: planners # whoever may ask; a Group, a User or a ServiceAccount
  apiGroup: rbac.authorization.k8s.io
"""


def rbac() -> int:
    """Print the ClusterRole needed to read a running cluster, with a binding for you to adapt.

    It allows only listing. Only nodes and pods are required; any other kind that may not be read becomes a gap named in
    the answer.

    \b
    Examples:
      kubespread rbac > rbac.yaml
      kubespread rbac | kubectl apply --dry-run=server -f -
    """
    emit(_cluster_role())
    return ExitCode.YES


def _cluster_role() -> str:
    from kubespread.kube.api.core import Pod
    from kubespread.kube.api.kinds import REFERABLE
    from kubespread.kube.owners import SELECTING_CONTROLLERS
    from kubespread.snapshot.live.connection import LISTED

    rules: dict[tuple[str, ...], list[str]] = {}
    by_name = [row for row in LISTED if row in REFERABLE and row.cls not in (Pod, *SELECTING_CONTROLLERS.values())]
    for row in LISTED:
        if row not in by_name:
            rules.setdefault((row.group,), []).append(row.plural)
    # Last, as it is for few questions.
    rules[tuple(dict.fromkeys(row.group for row in by_name))] = [row.plural for row in by_name]
    text = "".join(
        f'- apiGroups: {json.dumps(groups)}\n  resources: {json.dumps(sorted(plurals))}\n  verbs: ["list"]\n'
        for groups, plurals in rules.items()
    )
    return _ROLE.format(rules=text)


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
