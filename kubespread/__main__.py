"""``python -m kubespread``."""

from kubespread.cli.main import main

if __name__ == "__main__":
    main()
