"""Names of files as URI references, which is what code scanning matches with a repository's files."""

from __future__ import annotations

import os
from pathlib import PurePath
from urllib.parse import quote


def file_uri(path: str) -> str:
    """Relative to the working directory as it was given, absolute as ``file://``; blanks and the like escaped."""
    name = PurePath(os.path.normpath(path)).as_posix()
    escaped = quote(name, safe="/")
    return f"file://{escaped}" if name.startswith("/") else escaped
