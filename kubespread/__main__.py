"""``python -m kubespread``, and where the installed programs begin."""

from __future__ import annotations

import gc
import sys

_INTERRUPTED = 130


def run() -> None:
    """Run ``kubespread``. An interrupt while it is imported ends it as any other does.

    `ExitCode` may not be there yet then.
    """
    # What one question makes is freed with its process; looking for circles in it takes a tenth of the time.
    gc.disable()
    try:
        from kubespread.cli.main import main
    except KeyboardInterrupt:
        sys.stderr.write("error: interrupted\n")
        sys.exit(_INTERRUPTED)
    main()


if __name__ == "__main__":
    run()
