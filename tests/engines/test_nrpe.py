"""What a host says of itself through a real NRPE: the shipped commands, and all that a plugin says."""

import contextlib
import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import engine_user
import pytest
import software
from backup_makers import MARIADB_CLIENT
from installing import installable
from loopback import free_port
from nagios import BIN, COMMANDS, OPTION_FILE, ROOT, Nagios
from nrpe import Nrpe
from recorder import Recorder
from stallwatch.render.text import LONG_LINES, LONG_OUTPUT

SHIPPED = ROOT / "contrib" / "nrpe" / "stallwatch.cfg"
PID_FILE = "/var/run/cassandra/cassandra.pid"
LOGS = ROOT / "tests" / "recorded" / "ndb_log"
NUMBERS = 500
TELLS = """#!/usr/bin/env python3
import json, sys
print(json.dumps(sys.argv[1:]))
"""
# Hundreds of numbers on line 1, and below it as much as a plugin says at most.
SAYS_A_LOT = f"""#!python
from stallwatch.frame.check import Check
from stallwatch.findings import Fault, Reading, State

def findings(options, run):
    yield Reading("age", 12.5, "s", "12.5 s old")
    for number in range({NUMBERS}):
        yield Reading(f"number_{{number}}", number * 1e6, "B", "one of many")
    for number in range({LONG_LINES * 2}):
        yield Fault(State.WARNING, f"{{number}} " + "x" * {LONG_OUTPUT // LONG_LINES - 20})

check = Check("much", "Say a lot.")
check.threshold("age", unit="s", warning="60", help="its age")
if __name__ == "__main__":
    check.main(findings)
"""
LARGEST = 65504  # bytes that NRPE 4 takes in one answer
SERVICES = """
define host {{
    host_name  db1
    use        linux-server
    address    127.0.0.1
}}

define service {{
    use                  generic-service
    host_name            db1
    service_description  answered
    check_command        check_stallwatch_nrpe!stallwatch_ndb_log!-p {port} -t 58:3
}}

define service {{
    use                  generic-service
    host_name            db1
    service_description  nobody there
    check_command        check_stallwatch_nrpe!stallwatch_ndb_log!-p {closed}
}}

define service {{
    use                  generic-service
    host_name            db1
    service_description  NRPE
    check_command        check_stallwatch_nrpe_answers!-p {port}
}}

define service {{
    use                  generic-service
    host_name            db1
    service_description  no NRPE
    check_command        check_stallwatch_nrpe_answers!-p {closed}
}}
"""


@pytest.fixture
def start(open_path):
    """Gives a running NRPE with the commands of a text, or of files."""
    running = []

    def nrpe(text="", *files):
        (open_path / "own.cfg").write_text(text)
        with installable():
            server = Nrpe(open_path / "nrpe", open_path / "own.cfg", *files)
        running.append(server)
        return server.__enter__()

    yield nrpe
    for server in running:
        server.__exit__()


def plugin(path, text):
    """An executable file, which everybody may run."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    engine_user.reachable(path.parent)
    return path


def commands():
    return dict(re.findall(r"^command\[(\w+)\]=(.*)$", SHIPPED.read_text(), re.MULTILINE))


def test_every_shipped_command_runs_its_plugin_with_what_its_line_says(start, open_path):
    shipped = commands()
    assert all(name.startswith("stallwatch_") for name in shipped)  # or they would be a site's own
    assert {Path(line.split()[0]).name for line in shipped.values()} == {
        path.name for path in (ROOT / "plugins").glob("check_*")
    }
    for line in shipped.values():
        plugin(open_path / "bin" / Path(line.split()[0]).name, TELLS)
    nrpe = start(SHIPPED.read_text().replace(BIN, str(open_path / "bin")))
    for name, line in shipped.items():
        answer = nrpe.ask(name)
        assert (answer.returncode, answer.stderr) == (0, "")
        assert json.loads(answer.stdout) == shlex.split(line)[1:]


def test_no_shipped_command_wants_arguments_which_debians_nrpe_refuses(start):
    assert "$ARG" not in SHIPPED.read_text()
    nrpe = start("command[check_host]=/bin/echo")
    refused = nrpe.ask("check_host", "-a", "--sample", "5s")
    assert (refused.returncode, refused.stdout.count("sample")) == (3, 0)
    assert "Request contained command arguments" in (nrpe.folder / "nrpe.log").read_text()


def test_several_lines_come_through_as_they_were_said(start, open_path, installed):
    recorder = Recorder(open_path / "recorder", installed / "lib" / "stallwatch" / "bin")
    engine_user.copy(LOGS, open_path)
    engine_user.reachable(open_path / LOGS.name)
    logs = open_path / LOGS.name / "E*_out.log"
    command = [str(recorder.plugins / "check_ndb_log"), "--whole", "-v", "-t", "50s", "--log", str(logs)]
    answer = start(f"command[check_ndb_log]={shlex.join(command)}").ask("check_ndb_log")
    said = recorder.last(command)
    assert said.stdout.count("\n") > 20
    assert (answer.returncode, answer.stdout) == (said.status, said.stdout)
    assert answer.returncode == 2


def test_as_much_as_a_plugin_can_say_comes_through_whole(start, open_path, installed):
    text = SAYS_A_LOT.replace("#!python", f"#!{installed}/lib/stallwatch/bin/python3")
    says_a_lot = plugin(open_path / "bin" / "check_much", text)
    recorder = Recorder(open_path / "recorder", says_a_lot.parent)
    command = [str(recorder.plugins / "check_much"), "-v"]
    answer = start(f"command[check_much]={shlex.join(command)}").ask("check_much")
    said = recorder.last(command)
    assert 0.9 * LARGEST < len(said.stdout) < LARGEST
    assert (answer.returncode, answer.stdout) == (said.status, said.stdout)
    line = answer.stdout.partition("\n")[0]
    assert " | age=12.5s;60 " in line
    assert line.endswith(f" number_{NUMBERS - 1}={NUMBERS - 1}000000B")


def test_nagios_holds_what_the_plugin_said_on_the_node(start, open_path, installed):
    recorder = Recorder(open_path / "recorder", installed / "lib" / "stallwatch" / "bin")
    log = engine_user.copy(LOGS / "E3_freeze_main_8s.ndb_4_out.log", open_path)
    command = [str(recorder.plugins / "check_ndb_log"), "--whole", "--log", str(log)]
    nrpe = start(f"command[stallwatch_ndb_log]={shlex.join(command)}")
    services = SERVICES.format(port=nrpe.port, closed=free_port())
    with installable():
        engine = Nagios(open_path / "nagios", COMMANDS, objects=services)
    with engine:
        held = engine.check_all(engine.services(), 120)
    said = recorder.last(command)
    first, _, more = said.stdout.removesuffix("\n").partition("\n")
    text, _, perfdata = first.partition(" | ")
    answered = held["db1!answered"]
    assert answered.state == said.status == 2
    assert answered.output == text.replace(";", ":")
    assert more
    assert (answered.long_output, answered.performance_data) == (more, perfdata)
    nobody = held["db1!nobody there"]
    assert nobody.state == 3
    assert "Connection refused" in nobody.output + nobody.long_output
    assert (held["db1!NRPE"].state, held["db1!NRPE"].output[:6]) == (0, "NRPE v")
    assert held["db1!no NRPE"].state == 2


def here(text, open_path, installed, **places):
    """The shipped lines, with the places of a test."""
    places = {BIN: installed / "lib" / "stallwatch" / "bin", OPTION_FILE: open_path / "mysql.cnf"} | places
    for place, own in places.items():
        text = text.replace(place, str(own))
    return text


@pytest.mark.own_server("it is where the user of NRPE can reach its socket")
def test_a_server_asked_by_its_socket_knows_the_account_that_the_head_tells_to_make(
    start, open_path, installed, new_server
):
    make = re.search(r"^# +(sed .*) >grants.sql$", SHIPPED.read_text(), re.MULTILINE)[1]
    make = make.replace("/usr/share/stallwatch", str(installed / "share" / "stallwatch"))
    grants = subprocess.run(shlex.split(make), capture_output=True, text=True, check=True).stdout
    client = [software.program("mariadb", MARIADB_CLIENT), "--no-defaults", "-u", "root", "-S"]
    option_file = open_path / "mysql.cnf"
    with new_server(open_path / "mariadb", "mariadb") as server:
        engine_user.reachable(Path(server.socket).parent)
        text = grants.replace("change me", "secret")
        subprocess.run([*client, server.socket], input=text, text=True, check=True)
        option_file.write_text(f"[client]\nuser=mon\npassword=secret\nsocket={server.socket}\n")
        engine_user.give(option_file)
        nrpe = start(here(SHIPPED.read_text(), open_path, installed))
        asked = [nrpe.ask(f"stallwatch_{name}") for name in ("mysql_query", "innodb_redo_log")]
    for answer in asked:
        assert "denied" not in answer.stdout
        assert re.match(r"\w+ (OK|WARNING|CRITICAL) - .*\|", answer.stdout), answer.stdout
    assert [path.name[:16] for path in nrpe.path("state").glob("*.json")] == ["innodb_redo_log-"]


def test_the_jvm_of_cassandra_is_found_beside_another(start, open_path, installed):
    """By its pid file: whose port is whose, NRPE's user does not see."""
    java = Path(shutil.copy(shutil.which("sleep"), open_path / "java"))
    pid_file = open_path / "cassandra.pid"
    with contextlib.ExitStack() as running:
        for _ in range(2):
            jvm = running.enter_context(subprocess.Popen([java, "300"]))
            running.callback(jvm.kill)
        pid_file.write_text(f"{jvm.pid}\n")
        lines = here(SHIPPED.read_text(), open_path, installed, **{PID_FILE: pid_file})
        answer = start(lines).ask("stallwatch_cassandra_process")
    assert (answer.returncode, f"java {jvm.pid}" in answer.stdout) == (0, True), answer.stdout
