"""Run check_jmx as an engine runs it, and as Nagios does by its own command definition."""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PLUGIN = ROOT / "plugins" / "check_jmx"
DEFINITION = ROOT / "contrib" / "nagios" / "check_jmx.cfg"


@dataclass
class Said:
    """What one run said. ``text`` is line 1 before the perfdata, ``more`` what is below."""

    status: int
    text: str
    perfdata: dict[str, str]
    more: list[str]
    output: str

    @classmethod
    def of(cls, process):
        assert process.stderr == ""
        first, *more = process.stdout.rstrip("\n").split("\n")
        text, _, perfdata = first.partition(" | ")
        pairs = dict(item.partition("=")[::2] for item in perfdata.split())
        return cls(process.returncode, text, pairs, more, process.stdout)


def environment(home):
    """Next to nothing, as under an engine; the Python that runs us comes first."""
    return {"PATH": f"{os.path.dirname(sys.executable)}:/usr/bin:/bin", "LC_ALL": "C", "HOME": str(home)}


def command(server, *arguments):
    """The command that runs the plugin on that server."""
    return [sys.executable, str(PLUGIN), "-H", server.host, "-P", str(server.port), *map(str, arguments)]


def run(home, server, *arguments, **settings):
    """Run the plugin on that server; what it remembers is kept below ``home``."""
    settings = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **settings}
    return subprocess.run(
        command(server, *arguments), env=environment(home), text=True, check=False, timeout=120, **settings
    )


def nagios(home, check_command, **macros):
    """Run what Nagios makes of a check_command: ``!`` parts the arguments, a shell runs the line."""
    line = re.search(r"command_line\s+(.+)", DEFINITION.read_text())[1]
    name, *arguments = (_expanded(part, macros) for part in check_command.split("!"))
    assert name in re.findall(r"command_name\s+(\S+)", DEFINITION.read_text())
    own = {f"ARG{place}": text for place, text in enumerate(arguments, 1)}
    expanded = _expanded(line, {"USER1": str(PLUGIN.parent), **own})
    return Said.of(
        subprocess.run(
            ["/bin/sh", "-c", expanded], capture_output=True, text=True, check=False, env=environment(home)
        )
    )


def _expanded(text, macros):
    return re.sub(r"\$(\w*)\$", lambda found: macros[found[1]] if found[1] else "$", text)
