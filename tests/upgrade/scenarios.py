"""What the plugins are run in: each scenario is several runs after each other.

The last run of the first scenario of a plugin is repeated with -v, as JSON and for a terminal.
"""

import json
import os
import shlex
import time
from pathlib import Path

import backups
from stand_ins import OK, START

ROOT = Path(__file__).parents[2]
RECORDED = ROOT / "tests" / "recorded"
GIB = 1 << 30
MINUTE = 60.0
STALL = 27_460_070  # bytes of the redo log at which writers of the captured MySQL 9.7 wait
VIEWS = (("-v",), ("--output", "json"), ("--output", "human"))
SCENARIOS = {}


class Scenario:
    """``count`` runs of a command; ``prepare(world, number)`` makes the world of each, from 0 on.

    ``commands`` are those of runs that differ, by their numbers. ``views`` are options with which the last
    run is repeated. ``state`` are the options that say where the state is.
    """

    state = ("--state-dir", "state")
    views = ()

    def __init__(self, command, count, prepare, commands=None, *, keeps_state=True):
        self.count = count
        self.prepare = prepare
        plugin = command.split(" ")[0]
        if plugin not in {one.plugin for one in SCENARIOS.values()}:
            self.views = VIEWS
        self.plugin = plugin
        self._command = command
        self._commands = commands or {}
        self.state = self.state if keeps_state else ()

    def command(self, number):
        """The words of a run."""
        return shlex.split(self._commands.get(number, self._command))


class Replay(Scenario):
    """The runs of a recording, with options besides, or the first ``count`` of them."""

    def __init__(self, path, *words, count=None):
        self._runs = [[run["plugin"], *run["options"]] for run in json.loads(path.read_text())["runs"]]
        self._words = words
        super().__init__("", count or len(self._runs), lambda world, number: world.replay(path, number))
        self.views = ()

    def command(self, number):
        """The words of a run."""
        return [*self._runs[number], *self._words]


def keeps_anything(path):
    """Whether a recording has several runs, of which a later one knows of an earlier one."""
    plugins = [run["plugin"] for run in json.loads(path.read_text())["runs"]]
    return len(plugins) > len(set(plugins)) and path.stem not in SAME


# What a run says that is the first one of its plugin is compared by tests/recorded already.
SAME = {"healthy-in-detail", "lock-wait", "open-transaction"}  # each run stands for itself
for folder, short in (("ndbinfo", "ndb"), ("replication/servers", "lag")):
    for path in filter(keeps_anything, sorted((RECORDED / folder).glob("*.json"))):
        SCENARIOS[f"{short}-{path.stem}"] = Replay(path)
for name, path, count in (
    ("ndb", "ndbinfo/node-down", 5),
    ("lag", "replication/servers/mysql-9.7-thin-link", 1),
):
    SCENARIOS[f"{name}-json"] = Replay(RECORDED / f"{path}.json", "--output", "json", count=count)
path = RECORDED / "innodb_locks" / "mysql-9.7-idle-transaction.json"
SCENARIOS[f"locks-{path.stem}"] = Replay(path)


def scenario(name, command, count=1, commands=None, *, keeps_state=True):
    """Declare the function below as what prepares the runs of a command, a minute after each other."""

    def declare(prepare):
        def a_minute_later(world, number):
            world.now = START + number * MINUTE
            prepare(world, number)

        SCENARIOS[name] = Scenario(command, count, a_minute_later, commands, keeps_state=keeps_state)
        return prepare

    return declare


# check_mysql_status, check_innodb_buffer_pool, check_innodb_redo_log

VERSIONS = {"my57": "MySQL 5.7", "my80": "MySQL 8.0", "my97": "MySQL 9.7", "ma1011": "MariaDB 10.11"}


def counted(server, number, **each):
    """Let status variables and metrics have grown by so much a minute."""
    server.later(0, **{name: number * count for name, count in each.items()})


def of_versions(plugin, versions, options="", **each):
    """Declare two runs at each of these captured versions, which counted in between."""
    for short in versions:

        @scenario(f"{plugin}-{short}", f"check_{plugin} -H db1 {options}", 2)
        def prepare(world, number, version=VERSIONS[short]):
            server = world.server(version)
            counted(world.few(server) if plugin == "mysql_status" else server, number, **each)


of_versions(
    "mysql_status", ("my97", "ma1011"), Queries=60_000, Questions=60_000, Handler_read_rnd_next=100_000
)
of_versions(
    "innodb_buffer_pool", ("my57", "ma1011"), "-w 1% -c 50%",
    Innodb_buffer_pool_read_requests=2_115_000, Innodb_buffer_pool_reads=272_000,
)  # fmt: skip
of_versions(
    "innodb_redo_log", ("my57", "ma1011"),
    Innodb_redo_log_current_lsn=6 << 20, Innodb_lsn_current=6 << 20, Innodb_os_log_written=6 << 20,
)  # fmt: skip


@scenario("mysql_status-scans", "check_mysql_status -H db1 --set handlers", 4)
def scans(world, number):
    """Critical in the third interval."""
    server = world.few(world.server("MySQL 9.7"))
    counted(server, number, Handler_read_rnd_next=9_000_000_000, Handler_read_key=600, Select_scan=1200)


@scenario("mysql_status-full", "check_mysql_status -H db1 --set connections", 4)
def full(world, number):
    """Clients are turned away, in the last runs the check itself."""
    server = world.few(world.server("MySQL 9.7"))
    server.status["Threads_connected"] = "151"
    counted(server, number, Connection_errors_max_connections=120)
    if number >= 2:
        world.refuses("db1:3306 says: Too many connections (error 1040)", number=1040)


@scenario("mysql_status-ranges",
          "check_mysql_status -H db1 --all --exclude 'Com_.*' --warn Threads_running=0 "
          "--crit Handler_read_rnd_next/Handler_read_key=100 --confirm 2 --counter Novel", 3)  # fmt: skip
def ranges(world, number):
    """Also a server that started anew before the last run."""
    server = world.few(world.server("MariaDB 10.11", uptime=500_000 if number < 2 else -90))
    server.status["Novel"] = "7"
    counted(server, number % 2, Handler_read_rnd_next=60_000, Handler_read_key=300, Novel=90)


@scenario("innodb_buffer_pool-misses", "check_innodb_buffer_pool -H db1 -w 1% -c 5%", 4)
def misses(world, number):
    """A doubtful look, then critical ones; at last nobody had asked."""
    server = world.server("MySQL 9.7")
    pages = {"free": 12, "data": 4072, "dirty": 3}
    server.status |= {f"Innodb_buffer_pool_pages_{name}": str(count) for name, count in pages.items()}
    counted(server, min(number, 2), Innodb_buffer_pool_read_requests=2_115_000,
            Innodb_buffer_pool_reads=272_000, Innodb_buffer_pool_wait_free=3)  # fmt: skip


@scenario("innodb_redo_log-waits", "check_innodb_redo_log -H db1", 4)
def writers_wait(world, number):
    """The log fills up, writers wait, twice."""
    server = world.server("MySQL 9.7")
    counted(server, number, log_on_file_space_waits=131, Innodb_redo_log_current_lsn=150 << 20)
    current = int(server.status["Innodb_redo_log_current_lsn"])
    share = (0.4, 0.993, 0.995, 0.5)[number]
    server.status["Innodb_redo_log_checkpoint_lsn"] = str(round(current - share * STALL))


@scenario("mysql_status-refused", "check_mysql_status -H db1 --unreachable critical")
def refused(world, number):
    """Nobody listens."""
    world.refuses("db1:3306 refused the connection", "is the server up?")


# where a password is sent


@scenario("mysql_query-stranger", "check_mysql_query -H db1 -u mon -p geheim --state-dir state", 3,
          keeps_state=False)  # fmt: skip
def stranger(world, number):
    """Another server answers in the last run, which gets no password."""
    world.listens("other" if number == 2 else "db1", b"caching_sha2_password", b"\1\4", OK)


# check_mysql_query


@scenario("mysql_query-down", "check_mysql_query -H db1", keeps_state=False)
def down(world, number):
    """Nobody listens."""
    world.refuses("db1:3306 refused the connection", "is the server up, and does it listen there?")


# check_mysqld_process


@scenario("mysqld_process", "check_mysqld_process", 5)
def process(world, number):
    """Works, starts anew in the fourth run, and is gone in the fifth."""
    proc = world.processes()
    if number == 4:
        return
    if number == 3:
        proc.process(4712, started=10_150.0, user=2.0)
        return
    proc.process(4711, user=100.0 + 18 * number, system=50.0, minor=1000 + 12_000 * number, resident=380_000)
    for thread in range(3):
        proc.thread(4711, 4711 + thread, user=30.0 + 6 * thread * number)


@scenario("mysqld_process-read-buffer", "check_mysqld_process --mysql -H db1", 3)
def read_buffer(world, number):
    """Connections that touch new memory."""
    server = world.server("MySQL 9.7", uptime=1000)
    server.variables["read_buffer_size"] = str(5 << 20)
    counted(server, number, Connections=4800)
    faults = 1000 + number * 4800 * 1281
    world.processes().process(
        4711, user=100.0 + 1.44 * number, system=50.0 + 24 * number, minor=faults, resident=380_000
    )


@scenario("mysqld_process-descriptors", "check_mysqld_process --program java -w 20", 4)
def descriptors(world, number):
    """Nearly no descriptor is left, and memory is swapped out."""
    world.processes().process(
        99, "java", descriptors=[*range(98)], limit="100", swapped=50_000 * number, major=4 + 900 * number,
        user=100.0 + 15 * number,
    )  # fmt: skip


# check_host

BUSY = {"writes": 60_000, "sectors_written": 6_000_000, "busy_ms": 57_000, "write_ms": 120_000}


def host_for(world, number, **more):
    """A host whose minutes before this one were all alike."""
    host = world.host()
    host.now = START
    for _ in range(number):
        host.later(MINUTE, **more)
    return host


@scenario("host-busy", "check_host", 4)
def host_is_busy(world, number):
    """The hypervisor keeps half of the time: critical in the fourth run."""
    host = host_for(world, number, cpu={"user": 24, "steal": 120, "iowait": 6}, disk=BUSY)
    host.swapped["pswpin"] += 200_000 * number
    host.network["eth0"][0] += 300 * number
    host.write()


@scenario("host-ranges",
          "check_host --disk sda --disk-busy-warning 50 --disk-await-critical 1ms --confirm 2 "
          "--memory-available-critical 60:", 4)  # fmt: skip
def host_ranges(world, number):
    """Ranges; in the last run the host has started anew."""
    host = host_for(world, number, cpu={"user": 1, "system": 230}, disk=BUSY)
    if number == 3:
        host.boot, host.uptime = "another", 30.0
    host.write()


for name in sorted(path.name for path in (RECORDED / "host").iterdir() if path.name[0].isdigit()):

    @scenario(f"host-{name}", "check_host", 2)
    def recorded_host(world, number, name=name):
        """As it was recorded."""
        place = RECORDED / "host" / name / str(number + 1)
        world.recorded_host(place)
        world.now = START + float((place / "uptime").read_text().split()[0])


# check_bonding


def bonds(name, command, *recorded):
    """Declare runs that see these recorded bonds one after the other."""

    @scenario(f"bonding-{name}", command, len(recorded))
    def prepare(world, number):
        world.bonds(RECORDED / "bonding" / recorded[number])


bonds("fails-and-comes-back", "check_bonding", "6.1-active-backup", "6.1-active-backup-one-down",
      "6.1-active-backup-one-down", "6.1-active-backup-back",
      "6.1-active-backup-all-down", "6.1-no-links")  # fmt: skip
bonds("lacp", "check_bonding --expect bond1=2 --mode 802.3ad -c 0", "6.1-lacp", "6.1-lacp-without-partner",
      "6.1-lacp-one-down", "6.1-lacp-after-2-s", "6.1-active-backup")  # fmt: skip

# check_jmx, check_jmx_thread_pools


def beans(number, *, restarts_at=99):
    """What a JVM shows in its minute ``number``."""
    up = 60_000 * (number + 1 if number < restarts_at else number - restarts_at + 1)
    start = 1000 if number < restarts_at else 10_000_000
    heap = {"init": 4 * GIB, "used": int((5 + number / 2) * GIB), "committed": 8 * GIB, "max": 8 * GIB}
    return {
        "java.lang:type=Memory": {"HeapMemoryUsage": heap},
        "java.lang:type=Runtime": {"StartTime": start, "Uptime": up},
        "java.lang:type=GarbageCollector,name=Young": {"CollectionTime": up // 100 * (number + 1)},
        "java.lang:type=GarbageCollector,name=Old": {"CollectionTime": up // 20},
        "org.apache.cassandra.db:type=StorageService": {
            "OperationMode": "JOINING" if number else "NORMAL", "UnreachableNodes": ["10.0.0.8"][:number],
        },
    }  # fmt: skip


@scenario("jmx-heap",
          "check_jmx -H db1 -P 7199 -O java.lang:type=Memory -A HeapMemoryUsage -K used --of max --unit B "
          "-w 80% -c 90%", 6)  # fmt: skip
def heap(world, number):
    """Fills up."""
    world.jvm(beans(number))


@scenario("jmx-rate",
          "check_jmx -H db1 -P 7199 -O 'java.lang:type=GarbageCollector,name=*' -A CollectionTime --unit ms "
          "--rate --aggregate sum -w 60 -c 75", 5)  # fmt: skip
def rate(world, number):
    """Of counters; in the last but one run the JVM has started anew."""
    world.jvm(beans(number, restarts_at=3))


@scenario("jmx-text",
          "check_jmx -H db1 -P 7199 -O org.apache.cassandra.db:type=StorageService -A OperationMode "
          "--match '^NORMAL$' -A UnreachableNodes -w 0", 2)  # fmt: skip
def text(world, number):
    """Texts and lists."""
    world.jvm(beans(number))


def pools(name, options, *recorded):
    """Declare runs that see these recorded JVMs one after the other."""

    @scenario(f"jmx_thread_pools-{name}", f"check_jmx_thread_pools -H db1 -P 7199 {options}", len(recorded))
    def prepare(world, number):
        world.jvm(f"{recorded[number]}.json")


pools("cassandra", "", "cassandra-5.0.4", "cassandra-5.0.4-requests-pending", "cassandra-5.0.4")
pools("cassandra-requests", "--pool Native.*", "cassandra-5.0.4", "cassandra-5.0.4-requests-pending")
pools("cassandra-blocked", "--pool Native.*", "cassandra-2.1.22", *["cassandra-2.1.22-requests-blocked"] * 3)
pools("tomcat", "", "tomcat-10.1.34", "tomcat-10.1.34-all-busy", "tomcat-10.1.34-all-busy",
      "tomcat-10.1.34-no-connection-free", "tomcat-10.1.34-no-connection-free")  # fmt: skip
pools("kafka", "", "kafka-3.9.0-just-started", "kafka-3.9.0", "java-17")
pools("jetty", "-w 50 -c 90", *["jetty-12.0.16-all-busy"] * 3)

# check_ndb_log


def written(world, name, lines):
    """Write a file, at this moment."""
    path = world.folder / name
    path.write_text("".join(lines))
    os.utime(path, (world.now, world.now))


def log(name, recorded, *parts, options="", commands=None, rotated=99):
    """Declare runs between which a recorded log grows: to so many lines, at the moment of the last one.

    Before the run ``rotated`` the log has got another name, and its last lines are in a new one.
    """
    lines = (RECORDED / "ndb_log" / recorded).read_text().splitlines(keepends=True)
    moments = [line[:19] for line in lines]
    for number, moment in enumerate(moments):
        if not moment.startswith("20"):
            moments[number] = moments[number - 1] if number else ""

    file = "ndb_1_cluster.log" if "cluster" in recorded else "ndb_4_out.log"

    @scenario(f"ndb_log-{name}", f"check_ndb_log --log {file} {options}", len(parts), commands)
    def prepare(world, number):
        end = parts[number]
        world.now = backups.moment(moments[min(end, len(lines)) - 1].replace("T", " ")) + 1 + number
        if number < rotated:
            written(world, file, lines[:end])
            return
        old = parts[rotated - 1]
        written(world, f"{file}.1", lines[:old])
        written(world, file, lines[old:end])
        if number == rotated:
            world.moved = {file: f"{file}.1"}


log("stuck", "E2b_freeze_one_ldm_10s.ndb_4_out.log", 100, 211, 211)
log("killed", "E9_kill_9_of_the_child.ndb_4_out.log", 60, 110, 134, 134)
log("throttled", "R3_redo_throttled_abort.ndb_4_out.log", 60, 80, 198, options="--hold 10m")
log("rotated", "E15_freeze_ldm_at_work_3s.ndb_4_out.log", 30, 45, 60, 71, rotated=2)
log("heartbeats", "E8_sigstop_process_40s.ndb_1_cluster.log", 30, 70)
log("memory", "E18b_fill_and_empty_data_memory.ndb_1_cluster.log", 4, 8, 14)
log("backup", "E22d_backup_aborted_then_completed.ndb_1_cluster.log", 5, 11, 11, options="--backup-age 1d")
log("starts-in-vain", "E26_not_enough_memory.ndb_4_out.log", 30, 68, 68, 68,
    commands={2: "check_ndb_log --log ndb_4_out.log --acknowledge"})  # fmt: skip


class WithLog(Replay):
    """The runs of a recording, while a recorded log grows to so many of its lines."""

    def __init__(self, path, recorded, *parts, options):
        super().__init__(path, "--log", "ndb_3_out.log", *options, count=len(parts))
        self._lines = (RECORDED / "ndb_log" / recorded).read_text().splitlines(keepends=True)
        self._parts = parts
        self.prepare = self._prepare
        self._path = path

    def _prepare(self, world, number):
        world.replay(self._path, number)
        world.now = time.time()  # as it was then
        written(world, "ndb_3_out.log", self._lines[: self._parts[number]])


SCENARIOS["ndb-redo-buffer-with-log"] = WithLog(
    RECORDED / "ndbinfo" / "disk-too-slow.json", "R1_redo_small_buffer.ndb_3_out.log", 8, 24,
    options=("--hold", "2h"),
)  # fmt: skip

# check_mysql_backup

WRITTEN = backups.moment("2026-11-21 23:56:05")


def backup(name, options, *recorded, server=True):
    """Declare runs a day after each other, each with one recorded backup more."""
    asks = "-H db1" if server else ""

    @scenario(f"mysql_backup-{name}", f"check_mysql_backup -d backup {asks} {options}", len(recorded) + 1)
    def prepare(world, number):
        days = min(number, len(recorded) - 1)
        world.now = WRITTEN + 36_000 + 86_400 * days + 600 * (number - days)
        if server:
            world.backup_server()
        for day, one in enumerate(recorded[: days + 1]):
            world.backup(one, WRITTEN + 86_400 * day)
        os.utime(world.folder / "backup", (WRITTEN, WRITTEN))


backup("complete", "", "mysqlpdump", "mydumper-0.10-mariadb", "mydumper-0.10-killed")
backup("verified", "--verify full", "mysqlpdump-packed", "mydumper-0.10-packed")
backup("files", "", "mariadb-dump", "mariadb-dump-failed", server=False)
