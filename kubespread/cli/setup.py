"""Commands about the program: ``completion``, ``rbac`` and ``demo``; each imports its own modules on use."""

from __future__ import annotations

import json
from contextlib import chdir
from importlib.resources import as_file, files
from pathlib import Path
from shlex import quote

from kubespread.cli.command import Argv, Command, CommandArgument
from kubespread.cli.streams import ExitCode, emit, say

SCRIPTS = {"bash": "kubespread.bash", "zsh": "kubespread.zsh", "fish": "kubespread.fish"}
"""By the shell that reads them."""


def _completion(typed: Argv) -> int:
    """Print the script that completes commands, options, their values, files and the kubeconfig's contexts.

    No cluster is read for it: `kubespread map` lists its nodes, `kubespread audit` its workloads.

    \b
    Examples:
      source <(kubespread completion bash)
      kubespread completion zsh > "${fpath[1]}/_kubespread"
      kubespread completion fish > ~/.config/fish/completions/kubespread.fish
    """
    emit(script(typed["shell"]))
    return ExitCode.YES


def script(shell: str) -> str:
    """Text of a script: inside of the package in a wheel, beside it in a checkout."""
    package = files("kubespread")
    folder = package / "completions"
    if not folder.is_dir():
        folder = Path(str(package)).parent / "completions"
    return (folder / SCRIPTS[shell]).read_text("utf-8")


_ROLE = """\
# The least that `kubespread` needs to read a cluster. Only nodes and pods are required: what else is refused
# becomes a gap that the answer names. The last rule is for asking about workloads by name (`kubespread explain \
deploy/web`).
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


def _rbac(_typed: Argv) -> int:
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


def _demo(_typed: Argv) -> int:
    """Explain and simulate a deployment on a small cluster that comes with kubespread, and report on that cluster."""
    from kubespread.cli.asking import command_of
    from kubespread.questions.registry import question

    codes: list[int] = []
    with as_file(files("kubespread") / "demo") as data, chdir(data):
        say(f"$ cd {quote(str(data))}")
        for words in (["explain", _MANIFEST], ["simulate", _MANIFEST, "--replicas", "9"], ["report", "-A"]):
            if codes:
                say("")
            say(f"$ {' '.join(['kubespread', words[0], *words[1:2], '-S', _CLUSTER, *words[2:]])}")
            command = command_of(question(words[0]))
            context = command.make_context(words[0], [*words[1:], "-S", _CLUSTER, "-o", "table"])
            codes.append(command.invoke(context))
    say("")
    say("Both files come with kubespread. With yours: kubespread explain MANIFEST -S CLUSTER; more: kubespread --help")
    return max(codes)


COMMANDS = {
    "rbac": Command("rbac", _rbac, (), summary="Print the ClusterRole needed to read a running cluster."),
    "completion": Command(
        "completion",
        _completion,
        (CommandArgument("shell", choices=[*SCRIPTS], required=True, metavar="SHELL", help="bash, zsh or fish."),),
        summary="Print the script that completes commands, options and files.",
    ),
    "demo": Command("demo", _demo, (), summary="Try explain, simulate and report on a small example cluster."),
}
