"""An end by a signal that leaves no server and no folder behind."""

import contextlib
import signal
import subprocess
import sys

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextlib.contextmanager
def ending_tidily():
    """Let the first signal end what is in it, as sys.exit() does; no second one interrupts the tidying up."""

    def end(number, _):
        for each in SIGNALS:
            signal.signal(each, signal.SIG_IGN)
        sys.exit(128 + number)

    before = {number: signal.signal(number, end) for number in SIGNALS}
    try:
        yield
    finally:
        for number, action in before.items():
            signal.signal(number, action)


def status_of(script):
    """Run it, and give its exit status; if this is ended meanwhile, so is that, which tidies up."""
    with subprocess.Popen([sys.executable, script]) as process:
        try:
            return process.wait()
        except SystemExit:
            process.terminate()
            raise
