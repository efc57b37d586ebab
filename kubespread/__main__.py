"""``python -m kubespread``, and where the installed programs begin and end."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from typing import NoReturn

_INTERRUPTED = 130


def run() -> NoReturn:
    """Run ``kubespread``. An interrupt while it is imported ends it as any other does.

    `ExitCode` may not be there yet then.
    """
    # What one question makes ends with its process. Looking for circles in it takes a tenth of the time, and letting go
    # of one object after another on the way out a quarter of a small question's.
    gc.disable()
    try:
        from kubespread.cli.main import main

        main()
    except KeyboardInterrupt:
        sys.stderr.write("error: interrupted\n")
        os._exit(_INTERRUPTED)
    except SystemExit as ended:
        # Both streams are flushed by then. The client keeps certificates in files until one of these removes them.
        atexit._run_exitfuncs()
        os._exit(int(ended.code or 0))


if __name__ == "__main__":
    run()
