"""Which modules a run loads, and which it may load: tests/recorded/imports.

A list there has a name a line: what each of the plugins loads that it is about; then what one of them loads
besides, behind its name. ``write`` makes a list of what was loaded.
"""

import sys
import textwrap
from pathlib import Path

from plugin_command import ROOT

LISTS = ROOT / "tests" / "recorded" / "imports"
# Notes in a file each module that is found for a plugin; its arguments are that file and what is to be run.
NOTING = """import os, sys
notes = os.open(sys.argv.pop(1), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
class Noting:
    def find_spec(self, name, path=None, target=None):
        for finder in sys.meta_path[1:]:
            if found := finder.find_spec(name, path, target):
                os.write(notes, f"{name}\\n".encode())
                return found
sys.meta_path.insert(0, Noting())
del sys.argv[0]
with open(sys.argv[0]) as plugin:
    program = compile(plugin.read(), sys.argv[0], "exec")
exec(program, {"__name__": "__main__"})
"""


def is_pythons(name):
    """Whether a module is a part of Python itself."""
    return name.partition(".")[0] in sys.stdlib_module_names


def noted(path):
    """The names of all modules that were loaded."""
    return set(Path(path).read_text().split())


def listed(names):
    """These as they are listed: of Python itself the names of its public packages and modules."""
    packages = {name.partition(".")[0] if is_pythons(name) else name for name in names}
    return {name for name in packages if not (is_pythons(name) and name.startswith("_"))}


def may_load(case, plugin):
    """What a plugin may load, as the list of that case says."""
    lines = (LISTS / f"{case}.txt").read_text().replace("\n ", " ").splitlines()
    apart = (line.rpartition(":") for line in lines)
    return {name for whose, _, names in apart if whose in ("", plugin) for name in names.split()}


def differences(case, loaded):
    """What each plugin loads and may not, or loads no more, as sentences. ``loaded``: as listed."""
    for plugin, names in loaded.items():
        may = may_load(case, plugin)
        if more := sorted(names - may):
            yield f"{plugin} loads what is not in {case}.txt: {', '.join(more)}"
        if fewer := sorted(name for name in may - names if not is_pythons(name)):
            yield f"{plugin} does not load what is in {case}.txt: {', '.join(fewer)}"


def write(case, loaded):
    """Make it the list of that case: what is common to all, and what each has besides."""
    common = set.intersection(*loaded.values())
    lines = sorted(common, key=lambda name: (not name.startswith("stallwatch"), is_pythons(name), name))
    for plugin, names in sorted(loaded.items()):
        if own := sorted(names - common):
            lines.append(textwrap.fill(f"{plugin}: {' '.join(own)}", 110, subsequent_indent=" "))
    LISTS.mkdir(exist_ok=True)
    (LISTS / f"{case}.txt").write_text("\n".join(lines) + "\n")
