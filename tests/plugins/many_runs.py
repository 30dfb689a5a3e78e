"""Many runs of all plugins in this one process, in random order: what one of them leaves behind.

    PYTHONPATH=tests/recorded:tests/unit:tests/hostile:tests/live python many_runs.py FOLDER COUNT FRESH SEED

COUNT command lines are run twice. Before the first run FRESH of them are run in processes in which nothing
was run before: what is said has to be the same. Prints JSON: the differences that were found, as sentences.
"""

import atexit
import contextlib
import gc
import itertools
import json
import locale
import logging
import os
import random
import re
import resource
import runpy
import signal
import socket
import subprocess
import sys
import threading
import time
import types
import warnings
from functools import cache
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import jmx_bytes
import mysql_bytes
import recorded_mysql
from bad_servers import hang_up, silent
from captured_mysql import CapturedMysql
from fake_replica import FakeReplica
from loopback import serving
from recorded_jvm import RecordedJvm
from stallwatch.deadline import Account
from stallwatch.declared import every
from stallwatch.frame.options import jmx as jmx_options
from stallwatch.sources import jmx, kernel, mysql, recording
from stallwatch.sources.jmx import wire

TESTS = Path(__file__).parents[1]
PLUGINS = TESTS.parent / "plugins"
RECORDED = TESTS / "recorded"
_SOURCES = {name: one.healthy.source for name, one in every().items()}
MYSQL = [name for name, source in _SOURCES.items() if source in ("mysql", "ndb")]
JMX = [name for name, source in _SOURCES.items() if source == "jmx"]
ALL = sorted(path.name.removeprefix("check_") for path in PLUGINS.glob("check_*"))
# A password that a file or an argument has, one of the environment (of which the C library keeps a copy), a
# user: whoever finds them after the runs has found what a run left.
MARKS = ("Sesame", "Simsim", "Visitor")
SECRET = re.compile("|".join(rf"{mark}\d{{6}}Open" for mark in MARKS), re.IGNORECASE)
WAYS = ("-p", "--password-file", "--defaults-file", "environment")
STYLES = (
    (),
    ("-v",),
    ("-vvv",),
    ("--output", "json"),
    ("--output", "human", "-v"),
    ("-vvv", "--output=json"),
)
ATTRIBUTE = ("-O", "a:type=b", "-A", "Value", "-O", "java.lang:type=Runtime", "-A", "Uptime")
BEANS = {"a:type=b": {"Value": 7, "Max": 9}, "java.lang:type=Runtime": {"StartTime": 1, "Uptime": 60_000}}
# What of an output is chance.
DURATION = r"\d[\d.]* (?:us|ms|s)\b|(?<=_time = )[\d.]+|(?<=_timeout = )\d+"
_NUMBER = r"\d[\d.]*(?: [A-Za-z]+)?"
NUMBERS = rf"{_NUMBER}(?: {_NUMBER})*"  # "59 s", "1 min 2 s"
NOW = 1_795_000_000.0
BEGUN = time.time()
PROGRAM = Path("/proc/self/comm").read_text().strip()
# Objects and blocks of memory that all the runs after the first ones may leave, for instance in free lists.
MOST_LEFT = 2000


class Case(NamedTuple):
    """A plugin, its arguments, what stands for the world meanwhile, and what of its output is chance.

    ``words`` may have {port}, {silent}, {speaking} and {folder}; ``logs_in`` adds a user and a password.
    """

    plugin: str
    words: tuple
    world: object = contextlib.nullcontext
    logs_in: bool = False
    chance: str = DURATION


# worlds


def changed(*changes):
    """A world in which these attributes are something else, (object, name, value)."""
    stack = contextlib.ExitStack()
    for where, name, value in changes:
        stack.enter_context(mock.patch.object(where, name, value))
    return stack


class Clock:
    """Time goes by only if somebody sleeps."""

    def __init__(self, now=NOW):
        self.now = now

    def __call__(self, *_):
        return self.now

    def sleep(self, seconds):
        self.now += seconds


def at(clock):
    """What lets everybody's time be that one."""
    same = [(time, name, clock) for name in ("time", "monotonic", "clock_gettime")]
    return [*same, (time, "sleep", clock.sleep)]


def recorded(path, number):
    run = recorded_mysql.load(path)[number]
    clock = run.clock
    world = changed(
        (time, "time", clock), (time, "monotonic", clock), (time, "clock_gettime", lambda _: clock()),
        (time, "sleep", clock.sleep),
    )  # fmt: skip
    world.enter_context(recording.use(run))
    return world


def captured(version):
    return changed((mysql, "connect", lambda *_: CapturedMysql(version)), *at(Clock()))


def replica(flavour):
    def connect(*_):
        made = FakeReplica(flavour)
        made.channel()
        return made

    return changed((mysql, "connect", connect), *at(Clock()))


def host(look):
    return changed(
        (kernel, "PLACE", str(look)), (os, "sched_getaffinity", lambda _: set(range(99))), *at(Clock())
    )


def bonds(folder):
    return changed((kernel, "BONDS", str(folder)), (kernel, "_NET", "/nowhere"))


def jvm(beans):
    server = RecordedJvm.load(beans) if isinstance(beans, Path) else RecordedJvm(beans)
    world = changed((time, "sleep", lambda _: None))
    world.enter_context(recording.use(server))
    return world


def talkative():
    """A JVM that knows the password, and says so."""

    def connect(check, options, _):
        password = jmx_options.target(check, options).password
        return RecordedJvm(
            {"a:type=b": {"Value": f"it is {password}", "Max": jmx.JmxError(f"not '{password}'")}}
        )

    return changed((jmx_options, "connect", connect))


def conversation(name):
    """A recorded one, byte by byte: the password is sent to nobody."""
    left = iter(jmx_bytes.load(name))

    def connected(where, port, _):
        for stream in left:
            return jmx_bytes.Played(stream)
        raise jmx.UnreachableError(f"{where}:{port} refused the connection")

    return changed((wire, "connected", connected), (wire.Wire, "encrypt", lambda *_: None))


def at_servers():
    """What needs a server, and who refuses what is asked before it is asked."""
    for name in ALL:
        yield from (Case(name, (word,)) for word in ("--help", "--version", "--bogus", "--timeout=never"))
        yield Case(name, ("a word that", "-belongs", "nowhere"))
    at_server = ("-H", "127.0.0.1", "-P")
    for name, more in [(name, ATTRIBUTE if name == "jmx" else ()) for name in (*MYSQL, *JMX)]:
        for port in ("port", "speaking"):
            chance = NUMBERS if (name, port) == ("mysql_query", "speaking") else DURATION
            for others in ((), ("--no-state",)):
                yield Case(name, (*at_server, f"{{{port}}}", *more, *others), logs_in=True, chance=chance)
    for name, more in (("ndb_nodes", ()), ("jmx", ATTRIBUTE)):
        words = (*at_server, "{silent}", *more, "-t", "200ms")
        yield Case(name, words, logs_in=True, chance="(?s).+")  # on a busy machine another sentence


def at_recorded_servers():
    """What servers answered, and stand-ins for them."""
    for path in sorted((RECORDED / "ndbinfo").glob("*.json")):
        for number, run in enumerate(json.loads(path.read_text())["runs"]):
            plugin = run["plugin"].removeprefix("check_")
            yield Case(plugin, tuple(run["options"]), lambda p=path, n=number: recorded(p, n))
    for version in ("MySQL 5.7", "MySQL 8.0", "MySQL 9.7", "MariaDB 10.11"):
        for plugin in ("mysql_status", "innodb_buffer_pool", "innodb_redo_log"):
            yield Case(plugin, ("-H", "db1"), lambda v=version: captured(v), logs_in=True)
    for flavour in ("MySQL", "MySQL 5.7", "MariaDB"):
        yield Case("replication_lag", ("-H", "db2"), lambda f=flavour: replica(f), logs_in=True)
    for path in sorted((RECORDED / "jmx_thread_pools").glob("*.json")):
        yield Case("jmx_thread_pools", ("-P", "7199", "-t", "10m"), lambda p=path: jvm(p))
    yield Case("jmx", ("-P", "7199", *ATTRIBUTE, "--rate"), lambda: jvm(BEANS), logs_in=True)
    words = ("-P", "7199", "-O", "a:type=b", "-A", "Value", "--match", "x", "-A", "Max")
    yield Case("jmx", words, talkative, logs_in=True)
    for name in ("attribute", "denied", "missing", "tls", "cassandra_denied"):
        words = ("-H", "db1", "-P", "7199", "-O", "target:type=Numbers", "-A", "Int")
        yield Case("jmx", words, lambda n=name: conversation(n), logs_in=True)


def at_recorded_hosts():
    """What this host and its files tell."""
    for look in sorted((RECORDED / "host").glob("*/*/uptime")):
        yield Case("host", (), lambda p=look.parent: host(p))
    for folder in sorted((RECORDED / "bonding").iterdir()):
        if folder.is_dir() and folder.name != "expected":
            yield Case("bonding", (), lambda p=folder: bonds(p))
    for path in sorted((RECORDED / "ndb_log").glob("*.log")):
        if path.stat().st_size < 1 << 17:
            yield Case("ndb_log", ("--log", str(path), "-t", "10m"))
            yield Case("ndb_log", ("--whole", "--log", str(path), "-t", "10m"))
    for path in sorted((RECORDED / "mysql_backup").iterdir()):
        if path.is_dir():
            for more in ((), ("--verify", "all")):
                words = ("-d", str(path), "-w", "20000d", "-c", "20000d", *more)
                yield Case("mysql_backup", words, lambda: changed((time, "time", lambda: BEGUN)))
    yield Case("mysqld_process", ("--pid-file", "/nowhere/pid"), chance='start it|here runs [^"]*')
    yield Case(
        "mysqld_process", ("--pid-file", "{folder}/pid", "--program", PROGRAM), chance=NUMBERS,
    )  # fmt: skip


# one run


@cache
def plugin(name):
    """A plugin's module, as a dictionary."""
    return runpy.run_path(str(PLUGINS / f"check_{name}"))


def here(name, words):
    """Exit status and output of a run in this process."""
    of = plugin(name)
    return of["check"].run(of["findings"], words)


def started(name, words):
    """The same of a process that is started for it."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    command = [sys.executable, PLUGINS / f"check_{name}", *words]
    ran = subprocess.run(command, env=own, capture_output=True, text=True, check=False)
    return ran.returncode, ran.stdout.removesuffix("\n") + ran.stderr


class Runs:
    """Runs in that folder; ``ports`` are those of the servers."""

    def __init__(self, folder, ports):
        self._folder = folder
        self._words = ports | {"folder": str(folder)}
        self._numbers = itertools.count()
        (folder / "pid").write_text(f"{ports['server']}\n")
        os.environ["HOME"] = str(folder)

    def fresh(self, case, way, style):
        """What the run gives in a new process, or where it has a world of its own in a fork of this one."""
        number = next(self._numbers)
        if case.world is contextlib.nullcontext and "{silent}" not in case.words:  # it may be late there
            return self._said(number, case, way, style, started)
        reader, writer = os.pipe()
        child = os.fork()
        if not child:
            try:
                os.write(writer, json.dumps(self._said(number, case, way, style)).encode())
            finally:
                os._exit(0)
        os.close(writer)
        with open(reader, "rb") as pipe:
            said = pipe.read()
        os.waitpid(child, 0)
        return tuple(json.loads(said))

    def __call__(self, case, way, style):
        """Exit status and output, without what is chance; the state is that of a first run."""
        return self._said(next(self._numbers), case, way, style)

    def _said(self, number, case, way, style, execute=here):
        words = [word.format_map(self._words) if "{" in word else word for word in case.words]
        of = plugin(case.plugin)
        if "state_dir" in {action.dest for action in of["check"].options} and "--no-state" not in words:
            words += ["--state-dir", f"{self._folder}/state{number}"]
        with contextlib.ExitStack() as stack:
            if case.logs_in:
                words += stack.enter_context(self._log_in(case, WAYS[way], number))
            stack.enter_context(case.world())
            status, text = execute(case.plugin, [*words, *STYLES[style]])
        text = text.replace(f"state{number}", "state").replace(f"{number:06d}Open", "")
        text = re.sub(r'"time": "[^"]+"', '"time": "now"', text)
        return status, re.sub(r"  +", " ", re.sub(case.chance, "N", text))  # columns are as wide as numbers

    @contextlib.contextmanager
    def _log_in(self, case, way, number):
        if way == "--defaults-file" and case.plugin in JMX:
            way = "--password-file"
        user = ["-u", f"Visitor{number:06d}Open"]
        password, file = f"Sesame{number:06d}Open", self._folder / "given"
        if way == "-p":
            yield [*user, "-p", password]
            return
        if way == "environment":
            variable = f"STALLWATCH_{'JMX' if case.plugin in JMX else 'MYSQL'}_PASSWORD"
            os.environ[variable] = f"Simsim{number:06d}Open"
            yield user
            del os.environ[variable]
            return
        file.write_text(f"{password}\n" if way == "--password-file" else f"[client]\npassword={password}\n")
        file.chmod(0o600)
        yield [*user, way, str(file)]


# what is left


def surroundings():
    """What a run may change of its process, by name."""
    wakes = signal.set_wakeup_fd(-1)
    signal.set_wakeup_fd(wakes)
    mask = os.umask(0o22)
    os.umask(mask)
    return {
        "descriptors": {int(fd): _target(fd) for fd in os.listdir("/proc/self/fd") if _target(fd)},
        "threads": len(os.listdir("/proc/self/task")),
        "handlers": {number: signal.getsignal(number) for number in signal.valid_signals()},
        "blocked signals": signal.pthread_sigmask(signal.SIG_BLOCK, ()),
        "timers": [signal.getitimer(one) for one in range(signal.ITIMER_PROF + 1)],
        "wakeup descriptor": wakes,
        "umask": mask,
        "environment": dict(os.environ),
        "directory": os.getcwd(),
        "limits": {number: resource.getrlimit(number) for number in range(resource.RLIMIT_NPROC + 9)},
        "modules": set(sys.modules),
        "search path": [*sys.path, *map(id, sys.meta_path), *map(id, sys.path_hooks)],
        "warnings": [*warnings.filters, id(warnings.showwarning)],
        "locale": locale.setlocale(locale.LC_ALL),
        "garbage collection": (gc.isenabled(), gc.get_threshold(), gc.get_debug(), gc.callbacks[:]),
        "time-out of sockets": socket.getdefaulttimeout(),
        "interpreter": (sys.getrecursionlimit(), sys.getswitchinterval(), sys.argv[:], sys.gettrace()),
        "streams and hooks": (sys.stdout, sys.stderr, sys.excepthook, threading.excepthook),
        "called at the end": atexit._ncallbacks(),
        "logging": (logging.root.level, logging.root.handlers[:], [*logging.root.manager.loggerDict]),
        "priority": os.getpriority(os.PRIO_PROCESS, 0),
        "children": Path(f"/proc/self/task/{os.getpid()}/children").read_text().split(),
    }  # fmt: skip


def _target(descriptor):
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}")
    except FileNotFoundError:  # that of the list itself
        return None


def states():
    """All that the modules of stallwatch and the plugins have, down to the values, by its place."""
    found, seen = {}, set()

    def note(place, value):
        if isinstance(value, str | bytes | int | float | None | types.ModuleType | re.Pattern):
            found[place] = value
        elif id(value) not in seen:
            seen.add(id(value))
            found[place] = len(value) if isinstance(value, list | tuple | set | frozenset) else id(value)
            for name, one in parts(value):
                note(f"{place}.{name}", one)

    for name, module in sorted(sys.modules.items()):
        if name.partition(".")[0] == "stallwatch":
            note(name, vars(module))
    for name in ALL:
        note(name, plugin(name))
    return found


def parts(value):
    """Names and values of what a value has: an item, an attribute, a default, what a cache keeps."""
    if isinstance(value, dict):
        return [(repr(key), one) for key, one in value.items() if key != "__builtins__"]
    if isinstance(value, list | tuple | set | frozenset):
        return enumerate(value)
    found = []
    modules = (getattr(value, "__module__", None) or "", type(value).__module__)
    if any(module.startswith(("stallwatch", "argparse")) for module in modules):
        # Litter is of the process: garbage that runs have left, for whoever collects it next.
        had = {**getattr(value, "__dict__", {}), "__defaults__": getattr(value, "__defaults__", None)}
        found = [(name, one) for name, one in had.items() if name not in ("_abc_impl", "litter")]
    if hasattr(value, "cache_info"):
        found.append(("kept", value.cache_info().currsize))
    return found


def alive():
    """Marks in texts that anything of Python refers to."""
    gc.collect()
    found, seen, todo = set(), set(), gc.get_objects()
    while todo:
        for one in gc.get_referents(todo.pop()):
            if isinstance(one, str):
                found.update(SECRET.findall(one))
            elif isinstance(one, bytes | bytearray):
                found.update(SECRET.findall(one.decode("latin-1")))
            elif not gc.is_tracked(one) and id(one) not in seen and not isinstance(one, int | float):
                seen.add(id(one))
                todo.append(one)
    return sorted(found)


def in_memory():
    """Passwords anywhere in the memory of this process, in which what is freed is overwritten."""
    found = set()
    sought = re.compile(rb"%s\d{6}Open" % MARKS[0].encode(), re.IGNORECASE)
    with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", buffering=0) as memory:
        for line in maps:
            if " rw-p " in line and "[v" not in line:
                first, last = (int(part, 16) for part in line.split()[0].split("-"))
                memory.seek(first)
                found.update(sought.findall(memory.read(last - first)))
    return sorted(one.decode() for one in found)


def settled():
    """Surroundings, once threads that end by themselves have had the time for it."""
    until = time.monotonic() + 120
    while len(os.listdir("/proc/self/task")) > 1 and time.monotonic() < until:
        time.sleep(0.05)
    return surroundings()


def different(before, after):
    """What is not the same, as sentences."""
    for name in sorted({*before, *after}):
        one, other = before.get(name), after.get(name)
        if one != other:
            if isinstance(one, dict) and isinstance(other, dict):
                yield from (f"{name}: {line}" for line in different(one, other))
            elif isinstance(one, set) and isinstance(other, set):
                yield f"{name}: {sorted(one ^ other)}"
            else:
                yield f"{name}: {one!r} became {other!r}"[:300]


def counted():
    """Objects and blocks of memory."""
    gc.collect()
    return len(gc.get_objects()), sys.getallocatedblocks()


@contextlib.contextmanager
def servers():
    """Servers in a process of their own: the ports of nobody, of one that is silent, of one that answers."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        with serving(silent) as one, serving(answers) as other:
            os.write(writer, json.dumps({"silent": one[1], "speaking": other[1]}).encode() + b"\n")
            signal.pause()
    os.close(writer)
    with open(reader, "rb") as pipe, socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        try:
            yield json.loads(pipe.readline()) | {"port": taken.getsockname()[1], "server": child}
        finally:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


def answers(connection, number, ended):
    """Let everybody in, and answer each statement: with who the server is, one row, or nothing."""
    connection.sendall(mysql_bytes.greeting())
    connection.recv(65536)
    connection.sendall(mysql_bytes.packet(2, mysql_bytes.OK))
    while said := connection.recv(65536):
        if b"@@version" in said:
            connection.sendall(mysql_bytes.WHO)
        elif b"SELECT 1" in said:
            connection.sendall(mysql_bytes.result(b"1", rows=[(b"1",)]))
        elif b"SELECT" in said or b"SHOW" in said:
            break
        else:
            connection.sendall(mysql_bytes.packet(1, mysql_bytes.OK))
    hang_up(connection, number, ended)


def main(folder, count, new, seed):
    """Run; print what differs."""
    Account.lost = Account.starved = lambda _: 0.0  # also on a busy machine, who is silent had its time
    chance = random.Random(seed)
    every = [*at_servers(), *at_recorded_servers(), *at_recorded_hosts()]
    chance.shuffle(every)
    chosen = [*every, *chance.choices(every, k=max(0, count - len(every)))][:count]
    plan = [(one, chance.randrange(len(WAYS)), chance.randrange(len(STYLES))) for one in chosen]
    with servers() as ports:
        for name in ALL:
            plugin(name)
        run, begun = Runs(Path(folder), ports), time.monotonic()
        fresh = {one: run.fresh(*one) for one in plan[:new]}
        warm = time.monotonic()
        first = settled()
        for one in plan:  # the first round imports what there is, and fills what is kept for good
            fresh.setdefault(one, run(*one))
        before, kept, has = settled(), states(), counted()
        chance.shuffle(plan)
        differences = [
            f"{one[0].plugin} {one[0].words} {one[1:]}: {said} is not {fresh[one]}"
            for one in plan
            if (said := run(*one)) != fresh[one]
        ]
        ended = time.monotonic()
        after = settled()
        differences += different(first | {"modules": after["modules"]}, after)
        differences += different({"modules": before["modules"]}, {"modules": after["modules"]})
        differences += different(kept, states())
        differences += [f"a secret is alive: {mark}" for mark in alive()]
        differences += [f"a secret is in memory: {mark}" for mark in in_memory()]
        more = [now - then for then, now in zip(has, counted(), strict=True)]
        if max(more) > MOST_LEFT:
            differences.append(f"{more[0]} objects more, and {more[1]} blocks of memory")
    took = [round(warm - begun, 1), round(ended - warm, 1)]
    print(json.dumps({"differences": differences, "runs": 2 * len(plan), "more": more, "seconds": took}))  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
