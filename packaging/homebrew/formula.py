"""The formula for Homebrew, of the versions of uv.lock: what `make release-check` writes to build/kubespread.rb.

``uv export --format pylock.toml ... | python packaging/homebrew/formula.py SDIST``
"""

from __future__ import annotations

import hashlib
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from packaging.markers import Marker

BREWED = {
    "certifi": "certifi",
    "numpy": "numpy",
    "pydantic": "pydantic",
    "pydantic-core": "pydantic",
    "typing-extensions": "pydantic",
}
"""What Homebrew builds itself, by the formula that brings it."""
_BUILT_WITH = ("abseil", "libyaml", "re2")
_PYTHON = "3.13"
_PLACES = [{"sys_platform": system, "python_full_version": f"{_PYTHON}.0"} for system in ("darwin", "linux")]
_FORMULA = """\
class Kubespread < Formula
  include Language::Python::Virtualenv

  desc "{description}"
  homepage "{homepage}"
  url "https://github.com/OWNER/kubespread/releases/download/v{version}/{file}"
  sha256 "{sha256}"
  license "{license}"

{needed}

{resources}
  def install
    virtualenv_install_with_resources
    man1.install "docs/kubespread.1"
    bash_completion.install "completions/kubespread.bash" => "kubespread"
    zsh_completion.install "completions/kubespread.zsh" => "_kubespread"
    fish_completion.install "completions/kubespread.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{{bin}}/kubespread --version")
    system bin/"kubespread", "demo"
  end
end
"""
_RESOURCE = """\
  resource "{name}" do
    url "{url}"
    sha256 "{sha256}"
  end
"""


def _resources(lock: Mapping[str, Any]) -> Iterator[str]:
    for package in lock["packages"]:
        marker, source = package.get("marker"), package["sdist"]
        is_needed = marker is None or any(Marker(marker).evaluate(place) for place in _PLACES)
        if is_needed and package["name"] not in BREWED:
            yield _RESOURCE.format(name=package["name"], url=source["url"], sha256=source["hashes"]["sha256"])


def formula(project: Mapping[str, Any], lock: Mapping[str, Any], sdist: Path) -> str:
    """Of a source distribution, with what it takes from source distributions too."""
    needed = sorted({f"python@{_PYTHON}", *BREWED.values(), *_BUILT_WITH})
    return _FORMULA.format(
        description=project["description"],
        homepage=project["urls"]["Homepage"],
        license=project["license"],
        version=sdist.name.removeprefix("kubespread-").removesuffix(".tar.gz"),
        file=sdist.name,
        sha256=hashlib.sha256(sdist.read_bytes()).hexdigest(),
        needed="\n".join(f'  depends_on "{name}"' for name in needed),
        resources="\n".join(_resources(lock)),
    )


if __name__ == "__main__":
    pyproject = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    sys.stdout.write(formula(pyproject["project"], tomllib.load(sys.stdin.buffer), Path(sys.argv[1])))
