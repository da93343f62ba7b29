"""The command line: ``oxeye`` and ``python -m oxeye``."""

from __future__ import annotations

import signal
import sys

from . import _oxeye


def main() -> None:
    """Runs the command with the words of this process."""
    # Signals are the command's own business; Python would only act on them afterwards.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(_oxeye.main(["oxeye", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
