"""Faults between source and replica: the link, the source, and the login."""

import itertools
import threading
import time

import places  # noqa: F401 - it says where the rest is
from case import ALARMS, CRITICAL_STATE, fault
from replication_strengths import RATES
from sql_server import Account

SILENT = 46.0  # seconds: 1.5 heartbeat periods of 30 s, and one more
HEAVY = {"every": 0.05, "octets": 1000}  # 45 kB/s
SETTLES = 3.0  # seconds in which a receiver says its error
SHORT, ENOUGH = 0.3, 3  # seconds that the link is down; times after which a check may know
LINK_DOWN = ("link silent", "source unreachable")


@fault("black hole", strengths=RATES, right=LINK_DOWN, states=ALARMS, evident=SILENT, lasts=78.0)
def black_hole(scene, every):
    """The link swallows everything, and both ends think that they are connected."""
    scene.load(every=every)
    yield
    scene.link.black_hole()
    yield
    scene.link.pass_all()


@fault(
    "thin link", strengths={"36 kB/s": 36_000, "20 kB/s": 20_000, "5 kB/s": 5_000}, right=("slow link",),
    lasts=90.0,
)  # fmt: skip
def thin_link(scene, rate):
    """The link carries less than the 45 kB/s that the source writes."""
    scene.load(**HEAVY)
    yield
    scene.link.slow(rate)
    yield
    scene.link.pass_all()


@fault(
    "link flaps", strengths={"every 5 s": 5, "every 10 s": 10, "every 15 s": 15}, right=("link flaps",),
    fair=("source unreachable",), states=ALARMS, lasts=95.0,
)  # fmt: skip
def link_flaps(scene, seconds):
    """The link breaks again and again, and each time the receiver is back at once."""
    ended = threading.Event()

    def flap():
        for number in itertools.count(1):
            if ended.wait(seconds):
                return
            scene.link.refuse()
            time.sleep(SHORT)
            scene.link.pass_all()
            if number == ENOUGH:
                time.sleep(SETTLES)
                scene.note("evident")

    yield
    flapping = threading.Thread(target=flap)
    flapping.start()
    try:
        yield
    finally:
        ended.set()
        flapping.join()


@fault(
    "delayed link", strengths={"10 s": 10, "20 s": 20, "30 s": 30}, right=("slow link",), lasts=65.0,
    servers=("mysql",),
)  # fmt: skip
def delayed_link(scene, seconds):
    """All comes, but late, as if the clocks differed; MariaDB alone has nothing that would show it."""
    yield
    scene.link.delay(seconds)
    time.sleep(seconds + SETTLES)
    scene.note("evident")
    yield
    scene.link.pass_all()


@fault(
    "source killed",
    strengths={"shut down": (30, True), "killed": (0, True), "killed behind a proxy": (0, False)},
    right=("source unreachable",), states=ALARMS, evident=4.0, unheard=True, wrong=("TLS failed",),
)  # fmt: skip
def source_killed(scene, strength):
    """The source is down: its port refuses, or a proxy takes connections and closes them."""
    grace, refuses = strength
    yield
    scene.source.stop(grace)
    if refuses:
        scene.link.refuse()
    yield
    scene.link.pass_all()
    scene.source.start()


@fault(
    "source frozen", strengths=RATES, right=LINK_DOWN, states=ALARMS, evident=SILENT, unheard=True, lasts=78.0
)
def source_frozen(scene, every):
    """The source's process is stopped: its kernel takes connections, and nobody answers."""
    scene.load(every=every)
    yield
    scene.source.suspend()
    yield
    scene.source.resume()


@fault(
    "receiver gave up", strengths={"2 attempts": 2, "5 attempts": 5, "10 attempts": 10},
    right=("receiver gave up",), fair=("receiver stopped", "source unreachable"), states=(CRITICAL_STATE,),
    fresh=True, lasts=70.0, wrong=("check the network", "check that"),
)  # fmt: skip
def receiver_gave_up(scene, attempts):
    """The source was down for longer than the receiver tries; it is back, and nobody starts the receiver."""
    if scene.is_mysql:
        scene.follow(RETRY_COUNT=attempts, CONNECT_RETRY=1)
    else:
        scene.replica.settings["master_retry_count"] = attempts
        scene.restart(scene.replica)
        scene.follow(CONNECT_RETRY=1)
    yield
    scene.source.stop(30)
    scene.link.refuse()
    scene.wait_for(lambda: scene.replica.channels()[""]["Replica_IO_Running"] == "No")
    scene.source.start()
    scene.link.pass_all()
    scene.note("evident")
    yield
    scene.replica.start_replication("", "IO_THREAD")


@fault(
    "login refused",
    strengths={"wrong password": "here", "password changed": "there", "account dropped": "dropped"},
    right=("login refused",), states=ALARMS, lasts=55.0, wrong=("TLS failed",),
)  # fmt: skip
def login_refused(scene, which):
    """The source does not let the receiver log in."""
    yield
    scene.replica.stop_replication("", "IO_THREAD")
    name = scene.replication.user
    if which == "here":
        scene.follow(account=Account(name, "wrong"))
    else:
        changed = "DROP USER" if which == "dropped" else "ALTER USER"
        more = "" if which == "dropped" else " IDENTIFIED BY 'another secret'"
        scene.not_logged(scene.source, f"{changed} '{name}'@'%'{more}")
        if which == "there":
            scene.restart(scene.source)  # MySQL 9.7.2 lets in whom it has let in before, by its cache
        scene.replica.start_replication("", "IO_THREAD")
    scene.wait_for(lambda: scene.replica.channels()[""]["Replica_IO_Running"] != "Yes")
    time.sleep(SETTLES)
    scene.note("evident")
    yield
    scene.source.account(name, "REPLICATION SLAVE")
    scene.follow()


@fault(
    "binary logs purged", strengths={"3 s of them": 3, "6 s of them": 6, "12 s of them": 12},
    right=("binary log purged",), states=(CRITICAL_STATE,),
)  # fmt: skip
def binary_logs_purged(scene, seconds):
    """The receiver was stopped for a while, and the source has not kept what it would need."""
    yield
    scene.replica.stop_replication("", "IO_THREAD")
    time.sleep(seconds)
    scene.source.sql("FLUSH BINARY LOGS")
    newest = scene.source.sql("SHOW BINARY LOGS")[-1]["Log_name"]
    time.sleep(1)
    scene.source.sql(f"PURGE BINARY LOGS TO '{newest}'")
    scene.replica.start_replication("", "IO_THREAD")
    scene.wait_for(lambda: scene.replica.channels()[""]["Replica_IO_Running"] == "No")
    scene.note("evident")
    yield
    scene.skip_to_the_source()
