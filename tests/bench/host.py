"""What do the checks of the host that they run on cost beside those of the monitoring plugins?

Each of these answers a part of what check_host does. Nothing in Debian comes near check_bonding: where there
is no bond it says so (UNKNOWN).
"""

from measured import Bench, ours
from peers import peers

ROUNDS = 9
WIDE = (  # a busy host is none that something is wrong with
    *("-w", "100", "--load-warning", "1000", "--steal-warning", "100", "--steal-critical", "100"),
    *("--memory-available-warning", "0:", "--memory-available-critical", "0:"),
    *("--swap-in-warning", "1T", "--swap-in-critical", "1T"),
)
PARTS = {  # processes that sample wait 1 s between two looks, check_paging 2 s; ours remembers its last one
    "check_load": ("-w", "1000,1000,1000", "-c", "1000,1000,1000"),
    "check_cpu": ("-w", "100%", "-c", "100%", "1", "2"),
    "check_iowait": ("-w", "100%", "-c", "100%", "1", "2"),
    "check_paging": ("1", "2"),
    "check_swap": ("-w", "1%", "-c", "1%", "-n", "ok"),
    "check_disk": ("-w", "0", "-c", "0", "-p", "/"),
    "iostat": ("-x", "1", "2"),
}


def main():
    """Measure them."""
    with Bench("host") as bench:
        paths = peers(bench, *PARTS)
        commands = {"check_host": ours("check_host", *WIDE)}
        commands |= {name: [path, *PARTS[name]] for name, path in paths.items()}
        bench.compare("check_host", commands, ROUNDS)
        bonding = {"check_bonding": ours("check_bonding")}
        bench.compare("check_bonding", bonding, expected={"check_bonding": (0, 3)})


if __name__ == "__main__":
    main()
