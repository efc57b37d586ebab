"""A running cluster that a server on this machine plays, and the same lists from files: what the connection costs."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from bench.clusters import PODS_PER_NODE, deployment, objects
from bench.loading import full_pod, full_pods
from bench.measuring import MEGABYTE, PROGRAM, against, whole_process
from kubespread.kube.api.core import Node, Pod
from kubespread.kube.api.kinds import Kind
from kubespread.snapshot.live.connection import RESOURCES, path_of

NODES = 5_000
_PAGE = 500
_TARGET = 1.3
"""Times what decoding alone takes."""
_RUNS = 3
# A process of its own, so that what it takes is not counted: pages as they are on the disk, zipped as API servers do.
_SERVER = """
import http.server, pathlib, sys, urllib.parse
directory = pathlib.Path(sys.argv[1])
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        page = urllib.parse.parse_qs(url.query).get("continue", ["0"])[0]
        file = directory / f"{url.path.strip('/').replace('/', ' ')} {page}.json.gz"
        body = file.read_bytes() if file.exists() else b""
        self.send_response(200 if body else 404)
        self.send_header("Content-Length", str(len(body)))
        if body:
            self.send_header("Content-Encoding", "gzip")
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
"""


def live() -> None:
    pods = NODES * PODS_PER_NODE
    print(
        f"explain on a running cluster of {NODES:,} nodes and {pods:,} pods, pages of {_PAGE}, and the same from files"
    )
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        pages, manifest, config = directory / "pages", directory / "web.json", directory / "kubeconfig"
        pages.mkdir()
        manifest.write_text(json.dumps(deployment()))
        _write_pages(pages)
        server = subprocess.Popen([sys.executable, "-c", _SERVER, str(pages)], stdout=subprocess.PIPE, text=True)
        try:
            assert server.stdout is not None
            config.write_text(json.dumps(_kubeconfig(int(server.stdout.readline()))))
            explain = [str(PROGRAM), "explain", str(manifest), "-q", "-o", "name"]
            environment = {"XDG_CACHE_HOME": os.devnull, "KUBECONFIG": str(config), "KUBESPREAD_SNAPSHOT": ""}
            # Of a page by itself nobody knows that others follow: the answer is unknown, and takes as long.
            decoding = whole_process(*explain, "-S", str(pages), runs=_RUNS, env=environment, codes=(0, 3))
            running = whole_process(*explain, runs=_RUNS, env=environment)
        finally:
            server.kill()
            server.wait()
    for label, (seconds, processor, peak) in (("from files", decoding), ("a running cluster", running)):
        print(f"  {label:<20}{seconds:7.2f} s{processor:7.2f} s of a processor{peak / MEGABYTE:6.0f} MB")
    for label, part in (("clock", 0), ("processor", 1), ("memory", 2)):
        ratio = running[part] / decoding[part]
        print(f"  {label:<20}{ratio:7.2f} times   {against(ratio, _TARGET, 'times')}")


def _kubeconfig(port: int) -> dict[str, object]:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "bench", "cluster": {"server": f"http://127.0.0.1:{port}"}}],
        "contexts": [{"name": "bench", "context": {"cluster": "bench", "user": "bench"}}],
        "users": [{"name": "bench", "user": {}}],
        "current-context": "bench",
    }


def _write_pages(directory: Path) -> None:
    (directory / "version 0.json.gz").write_bytes(gzip.compress(b'{"gitVersion":"v1.36.2"}'))
    for row in RESOURCES:
        items: Iterator[bytes] = iter(())
        if row.cls is Node:
            items = (json.dumps(node).encode() for node in objects(NODES, pods_per_node=0))
        elif row.cls is Pod:
            # As an API server writes the items of a list: without apiVersion and kind, and without blanks.
            pod = {name: value for name, value in full_pod().items() if name not in ("apiVersion", "kind")}
            items = full_pods(json.dumps(pod, separators=(",", ":")), NODES)
        _write_list(directory, row, items)


def _write_list(directory: Path, row: Kind, items: Iterator[bytes]) -> None:
    number, page, following = 0, list(islice(items, _PAGE)), list(islice(items, _PAGE))
    while True:
        more = f',"continue":"{number + 1}"' if following else ""
        head = f'{{"kind":"{row.kind}List","apiVersion":"{row.api_version}","metadata":{{"resourceVersion":"7"{more}}},'
        text = head.encode() + b'"items":[' + b",".join(page) + b"]}\n"
        file = directory / f"{path_of(row).strip('/').replace('/', ' ')} {number}.json.gz"
        file.write_bytes(gzip.compress(text, compresslevel=1))
        if not following:
            return
        number, page, following = number + 1, following, list(islice(items, _PAGE))
