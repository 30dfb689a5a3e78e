"""Prints as JSON what the plugins of a tree, the argument, declare: options and labels, by plugin.

It asks the generators, which write the definitions of engines and the sheets from the same.
"""

import json
import sys
from pathlib import Path


def main(tree):
    """Print it."""
    for folder in ("contrib", "lib"):
        sys.path.insert(0, str(tree / folder))
    from generators.plugins import plugins

    found = {one.program: {"options": options(one.parser), "labels": labels(one.labels)} for one in plugins()}
    sys.stdout.write(json.dumps(found))


def options(parser):
    """All options of a parser as argparse knows them, but for their order and their sentences."""
    return {", ".join(one.option_strings): option(one) for one in parser._actions}


def option(action):
    """What there is to say of one."""
    all_of_it = {
        "metavar": action.metavar,
        "default": told(action.default),
        "choices": list(action.choices or ()),
        "nargs": action.nargs,
        "required": action.required,
    }
    return {name: value for name, value in all_of_it.items() if value not in (None, [], False)}


def told(default):
    """A default as JSON has it, a range as the user would write it."""
    default = getattr(default, "text", default)
    return default if default is None or isinstance(default, (str, int, float, list)) else str(default)


def labels(declared):
    """The names of the perfdata with their units."""
    return {one.name: getattr(one, "unit", "") for one in declared}


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
