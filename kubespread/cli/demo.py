"""``kubespread demo``: explain and simulate on a cluster that comes with the program."""

from __future__ import annotations

from contextlib import chdir
from importlib.resources import as_file, files
from pathlib import Path
from shlex import quote

from kubespread.cli.asking import command_of
from kubespread.cli.streams import say
from kubespread.errors import UsageError
from kubespread.questions.registry import question

_MANIFEST, _CLUSTER = "web.yaml", "cluster.yaml"


def demo() -> int:
    """Explain and simulate a deployment on a small cluster that comes with kubespread, and report on that cluster."""
    try:
        Path.cwd()
    except FileNotFoundError as error:
        raise UsageError("the current directory was deleted: change to another one") from error
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
