"""Plugins as an engine runs them, and what they say."""

import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import printed_labels
from whole_sentence import sentence

ROOT = Path(__file__).parents[2]
PLUGINS = ROOT / "plugins"
TRIES = 3
LONGEST = 160  # letters before the perfdata, where names are short: a text message
_LONG = re.compile(r"(\S{20})\S+")  # names that are not short
_ALARM = re.compile(r"[A-Z_]+ (WARNING|CRITICAL|UNKNOWN) - [^|\n]*")  # the status line, before the perfdata
# What a shell starts in its background has SIGINT ignored, perhaps these tests.
AT_A_TERMINAL = ("env", "--default-signal=INT,HUP")


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
        for item in perfdata.split():
            printed_labels.known(text.partition(" ")[0].lower(), item)
        pairs = dict(item.partition("=")[::2] for item in perfdata.split())
        return cls(process.returncode, text, pairs, more, process.stdout)

    @property
    def sentence(self):
        """What is wrong first, with its whole next step."""
        return sentence(self.output)

    def number(self, label):
        """The value in the perfdata, without its unit and thresholds."""
        assert label in self.perfdata, self.output
        return float(re.match(r"-?[\d.]+", self.perfdata[label])[0])


def environment(home):
    """Next to nothing, as under an engine; the Python that runs us comes first."""
    return {"PATH": f"{os.path.dirname(sys.executable)}:/usr/bin:/bin", "LC_ALL": "C", "HOME": str(home)}


def run(home, plugin, *arguments, variables=(), **settings):
    """Run a plugin; what it remembers is kept below ``home``. Its status line has to fit, see _ALARM.

    Where it gets no time, as this machine is busy, which it reports, it is run again: TRIES times in all.
    ``seconds`` of the result are those of the last run.
    """
    settings = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **settings}
    command = [sys.executable, str(PLUGINS / plugin), *map(str, arguments)]
    variables = environment(home) | dict(variables)
    for _ in range(TRIES):
        begun = time.monotonic()
        done = subprocess.run(command, env=variables, text=True, check=False, timeout=120, **settings)
        done.seconds = time.monotonic() - begun
        if "this check got no processor time" not in (done.stdout or ""):
            break
    if alarm := _ALARM.match(done.stdout or ""):
        assert len(_LONG.sub(r"\1", alarm[0].rstrip())) <= LONGEST, alarm[0]
    return done
