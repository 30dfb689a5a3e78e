"""What MySQL servers answer, packet by packet and row by row, and MySQL's option files."""

import json
from copy import deepcopy
from functools import cache
from unittest import mock

import mysql_bytes
import recorded_mysql
from captured_mysql import VERSIONS, CapturedMysql
from choices import ODD_NUMBERS, ODD_TEXTS, Choices, seeds
from fuzzing import Target
from plugin_runs import RECORDED, clock, said
from scratch import empty
from stallwatch.frame.options import mysql as mysql_options
from stallwatch.probes.mysql.innodb import dump_under_way, redo_in
from stallwatch.sources import mysql, recording
from stallwatch.sources.mysql import option_files
from stallwatch.units import NotUnderstoodError

KNOWN = mysql_options._KNOWN
CONVERSATIONS = sorted(mysql_bytes.RECORDED.glob("*.bin"))
CELLS = (  # what the source lets through
    None,
    *(one for one in ODD_NUMBERS if isinstance(one, float) or abs(one) < 10**255),
    *(one for one in ODD_TEXTS if one.isascii() or "\ud800" not in one),
)
MOST_CHANGES = 30
DIVIDER = b"\n--8<--\n"  # between files


def an_option_file(octets):
    """Option files that include one another: the first is read, the others are its neighbours."""
    folder = empty("options")
    for number, part in enumerate(octets.split(DIVIDER)[:5]):
        (folder / f"{number}.cnf").write_bytes(part.replace(b"/HERE", bytes(folder)))
    entries = option_files.read(str(folder / "0.cnf"))
    for value in option_files.options(entries, mysql_options.GROUPS, KNOWN).values():
        if value is not None:
            value.encode(errors="surrogateescape")


def a_conversation(octets):
    """The packets of a server, an answer to each of our turns; they are parted by their lengths."""
    parts = []
    while len(octets) > 4 and len(parts) < 20:
        length = min(int.from_bytes(octets[:4], "big"), len(octets))
        parts.append(octets[4 : 4 + length])
        octets = octets[4 + length :]
    json.dumps(mysql_bytes.replay(parts), allow_nan=False)


def an_answer(octets):
    """What a server that has let us in answers to a statement."""
    json.dumps(mysql_bytes.replay([*mysql_bytes.LET_IN, octets]), allow_nan=False)


def innodb_status(octets):
    """The text of SHOW ENGINE INNODB STATUS, in which users' statements are, too."""
    told = octets.decode(errors="replace")
    redo_in(told, {"innodb_log_file_size": "50331648", "innodb_log_files_in_group": "2"})
    dump_under_way({"Innodb_buffer_pool_dump_status": told, "Innodb_buffer_pool_load_status": told[-200:]})


class Lenient(recorded_mysql.RecordedRun):
    """What was not recorded is not answered: other rows lead to other questions."""

    def find(self, of, asked):
        """The next answer, or the error of a server that is lost."""
        try:
            return super().find(of, asked)
        except recorded_mysql.NotRecordedError:
            lost = mysql.UnreachableError("the server is gone")
            raise (lost if asked == recording.LOG_IN else TimeoutError) from None


@cache
def _recordings():
    paths = [*(RECORDED / "replication" / "servers").glob("*.json"), *(RECORDED / "ndbinfo").glob("*.json")]
    return [json.loads(path.read_text()) for path in sorted(paths)]


def rows_of_recorded_servers(octets):
    """Replicas and clusters, some of whose rows are others: all plugins that asked them."""
    choices = Choices(octets)
    recorded = choices.one(_recordings())
    runs = recorded["runs"]
    at = choices.below(len(runs))
    of = {"plugin": runs[at]["plugin"]}
    chosen = [deepcopy(one) for one in runs if one["plugin"] == of["plugin"]][-2:]
    for _ in range(MOST_CHANGES):
        if not choices.left:
            break
        _change_rows(choices.one(chosen), recorded["statements"], choices)
    return recorded_runs(chosen, recorded["statements"], {})


def _change_rows(run, statements, choices):
    """Change a value in an answer, or a row, or lose a column, or all that a log-in says."""
    log_in = choices.one(run["log_ins"])
    answers = [one for one in log_in["answers"] if one.get("rows")]
    if not answers:
        return
    answer = choices.one(answers)
    rows = answer["rows"]
    at = choices.below(len(rows))
    match choices.below(12):
        case 0:
            del rows[at]
        case 1:
            rows.insert(at, [*rows[at]])
        case 2:
            rows[:] = []
        case 3:
            rows[:] = rows * (1000 // len(rows) + 1)
        case 4:
            answer["error"] = [
                choices.one((1142, 1227, 1146, 1064, 3024, 1296, 2013, 45000)),
                choices.one(ODD_TEXTS),
            ]
        case _:
            if rows[at]:
                rows[at][choices.below(len(rows[at]))] = choices.one(CELLS)


def recorded_runs(runs, statements, memory):
    """Run the plugins of these runs at their servers, one after the other; the state of the last one."""
    came_to = "nothing"
    for recorded in runs:
        run = Lenient(deepcopy(recorded), statements)
        with clock(run.began) as now, recording.use(run):
            run.clock = now
            now.reach = lambda _: None
            came_to = said(run.plugin, run.options, memory)
    return came_to


CAPTURED = (
    ("check_mysql_status", ()),
    ("check_mysql_status", ("--all", "-v")),
    ("check_innodb_buffer_pool", ()),
    ("check_innodb_redo_log", ()),
    (
        "check_mysql_status",
        (
            "--set",
            "none",
            "--warning",
            "Threads_running=5",
            "--warning",
            "Handler_read_rnd_next/Handler_read_key=100",
        ),
    ),
)


def captured_runs(octets, memory=None):
    """Servers whose variables and metrics have other values, asked twice."""
    choices = Choices(octets)
    name, arguments = choices.one(CAPTURED)
    server = CapturedMysql(choices.one([*VERSIONS]))
    memory = {} if memory is None else memory
    came_to = "nothing"
    with (
        clock() as now,
        mock.patch.object(mysql_options, "connect", return_value=server),
        mock.patch.object(mysql, "connect", return_value=server),
    ):
        for _ in range(2):
            for _ in range(choices.below(60)):
                told = choices.one((server.status, server.status, server.variables, server.metrics))
                of = choices.one(sorted(told))
                told[of] = choices.one(
                    [one for one in (*ODD_TEXTS, *map(str, ODD_NUMBERS)) if len(one) < 1000]
                )
            if not choices.below(4):
                server.innodb_status = choices.one(ODD_TEXTS)
            came_to = said(name, ["-H", "db1", *arguments], memory)
            now.sleep(60)
            _later(server)
        return came_to


def _later(server):
    for told in (server.status, server.metrics):
        if told.get("Uptime", "").isdecimal() and told["Uptime"].isascii() and len(told["Uptime"]) < 12:
            told["Uptime"] = str(int(told["Uptime"]) + 60)


def conversations():
    """The recordings, as they are kept."""
    return [path.read_bytes() for path in CONVERSATIONS]


def answers():
    """Some results, of each kind."""
    result = mysql_bytes.result
    return [
        result(b"a", b"b", rows=[(b"1", None), (b"x", b"y" * 300)]),
        mysql_bytes.packet(1, mysql_bytes.OK),
        mysql_bytes.packet(1, mysql_bytes.error(1227, b"Access denied; you need the PROCESS privilege")),
        b"".join(path.read_bytes() for path in CONVERSATIONS)[-6000:],
        result(b"a"),
    ]


def option_seeds():
    """Files as they are written."""
    return [
        b'[client]\nuser=mon\npassword = "a#b\\s" # c\nhost=db1\n[stallwatch]\nport=3307\nssl-mode=x\n',
        b"\xef\xbb\xbf# x\n[client]\n!include /HERE/1.cnf\npass='x\n"
        + DIVIDER
        + b"[client]\nloose-user=u\n!includedir /HERE\n",
        b"[client]\n!include /HERE/0.cnf\n",
        b"[client]\n!includedir /HERE\n"
        + DIVIDER
        + b"!include /HERE/2.cnf"
        + DIVIDER
        + b"[client]\n!include /HERE/1.cnf\n",
        b"!includedir\n[client-server\n",
        b"a=b",
        b"[client]\nssl_ca = \\x\\\\\\\n!include /nowhere\n!include /\n",
    ]


def innodb_seeds():
    """What InnoDB says in several versions."""
    names = [f"{name}_innodb_status.txt" for name, _ in VERSIONS.values()]
    texts = [(RECORDED / "replication" / name).read_bytes() for name in names]
    return [*texts, (RECORDED / "replication" / "bufferpool_dump_texts.txt").read_bytes()]


REFUSED = frozenset({"value", "UnusableFileError"})
PACKETS = tuple(
    bytes.fromhex(one)
    for one in (
        ["00000001", "ffffff01", "fe000002", "fb", "fc", "fd", "fe", "ff", "0a", "050000", "ffff28", "01"]
    )
)
STATES = frozenset({"OK", "WARNING", "UNKNOWN"})
TARGETS = {
    "option_file": Target(
        an_option_file,
        option_seeds,
        (NotUnderstoodError,),
        (
            b"!include /HERE/1.cnf\n",
            b"!includedir /HERE\n",
            DIVIDER,
            b"[client]\n",
            b"password=",
            b"\\s",
            b"[",
            b"loose-",
        ),
        1000,
        REFUSED,
    ),
    "mysql_conversation": Target(
        a_conversation, conversations, (mysql.MysqlError,), PACKETS, 150, frozenset({"UnreachableError"})
    ),
    "mysql_answer": Target(
        an_answer, answers, (mysql.MysqlError,), PACKETS, 150, frozenset({"value", "UnreachableError"})
    ),
    "innodb_status": Target(
        innodb_status,
        innodb_seeds,
        (),
        (
            b"\nLog sequence number 123\n",
            b"\nLast checkpoint at  100\n",
            b"Buffer pool(s) dump completed at ",
            b"/",
        ),
        500,
    ),
    "recorded_rows": Target(rows_of_recorded_servers, lambda: seeds(100, 60), (), (), 120, STATES),
    "captured_variables": Target(captured_runs, lambda: seeds(100, 300), (), (), 60, frozenset({"OK"})),
}
