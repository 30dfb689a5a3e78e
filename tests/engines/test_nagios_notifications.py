"""Whom the sets of services wake, in a real Nagios that notifies: a plugin says what a test tells it to."""

import time

import pytest
from installing import installable
from nagios import COMMANDS, ROOT, Nagios, shipped
from stallwatch.discovery.mysql import OF_SERVER

SETTINGS = """
enable_notifications=1
enable_flap_detection=1
low_service_flap_threshold=5.0
high_service_flap_threshold=20.0
"""
SAYS = """#!/bin/sh
says={says}/${{0##*/}}
case "$*" in *" -u "*) says=$says-u;; esac
state=$(cat "$says" 2>/dev/null || echo 0)
echo "It is $state"
exit $state
"""
PAGER = """
define command {{
    command_name  page
    command_line  /bin/echo "$NOTIFICATIONTYPE$ $HOSTNAME$!$SERVICEDESC$ $SERVICESTATE$" >>{pages}
}}

define contact {{
    contact_name                   pager
    use                            generic-contact
    contactgroups                  admins
    service_notification_commands  page
    host_notification_commands     page
}}
"""
SETS = ("replication", "replication-nrpe", "cassandra")
LEADING = ["replica1!MySQL", "replica1!NRPE"]
POOLS = "cassandra1!Cassandra thread pools"
OK, WARNING, CRITICAL, UNKNOWN = range(4)


class Site:
    """A Nagios with the sets, and somebody who is paged."""

    def __init__(self, folder):
        self.says, self.pages = folder / "says", folder / "nagios" / "pages"
        plugins = folder / "plugins"
        for place in (self.says, plugins):
            place.mkdir()
        for name in [*(path.name for path in (ROOT / "plugins").glob("check_*")), "check_nrpe"]:
            (plugins / name).write_text(SAYS.format(says=self.says))
            (plugins / name).chmod(0o755)
        files = shipped(folder / "shipped", plugins)
        with installable():
            self.nagios = Nagios(
                folder / "nagios", files / COMMANDS.name, *(files / f"{name}.cfg" for name in SETS),
                objects=PAGER.format(pages=self.pages), settings=SETTINGS,
            )  # fmt: skip

    def look(self, *services, **states):
        """Let plugins say these states from now on, and have these services checked."""
        for plugin, state in states.items():
            (self.says / f"check_{plugin.replace('__', '-')}").write_text(f"{state}")
        self.nagios.check_all(services)

    def paged(self, *pages):
        """Who was paged so far: exactly that."""
        until = time.monotonic() + 60
        while len(self._pages()) < len(pages) and time.monotonic() < until:
            time.sleep(0.1)
        assert sorted(self._pages()) == sorted(pages)

    def _pages(self):
        return self.pages.read_text().splitlines() if self.pages.exists() else []


@pytest.fixture
def site(open_path):
    site = Site(open_path)
    with site.nagios:
        site.nagios.order("DISABLE_CONTACT_SVC_NOTIFICATIONS;nagiosadmin")  # Debian's writes mails
        yield site


@pytest.mark.slow("Nagios notifies after several checks")
def test_who_is_told_of_what(site):
    everything = [one for one in site.nagios.services() if one.startswith("replica1!")]
    others = [one for one in everything if one not in LEADING]
    assert len(others) > len(OF_SERVER)
    # The host dies, but for its ping. What asks first is the worst order: in the end others are sure last.
    down = {
        **{service.plugin: UNKNOWN for service in OF_SERVER}, "replication_lag": UNKNOWN,
        "mysql_query": CRITICAL, "nrpe": CRITICAL, "nrpe__u": UNKNOWN,
    }  # fmt: skip
    site.look(*others, **down)
    for _ in range(2):
        site.look(*LEADING)
    site.look(*others)
    site.look(*LEADING)
    for _ in range(2):
        site.look(*others)
    told = [f"PROBLEM {one} CRITICAL" for one in LEADING]
    site.paged(*told)
    # All is well again.
    site.look(*everything, **dict.fromkeys(down, OK))
    told += [f"RECOVERY {one} OK" for one in LEADING]
    site.paged(*told)
    # The server answers, but the account lacks a grant; a backup that nobody may read.
    for _ in range(3):
        site.look(*everything, replication_lag=UNKNOWN, nrpe__u=UNKNOWN)
    told.append("PROBLEM replica1!Replication lag UNKNOWN")
    told += [
        f"PROBLEM replica1!{name} UNKNOWN" for name in ("MySQL backup", "MySQL process", "Host", "Bonds")
    ]
    site.paged(*told)
    # Pools are blocked, again and again.
    for _ in range(4):
        site.look(POOLS, jmx_thread_pools=CRITICAL)
        site.look(POOLS, jmx_thread_pools=OK)
        told += [f"PROBLEM {POOLS} CRITICAL", f"RECOVERY {POOLS} OK"]
    site.paged(*told)
