"""What is shipped is bounded above and below, and its licenses are listed."""

from __future__ import annotations

import re
import tomllib

import pytest

from tools.licenses import PAGE, ROOT, license_of, named, shipped

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
REQUIREMENTS = [
    *PROJECT["dependencies"],
    *(each for extra in PROJECT["optional-dependencies"].values() for each in extra),
]
ALLOWED = {
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "0BSD",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "MPL-2.0",
    "PSF-2.0",
    "Zlib",
}
"""None of them asks anything of who uses kubespread."""


def test_every_package_that_is_shipped_is_listed_with_its_license() -> None:
    assert named(PAGE.read_text()) == {name: license_of(name) for name in shipped()}, "run make licenses"


def test_the_licenses_are_those_that_anybody_can_take() -> None:
    said = {word for text in named(PAGE.read_text()).values() for word in re.split(r" AND | OR ", text)}
    assert said <= ALLOWED


@pytest.mark.parametrize("requirement", REQUIREMENTS)
def test_no_requirement_is_open_above_or_below(requirement: str) -> None:
    assert re.fullmatch(r"[a-z0-9-]+>=[0-9.]+,<[0-9.]+", requirement)


def test_the_lock_file_is_of_these_requirements() -> None:
    packages = {each["name"]: each for each in tomllib.loads((ROOT / "uv.lock").read_text())["package"]}
    locked = {f"{each['name']}{each['specifier']}" for each in packages["kubespread"]["metadata"]["requires-dist"]}
    assert locked == set(REQUIREMENTS)
