"""What do --help, --version and a usage error cost beside an interpreter that imports argparse?

The limit is of the plain command: it has site's paths from the environment and tidies up when it ends. A
plugin does neither, so the same as a plugin does it stands beside. All are run by the interpreter of .venv.
"""

import sys

from measured import ROOT, Bench, ours
from medians import times

ROUNDS = 15
ARGPARSE = "python3 -c 'import argparse'"
AS_PLUGINS = "the same with -I, leaving at once"
ASKED = {"--version": "--version", "--help": "--help", "a usage error": "--no-such-option"}
LIMIT = 1.5
UNKNOWN = 3  # so engines do not take it for a verdict
PLUGINS = sorted(path.name for path in (ROOT / "plugins").glob("check_*"))


def main():
    """Measure each."""
    with Bench("usage") as bench:
        for what, option in ASKED.items():
            commands = {
                ARGPARSE: [sys.executable, "-c", "import argparse"],
                AS_PLUGINS: [sys.executable, "-I", "-c", "import argparse, posix; posix._exit(0)"],
                **{plugin: ours(plugin, option) for plugin in PLUGINS},
            }
            costs = bench.compare(what, commands, ROUNDS, expected=dict.fromkeys(PLUGINS, (UNKNOWN,)))
            found = {plugin: times(costs[plugin], costs[ARGPARSE]) for plugin in PLUGINS}
            worst = max(found, key=found.get)
            every = f"{what} of every plugin, of {ARGPARSE}; the dearest is {worst}"
            bench.hold(every, costs, worst, ARGPARSE, LIMIT)


if __name__ == "__main__":
    main()
