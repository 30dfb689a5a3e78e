"""What check_bonding says of bonds that change from run to run; their texts are recorded."""

import json
import runpy
import shutil
from pathlib import Path

import pytest
from clock import keep_time
from first_line import first_line, perfdata
from stallwatch.sources import kernel

TESTS = Path(__file__).parents[1]
PLUGIN = runpy.run_path(str(TESTS.parent / "plugins" / "check_bonding"))
RECORDED = TESTS / "recorded" / "bonding"


class Host:
    """Its bonds are what was recorded elsewhere."""

    def __init__(self, folder):
        self.place, self.net, self.proc = folder / "bonding", folder / "net", folder / "proc"
        self.now = 1_800_000_000.0
        self.uptime, self.boot = 864_000.0, "0b3c9a1e-0000"

    def has(self, recording, name=None, **changed):
        """Let it have a recorded bond, with some words changed."""
        (source,) = (RECORDED / recording).iterdir()
        text = source.read_text()
        for one, other in changed.get("words", {}).items():
            assert one in text
            text = text.replace(one, other)
        self.place.mkdir(exist_ok=True)
        (self.place / (name or source.name)).write_text(text)

    def later(self, seconds):
        self.now += seconds
        self.uptime += seconds
        folder = self.proc / "sys/kernel/random"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "boot_id").write_text(f"{self.boot}\n")
        (self.proc / "uptime").write_text(f"{self.uptime:.2f} 1.0\n")

    def starts_anew(self):
        self.boot, self.uptime = f"{self.boot}1", 30.0

    def port_state(self, link, state):
        folder = self.net / link / "bonding_slave"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "ad_actor_oper_port_state").write_text(f"{state}\n")


@pytest.fixture
def host(tmp_path, monkeypatch):
    host = Host(tmp_path)
    monkeypatch.setattr(kernel, "BONDS", str(host.place))
    monkeypatch.setattr(kernel, "_NET", str(host.net))
    monkeypatch.setattr(kernel, "PLACE", str(host.proc))
    host.later(0)
    keep_time(monkeypatch, lambda: host.now)
    return host


@pytest.fixture
def look(host, tmp_path):
    """Run the plugin a minute after the last time."""

    def run(*arguments, after=60):
        host.later(after)
        return PLUGIN["check"].run(PLUGIN["findings"], ["--state-dir", str(tmp_path / "state"), *arguments])

    run.state = lambda: next((tmp_path / "state").glob("*.json"))
    return run


def test_two_bonds_in_a_sentence(look, host):
    host.has("6.1-active-backup")
    host.has("6.1-lacp")
    look()
    status, text = look()
    assert status == 0
    assert text == (
        "BONDING OK - bond0 active-backup over eth0, 2 of 2 links up, bond1 802.3ad, 2 of 2 links up, "
        "partner ca:6b:a4:c2:07:3a | bond0_links_down=0;0 bond0_links=2 bond0_link_failures=0;0 "
        "bond1_links_down=0;0 bond1_links=2 bond1_link_failures=0;0"
    )


def test_a_label_never_goes_over_to_another_bond(look, host):
    names = ("bond lan", "bond-lan", "bond_lan")
    alone = []
    for name in names:
        host.has("6.1-active-backup", name)
        alone += perfdata(look("--no-state")[1])
        (host.place / name).unlink()
    for name in names:
        host.has("6.1-active-backup", name)
    assert sorted(perfdata(look("--no-state")[1])) == sorted(set(alone)) == sorted(alone)
    assert "bond_lan_links" in alone


def test_a_first_run_knows_of_no_failures(look, host):
    host.has("6.1-active-backup-back")
    status, text = look()
    assert status == 0
    assert "bond0_link_failures" not in perfdata(text)
    assert "[OK] what happens to links of bond0 is known from the next run on" in text


def test_one_link_of_two_is_a_warning_and_critical_for_whoever_wants_it(look, host):
    host.has("6.1-active-backup-one-down")
    assert look()[0] == 1
    assert look("-c", "0")[0] == 2
    assert look("-w", "1")[0] == 0
    host.has("6.1-active-backup-all-down")
    assert look("-w", "9")[0] == 2


def test_a_failover_is_told_until_hold_is_over(look, host):
    host.has("6.1-active-backup")
    look()
    host.has("6.1-active-backup-back")
    status, text = look()
    assert status == 1
    assert first_line(text) == (
        "BONDING WARNING - bond0 changed from eth0 to eth1 since the last run - find out why eth0 was "
        "given up: ethtool eth0, dmesg (+1 more problem)"
    )
    assert "[WARNING] eth0 of bond0 has failed once, eth0 is up again - look at cable" in text
    status, text = look()
    assert status == 1
    assert "bond0 changed from eth0 to eth1 1 min ago" in first_line(text)
    assert perfdata(text)["bond0_link_failures"] == "1;0"
    assert look(after=600)[0] == 0


def test_hold_may_be_nothing_but_this_run(look, host):
    host.has("6.1-active-backup")
    look("--hold", "0")
    host.has("6.1-active-backup-back")
    assert look("--hold", "0")[0] == 1
    assert look("--hold", "0")[0] == 0


def test_failures_add_up(look, host):
    host.has("6.1-active-backup")
    look()
    host.has("6.1-active-backup-one-down")
    assert perfdata(look()[1])["bond0_link_failures"] == "1;0"
    host.has("6.1-active-backup-all-down")
    assert perfdata(look()[1])["bond0_link_failures"] == "3;0"


def test_counters_that_began_anew_are_no_failures(look, host):
    host.has("6.1-active-backup-all-down")
    look()
    host.has("6.1-active-backup")
    status, text = look()
    assert status == 0
    assert perfdata(text)["bond0_link_failures"] == "0;0"


@pytest.mark.parametrize("wanted", ["active-backup", "1", "bond0=active-backup", "bond0=1"])
def test_the_mode_that_was_meant(look, host, wanted):
    host.has("6.1-active-backup")
    assert look("--mode", wanted)[0] == 0


@pytest.mark.parametrize(
    ("recording", "wanted", "status", "words"),
    [
        ("6.1-active-backup", "802.3ad", 2, "802.3ad those that it bundles with LACP: frames get lost"),
        ("6.1-active-backup", "balance-alb", 1, "both work with the same ports of the switch"),
        ("6.1-active-backup", "balance-rr", 2, "balance-rr those that it bundles without LACP"),
        ("6.1-lacp", "balance-xor", 2, "802.3ad needs ports that the switch bundles with LACP"),
        ("2.6.9-round-robin", "broadcast", 1, "both work with the same ports of the switch"),
        (
            "2.6.9-round-robin",
            "active-backup",
            2,
            "balance-rr needs ports that the switch bundles without LACP",
        ),
        ("2.6.9-round-robin", "802.3ad", 2, "balance-rr needs ports that the switch bundles without LACP"),
        ("6.1-lacp", "active-backup", 2, "802.3ad needs ports that the switch bundles with LACP"),
    ],
)
def test_another_mode_is_as_bad_as_what_it_needs_of_the_switch(look, host, recording, wanted, status, words):
    host.has(recording)
    found, text = look("--mode", wanted)
    assert found == status
    assert words in text
    assert "those of the module hold for all bonds" in text


def test_each_bond_has_its_own_mode(look, host):
    """The article's wish: two bonds of mode 1 and two of mode 4."""
    host.has("6.1-active-backup")
    host.has("6.1-lacp")
    assert look("--mode", "bond0=1", "--mode", "bond1=4")[0] == 0
    assert look("--mode", "1", "--mode", "bond1=4")[0] == 0
    status, text = look("--mode", "4")
    assert status == 2
    assert first_line(text).startswith("BONDING CRITICAL - bond0 is in mode active-backup, not 802.3ad")


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        ("bond1=7", '"7" is no bonding mode: write one of balance-rr, active-backup'),
        ("=4", '"=4" names no bond: write BOND=MODE'),
        ("bond1=", '"" is no bonding mode'),
    ],
)
def test_modes_that_do_not_exist(look, mode, words):
    status, text = look("--mode", mode)
    assert status == 3
    assert words in text


def test_a_bond_with_two_modes_is_refused(look):
    status, text = look("--mode", "bond1=4", "--mode", "bond1=1")
    assert status == 3
    assert "--mode is there twice for the same bond" in text


def test_fewer_bonds_than_expected(look, host):
    """The article: without max_bonds=2 the second bond could not be made."""
    host.has("6.1-active-backup")
    assert look("--expect", "1")[0] == 0
    status, text = look("--expect", "2")
    assert status == 2
    assert first_line(text) == (
        "BONDING CRITICAL - 1 bond is there, 2 are expected, there is bond0 - make it: options bonding "
        "max_bonds=N where the module makes them"
    )
    assert "else ip link add NAME type bond" in text


def test_a_bond_that_has_a_mode_is_expected(look, host):
    host.has("6.1-active-backup")
    status, text = look("--mode", "bond1=4", "--mode", "bond2=4")
    assert status == 2
    assert "bond1 and bond2 are not there, there is bond0" in first_line(text)


def test_without_the_driver_it_is_unknown_unless_bonds_are_expected(look, host):
    status, text = look()
    assert status == 3
    assert f"{host.place} is missing, so the module bonding is not loaded" in text
    assert look("--expect", "1")[0] == 2
    host.place.mkdir()
    status, text = look()
    assert status == 3
    assert f"{host.place} is empty" in text
    assert look("--expect", "1")[0] == 2


def test_a_bond_that_lost_all_its_links(look, host):
    host.has("6.1-no-links")
    assert look()[0] == 1
    host.has("6.1-active-backup")
    look()
    host.has("6.1-no-links")
    for _ in range(2):
        status, text = look()
        assert status == 2
        assert "bond0 has no links any more" in first_line(text)


def leaves(text, link="eth1"):
    """The same without a link."""
    head, *parts = text.split("\nSlave Interface: ")
    return "\nSlave Interface: ".join([head, *(part for part in parts if not part.startswith(link))])


@pytest.fixture
def one_of_two(host, look):
    """eth1 has left bond0, as when its driver fails or a start of the host does not put it back."""
    host.has("6.1-active-backup")
    look()
    file = host.place / "bond0"
    file.write_text(leaves(file.read_text()))


def test_a_link_that_has_left_its_bond_is_told_until_it_is_back(host, look, one_of_two):
    for after in (60, 86400):
        status, text = look("--mode", "bond0=active-backup", "--expect", "1", after=after)
        assert status == 1
        assert first_line(text) == (
            "BONDING WARNING - bond0 has 1 of 2 links: eth1 is not in it any more - put it back if it "
            "exists (ip link, dmesg): ip link set eth1 master bond0"
        )
        assert "master bond0, or accept it: --expect bond0=1" in text
    host.starts_anew()
    assert look()[0] == 1
    host.has("6.1-active-backup")
    assert look()[0] == 0


def test_another_link_may_take_its_place(host, look, one_of_two):
    assert look()[0] == 1
    host.has("6.1-active-backup", words={"Slave Interface: eth1": "Slave Interface: ens2"})
    assert look()[0] == 0
    file = host.place / "bond0"
    file.write_text(leaves(file.read_text(), "ens2"))
    assert "ens2 is not in it any more" in first_line(look()[1])


def test_so_many_links_may_be_meant(look, one_of_two):
    assert look("--expect", "bond0=1")[0] == 0
    assert look()[0] == 1  # who says so speaks for himself


def test_fewer_links_than_expected_are_told_by_the_first_run(look, host):
    host.has("6.1-active-backup")
    assert look("--expect", "bond0=2", "--expect", "1")[0] == 0
    status, text = look("--expect", "bond0=3")
    assert status == 1
    assert "bond0 has 2 of 3 links - put it back if it exists" in first_line(text)
    status, text = look("--expect", "bond7=2")
    assert status == 2
    assert "bond7 is not there, there is bond0" in first_line(text)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--expect", "=2"], '"=2" names no bond: write BOND=COUNT'),
        (["--expect", "bond0=x"], "is not a whole number from 1"),
        (["--expect", "2", "--expect", "3"], "--expect is there twice for the same bond"),
    ],
)
def test_what_cannot_be_expected(look, arguments, words):
    status, text = look(*arguments)
    assert status == 3
    assert words in text


def test_a_bond_that_is_gone_is_as_bad_as_one_without_links(look, host):
    host.has("6.1-active-backup")
    host.has("6.1-lacp")
    look()
    (host.place / "bond1").unlink()
    for _ in range(2):
        status, text = look()
        assert status == 2
        assert first_line(text) == (
            "BONDING CRITICAL - bond1 is not there any more, there is bond0 - find out who removed it: "
            "dmesg, ip link, or accept it: --expect 1"
        )
    assert look("--expect", "1")[0] == 0
    (host.place / "bond0").unlink()
    status, text = look()
    assert status == 2
    assert "bond0 and bond1 are not there any more" in first_line(text)
    assert "bond1 is not there" in first_line(look("--mode", "bond1=4")[1])
    assert "bond0 is not there any more" in look("--mode", "bond1=4")[1]


def test_a_bond_of_a_mode_that_never_had_links(look, host):
    host.has("6.1-no-links")
    status, text = look("--mode", "bond0=balance-rr")
    assert status == 2
    assert "bond0 has no links at all" in first_line(text)


def test_a_short_hold_of_one_forgets_nothing_for_another(look, host):
    host.has("6.1-active-backup")
    look()
    host.has("6.1-active-backup-back")
    assert look()[0] == 1
    look("--hold", "0")
    assert look()[0] == 1


def test_a_start_of_the_host_begins_anew(look, host):
    """The other link came first, and nobody has failed; LACP has two minutes again."""
    host.has("6.1-active-backup")
    host.has("6.1-lacp-without-partner")
    look()
    host.starts_anew()
    host.has("6.1-active-backup", words={"Active Slave: eth0": "Active Slave: eth1"})
    status, text = look(after=21600)
    assert status == 1
    assert "bond0 changed" not in text
    assert "CRITICAL after 120 s" in text


def test_a_clock_that_is_set_forward_is_no_time_without_a_partner(look, host):
    host.has("6.1-lacp-without-partner")
    look()
    host.now += 86400
    assert look()[0] == 1
    assert look()[0] == 2


def test_the_first_two_minutes_without_a_partner_are_a_warning(look, host):
    host.has("6.1-lacp-without-partner")
    assert look()[0] == 1
    assert look(after=119)[0] == 1
    assert look(after=2)[0] == 2


def test_a_link_that_fails_all_the_time_fills_no_memory(look, host):
    host.has("6.1-active-backup")
    for number in range(1, 230):
        host.has("6.1-active-backup", words={OF_ETH1.format(0): OF_ETH1.format(number)})
        look("--hold", "0")
    kept = json.loads(look.state().read_text())["values"]
    assert len(kept["events"]) == 200


def test_with_vvv_it_tells_what_was_read(look, host):
    host.has("6.1-active-backup")
    assert f"{host.place}/bond0: " in look("-vvv")[1]


def test_no_partner_is_critical_once_it_lasts(look, host):
    host.has("6.1-lacp-without-partner")
    status, text = look()
    assert status == 1
    assert "CRITICAL after 120 s" in text
    assert look(after=90)[0] == 1
    status, text = look(after=60)
    assert status == 2
    assert "bond1 has no LACP partner on eth0 and eth1" in first_line(text)
    host.has("6.1-lacp")
    look()
    host.has("6.1-lacp-without-partner")
    assert look("--hold", "0")[0] == 1


def test_whoever_may_not_see_the_partner_reads_the_state_of_the_ports(look, host):
    """As recorded with 6.1: 63 with a partner, 71 and 79 without."""
    host.has("6.1-lacp-without-partner-unprivileged")
    host.port_state("eth0", 79)
    host.port_state("eth1", 71)
    assert "bond1 has no LACP partner" in first_line(look()[1])
    host.port_state("eth1", 63)
    assert "bond1 does not use eth0 (no LACP partner there), only eth1 carries traffic" in first_line(
        look()[1]
    )
    host.has("6.1-lacp-unprivileged")
    host.port_state("eth0", 63)
    assert look("--hold", "0")[0] == 0


def test_the_other_links_carry(look, host):
    third = (RECORDED / "6.1-lacp" / "bond1").read_text().partition("\nSlave Interface: eth1")[2]
    host.has("6.1-lacp")
    with (host.place / "bond1").open("a") as file:
        file.write(f"\nSlave Interface: eth2{third.replace('Aggregator ID: 1', 'Aggregator ID: 7')}")
    assert "bond1 does not use eth2 (in aggregator 7), only eth0 and eth1 carry traffic" in (
        first_line(look()[1])
    )


def test_without_state_nothing_can_last(host):
    host.has("6.1-lacp-without-partner")
    text = PLUGIN["check"].run(PLUGIN["findings"], ["--no-state"])[1]
    assert "only one link is used at most - check LACP on the switch ports" in first_line(text)


OF_ETH1 = "Link Failure Count: {}\nPermanent HW addr: 02"
FAST, SLOW = "Speed: 10000 Mbps\nDuplex: full\n", "Speed: 1000 Mbps\nDuplex: half\n"


def test_links_with_another_speed(look, host):
    of_eth1 = OF_ETH1.format(1)
    host.has("6.1-lacp", words={FAST + of_eth1: SLOW + of_eth1})
    status, text = look()
    assert status == 1
    assert "eth1 of bond1 is half duplex" in text
    assert "the links of bond1 differ in speed: eth0 10000 Mbit/s and eth1 1000 Mbit/s" in text


@pytest.mark.parametrize("number", [65535, 4294967295])
def test_a_speed_that_was_not_known_before_linux_3_13(look, host, number):
    of_eth1 = OF_ETH1.format(1)
    host.has("6.1-lacp", words={FAST + of_eth1: FAST.replace("10000", str(number)) + of_eth1})
    assert look()[0] == 0


def test_a_slower_spare_link_is_no_problem(look, host):
    of_eth1 = OF_ETH1.format(0)
    host.has("6.1-active-backup", words={FAST + of_eth1: SLOW.replace("half", "full") + of_eth1})
    assert look()[0] == 0


def test_a_link_that_comes_back(look, host):
    host.has("6.1-active-backup-one-down", words={"MII Status: down": "MII Status: going back"})
    assert "1 of 2 links of bond0 up: eth0 (going back) is down" in first_line(look()[1])


def test_a_bond_that_is_down_although_links_are_up(look, host):
    host.has("6.1-active-backup", words={"Currently Active Slave: eth0\nMII Status: up":
                                         "Currently Active Slave: eth0\nMII Status: down"})  # fmt: skip
    status, text = look()
    assert status == 2
    assert "bond0 is down although eth0 and eth1 are up" in first_line(text)


@pytest.mark.parametrize(
    "text", ["", "\0\xff", "Bonding Mode:\n", "Slave Interface: eth0\n", "a: b\n" * 1000]
)
def test_what_is_no_bond_is_said(look, host, text):
    host.has("6.1-active-backup")
    (host.place / "bond9").write_text(text, encoding="latin-1")
    status, said = look()
    assert status in {1, 3}
    assert "internal error" not in said
    assert "bond9" in said


def test_a_mode_that_we_do_not_know(look, host):
    host.has("6.1-active-backup", words={"fault-tolerance (active-backup)": "some new | mode"})
    status, text = look()
    assert status == 0
    assert "bond0 some new / mode over eth0" in first_line(text)


def test_all_numbers_in_a_table(look, host):
    host.has("6.1-lacp")
    findings = json.loads(look("--output", "json")[1])["findings"]
    (table,) = (one["table"] for one in findings if "table" in one)
    assert table[1] == {
        "bond": "bond1", "mode": "802.3ad", "link": "eth1", "status": "up", "Mbit_per_s": 10000,
        "duplex": "full", "failures": 1, "aggregator": 1,
    }  # fmt: skip


def test_a_memory_that_was_damaged_is_no_crash(look, host):
    host.has("6.1-active-backup-back")
    look()
    host.has("6.1-lacp-without-partner")
    look()
    kept = json.loads(look.state().read_text())
    for name in ("last", "events", "alone", "boot", "most"):
        for odd in (None, 5, [], {}, [[1]], [[1, 2, 3, 4, 5]], {"bond0": 5, "bond1": "x"}):
            look.state().write_text(json.dumps({**kept, "values": {**kept["values"], name: odd}}))
            status, text = look()
            assert "internal error" not in text, (name, odd)
            assert status in {1, 2}


def test_without_state_nothing_is_promised(host):
    host.has("6.1-active-backup")
    status, text = PLUGIN["check"].run(PLUGIN["findings"], ["--no-state"])
    assert (status, len(text.splitlines())) == (0, 1)


def test_a_bond_that_is_removed_while_we_look(look, host, monkeypatch):
    host.has("6.1-active-backup")
    monkeypatch.setattr("os.listdir", lambda _: ["bond0", "bond1"])
    assert look()[0] == 0
    shutil.rmtree(host.place)
    monkeypatch.undo()
