"""Names and texts that mean harm, through a real Icinga and a real Nagios: they hold what was said.

They are names and values of MBeans of a JVM, and in the lines of a log of NDB.
"""

import json
import sys
import time
from pathlib import Path

import engine_user
import pytest
from icinga import Icinga
from installing import installable
from nagios import Nagios
from perfdata import split
from recorder import Recorder

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests" / "hostile"))
from hostile_texts import TEXTS  # noqa: E402 - as their tests find it

LOG = ROOT / "tests" / "recorded" / "ndb_log" / "E2_freeze_one_ldm_3s_idle.ndb_4_out.log"
# Bytes of an output that Nagios keeps in any case. Its worker reads so many at a time, and no more than once
# or twice of a program that has ended meanwhile: of 9 kB it kept 4096 or 8192, of 300 kB even all (4.4.6).
KEPT = 4096
OBJECT = "target:type=Odd names,name="
SAY = """#!/bin/sh
. {folder}/$1.sh
"""
ICINGA = """
object CheckCommand "say" {{
  command = [ "/bin/sh", "{folder}/say", "$service.name$" ]
}}
object EventCommand "tell" {{
  command = [ "{python}", "{folder}/tell.py", "$service.name$", "$service.output$", "$host.vars.secret$" ]
}}
object Host "h" {{
  check_command = "dummy"
  vars.secret = "a secret of the engine"
}}
for (number in range({count})) {{
  object Service "s" + number {{
    host_name = "h"
    check_command = "say"
    event_command = "tell"
    enable_active_checks = false
  }}
}}
"""
NAGIOS = """
define command {{
    command_name  say
    command_line  /bin/sh {folder}/say $ARG1$
}}
define command {{
    command_name  tell
    command_line  {python} {folder}/tell.py $SERVICEDESC$ '$SERVICEOUTPUT$' $_HOSTSECRET$
}}
define host {{
    host_name  h
    use        linux-server
    address    127.0.0.1
    _SECRET    engine
}}
"""
SERVICE = """
define service {{
    use                  generic-service
    host_name            h
    service_description  s{number}
    check_command        say!s{number}
    event_handler        tell
}}
"""
TELL = """import json, os, sys
with open({folder!r} + "/told/" + sys.argv[1] + ".new", "w", errors="surrogateescape") as file:
    json.dump(sys.argv[1:], file)
os.rename(file.name, file.name.removesuffix(".new"))
"""


def quoted(text):
    for letter in '\\"*?':
        text = text.replace(letter, f"\\{letter}")
    return '"{}"'.format(text.replace("\n", "\\n"))


@pytest.fixture(scope="module")
def said(jvm, installed, tmp_path_factory):
    """What plugins say of each text, run as engines run them: a list of commands."""
    plugins = installed / "lib" / "stallwatch" / "bin"
    logs = installed / "odd logs"
    logs.mkdir(mode=0o755)
    commands = []
    for number, text in enumerate(TEXTS.values()):
        bean = f"{OBJECT}{quoted(text)}"
        jvm.bean(bean, {"Text": text, "Number": 7})
        asked = ["check_jmx", "-H", jvm.host, "-P", str(jvm.port), "-O", f"{OBJECT}*", "-A"]
        if len(text) < 1000:
            asked[-2] = bean
        commands.append([*asked, "Text", "--match", "nothing", "-v", "-t", "60s"])
        log = logs / f"{number}_4_out.log"
        lines = LOG.read_bytes().split(b"\n")
        log.write_bytes(b"\n".join(line[:60] + text.encode() + b"\xff" + line[60:] for line in lines[::3]))
        log.chmod(0o644)
        commands.append(["check_ndb_log", "--log", str(log), "--whole", "--no-state", "-vvv"])
    yield [[str(plugins / name), *more] for name, *more in commands]
    jvm.tell("unregister", f"{OBJECT}*")


@pytest.fixture
def stage(open_path, said):
    """The folder of an engine's objects, in which each service s0, s1, ... runs one of the commands."""
    recorder = Recorder(open_path / "recorder", Path(said[0][0]).parent)
    commands = [[str(recorder.plugins / Path(program).name), *more] for program, *more in said]
    for number, command in enumerate(commands):
        words = " ".join("'{}'".format(word.replace("'", "'\\''")) for word in command)
        (open_path / f"s{number}.sh").write_text(f"exec {words}\n")
    (open_path / "say").write_text(SAY.format(folder=open_path))
    (open_path / "tell.py").write_text(TELL.format(folder=str(open_path)))
    (open_path / "told").mkdir()
    engine_user.give(open_path / "told")
    return open_path, [lambda command=command: recorder.last(command) for command in commands]


def told(folder, number):
    """What the engine handed to a program of its own about a service."""
    path, until = folder / "told" / f"s{number}", time.monotonic() + 90
    while not path.exists():
        assert time.monotonic() < until, f"nothing was told of s{number}"
        time.sleep(0.1)
    return json.loads(path.read_text())


def test_icinga(stage):
    folder, runs = stage
    objects = ICINGA.format(folder=folder, count=len(runs), python=sys.executable)
    with Icinga(folder / "icinga", objects=objects) as icinga:
        held = icinga.check_all([f"h!s{number}" for number in range(len(runs))], 300)
        for number, (result, last) in enumerate(zip(held.values(), runs, strict=True)):
            run = last()
            text, perfdata, more = split(run.stdout)
            assert (result.state, run.stderr) == (run.status, "")
            assert (result.output, result.long_output) == (text, more)
            assert " ".join(result.performance_data) == perfdata
            if run.status:
                name, output, secret = told(folder, number)
                assert (name, secret) == (f"s{number}", "a secret of the engine")
                assert output.partition("\n")[0] == text  # not a macro of it is looked up


def test_nagios(stage):
    folder, runs = stage
    objects = NAGIOS.format(folder=folder, python=sys.executable)
    objects += "".join(SERVICE.format(number=number) for number in range(len(runs)))
    with installable():
        nagios = Nagios(folder / "nagios", objects=objects, settings="\nenable_event_handlers=1\n")
    with nagios:
        held = nagios.check_all([f"h!s{number}" for number in range(len(runs))], 300)
        for number, (result, last) in enumerate(zip(held.values(), runs, strict=True)):
            run = last()
            line, _, more = run.stdout.removesuffix("\n").partition("\n")
            text, _, perfdata = line.partition(" | ")
            assert (result.state, run.stderr) == (run.status, "")
            assert result.output == text.replace(";", ":")  # as Nagios has it in line 1, for its own log
            assert result.performance_data == perfdata
            held_of_it, whole = (said.encode(errors="surrogateescape") for said in (result.long_output, more))
            assert whole.startswith(held_of_it)
            assert len(line.encode()) + 1 + len(held_of_it) >= min(KEPT, len(run.stdout.encode()) - 1)
            if run.status:
                name, output, secret = told(folder, number)
                assert (name, secret) == (f"s{number}", "engine")
                illegal = str.maketrans("", "", "`~$&|'\"<>")  # what Nagios takes out of it for a shell
                assert output == text.replace(";", ":").translate(illegal)
