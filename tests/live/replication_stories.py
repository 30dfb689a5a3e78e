"""What happens to a replica while check_replication_lag looks at it: each story is one recording.

A story is given a pair of its own and ``check(*options, of=..., account=...)``, which runs the plugin on
"db1", the source, "db2", the replica, or "db3", the source of a second channel.
"""

import time

from replication_pair import REPLICATION
from replication_writer import Writer

LITTLE = {"mariadb": "SLAVE MONITOR", "mysql": "REPLICATION CLIENT"}


def lag(pair, writer, seconds):
    """Wait until the replica lags so much."""
    until = time.monotonic() + seconds + 60
    while writer.true_lag() < seconds:
        if time.monotonic() > until:
            raise TimeoutError(f"no lag of {seconds} s: {pair.replica.channels()}")
        time.sleep(0.2)


def healthy(pair, check):
    """A source that writes once a second."""
    with Writer(pair):
        time.sleep(3)
        check()


def healthy_in_detail(pair, check):
    """The same, with -v."""
    with Writer(pair):
        time.sleep(3)
        check("-v")


def row_lock(pair, check):
    """Somebody has left a transaction open on the replica: 5 runs."""
    pair.source.sql("CREATE TABLE lab.stock (id INT PRIMARY KEY, pieces INT)")
    pair.source.sql("INSERT INTO lab.stock VALUES (1, 100)")
    pair.catch_up()
    report = pair.replica.account("report", "SELECT, UPDATE ON lab.*")
    with Writer(pair) as writer, pair.replica.session(report, seconds=120) as sql:
        sql("BEGIN")
        sql("SELECT pieces FROM lab.stock WHERE id = 1 FOR UPDATE")
        pair.source.sql("UPDATE lab.stock SET pieces = pieces - 1")
        for seconds in (3, 18, 32, 46, 62):  # at 50 it gives up and tries again
            lag(pair, writer, seconds)
            check()


def read_lock(pair, check):
    """FLUSH TABLES WITH READ LOCK on the replica, and no more."""
    with Writer(pair) as writer, pair.replica.session() as sql:
        sql("FLUSH TABLES WITH READ LOCK")
        lag(pair, writer, 9)
        check("-w", "5")


def table_without_key(pair, check):
    """An UPDATE of rows that no key leads to: MariaDB of every 20th of 160 000, MySQL of all.

    MySQL 8 and later look for all rows of an event at once.
    """
    every = 1 if pair.kind == "mysql" else 20
    with pair.source.session() as sql:
        sql("CREATE TABLE lab.keyless (id INT, n INT)")
        sql("INSERT INTO lab.keyless VALUES " + ",".join(f"({number}, 0)" for number in range(20_000)))
        for power in range(3):
            sql(f"INSERT INTO lab.keyless SELECT id + {20_000 << power}, 0 FROM lab.keyless")
    pair.catch_up()
    with Writer(pair) as writer:
        pair.source.sql("UPDATE lab.keyless SET n = n + 1 WHERE id %% %s = 0", every)
        lag(pair, writer, 9)
        check("-w", "5")


def slow_statement(pair, rows, seconds):
    """Make the source run a statement in no time that takes the replica so many seconds for each row."""
    with pair.source.session() as sql:
        sql("CREATE TABLE lab.pace (seconds DOUBLE)")
        sql("INSERT INTO lab.pace VALUES (0)")
        sql("CREATE TABLE lab.slow (id INT PRIMARY KEY, n INT)")
        sql("INSERT INTO lab.slow VALUES " + ",".join(f"({number}, 0)" for number in range(rows)))
    pair.catch_up()
    with pair.replica.session() as sql:
        sql("SET sql_log_bin = 0")
        sql("UPDATE lab.pace SET seconds = %s", seconds)


SLOW = "UPDATE lab.slow, lab.pace SET n = n + 1 + SLEEP(seconds)"


def long_transaction(pair, check):
    """An UPDATE that takes the replica more than a minute."""
    slow_statement(pair, 1000, 0.1)
    with Writer(pair) as writer, pair.source.session() as sql:
        sql("SET SESSION binlog_format = STATEMENT")
        check()
        sql(SLOW)
        lag(pair, writer, 66)
        check()


def applier_failed(pair, check):
    """A row that the source inserts is there already."""
    pair.source.sql("CREATE TABLE lab.orders (id INT PRIMARY KEY)")
    pair.catch_up()
    with pair.replica.session() as sql, Writer(pair) as writer:
        sql("SET sql_log_bin = 0")
        sql("INSERT INTO lab.orders VALUES (1000)")
        pair.source.sql("INSERT INTO lab.orders VALUES (1000)")
        lag(pair, writer, 8)
        check()


def written_here(pair, check):
    """An application writes to the replica, twice."""
    pair.source.sql("CREATE TABLE lab.orders (id INT AUTO_INCREMENT PRIMARY KEY)")
    pair.catch_up()
    with Writer(pair):
        time.sleep(3)
        check()
        for _ in range(2):
            pair.replica.sql("INSERT INTO lab.orders VALUES ()")
        time.sleep(5)
        check()


def applier_stopped(pair, check):
    """STOP REPLICA SQL_THREAD."""
    with Writer(pair) as writer:
        pair.replica.stop_replication("", "SQL_THREAD")
        lag(pair, writer, 8)
        check()


def receiver_stopped(pair, check):
    """STOP REPLICA IO_THREAD."""
    with Writer(pair) as writer:
        pair.replica.stop_replication("", "IO_THREAD")
        lag(pair, writer, 8)
        check()


def source_down(pair, check):
    """The source ends, and the receiver tries to connect: 3 runs, the last one after the grace."""
    with Writer(pair):
        check()
    pair.source.stop()
    pair.link.refuse()  # it would take connections
    until = time.monotonic() + 20
    while pair.replica.channels()[""]["Last_IO_Errno"] != 2003:
        if time.monotonic() > until:
            raise TimeoutError(f"{pair.replica.channels()}")
        time.sleep(0.5)
    check("--connecting-grace", "5s")
    time.sleep(8)
    check("--connecting-grace", "5s")


def black_hole(pair, check):
    """The link swallows everything while the source is written to: 2 runs, 10 s before and 50 s after."""
    with Writer(pair):
        time.sleep(3)
        begun = time.monotonic()
        check()
        time.sleep(10 - (time.monotonic() - begun))
        pair.link.black_hole()
        time.sleep(60 - (time.monotonic() - begun))
        check()
        pair.link.pass_all()


def thin_link(pair, check):
    """20 kB/s pass of the 45 kB/s that the source writes; the source is asked, too: 5 runs."""
    with Writer(pair, every=0.05, octets=1000):
        time.sleep(2)
        check("--source", "db1", "-w", "8")
        pair.link.slow(20_000)
        for _ in range(4):
            time.sleep(8)
            check("--source", "db1", "-w", "8")
        pair.link.pass_all()


def delayed(pair, check):
    """A replica that is to be 30 s behind."""
    with Writer(pair) as writer:
        pair.replica.stop_replication()
        place = None if pair.gtid else pair.source.place()
        pair.replica.follow("", pair.link.port, REPLICATION, gtid=pair.gtid, place=place, delay=30)
        pair.replica.start_replication()
        lag(pair, writer, 20)
        check("-v")


def second_channel_broken(pair, check):
    """Two sources; the applier of the second one was stopped."""
    pair.add_channel("east")
    with Writer(pair), Writer(pair, "east") as east:
        pair.replica.stop_replication("east", "SQL_THREAD")
        lag(pair, east, 8)
        check()


def catching_up(pair, check):
    """The applier was stopped for 40 s; half a second is enough for it to apply what comes in one: 5 runs."""
    slow_statement(pair, 1, 0.5)
    with pair.source.session() as sql, Writer(pair, every=30) as writer:
        sql("SET SESSION binlog_format = STATEMENT")
        pair.replica.stop_replication("", "SQL_THREAD")
        sql(SLOW)
        begun = time.monotonic()
        for second in range(1, 62):
            time.sleep(max(0, begun + second - time.monotonic()))
            sql(SLOW)
            if second == 40:
                pair.replica.start_replication("", "SQL_THREAD")
            if second > 40 and second % 5 == 1:
                check("-w", "10")
        writer.true_lag()


def least_privileges(pair, check):
    """An account that may see the status of replication, and nothing else."""
    little = pair.account("little", LITTLE[pair.kind])
    with Writer(pair):
        time.sleep(3)
        check("-v", account=little)


def without_gtid(pair, check):
    """The replica finds its place by file and offset; the source is asked, too."""
    with Writer(pair):
        time.sleep(3)
        check("--source", "db1")


def not_a_replica(pair, check):
    """The source itself."""
    check(of="db1")


STORIES = (
    healthy, healthy_in_detail, row_lock, read_lock, table_without_key, long_transaction, applier_failed,
    written_here, applier_stopped, receiver_stopped, source_down, black_hole, thin_link, delayed,
    second_channel_broken, catching_up, least_privileges, without_gtid, not_a_replica,
)  # fmt: skip
