"""Which modules below a folder a Python would compile at each start.

It takes a compiled one that it may read and that knows the time and the size of its source.
"""

import os
import subprocess

NOBODY = 65534
PACKAGES = {"jmxquery", "nagiosplugin", "psutil", "pymysql", "stallwatch"}
UNCOMPILED = """
import struct, sys
from importlib.util import MAGIC_NUMBER, cache_from_source
from pathlib import Path
for source in Path(sys.argv[1]).rglob("*.py"):
    compiled, about = Path(cache_from_source(str(source))), source.stat()
    known = MAGIC_NUMBER + struct.pack("<III", 0, int(about.st_mtime), about.st_size)
    if not compiled.exists() or not compiled.read_bytes().startswith(known):
        print(source)
"""


def asking(python, folder):
    """What to run for it to tell them."""
    return [python, "-I", "-c", UNCOMPILED, folder]


def uncompiled(python, folder):
    """Those that it would compile for nobody."""
    becoming = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
    done = subprocess.run(
        asking(python, folder), capture_output=True, text=True, check=True, cwd="/", **becoming
    )
    return done.stdout.splitlines()


def packages_in(environment):
    """The folder of packages of a virtual environment, with all that are needed in it."""
    [packages] = environment.glob("lib/python3.*/site-packages")
    assert {path.parent.name for path in packages.glob("*/__init__.py")} >= PACKAGES
    return packages
