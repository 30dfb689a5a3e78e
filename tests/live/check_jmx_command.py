"""Run check_jmx as an engine runs it, and as Nagios does by its own command definition."""

import re
import subprocess
import sys

import plugin_command
from plugin_command import PLUGINS, ROOT, Said, environment

PLUGIN = PLUGINS / "check_jmx"
DEFINITIONS = ROOT / "contrib" / "nagios" / "stallwatch-commands.cfg"


def command(server, *arguments):
    """The command that runs the plugin on that server."""
    return [sys.executable, str(PLUGIN), "-H", server.host, "-P", str(server.port), *map(str, arguments)]


def run(home, server, *arguments, **settings):
    """Run the plugin on that server; what it remembers is kept below ``home``."""
    return plugin_command.run(home, "check_jmx", "-H", server.host, "-P", server.port, *arguments, **settings)


def nagios(home, check_command, **macros):
    """Run what Nagios makes of a check_command: ``!`` parts the arguments, a shell runs the line."""
    name, *arguments = (_expanded(part, macros) for part in check_command.split("!"))
    defined = re.search(
        rf"command_name +{name}\n +command_line +/usr/lib/stallwatch/bin/(.+)", DEFINITIONS.read_text()
    )
    own = {f"ARG{place}": text for place, text in enumerate(arguments, 1)}
    expanded = _expanded(f"{PLUGINS}/{defined[1]}", own)
    return Said.of(
        subprocess.run(
            ["/bin/sh", "-c", expanded], capture_output=True, text=True, check=False, env=environment(home)
        )
    )


def _expanded(text, macros):
    return re.sub(r"\$(\w*)\$", lambda found: macros[found[1]] if found[1] else "$", text)
