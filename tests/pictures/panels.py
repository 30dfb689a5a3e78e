"""Draw what the panels of the dashboards show: of what a real Icinga wrote about real servers.

    .venv/bin/python tests/pictures/panels.py

As root, 7 minutes: a MariaDB pair, an NDB Cluster, a Tomcat and this host, with load, and with trouble in
the middle.
"""

import contextlib
import json
import math
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path += [str(ROOT / folder) for folder in ("contrib", "tests/live", "tests/engines", "tests/install")]

import engine_user  # noqa: E402 - they are in these folders
import influx_queries  # noqa: E402
import ndb_load  # noqa: E402
import pool_servers  # noqa: E402
import pymysql  # noqa: E402
import status_load  # noqa: E402
from icinga import Icinga  # noqa: E402
from icinga_writers import Writers  # noqa: E402
from lock_scenes import Scene  # noqa: E402
from making import make_install  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402
from matplotlib.ticker import EngFormatter, MaxNLocator  # noqa: E402
from ndb_cluster import NdbCluster  # noqa: E402
from palette import compact  # noqa: E402
from replication_pair import GRANTS, Pair  # noqa: E402
from replication_writer import Writer  # noqa: E402
from sql_node import MONITOR  # noqa: E402

GRAFANA = ROOT / "contrib" / "grafana"
COMMANDS = ROOT / "contrib" / "icinga2" / "stallwatch-commands.conf"
DUMP = ROOT / "tests" / "recorded" / "mysql_backup" / "mariadb-dump" / "all.sql"
BONDS = ROOT / "tests" / "recorded" / "bonding" / "6.1-active-backup-one-down"
WITH_BONDS = """#!{python}
import runpy
from stallwatch.sources import kernel
kernel.BONDS = "{bonds}"
runpy.run_path("{plugin}", run_name="__main__")
"""
HEAP = {"object": "java.lang:type=Memory", "attribute": "HeapMemoryUsage", "key": "used", "unit": "B"}
HOST = 'object Host "{0}" {{\n  check_command = "dummy"\n  address = "127.0.0.1"\n}}\n'
EVERY, BEFORE, TROUBLE, GONE, AFTER = 10, 70, 90, 30, 60  # seconds
# Pictures, and the rows of the dashboards in each.
PICTURES = {
    "panels_mysql": ("Replication", "MySQL, MariaDB, InnoDB"),
    "panels_ndb": ("NDB Cluster",),
    "panels_jmx_host": ("JMX", "Host"),
}
ACROSS, WIDTH, HEIGHT, DOTS = 4, 3.3, 1.75, 100  # panels side by side; inches of each; dots per inch
MOST, SHORT = 6, 25  # series that a legend has room for; letters of a name that leave room for two columns
ROOM = 0.13  # of the height, for each line of a legend
SCALES = {  # Grafana's units: what a panel shows, by one of them
    "bytes": (2**20, "MiB"), "binBps": (2**20, "MiB/s"), "s": (1, "s"), "percent": (1, "%"), "short": (1, ""),
}  # fmt: skip


def service(host, name, command, **options):
    """Define a service of Icinga that is checked every EVERY seconds."""
    given = "".join(f"  vars.{command}_{option} = {json.dumps(value)}\n" for option, value in options.items())
    return (
        f'object Service "{name}" {{\n  host_name = "{host}"\n  check_command = "{command}"\n'
        f"  check_interval = {EVERY}s\n  retry_interval = {EVERY}s\n{given}}}\n"
    )


def services(pair, cluster, tomcat, files):
    """Define everything that is checked."""
    source, replica, node = (
        {"port": server.port, "defaults_file": str(files / f"{name}.cnf")}
        for name, server in (("pair", pair.source), ("pair", pair.replica), ("ndb", cluster.sql_node))
    )
    names = ("mysql_status", "mysql_stalls", "innodb_redo_log", "innodb_buffer_pool")
    of_ndb = ("ndb_nodes", "ndb_memory", "ndb_redo_buffer", "ndb_page_buffer", "ndb_transactions")
    return "".join(
        (
            *(HOST.format(name) for name in ("db1", "replica1", "sql1", "web1", "poller")),
            service("db1", "query", "stallwatch_mysql_query", **source),
            *(service("db1", name, name, **source) for name in names),
            service("db1", "backup", "mysql_backup", directory=str(files / DUMP.name)),
            service("db1", "mysqld", "mysqld_process", pid_file=str(files / "source.pid")),
            service("replica1", "lag", "replication_lag", **replica),
            service("replica1", "both", "replication_lag", **replica, source=f"127.0.0.1:{pair.source.port}"),
            *(service("sql1", name, name, **node) for name in of_ndb),
            *(service("sql1", f"log {number}", "ndb_log", log=cluster.out_log(number)) for number in (3, 4)),
            service("web1", "pools", "jmx_thread_pools", port=tomcat.port, deadlocks=True),
            service("web1", "each", "jmx_thread_pools", port=tomcat.port, pool=["shared|dbcp"]),
            service("web1", "heap", "jmx", port=tomcat.port, **HEAP),
            service("poller", "host", "host"),
            service("poller", "bonds", "bonding"),
        )
    )


def prepared(folder, pair, cluster):
    """Put there what the plugins read, and the plugins; give the folder of these."""
    accounts = {"pair": pair.account("mon", *GRANTS["mariadb"]), "ndb": cluster.sql_node.account(*MONITOR)}
    for name, account in accounts.items():
        path = folder / f"{name}.cnf"
        path.write_text(f'[client]\nuser="{account.user}"\npassword="{account.password}"\n')
        path.chmod(0o600)
        engine_user.give(path)
    engine_user.copy(DUMP, folder)
    engine_user.copy(BONDS, folder)
    (folder / "source.pid").write_text(f"{pair.source.pid}\n")
    done = make_install(f"PREFIX={folder}/installed", f"PLUGINDIR={folder}/plugins")
    if done.returncode:
        raise OSError(done.stderr)
    plugin, link = folder / "installed/lib/stallwatch/bin/check_bonding", folder / "plugins/check_bonding"
    link.unlink()  # this machine may have no bonds
    link.write_text(
        WITH_BONDS.format(python=plugin.parent / "python3", bonds=folder / BONDS.name, plugin=plugin)
    )
    link.chmod(0o755)
    return folder / "plugins"


@contextlib.contextmanager
def load(pair, cluster):
    """Let clients work."""
    ndb_load.disk_table(cluster.sql_node)
    with (
        Writer(pair, every=0.5, octets=20_000),
        status_load.database(pair.source),
        status_load.running(pair.source, slowly(status_load.scan)),
        ndb_load.random_reads(cluster.sql_node, readers=1, rows=10),
    ):
        yield


def slowly(client):
    """Let a client rest after each of its rounds, and begin anew where its session is ended."""

    def work(server, so_long):
        def and_rested():
            time.sleep(0.3)
            return so_long()

        while so_long():
            with contextlib.suppress(pymysql.Error, OSError):
                client(server, and_rested)

    return work


@contextlib.contextmanager
def trouble(pair, cluster, tomcat):
    """Block the applier, and clients of the source; freeze a thread; keep all threads of the Tomcat busy."""
    for port in tomcat.ports:
        tomcat.request(port, 5, "/orders/")
    with (
        ndb_load.lock_wait(cluster.sql_node),
        pair.replica.session() as sql,
        Scene(pair.source) as scene,
    ):
        sql("BEGIN")
        sql("SELECT * FROM lab.beat FOR UPDATE")
        scene.idle()
        scene.writers(3, times=20)
        cluster.freeze(4, "ldm", seconds=2)
        yield


def write(path):
    """Let Icinga check it all, meanwhile let there be trouble, and keep the lines that it wrote."""
    with engine_user.open_folder() as folder, contextlib.ExitStack() as each:
        pair = each.enter_context(Pair(folder / "pair", "mariadb"))
        cluster = each.enter_context(NdbCluster(folder / "ndb", sql=True))
        tomcat = each.enter_context(pool_servers.Tomcat(folder / "tomcat", 1))
        plugins = prepared(folder, pair, cluster)
        each.enter_context(load(pair, cluster))
        writers = each.enter_context(Writers())
        objects = services(pair, cluster, tomcat, folder) + writers.objects
        icinga = Icinga(folder / "icinga", COMMANDS, plugins=plugins, objects=objects)
        each.enter_context(icinga)
        writers.wait_for(icinga)
        time.sleep(BEFORE)
        with trouble(pair, cluster, tomcat):
            time.sleep(TROUBLE)
        cluster.kill(4)
        time.sleep(GONE)
        cluster.start_again(4)
        time.sleep(AFTER)
        path.write_text("\n".join(writers.lines["influxdb"]))


def rows(lines):
    """Give the panels of each row of the dashboard: title, unit, and series by name, as (minutes, values)."""
    began = min(_moment(line) for line in lines)
    found, row = {}, None
    for panel in json.loads((GRAFANA / "stallwatch-influxdb.json").read_text())["panels"]:
        if panel["type"] == "row":
            row = found.setdefault(panel["title"], [])
            continue
        series = defaultdict(lambda: ([], []))
        for target in panel["targets"]:
            for point in influx_queries.found(target["query"], lines):
                minutes, values = series[
                    " ".join(map(point.tags.get, ("service", "metric"))).replace("\\", "")
                ]
                minutes.append((_moment(point.rest) - began) / 60)
                values.append(point.value)
        row.append((panel["title"], panel["fieldConfig"]["defaults"]["unit"], dict(series)))
    return found


def _moment(line):
    return int(line.rpartition(" ")[2])


def short(value):
    """Write a number on an axis."""
    return f"{value:g}" if value < 10_000 else EngFormatter(sep="")(value)


def _broken(minutes, values):
    """Break a line where nothing was measured: what is not known is not 0."""
    broken = [(minutes[0], values[0])]
    for sooner, minute, value in zip(minutes, minutes[1:], values[1:], strict=False):
        if (minute - sooner) * 60 > 4 * EVERY:
            broken.append((minute, math.nan))
        broken.append((minute, value))
    return zip(*broken, strict=True)


def draw(panels, target):
    """Draw panels beside and below each other."""
    down = -(-len(panels) // ACROSS)
    figure = Figure(figsize=(WIDTH * ACROSS, HEIGHT * down), dpi=DOTS, layout="constrained")
    places = figure.subplots(down, ACROSS, squeeze=False).flat
    for (title, unit, series), place in zip(panels, places, strict=False):
        divisor, name = SCALES[unit]
        place.set_title(f"{title}, {name}" if name else title, fontsize=8, loc="left")
        place.tick_params(labelsize=6)
        place.margins(x=0)
        of_one = len({label.rpartition(" ")[0] for label in series}) == 1
        for label, (minutes, values) in sorted(series.items(), key=lambda one: -max(one[1][1]))[:MOST]:
            name = label.rpartition(" ")[2] if of_one else label
            place.plot(*_broken(minutes, [value / divisor for value in values]), linewidth=1.2, label=name)
        if series:
            highest = max(max(values) for _, values in series.values()) / divisor or 1
            names = [text.get_label() for text in place.get_lines()]
            columns = 2 if max(map(len, names)) <= SHORT else 1
            lines = -(-len(names) // columns)
            place.set_ylim(0, highest * 1.05 / (1 - ROOM * lines))
            place.yaxis.set_major_locator(MaxNLocator(4))
            place.yaxis.set_major_formatter(lambda value, _: short(value))
            place.legend(
                fontsize=5.5, loc="upper left", ncols=columns, frameon=False, borderpad=0, columnspacing=1
            )
        else:
            place.text(0.5, 0.5, "no data", fontsize=7, ha="center", transform=place.transAxes)
    for place in places:
        place.set_axis_off()
    figure.supxlabel("minutes", fontsize=7)
    with tempfile.NamedTemporaryFile(suffix=".png") as file:
        figure.savefig(file.name)
        compact(file.name, target)


def main(kept=None):
    """Draw all pictures, of lines that were written now, or that an earlier run has kept in a file."""
    path = Path(kept) if kept else ROOT / "build" / "panels.txt"
    if not kept:
        path.parent.mkdir(exist_ok=True)
        write(path)
    found = rows(path.read_text().splitlines())
    for name, titles in PICTURES.items():
        draw([panel for title in titles for panel in found[title]], GRAFANA / f"{name}.png")
    for title, _, series in (panel for row in found.values() for panel in row):
        if not series:
            print(f"no data: {title}")


if __name__ == "__main__":
    main(*sys.argv[1:])
