"""A process that does nothing, of the program sleep."""

import contextlib

from server_process import ServerProcess


@contextlib.contextmanager
def sleeping(folder):
    """It sleeps meanwhile, and no longer than we live. Gives the path of a file with its id."""
    process = ServerProcess(["sleep", "infinity"], folder / "log")
    try:
        file = folder / "pid"
        file.write_text(f"{process.family[0].pid}\n")
        yield str(file)
    finally:
        process.stop()
